"""The report against the rules of axe-core, in both themes and languages, wide and narrow.

axe-core (MPL-2.0) comes with the package axe-playwright-python, of which only its script is used.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from scrapy_neardup.report.decisions import Decision
from tests.support.processes import wait_for
from tests.support.report_page import choose, click, opened, page_of, pair, slide, text, texts
from tests.support.texts import BRIDGE, FERRY, MUSEUM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python")
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with all that a report may show."""
    decisions = [
        *(decision for n in range(6) for decision in pair(n, 0.75 + n / 30)),
        Decision(
            "https://b.example/again",
            "duplicate",
            "same_text",
            duplicate_of="https://a.example/1",
            time=1_700_000_100,
        ),
        Decision("https://c.example/", "undecided", "no_text", time=1_700_000_000),
        Decision(
            "https://c.example/" + "far-away/" * 12,
            "new",
            "no_match",
            look_alike="https://a.example/1",
            objection="text_differs",
            distance=9,
            similarity=0.6,
            title="A title that says a lot about a page on a site with long addresses",
            bytes=123_456,
        ),
    ]
    kept = {"https://a.example/1": FERRY, "https://b.example/1": f"{BRIDGE} {FERRY} {MUSEUM}"}
    return page_of(tmp_path_factory.mktemp("report") / "report.html", decisions, kept)


@contextmanager
def looking(chrome: Chrome, theme: str, width: int) -> Iterator[None]:
    """The theme of the system, and the size of the screen."""
    chrome.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": theme}]},
    )
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def violations(chrome: Chrome) -> list[str]:
    """The rules that the page breaks as it is, each with its elements."""
    found: list[dict[str, Any]] = chrome.execute_async_script(
        "const done = arguments[1];"
        "axe.run({runOnly: arguments[0], resultTypes: ['violations']})"
        ".then((found) => done(found.violations))"
        ".catch((error) => done([{id: String(error), nodes: []}]));",
        RULES,
    )
    return [f"{rule['id']}: {[node['html'] for node in rule['nodes'][:3]]}" for rule in found]


# All of them take half a minute, two of them have every theme, width and language.
VIEWS = [
    pytest.param(
        *view,
        marks=[] if view in [("light", 1280, "en"), ("dark", 390, "zh")] else pytest.mark.slow,
    )
    for view in product(["light", "dark"], [1280, 390], ["en", "zh"])
]


@pytest.mark.parametrize(("theme", "width", "language"), VIEWS)
def test_no_view_breaks_a_rule_of_accessibility(chrome, axe, page, theme, width, language):
    with looking(chrome, theme, width):
        opened(chrome, page)
        chrome.execute_script(axe)
        choose(chrome, "language", language)
        choose(chrome, "by-verdict", "")
        found = {"overview": violations(chrome)}
        for summary in chrome.find_elements("css selector", "#clusters summary"):
            summary.click()
        slide(chrome, "similarity", 0.9)
        found["clusters, other thresholds"] = violations(chrome)
        click(chrome, "#keys")
        found["keys"] = violations(chrome)
        click(chrome, "#help-close")
        chrome.find_element("partial link text", "Copy 1").click()
        wait_for(lambda: texts(chrome, "#pair mark") != [])
        click(chrome, "#judging input[value=duplicate]")
        found["pair"] = violations(chrome)
        paper = chrome.execute_script("return getComputedStyle(document.body).backgroundColor")
        # The page does not scroll sideways; what is wide does, in a box of its own.
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
    assert {view: rules for view, rules in found.items() if rules} == {}
    assert (paper == "rgb(251, 250, 248)") == (theme == "light")


def test_a_table_that_is_wider_than_the_screen_can_be_scrolled_by_keyboard(chrome, page):
    with looking(chrome, "light", 390):
        opened(chrome, page)
        box = chrome.find_element("css selector", ".scroll:has(#table)")
        assert box.get_attribute("tabindex") == "0"
        assert box.accessible_name == "Table of decisions"
    wait_for(lambda: box.get_attribute("tabindex") is None)


def test_sliders_and_charts_have_names(chrome, page):
    opened(chrome, page)
    names = {
        element: chrome.find_element("id", element).accessible_name
        for element in ("distance", "similarity")
    }
    assert names == {
        "distance": "Largest distance in bits NEARDUP_MAX_DISTANCE",
        "similarity": "Lowest similarity NEARDUP_MIN_SIMILARITY",
    }
    assert text(chrome, "#distance-used") == "Used in this crawl: 11"
    assert text(chrome, "#similarity-used") == "Used in this crawl: 0.73"
    assert "Used in this crawl" not in text(chrome, "#distances")
    slide(chrome, "distance", 4)
    assert "Used in this crawl" in text(chrome, "#distances")
