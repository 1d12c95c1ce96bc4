"""Crawls that tag items with the page that holds most of theirs, or that theirs holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from tests.support.crawl import LOOPS, Crawl, CrawlSpider, run_crawl
from tests.support.server import Site, serving
from tests.support.texts import article, page

QUOTES = 5
FIELD = "neardup_containment"


def text_of(seed: int, words: int = 200) -> str:
    return " ".join(article(words, seed=seed))


#: A fourth of each page that quotes is the quote.
PAGES = {
    **{f"/quote/{n}": page(text_of(n), f"Quote {n}") for n in range(QUOTES)},
    **{
        f"/whole/{n}": page(
            " ".join([text_of(100 + n, 300), text_of(n), text_of(200 + n, 300)]), f"Whole {n}"
        )
        for n in range(QUOTES)
    },
    "/other": page(text_of(50), "Other"),
}


class InTurn(CrawlSpider):
    """Visits a page when the items of the one before are stored."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> InTurn:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.go_on, signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        for request in list[Request]():
            yield request

    def go_on(self) -> None:
        if self.plan["start"]:
            assert self.crawler.engine is not None
            self.crawler.engine.crawl(Request(self.plan["start"].pop(0)))
            raise DontCloseSpider


def crawled(site: Site, *paths: str, loop: str = "reactor", item: str = "dict", **settings: Any):
    settings = {"NEARDUP_CONTAINMENT": True, **settings}
    urls = [site.url(path) for path in paths]
    return run_crawl(urls, settings, loop=loop, item=item, spider=f"{__name__}.InTurn")


def slowly(*values: Any) -> list[Any]:
    """Return values of a parameter that run with the slow tests."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.slow)
        for value in values
    ]


def tags(crawl: Crawl) -> dict[str, dict[str, Any]]:
    return {item["path"]: item[FIELD] for item in crawl.items if item.get(FIELD)}


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("loop", "workers"), [(LOOPS[0], 0), pytest.param(LOOPS[-1], 1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("store", ["memory", "sqlite:///{}/seen.sqlite", "redis"])
def test_items_of_pages_that_quote_name_the_quote(loop, workers, store, request, tmp_path):
    if store == "redis":
        store = request.getfixturevalue("redis_server").address
    with serving(PAGES) as site:
        settings = {"NEARDUP_WORKERS": workers, "NEARDUP_STORE": store.format(tmp_path)}
        crawl = crawled(site, *PAGES, loop=loop, **settings)
        told = tags(crawl)
        assert told.keys() == {f"whole/{n}" for n in range(QUOTES)}
        for number in range(QUOTES):
            tag = told[f"whole/{number}"]
            assert tag["contains"] == site.url(f"/quote/{number}")
            assert 0.8 <= tag["share"] <= 1
    # Nothing is dropped: the rule judges as ever.
    assert crawl.counts("pages/") == {"new": len(PAGES)}
    assert len(crawl.items) == len(PAGES)
    assert crawl.counts("containment/") == {"contains": QUOTES, "tagged": QUOTES}
    assert crawl.logged("WARNING") == []


def test_quotes_that_come_later_name_the_page_that_holds_them():
    with serving(PAGES) as site:
        crawl = crawled(site, *reversed(PAGES))
        told = tags(crawl)
        assert told.keys() == {f"quote/{n}" for n in range(QUOTES)}
        for path, tag in told.items():
            assert tag["contained_in"] == site.url(f"/{path.replace('quote', 'whole')}")


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n_tagged"), [("0.9", 0), (0.3, 1)])
def test_the_least_share_can_be_set(share, n_tagged):
    half = page(f"{text_of(1, 100)} {text_of(2)}", "Half")
    with serving({"/one": page(text_of(1), "One"), "/half": half}) as site:
        crawl = crawled(site, "/one", "/half", NEARDUP_CONTAINMENT=share)
    assert len(tags(crawl)) == n_tagged
    assert len(crawl.items) == 2


@pytest.mark.slow
def test_only_pages_whose_items_were_stored_count():
    with serving(PAGES) as site:
        crawl = crawled(
            site,
            *PAGES,
            ITEM_PIPELINES={"tests.support.crawl.Failing": 200},
            FAIL_PATHS={"quote/0": "raise", "quote/1": "drop"},
        )
    assert tags(crawl).keys() == {f"whole/{n}" for n in range(2, QUOTES)}


def test_a_page_is_not_named_as_its_own_holder_and_copies_are_dropped():
    pages = {"/one": page(text_of(1), "One"), "/copy": page(text_of(1), "One", "Mirror")}
    with serving(pages) as site:
        urls = [site.url(path) for path in ("/one", "/one", "/one#again", "/copy")]
        settings = {"NEARDUP_CONTAINMENT": True, "CONCURRENT_REQUESTS": 1}
        crawl = run_crawl(urls, settings, dont_filter=True)
        assert tags(crawl) == {}
        tagged = run_crawl(urls, {**settings, "NEARDUP_ACTION": "tag"}, dont_filter=True)
        assert tags(tagged)["copy"] == {"contained_in": site.url("/one"), "share": 1.0}
    assert crawl.stored == ["one"] * 3
    assert [item["path"] for item in crawl.dropped] == ["copy"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "item", ["dataclass", *slowly("closed", "closed attrs", "closed pydantic")]
)
def test_items_without_the_field_are_kept_counted_and_warned_of(item):
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, item=item)
    assert len(crawl.items) == len(PAGES)
    assert crawl.counts("containment/") == {"contains": QUOTES, "untagged": QUOTES}
    [warning] = crawl.logged("WARNING")
    assert f"they have no field '{FIELD}'" in warning


@pytest.mark.slow
@pytest.mark.parametrize("item", ["dict", *slowly("dataclass", "attrs", "pydantic", "scrapy")])
def test_items_of_each_kind_are_tagged_in_a_field_that_they_have(item):
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, item=item, NEARDUP_CONTAINMENT_FIELD="neardup")
    found = [each["path"] for each in crawl.items if each.get("neardup")]
    assert sorted(found) == [f"whole/{n}" for n in range(QUOTES)]
    assert crawl.counts("containment/") == {"contains": QUOTES, "tagged": QUOTES}


@pytest.mark.slow
def test_fields_of_items_are_compared_where_they_are_judged():
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, NEARDUP_ITEM_FIELD="text")
        told = tags(crawl)
        assert told.keys() == {f"whole/{n}" for n in range(QUOTES)}
        assert {tag["contains"] for tag in told.values()} == {
            site.url(f"/quote/{n}#item-1") for n in range(QUOTES)
        }


@pytest.mark.slow
def test_it_works_beside_a_method():
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, NEARDUP_METHOD="exact")
    assert len(tags(crawl)) == QUOTES


@pytest.mark.parametrize("off", [False, *slowly("off", "0", None)])
def test_it_is_off_unless_asked_for(off):
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, NEARDUP_CONTAINMENT=off)
    assert tags(crawl) == {}
    assert crawl.counts("containment/") == {}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"NEARDUP_CONTAINMENT": "often"}, "NEARDUP_CONTAINMENT is 'often'"),
        ({"NEARDUP_CONTAINMENT": 1.5}, "'on', 'off' or a number above 0, at most 1"),
        ({"NEARDUP_CONTAINMENT_FIELD": 5}, "NEARDUP_CONTAINMENT_FIELD is 5"),
        ({"NEARDUP_EXTRACTION": "lazy"}, "'full' with NEARDUP_CONTAINMENT"),
    ],
)
def test_what_cannot_be_is_refused_at_start(settings, expected):
    with serving(PAGES) as site:
        crawl = crawled(site, "/other", **settings)
        assert not site.hits
    assert [text for _, level, text in crawl.log if level == "CRITICAL" and expected in text]
