"""Print views that wait for their canonical pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from tests.crawl.test_crawl_containment import slowly
from tests.crawl.test_crawl_copies import declaring
from tests.support.crawl import LOOPS, Crawl, CrawlSpider, run_crawl
from tests.support.server import Answer, Site, serving
from tests.support.texts import FERRY, MUSEUM, article, page

PRINT, CANONICAL = declaring("/ferry"), page(FERRY + " Book now.", "Ferry")

#: Scrapy asks for the last one first.
HUB = page(" ".join(article(200)), "Hub", links="/ferry /print")


Pages = dict[str, Answer | str]


def slow(body: str | bytes, seconds: float = 1.0) -> Callable[[], bytes]:
    def answer() -> bytes:
        time.sleep(seconds)
        return body.encode() if isinstance(body, str) else body

    return answer


def crawled(site: Site, *paths: str, **settings: Any) -> Crawl:
    loop, spider = settings.pop("loop", "reactor"), settings.pop("spider", "CrawlSpider")
    return run_crawl(
        [site.url(path) for path in paths],
        {"NEARDUP_PREFER": "canonical", "NEARDUP_MAX_WAIT": 20, **settings},
        loop=loop,
        spider=spider,
    )


@pytest.mark.parametrize(
    ("loop", "workers"), [(LOOPS[-1], 0), *slowly((LOOPS[0], 0), (LOOPS[0], 1), (LOOPS[-1], 1))]
)
def test_the_canonical_page_becomes_the_original(loop, workers):
    pages: Pages = {"/print": PRINT, "/print2": PRINT, "/ferry": Answer(slow(CANONICAL))}
    with serving(pages) as site:
        paths = ["/print", "/print2", "/ferry"]
        preferred = crawled(site, *paths, loop=loop, NEARDUP_WORKERS=workers)
    assert preferred.stored == ["ferry"]
    assert preferred.counts("held/") == {"pages": 2}


def test_a_page_that_its_canonical_url_redirects_to_does_not_wait_for_it():
    story = declaring("/ferry")
    with serving(
        {"/ferry": Answer(b"", status=302, headers={"Location": "/in/en"}), "/in/en": story}
    ) as site:
        redirected = crawled(site, "/ferry")
    assert redirected.stored == ["in/en"]
    assert redirected.counts("held/") == {}


def test_by_default_the_first_page_is_the_original():
    with serving({"/print": PRINT, "/ferry": Answer(slow(CANONICAL))}) as site:
        first = crawled(site, "/print", "/ferry", NEARDUP_PREFER="first")
    assert first.stored == ["print"]
    assert first.counts("held/") == {}


OUTCOMES: Pages = {
    "status": Answer(status=404),
    "retried": Answer(status=503),
    "redirect to the print view": Answer(status=301, headers={"Location": "/print"}),
    "redirect": Answer(status=302, headers={"Location": "/other"}),
    "no text": Answer(b"\0", "image/png"),
    "other content": page(MUSEUM, "Museum"),
    "no output": page("mute", "Mute"),
    "fails": declaring("/print"),
}


class Failing(CrawlSpider):
    def parse(self, response: Response) -> Any:
        if response.url.endswith("/ferry") and b"<title>Mute" not in response.body:
            yield Request(response.url + "/more")
            if b"canonical" in response.body:
                raise ZeroDivisionError
        if b"<title>Mute" not in response.body:
            yield from super().parse(response)


@pytest.mark.parametrize("outcome", ["status", *slowly(*list(OUTCOMES)[1:])])
def test_a_canonical_page_that_is_none_loses_nothing(outcome):
    answer = OUTCOMES[outcome]
    answer = Answer(answer) if isinstance(answer, str) else answer
    assert not callable(answer.body)
    answer = replace(answer, body=slow(answer.body, 0.5))
    pages: Pages = {"/print": PRINT, "/other": page(MUSEUM, "Museum"), "/ferry": answer, "/": HUB}
    with serving(pages) as site:
        crawl = crawled(
            site,
            "/",
            CONCURRENT_REQUESTS=1,
            RETRY_TIMES=1,
            spider=f"{__name__}.Failing",
        )
    assert "print" in crawl.stored
    assert crawl.counts("held/") == {"pages": 1}


class FailingAtOnce(CrawlSpider):
    """Its callback fails before there is any output to iterate over."""

    def parse(self, response: Response) -> Any:
        if response.url.endswith("/ferry"):
            raise ZeroDivisionError
        return super().parse(response)


class FailingInCoroutine(CrawlSpider):
    async def parse(self, response: Response) -> Any:  # type: ignore[override]
        if response.url.endswith("/ferry"):
            raise ZeroDivisionError
        return list(super().parse(response))


@pytest.mark.parametrize("spider", [FailingAtOnce, *slowly(FailingInCoroutine)])
def test_a_page_does_not_wait_for_a_canonical_page_whose_callback_failed(spider):
    pages: Pages = {"/print": PRINT, "/ferry": Answer(slow(CANONICAL, 0.5)), "/": HUB}
    with serving(pages) as site:
        # It would wait until the test is stopped.
        crawl = crawled(
            site,
            "/",
            CONCURRENT_REQUESTS=1,
            NEARDUP_MAX_WAIT=100_000,
            spider=f"{__name__}.{spider.__name__}",
        )
    assert "print" in crawl.stored
    assert crawl.counts("held/") == {"pages": 1}
    assert crawl.counts("skipped/") == {"callback_failed": 1}


def test_a_canonical_page_that_robots_forbid_loses_nothing():
    robots = "User-agent: *\nDisallow: /ferry\n"
    pages: Pages = {"/print": PRINT, "/ferry": PRINT, "/robots.txt": robots, "/": HUB}
    with serving(pages) as site:
        crawl = crawled(site, "/", ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=1)
    assert crawl.stored == ["", "print"]
    assert "timed_out" not in crawl.counts("held/")


def test_pages_that_declare_each_other_do_not_wait_for_each_other():
    pages: Pages = {"/a": declaring("/b"), "/b": declaring("/a")}
    with serving(pages) as site:
        crawl = crawled(site, "/a", "/b")
    assert len(crawl.stored) == 1
    assert "timed_out" not in crawl.counts("held/")


@pytest.mark.slow
def test_a_page_waits_no_longer_than_the_setting_says():
    with serving({"/print": PRINT, "/ferry": Answer(slow(CANONICAL, 6))}) as site:
        crawl = crawled(site, "/print", "/ferry", NEARDUP_MAX_WAIT=1)
    assert crawl.stored == ["print"]
    assert crawl.counts("held/") == {"pages": 1, "timed_out": 1}


@pytest.mark.slow
def test_a_spider_that_closes_judges_what_it_holds():
    pages: Pages = {
        "/print": PRINT,
        "/ferry": Answer(slow(CANONICAL, 3)),
        "/x": page(MUSEUM, "Museum"),
    }
    with serving(pages) as site:
        crawl = crawled(
            site,
            "/print",
            "/ferry",
            "/x",
            NEARDUP_MAX_WAIT=100,
            CLOSESPIDER_ITEMCOUNT=1,
        )
    assert {"print", "x"} <= set(crawl.stored)
    assert crawl.stats["finish_reason"] == "closespider_itemcount"


@pytest.mark.slow
def test_only_few_pages_wait_and_the_crawl_goes_on():
    """The canonical pages come last, behind pages that are larger together than Scrapy takes."""
    texts = {n: " ".join(article(200, seed=n)) for n in range(40)}
    prints = {f"/print/{n}": declaring(f"/story/{n}", text) for n, text in texts.items()}
    pages = {f"/story/{n}": page(text, "Ferry") for n, text in texts.items()}
    # Scrapy asks for the last one first.
    hub = page(MUSEUM, "Museum", links=" ".join([*pages, *prints]))
    pages |= {path: f"{body}<!--{'x' * 200_000}-->" for path, body in prints.items()}
    with serving({"/": hub, **pages}) as site:
        crawl = crawled(site, "/", CONCURRENT_REQUESTS=2, NEARDUP_MAX_WAIT=60)
    assert len(crawl.stored) == 41
    # A quarter of Scrapy's 5 MB; in a slow crawl a story comes before the last print view.
    held = crawl.counts("held/")
    assert held in [{"pages": n, "too_many": 40 - n} for n in (6, 7)]
    assert sum("story/" in path for path in crawl.stored) == held["pages"]
