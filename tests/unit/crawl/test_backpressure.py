"""Pages wait before their callbacks; other responses do not wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

import pytest
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.test import get_crawler

from scrapy_neardup import NearDupDownloaderMiddleware
from scrapy_neardup.crawl.backpressure import Throttle
from scrapy_neardup.crawl.judge import find_judge
from tests.support.crawl import LOOPS, run_crawl
from tests.support.server import serving
from tests.support.texts import article, page

#: How many pages are at one worker.
FULL = 16

no_reactor = pytest.mark.skipif("no reactor" not in LOOPS, reason="needs Scrapy 2.15")


async def settled() -> None:
    """Let the loop turn until nothing moves any more."""
    for _ in range(20):
        await asyncio.sleep(0)


def in_a_loop(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), 60))

    run.__name__ = test.__name__
    return no_reactor(run)


# --- the throttle itself ----------------------------------------------------------------


@in_a_loop
async def test_a_page_that_has_been_read_lets_the_next_one_through():
    throttle, done = Throttle(1), []

    async def wait(number: int) -> None:
        await throttle.turn()
        done.append(number)

    with ExitStack() as reading:
        for _ in range(FULL - 1):
            reading.enter_context(throttle.reading())
        with throttle.reading():
            tasks = [asyncio.create_task(wait(number)) for number in range(3)]
            await settled()
            assert done == []
        await settled()
        assert done == [0]
    await asyncio.gather(*tasks)
    assert done == [0, 1, 2]


@in_a_loop
async def test_released_page_counts_until_it_is_read_or_settled():
    throttle = Throttle(1)
    for _ in range(FULL):
        await throttle.turn()
    fifth = asyncio.create_task(throttle.turn())
    await settled()
    assert not fifth.done()
    throttle.settle()
    await settled()
    assert fifth.done()
    with throttle.reading():
        sixth = asyncio.create_task(throttle.turn())
        await settled()
        assert not sixth.done()
    await sixth


@in_a_loop
async def test_released_page_without_news_counts_for_a_moment_only():
    throttle = Throttle(1)
    for _ in range(10 * FULL):
        await throttle.turn()


@in_a_loop
async def test_cancelled_page_takes_no_turn():
    throttle = Throttle(1)
    with ExitStack() as reading:
        for _ in range(FULL):
            reading.enter_context(throttle.reading())
        waiting = [asyncio.create_task(throttle.turn()) for _ in range(2)]
        await settled()
        waiting[0].cancel()
        await settled()
        assert not waiting[1].done()
    await waiting[1]
    assert waiting[0].cancelled()


@in_a_loop
async def test_pages_do_not_wait_without_workers():
    throttle = Throttle(0)
    with throttle.reading():
        for _ in range(1000):
            await throttle.turn()


# --- what is held back ------------------------------------------------------------------

PAGE = HtmlResponse("https://a.example/", body=b"<p>x")
TEXT = TextResponse("https://a.example/", headers={"Content-Type": "text/plain"})
JSON = JsonResponse("https://a.example/", body=b"{}")


def request(**how: object) -> Request:
    return Request("https://a.example/", **how)  # type: ignore[arg-type]


@no_reactor
@pytest.mark.parametrize(
    ("asked", "response", "settings", "held"),
    [
        (request(), PAGE, {}, True),
        (request(), TEXT, {}, True),
        (request(meta={"neardup": {"action": "tag"}}), PAGE, {}, True),
        (request(), JSON, {"NEARDUP_ITEM_FIELD": "text"}, True),
        (request(), JSON, {}, False),
        (request(), Response("https://a.example/x.png"), {}, False),
        (request(), PAGE.replace(status=404), {}, False),
        (request(meta={"neardup": False}), PAGE, {}, False),
        (request(meta={"neardup": False}), JSON, {"NEARDUP_ITEM_FIELD": "text"}, False),
        (request(callback=NO_CALLBACK), PAGE, {}, False),
    ],
)
def test_only_responses_that_may_be_judged_wait(asked, response, settings, held):
    async def test() -> None:
        crawler = _crawler({"NEARDUP_WORKERS": 1, **settings})
        middleware = NearDupDownloaderMiddleware.from_crawler(crawler)
        with ExitStack() as reading:
            for _ in range(FULL):
                reading.enter_context(middleware._judge.session.throttle.reading())
            answer = asyncio.create_task(middleware.process_response(asked, response))
            await settled()
            assert answer.done() is not held
        assert await answer is response

    asyncio.run(asyncio.wait_for(test(), 60))


@no_reactor
def test_page_without_results_makes_room_at_once():
    async def test() -> None:
        judge = find_judge(_crawler({"NEARDUP_WORKERS": 1}))
        for _ in range(FULL):
            await judge.session.throttle.turn()
        next_one = asyncio.create_task(judge.session.throttle.turn())
        await settled()
        assert not next_one.done()
        judge.pass_page("no_output", Response("https://a.example/"))
        await settled()
        assert next_one.done()

    asyncio.run(asyncio.wait_for(test(), 60))


@no_reactor
def test_responses_do_not_wait_without_workers():
    async def test() -> None:
        judge = find_judge(_crawler({"NEARDUP_WORKERS": 0}))
        for _ in range(10 * FULL):
            await judge.session.throttle.turn()

    asyncio.run(asyncio.wait_for(test(), 60))


def _crawler(settings):
    addon = {"ADDONS": {"scrapy_neardup.Addon": 500}, "TWISTED_REACTOR_ENABLED": False}
    return get_crawler(settings_dict={**addon, **settings})


# --- attempts at a deadlock -------------------------------------------------------------

SLOW = {"NEARDUP_WORKERS": 1, "NEARDUP_TOKENIZER": "tests.support.parts.touchy"}


def slow_pages(count: int, *more: str) -> dict[str, str]:
    """Pages that take the worker a while, and pages below each of them."""
    return {
        f"/{n}{below}": page(f"sleep 0.05 {below} {' '.join(article(seed=n))}")
        for n in range(count)
        for below in ("", *more)
    }


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("requests", [1, 32])
def test_pages_that_callbacks_ask_for_come_through(loop, requests):
    pages = slow_pages(20, "/before", "/after")
    settings = {
        **SLOW,
        "CONCURRENT_REQUESTS": requests,
        "CONCURRENT_REQUESTS_PER_DOMAIN": requests,
    }
    with serving(pages) as site:
        start = [site.url(f"/{n}") for n in range(20)]
        crawl = run_crawl(start, settings, loop=loop, spider="InlineSpider")
    assert len(crawl.stored) == 40
    assert crawl.counts("pages/") == {"new": 20}


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_callbacks_that_wait_for_a_later_page_do_not_keep_it_away(loop):
    pages = slow_pages(20)
    with serving(pages) as site:
        start = list(map(site.url, pages))
        settings = {**SLOW, "CONCURRENT_REQUESTS": 1}
        crawl = run_crawl(start, settings, loop=loop, spider="WaitingSpider")
    assert len(crawl.stored) == 20
    assert crawl.judged[0]["url"] == start[-1]


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_pages_without_results_block_no_page(loop):
    pages = slow_pages(60)
    with serving(pages) as site:
        crawl = run_crawl(list(map(site.url, pages)), SLOW, loop=loop, spider="MutedSpider")
    assert len(crawl.stored) == 12
    counts = crawl.counts()
    assert counts.pop("bytes/judged") > 0
    assert counts == {
        "responses": 60,
        "pages/new": 12,
        "items/kept": 12,
        "skipped/no_output": 24,
        "skipped/callback_failed": 24,
    }
    assert crawl.stats["spider_exceptions/ZeroDivisionError"] == 24
