"""Pages are read before their callbacks run, so that a verdict needs no wait."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from scrapy.settings import Settings

from scrapy_neardup.crawl import page_signing
from scrapy_neardup.crawl.backpressure import Throttle
from scrapy_neardup.crawl.page_signing import PageSigning
from scrapy_neardup.crawl.settings import Config
from scrapy_neardup.sources.record import Record
from scrapy_neardup.text import normalization
from scrapy_neardup.workers import Failure
from tests.unit.crawl.test_backpressure import in_a_loop, no_reactor

TOUCHY = {"NEARDUP_TOKENIZER": "tests.support.parts.touchy"}


def record(number: int, text: str = "a ferry") -> Record:
    return Record(str(number), f"https://a.example/{number}", f"{text} {number}", "text")


@asynccontextmanager
async def signing(**settings: Any) -> AsyncIterator[PageSigning]:
    config = Config.from_settings(Settings({"NEARDUP_WORKERS": 1, **settings}))
    pages = PageSigning(config, bytes(16), Throttle(1), None)
    pages.start()
    try:
        yield pages
    finally:
        pages.pool.stop()


def result_at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that must not wait for anything."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise AssertionError("it waits")


@in_a_loop
async def test_a_page_that_was_read_ahead_is_signed_at_once():
    async with signing() as pages:
        await pages.read_ahead(record(1))
        signature, *_ = result_at_once(pages.sign(record(1)))
        assert signature.url == "https://a.example/1"
        assert pages.reused == 0
        # The same bytes at another address.
        signature, *_ = result_at_once(pages.sign(replace(record(1), url="https://b.example/")))
        assert (signature.url, signature.site) == ("https://b.example/", "b.example")
        assert pages.reused == 1


@in_a_loop
async def test_a_failure_while_reading_ahead_is_said_once_and_costs_one_try():
    async with signing(**TOUCHY, NEARDUP_PAGE_TIMEOUT=1) as pages:
        slow = record(1, "sleep 5")
        await pages.read_ahead(slow)
        result = result_at_once(pages.sign(slow))
        assert isinstance(result, Failure)
        assert result.reason == "timeout"
        assert pages.pool.lost == 1


@in_a_loop
async def test_pages_are_read_ahead_unless_many_yield_nothing():
    async with signing() as pages:
        for number in range(20):
            if pages.reads_ahead:
                await pages.read_ahead(record(number))
            pages.forget(record(number))
        assert not pages.reads_ahead
        # A page that was not read ahead is signed all the same.
        result = await pages.sign(record(99))
        assert isinstance(result, tuple)


@in_a_loop
async def test_pages_are_not_read_ahead_in_the_process_of_the_crawl():
    async with signing(NEARDUP_WORKERS=0) as pages:
        assert not pages.reads_ahead


@no_reactor
def test_pages_that_nobody_asks_for_end_the_reading_ahead(monkeypatch):
    monkeypatch.setattr("scrapy_neardup.crawl.page_signing._READ", 8)

    @in_a_loop
    async def run() -> None:
        async with signing() as pages:
            number = 0
            while pages.reads_ahead:
                await pages.read_ahead(record(number))
                number += 1
                assert number < 50
            assert number > 8

    run()


def test_the_table_of_characters_is_made_before_a_page_needs_it():
    # It takes a tenth of a second, in which the event loop would stand.
    normalization._folds.cache_clear()
    page_signing.load_tables()
    assert normalization._folds.cache_info().currsize == 1
