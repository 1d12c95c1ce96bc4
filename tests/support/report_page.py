"""Makes a report of given decisions, opens it in a browser, and uses it."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_neardup.report.decisions import Decision
from scrapy_neardup.report.document import Columns, Origin, render_report
from tests.support.processes import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from selenium.webdriver import Chrome

T = TypeVar("T")

ORIGIN = Origin("crawl", "news", 1_700_000_000, max_distance=11, min_similarity=0.73)


def opened(chrome: Chrome, page: Path) -> Chrome:
    """The page as somebody sees it who opens it for the first time."""
    chrome.get(page.as_uri())
    chrome.execute_script("localStorage.clear()")
    chrome.get(page.as_uri())
    assert complaints(chrome) == []
    return chrome


def complaints(chrome: Chrome) -> list[Any]:
    return [line["message"] for line in chrome.get_log("browser")]


def found(chrome: Chrome, use: Callable[[], T]) -> T:
    """Return what `use` makes of elements that it finds itself.

    It is called anew when the page lays its list out between finding and using.
    """
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(
        chrome, 10, poll_frequency=0.05, ignored_exceptions=[StaleElementReferenceException]
    )
    # The wait goes on while what it calls returns nothing, and "" and [] are answers as well.
    [answer] = wait.until(lambda _: [use()])
    return answer


def text(chrome: Chrome, selector: str) -> str:
    return found(chrome, lambda: chrome.find_element("css selector", selector).text)


def texts(chrome: Chrome, selector: str) -> list[str]:
    return found(
        chrome, lambda: [each.text for each in chrome.find_elements("css selector", selector)]
    )


def click(chrome: Chrome, selector: str) -> None:
    found(chrome, lambda: chrome.find_element("css selector", selector).click())


def choose(chrome: Chrome, name: str, value: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(chrome.find_element("id", name)).select_by_value(value)


def press(chrome: Chrome, key: str) -> None:
    """Press a key wherever the focus is."""
    from selenium.webdriver import ActionChains

    ActionChains(chrome).send_keys(key).perform()


def slide(chrome: Chrome, name: str, value: float) -> None:
    """Move a slider as keys and mice do: its value changes, and it says so."""
    chrome.execute_script(
        "const slider = document.getElementById(arguments[0]); slider.value = arguments[1];"
        "slider.dispatchEvent(new Event('input', {bubbles: true}));",
        name,
        value,
    )


def downloaded(chrome: Chrome, folder: Path, button: str, name: str) -> Path:
    path = folder / "downloads" / name
    path.unlink(missing_ok=True)
    click(chrome, f"#{button}")
    wait_for(path.exists)
    return path


def page_of(
    path: Path,
    decisions: list[Decision],
    kept: dict[str, str] | None = None,
    origin: Origin = ORIGIN,
    better: dict[str, str] | None = None,
) -> Path:
    columns = Columns()
    for decision in decisions:
        columns.add(decision)
    for url, best in (better or {}).items():
        columns.set_better_url(url, best)
    packed = {url: zlib.compress(said.encode()) for url, said in (kept or {}).items()}
    data = columns.packed(origin, packed.get if kept is not None else None)
    path.write_text(render_report(data), "utf-8")
    return path


def pair(number: int, similarity: float, distance: int = 5) -> list[Decision]:
    """An original and a page that is like it."""
    return [
        Decision(f"https://a.example/{number}", "new", "no_match"),
        Decision(
            f"https://b.example/{number}",
            "duplicate",
            "similar_text",
            duplicate_of=f"https://a.example/{number}",
            distance=distance,
            similarity=similarity,
            title=f"Copy {number}",
            bytes=1000,
        ),
    ]
