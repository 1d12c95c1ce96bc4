"""The log of a crawl: dropped items, the summary, and warnings of duplicate floods."""

from __future__ import annotations

import re
from zlib import crc32

import pytest

from tests.support import warm
from tests.support.crawl import LOOPS, run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, TEA, article, page, word

ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}
TWO = {"/1": page(FERRY, "The ferry"), "/2": page(FERRY, "The ferry")}

_PROCESS = """
import sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess

class One(scrapy.Spider):
    name, start_urls = "one", sys.argv[1:]

    def parse(self, response):
        yield {"url": response.url}

class Other(One):
    name = "100% other"

process = AsyncCrawlerProcess({"ADDONS": {"scrapy_neardup.Addon": 500}, "LOG_LEVEL": "INFO"})
process.crawl(One)
process.crawl(Other)
process.start()
"""


def test_spiders_in_one_process_are_named(tmp_path):
    (tmp_path / "two.py").write_text(_PROCESS)
    with serving(TWO) as site:
        done = warm.run_text(["two.py", site.url("/1"), site.url("/2")], folder=tmp_path)
    said = re.findall(r"\[scrapy_neardup\] INFO: (Spider .*?: (?:Dropping|Judged))", done.stderr)
    assert sorted(said) == [
        f"Spider {name}: {what}"
        for name in ("100% other", "one")
        for what in ("Dropping", "Judged")
    ]


# --- single items -----------------------------------------------------------------------

SAID = {"drop": "Dropped", "tag": "Tagged", "report": "Would drop"}


def said_of_items(crawl):
    return [
        (level, text)
        for _, level, text in crawl.log
        if text.startswith(tuple(SAID.values())) or "near-duplicate of" in text
    ]


@pytest.mark.slow
@pytest.mark.parametrize("action", SAID)
@pytest.mark.parametrize(("setting", "level"), [("debug", "DEBUG"), ("Info", "INFO")])
def test_items_of_duplicates_are_logged_at_the_configured_level(action, setting, level):
    settings = {**ONE_BY_ONE, "NEARDUP_ACTION": action, "NEARDUP_ITEM_LOG_LEVEL": setting}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
        one, two = site.url("/1"), site.url("/2")
    expected = f"an item of <{two}>: near-duplicate of {one} (distance 0, similarity 1.00)"
    assert said_of_items(crawl) == [(level, f"{SAID[action]} {expected}")]


@pytest.mark.slow
@pytest.mark.parametrize("action", SAID)
@pytest.mark.parametrize("setting", ["off", None])
def test_items_of_duplicates_are_not_logged_when_off(action, setting):
    settings = {**ONE_BY_ONE, "NEARDUP_ACTION": action, "NEARDUP_ITEM_LOG_LEVEL": setting}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
    assert said_of_items(crawl) == []
    assert crawl.counts("pages/") == {"new": 1, "duplicate": 1}


def test_the_text_of_a_dropped_item_is_not_logged():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], {"NEARDUP_ITEM_LOG_LEVEL": "WARNING"})
    [warning] = crawl.logged("WARNING")
    assert warning.startswith("Dropped an item of <")
    shown = [text for _, _, text in crawl.log if "captain likes" in text]
    assert [text.partition(" ")[0] for text in shown] == ["Scraped"]


def test_dropped_unchanged_page_is_logged():
    settings = {**ONE_BY_ONE, "NEARDUP_REVISIT": "drop", "NEARDUP_ITEM_LOG_LEVEL": "INFO"}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/1")], settings, dont_filter=True)
        said = f"Dropped an item of <{site.url('/1')}>: already stored and unchanged"
    assert said in crawl.logged("INFO")
    assert crawl.stats["neardup/revisits/unchanged"] == 1


# --- the end ----------------------------------------------------------------------------


def table_of(crawl) -> list[str]:
    """The summary's lines, with single spaces."""
    [said] = [text for text in crawl.logged("INFO") if text.startswith("Judged ")]
    return [re.sub(" +", " ", line).strip() for line in said.split("\n")]


@pytest.mark.parametrize("loop", LOOPS)
def test_the_end_is_a_line_and_a_table(loop, tmp_path):
    pages: dict[str, Answer | str] = {
        "/1": page(FERRY, "The ferry"),
        "/2": page(FERRY, "The ferry"),
        "/3": page(FERRY, "The ferry"),
        "/4": page(MUSEUM, "The museum"),
        "/5": page(MUSEUM, "The museum"),
        "/6": page(TEA, "茶叶博物馆"),
        "/7": page("too short", "Short"),
        "/8": Answer("{}", "application/json"),
    }
    settings = {**ONE_BY_ONE, "NEARDUP_REPORT": str(tmp_path / "%(name)s.html")}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], settings, loop=loop)
    sizes = {path: len(str(text).encode()) for path, text in pages.items() if path != "/8"}
    total, duplicate = sum(sizes.values()), sum(sizes[path] for path in ("/2", "/3", "/5"))
    assert table_of(crawl) == [
        "Judged pages: duplicate 3, new 3, undecided 1; undecided for: few_features 1; passed "
        "over: not_text 1; items: dropped 3, kept 5; 4 remembered",
        "pages judged 7",
        "new 3 42.9 %",
        "duplicate 3 42.9 %",
        "undecided 1 14.3 % few_features 1",
        "passed over 1 not_text 1",
        "items kept 5 62.5 %",
        "items dropped 3 37.5 %",
        f"bytes of duplicates {duplicate / 1000:.1f} kB {100 * duplicate / total:.1f} % of "
        f"{total / 1000:.1f} kB judged",
        f"duplicates of 2 {site.url('/1')}",
        f"1 {site.url('/4')}",
        "remembered 4",
        f"report {tmp_path / 'crawl.html'}",
    ]
    assert crawl.stats["neardup/bytes/judged"] == total
    assert crawl.stats["neardup/bytes/duplicate"] == duplicate


def test_table_counts_judged_items():
    with serving({"/1": page("nothing of importance")}) as site:
        settings = {"NEARDUP_ITEM_FIELD": "text", "NEARDUP_ACTION": "report"}
        crawl = run_crawl(
            [site.url("/1")], settings, items_per_page=3, texts=[FERRY, FERRY, MUSEUM]
        )
    assert table_of(crawl)[1:] == [
        "items judged 3",
        "new 2 66.7 %",
        "duplicate 1 33.3 %",
        "items kept 2 66.7 %",
        "items reported 1 33.3 %",
        f"duplicates of 1 {site.url('/1#item-1')}",
        "remembered 2",
        'report none; set NEARDUP_REPORT = "report.html" to write one',
    ]


def test_a_field_that_no_item_has_is_warned_of_once():
    with serving(TWO) as site:
        for n_items, is_warned_of in ((9, False), (12, True)):
            crawl = run_crawl(
                [site.url("/1")], {"NEARDUP_ITEM_FIELD": "txet"}, items_per_page=n_items
            )
            assert crawl.counts("undecided/") == {"no_field": n_items}
            said = [text for text in crawl.logged("WARNING") if "NEARDUP_ITEM_FIELD" in text]
            assert len(said) == is_warned_of
    assert "has the field 'txet'" in said[0]
    assert "they have path, text (" in said[0]


def test_table_has_refused_requests_and_changed_pages():
    pages = {
        "/1": page(FERRY, "The ferry", links="/3"),
        "/2": page(FERRY, "The ferry", links="/3"),
        # The copy is asked for once its original has been seen again.
        "/3": page(MUSEUM, "The museum", links="/4 /1"),
        "/4": page(TEA, "The tea", links="/2"),
    }
    with serving(pages) as site:
        settings = {
            **ONE_BY_ONE,
            "NEARDUP_DUPLICATE_URL_TTL": 3600,
            "NEARDUP_URL_RULES_SAMPLE_RATE": 0,
        }
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings, dont_filter=True)
    assert "requests refused 1" in table_of(crawl)


def test_table_of_a_crawl_that_judged_nothing_is_short():
    with serving({}) as site:
        crawl = run_crawl([site.url("/none")])
    assert table_of(crawl) == [
        "Judged pages: none; undecided for: none; passed over: status 1; items: kept 1; "
        "0 remembered",
        "passed over 1 status 1",
        "items kept 1 100.0 %",
        "remembered 0",
    ]


# --- one page in the place of many ------------------------------------------------------

SECTIONS = ("news", "shop", "blog")
FRAME = "Harbour news " + " ".join(article(40, seed=9))
GOOD = {
    f"/{section}/{number}": page(
        " ".join(article(200, seed=3 * number + at)), f"{section} {number}", FRAME
    )
    for number in range(20)
    for at, section in enumerate(SECTIONS)
}
LOGIN = page(" ".join(article(80, seed=999)), "Log in", FRAME)
MISSING = "<html><head><title>Not found</title></head><p>No page {} is here.</p></html>"


def behind_a_wall(show) -> dict[str, str]:
    """Twenty more pages of each section, as the site shows them."""
    paths = [f"/{section}/{number}" for number in range(20, 40) for section in SECTIONS]
    return {path: show(path) for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "workers"), [("drop", 0), ("drop", 2), ("tag", 0), ("report", 0)]
)
def test_a_login_wall_is_warned_of_once(action, workers):
    pages = {**GOOD, **behind_a_wall(lambda path: LOGIN)}
    settings = {**ONE_BY_ONE, "NEARDUP_ACTION": action, "NEARDUP_WORKERS": workers}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], settings)
    [warning] = crawl.logged("WARNING")
    original = next(judged["duplicate_of"] for judged in crawl.judged if judged["duplicate_of"])
    assert original in map(site.url, behind_a_wall(str))
    assert warning.startswith(
        f"30 of the last 50 pages of 127.0.0.1 are near-duplicates of <{original}>, such as <"
    )
    assert "(3 URL patterns). Open some of them: they may be a login wall, a cookie" in warning
    assert crawl.stats["neardup/swallowed/clusters"] == 1
    assert crawl.stats["neardup/swallowed/pages"] == 59
    assert f"swallowed by 59 {original}" in table_of(crawl)


BAN = " ".join(article(80, seed=998))


def banned(path: str) -> str:
    number = crc32(path.encode())
    said = f"{BAN} Ray ID 8f{number:014x}, your IP 203.0.{number % 113}.{number % 251}."
    return page(said, "Too many requests", FRAME)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "said", "n_pages"),
    [
        (GOOD, "30 of the last 50 pages of 127.0.0.1 show the text of <http", 57),
        ({}, "8 of the first 8 pages of 127.0.0.1 show one text, such as <http", 60),
    ],
)
def test_a_wall_with_other_references_is_warned_of_once(before, said, n_pages):
    pages = {**before, **behind_a_wall(banned)}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE)
        shown = f"swallowed by {n_pages} {site.url()}"
    [warning] = crawl.logged("WARNING")
    assert warning.startswith(said)
    assert ("apart from their own URLs, reference numbers" in warning) == bool(before)
    assert crawl.counts("swallowed/") == {"clusters": 1, "pages": n_pages}
    assert [row for row in table_of(crawl) if row.startswith(shown)]


@pytest.mark.slow
def test_a_register_after_other_pages_is_no_wall():
    def entry(path: str) -> str:
        number = crc32(path.encode())
        said = f"{BAN} Lot {number % 99991} of {word(number % 997)}, from {number % 9973} euros."
        return page(said, "Lots", FRAME)

    pages = {**GOOD, **behind_a_wall(entry)}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE)
    assert crawl.logged("WARNING") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (lambda path: MISSING.format("of that name"), "are near-duplicates of <"),
        (MISSING.format, "have too little text to judge them by, such as <"),
        (
            lambda path: "<html><script>go()</script></html>",
            "have no text to judge them by, such as <",
        ),
    ],
)
def test_pages_of_little_or_no_text_are_a_wall_too(shown, said):
    pages = {**GOOD, **behind_a_wall(shown)}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE)
    [warning] = [text for text in crawl.logged("WARNING") if "of the last 50" in text]
    assert warning.startswith(f"30 of the last 50 pages of 127.0.0.1 {said}{site.url()}")


@pytest.mark.slow
def test_a_wall_before_pages_that_are_known_is_warned_of(tmp_path):
    settings = {**ONE_BY_ONE, "NEARDUP_STORE": f"sqlite:///{tmp_path / 'seen.sqlite'}"}
    pages = dict(GOOD)
    with serving(pages) as site:
        urls = [site.url(path) for path in pages]
        assert run_crawl(urls, settings).logged("WARNING") == []
        pages.update(dict.fromkeys(list(pages)[10:], LOGIN))
        crawl = run_crawl(urls, settings)
    [warning] = crawl.logged("WARNING")
    assert warning.startswith(
        "30 of the last 40 pages of 127.0.0.1 have changed since they were stored, and now show "
        f"the text of <{urls[10]}>, such as <{urls[39]}> ("
    )
    assert crawl.counts("revisits/") == {"unchanged": 10, "changed": 50}
    assert "revisit 60 100.0 % changed 50, unchanged 10" in table_of(crawl)


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_a_spider_can_stop_at_a_wall(loop):
    pages = {**GOOD, **behind_a_wall(lambda path: LOGIN)}
    with serving(pages) as site:
        urls = [site.url(path) for path in pages]
        crawl = run_crawl(urls, ONE_BY_ONE, spider="CarefulSpider", loop=loop)
        # 60 pages, the login page, 30 copies of it, and what was under way then.
        assert 91 < len(site.hits) < 100
    original = next(judged["duplicate_of"] for judged in crawl.judged if judged["duplicate_of"])
    assert crawl.stats["finish_reason"] == f"wall {original}"


@pytest.mark.slow
def test_warning_names_an_endless_url_space():
    months = {f"/calendar/{n}": page(MUSEUM, "No events", FRAME) for n in range(40)}
    with serving({**GOOD, **months}) as site:
        crawl = run_crawl([site.url(path) for path in [*GOOD, *months]], ONE_BY_ONE)
    [warning] = crawl.logged("WARNING")
    assert "Nearly all of these URLs match 127.0.0.1/calendar/*. Open some" in warning
    assert "for an endless space, such as a calendar, set NEARDUP_URL_RULES" in warning


@pytest.mark.slow
def test_mirrors_and_print_views_are_not_warned_of():
    prints = {f"{path}/print": text.replace(FRAME, "") for path, text in GOOD.items()}
    pages = {**GOOD, **prints}
    with serving(pages) as site:
        mirror = [site.url(path, "localhost") for path in GOOD]
        crawl = run_crawl([*map(site.url, pages), *mirror], ONE_BY_ONE)
    assert crawl.stats["neardup/pages/duplicate"] == 120
    assert crawl.logged("WARNING") == []
    assert crawl.counts("swallowed/") == {}
