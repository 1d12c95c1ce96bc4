"""Keys, links to pairs, and the browser's Back and Forward."""

from __future__ import annotations

import pytest

from scrapy_neardup.report.decisions import Decision
from scrapy_neardup.report.document import Origin
from tests.support.processes import wait_for
from tests.support.report_page import choose, click, opened, page_of, pair, press, text, texts

ENTER, ESCAPE, RIGHT = "\ue007", "\ue00c", "\ue014"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    decisions = [decision for n in range(3) for decision in pair(n, 0.8)]
    # A page that is judged twice: the same pair is listed twice.
    return page_of(tmp_path_factory.mktemp("report") / "report.html", [*decisions, decisions[1]])


def open_pair(chrome) -> str:
    """The page of the open pair, or nothing."""
    is_open = chrome.find_element("id", "pair").is_displayed()
    return text(chrome, "#right h3") if is_open else ""


def focused(chrome) -> str:
    return str(chrome.switch_to.active_element.text)


def judged(chrome) -> list[str]:
    return texts(chrome, "#table tbody td:last-child")


def test_keys_move_in_the_list_open_a_pair_and_judge_it(chrome, page):
    opened(chrome, page)
    for key, title in (("j", "Copy 0"), ("n", "Copy 1"), ("k", "Copy 0"), ("j", "Copy 1")):
        press(chrome, key)
        assert focused(chrome) == title
    press(chrome, ENTER)
    assert open_pair(chrome) == "Copy 1"
    assert text(chrome, "#pair-title") == "Pair 2 of 4"
    for key in ("1", RIGHT, "d", "n", "3"):
        press(chrome, key)
    assert chrome.find_element("id", "pair-said").get_property("textContent") == (
        "Your judgement: unsure"
    )
    assert judged(chrome) == ["unsure", "same", "different", "unsure"]
    press(chrome, "0")
    assert judged(chrome) == ["", "same", "different", ""]
    press(chrome, ESCAPE)
    # The list was laid out anew: the focus is on the pair that was shown last.
    assert open_pair(chrome) == ""
    wait_for(lambda: focused(chrome) == "Copy 0")


def test_a_click_on_a_row_opens_its_pair(chrome, page):
    opened(chrome, page)
    click(chrome, "#table tr:nth-child(2) td.number")
    assert open_pair(chrome) == "Copy 1"
    press(chrome, ESCAPE)
    wait_for(lambda: focused(chrome) == "Copy 1")
    # A link of the row is followed, and text of it can be selected.
    follow = (
        "const link = document.querySelector('#table a.url');"
        "link.addEventListener('click', (event) => event.preventDefault()); link.click();"
    )
    select = (
        "const cell = document.querySelector('#table td.verdict');"
        "getSelection().selectAllChildren(cell); cell.click();"
    )
    for script in follow, select:
        chrome.execute_script(script)
        assert open_pair(chrome) == ""


def test_a_row_without_a_pair_does_not_look_as_if_it_opened_one(chrome, tmp_path):
    decisions = [*pair(0, 0.8)]
    opened(chrome, page_of(tmp_path / "report.html", decisions))
    choose(chrome, "by-verdict", "new")
    row = chrome.find_element("css selector", "#table tbody tr")
    assert row.value_of_css_property("cursor") == "auto"
    row.click()
    assert open_pair(chrome) == ""


def test_keys_are_shown_and_can_be_switched_off(chrome, page):
    opened(chrome, page)
    press(chrome, "?")
    assert "Focus the next pair" in text(chrome, "#keys-page")
    # Other keys wait until the help is closed.
    press(chrome, "j")
    press(chrome, ESCAPE)
    assert not chrome.find_element("id", "help").is_displayed()
    assert focused(chrome) != "Copy 0"
    click(chrome, "#keys")
    click(chrome, "#keys-on")
    click(chrome, "#help-close")
    assert chrome.switch_to.active_element.get_attribute("id") == "keys"
    chrome.refresh()
    press(chrome, "j")
    assert focused(chrome) != "Copy 0"


def test_keys_leave_typing_and_shortcuts_alone(chrome, page):
    from selenium.webdriver import ActionChains, Keys

    opened(chrome, page)
    search = chrome.find_element("id", "search")
    search.send_keys("j?n1")
    assert search.get_property("value") == "j?n1"
    assert not chrome.find_element("id", "help").is_displayed()
    # The list follows what is typed a moment later.
    wait_for(lambda: text(chrome, "#shown").startswith("0 of"))
    search.send_keys(4 * Keys.BACKSPACE)
    wait_for(lambda: text(chrome, "#shown").startswith("4 of"))
    click(chrome, "#table .open")
    for modifier in (Keys.CONTROL, Keys.ALT, Keys.META):
        ActionChains(chrome).key_down(modifier).send_keys("1").key_up(modifier).perform()
    assert judged(chrome) == ["", "", "", ""]
    # Among the answers an arrow chooses one; it does not turn to the next pair.
    click(chrome, "#judging input[value=duplicate]")
    press(chrome, RIGHT)
    assert open_pair(chrome) == "Copy 0"
    assert judged(chrome)[0] == "different"


def test_the_address_follows_and_back_closes(chrome, page):
    opened(chrome, page)
    address = chrome.current_url
    click(chrome, "#table .open")
    first = chrome.current_url
    assert first.startswith(f"{address}#pair=")
    chrome.back()
    wait_for(lambda: open_pair(chrome) == "")
    assert chrome.current_url == address
    chrome.forward()
    wait_for(lambda: open_pair(chrome) == "Copy 0")
    click(chrome, "#pair-next")
    second = chrome.current_url
    assert second not in (first, address)
    chrome.back()
    wait_for(lambda: open_pair(chrome) == "")
    chrome.forward()
    wait_for(lambda: open_pair(chrome) == "Copy 1")
    # Closed by hand, the address is that of the report again, with nothing above it to leave by.
    entries = chrome.execute_script("return history.length")
    for _ in range(3):
        press(chrome, ESCAPE)
        click(chrome, "#table .open")
        assert open_pair(chrome) == "Copy 0"
    # A pair is opened before the browser is back from the one that was just closed.
    chrome.execute_script(
        "document.getElementById('pair').addEventListener('close', () =>"
        " document.querySelectorAll('#table .open')[1].click(), {once: true});"
        "document.getElementById('pair').close();"
    )
    wait_for(lambda: chrome.current_url == second)
    assert open_pair(chrome) == "Copy 1"
    press(chrome, ESCAPE)
    wait_for(lambda: chrome.current_url == address)
    assert chrome.execute_script("return history.length") == entries


def test_a_link_opens_its_pair_elsewhere(chrome, page):
    from selenium.webdriver import ActionChains, Keys

    opened(chrome, page)
    links = chrome.find_elements("css selector", "#table .open")
    addresses = [link.get_attribute("href") for link in links]
    assert addresses[0] == addresses[3]
    ActionChains(chrome).key_down(Keys.CONTROL).click(links[1]).key_up(Keys.CONTROL).perform()
    assert open_pair(chrome) == ""
    [here, there] = chrome.window_handles
    chrome.switch_to.window(there)
    wait_for(lambda: open_pair(chrome) == "Copy 1")
    press(chrome, ESCAPE)
    wait_for(lambda: "#" not in chrome.current_url)
    # Of a pair that is listed twice, each is shown, and the next one follows it.
    click(chrome, "#table tr:nth-child(4) .open")
    assert text(chrome, "#pair-title") == "Pair 4 of 4"
    chrome.refresh()
    wait_for(lambda: text(chrome, "#pair-title") == "Pair 4 of 4")
    chrome.close()
    chrome.switch_to.window(here)
    chrome.get(f"{page.as_uri()}#pair=0123456789abcdef")
    assert "does not list" in text(chrome, "#unknown-link")
    assert open_pair(chrome) == ""


def test_clusters_mark_what_was_kept_and_name_their_figures(chrome, page):
    opened(chrome, page)
    click(chrome, "#clusters summary")
    wait_for(lambda: texts(chrome, "#clusters li") != [])
    first, second, *_ = texts(chrome, "#clusters li")
    assert first.split() == ["Kept", "https://a.example/0"]
    assert second.split("\n")[0] == "Copy 0 Distance 5 · Similarity 0.80"


def test_advice_from_fewer_than_ten_pairs_says_so(chrome, tmp_path):
    for n, is_said in ((9, True), (10, False)):
        decisions = [decision for number in range(n) for decision in pair(number, 0.8)]
        opened(chrome, page_of(tmp_path / f"{n}.html", decisions))
        assert ("Fewer than ten pairs" in text(chrome, "#advice")) == is_said
        assert "Used in this crawl: 11, 0.73" in text(chrome, "#advice")


@pytest.mark.parametrize(
    ("origin", "kept"),
    [
        (Origin("crawl", "news", 0, "drop", 11, 0.73), "3 60%"),
        (Origin("crawl", "news", 0, "drop", 11, 0.73, drops_unchanged=True), "2 40%"),
        (Origin("crawl", "news", 0, "report", 11, 0.73), "5 100%"),
    ],
)
def test_the_pages_that_were_kept_are_counted(chrome, tmp_path, origin, kept):
    decisions = [*pair(1, 0.9), *pair(2, 0.9)]
    decisions[2] = Decision("https://a.example/2", "revisit", "unchanged")
    decisions.append(Decision("https://c.example/", "undecided", "no_text"))
    opened(chrome, page_of(tmp_path / "report.html", decisions, origin=origin))
    figures = dict(zip(texts(chrome, "#tiles dt"), texts(chrome, "#tiles dd"), strict=True))
    assert figures["Kept"] == kept


def test_a_crawl_with_a_method_has_no_thresholds_to_move(chrome, tmp_path):
    opened(chrome, page_of(tmp_path / "report.html", pair(1, 0.9), origin=Origin("crawl", "x", 0)))
    assert not chrome.find_element("id", "thresholds").is_displayed()


def test_the_report_of_a_store_lists_its_pairs_and_marks_what_came_first(chrome, tmp_path):
    original, copy = "https://a.example/", "https://b.example/"
    decisions = [
        Decision(copy, "pair", "similar_text", duplicate_of=original, distance=3, similarity=0.9),
        Decision(original, "stored", "", time=1_700_000_000),
        Decision(copy, "stored", "", time=1_700_000_001),
    ]
    origin = Origin("store", "seen.sqlite", 0, max_distance=11, min_similarity=0.73)
    opened(chrome, page_of(tmp_path / "report.html", decisions, origin=origin))
    assert text(chrome, "#shown") == "1 of 3 shown"
    assert texts(chrome, "#table .open") == [copy]
    click(chrome, "#clusters summary")
    wait_for(lambda: texts(chrome, "#clusters li") != [])
    assert texts(chrome, "#clusters .tag") == ["Stored first"]
    assert text(chrome, "#distance-used") == "Used in this report: 11"
