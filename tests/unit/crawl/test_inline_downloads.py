"""Requests of a callback are told from those that the engine sends in a copy of its context."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from scrapy_neardup.crawl.requests.inline_downloads import CallbackRun, InlineDownloads

URL = "https://site.example/price"


@pytest.fixture
def downloads() -> InlineDownloads:
    return InlineDownloads()


async def outputs(run: CallbackRun, result: AsyncIterator[Any]) -> list[tuple[Any, bool]]:
    return [(output, run.has_downloaded) async for output in run.outputs_of(result)]


def test_a_request_counts_from_where_the_callback_makes_it(downloads):
    async def callback() -> AsyncIterator[str]:
        yield "before"
        await asyncio.sleep(0)
        downloads.sent(Request(URL))
        yield "after"

    assert asyncio.run(outputs(CallbackRun(), callback())) == [("before", False), ("after", True)]


def test_a_request_between_two_outputs_is_no_callbacks(downloads):
    async def callback() -> AsyncIterator[str]:
        yield "first"
        yield "second"

    async def main() -> bool:
        run = CallbackRun()
        async for _ in run.outputs_of(callback()):
            downloads.sent(Request(URL))
        return run.has_downloaded

    assert not asyncio.run(main())


def test_a_task_downloads_for_the_callback_that_has_started_it(downloads):
    async def download() -> None:
        await asyncio.sleep(0.01)
        downloads.sent(Request(URL, callback=NO_CALLBACK))

    async def callback() -> AsyncIterator[str]:
        price = asyncio.create_task(download())
        yield "at once"
        await price
        yield "with the price"

    found = asyncio.run(outputs(CallbackRun(), callback()))
    assert found == [("at once", False), ("with the price", True)]


def test_what_the_engine_sends_in_the_context_of_a_callback_is_none_of_it(downloads):
    scheduled, from_disk = Request(URL), Request(URL, callback=print)
    downloads.scheduled(scheduled)

    async def callback() -> AsyncIterator[str]:
        downloads.sent(scheduled)
        downloads.sent(from_disk)
        yield "item"

    assert asyncio.run(outputs(CallbackRun(), callback())) == [("item", False)]


def test_requests_of_other_callbacks_that_run_meanwhile_are_theirs(downloads):
    async def quiet() -> AsyncIterator[str]:
        await asyncio.sleep(0.01)
        yield "item"

    async def busy() -> AsyncIterator[str]:
        downloads.sent(Request(URL))
        yield "item"

    async def main() -> list[bool]:
        runs = CallbackRun(), CallbackRun()
        await asyncio.gather(outputs(runs[0], quiet()), outputs(runs[1], busy()))
        return [run.has_downloaded for run in runs]

    assert asyncio.run(main()) == [False, True]
