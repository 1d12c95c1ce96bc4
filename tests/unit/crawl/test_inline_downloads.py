"""Requests in the context of a callback are its own while it runs, and others are not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from scrapy_neardup.crawl.requests.inline_downloads import CallbackRun, note_request


async def outputs(run: CallbackRun, result: AsyncIterator[Any]) -> list[tuple[Any, bool]]:
    found = []
    async for output in run.outputs_of(result):
        note_request()  # by the engine, between two outputs
        found.append((output, run.has_downloaded))
    return found


def test_a_request_counts_from_where_the_callback_makes_it():
    async def callback() -> AsyncIterator[str]:
        yield "before"
        await asyncio.sleep(0)
        note_request()
        yield "after"

    assert asyncio.run(outputs(CallbackRun(), callback())) == [("before", False), ("after", True)]


def test_a_request_in_a_task_of_the_callback_is_its_own():
    async def download() -> None:
        note_request()

    async def callback() -> AsyncIterator[str]:
        await asyncio.gather(download(), asyncio.sleep(0))
        yield "item"

    assert asyncio.run(outputs(CallbackRun(), callback())) == [("item", True)]


def test_what_a_callback_has_set_going_is_not_its_own_once_it_has_yielded():
    async def engine() -> None:
        await asyncio.sleep(0.01)
        note_request()

    tasks = []

    async def callback() -> AsyncIterator[str]:
        tasks.append(asyncio.create_task(engine()))
        yield "item"

    async def main() -> bool:
        run = CallbackRun()
        await outputs(run, callback())
        await asyncio.gather(*tasks)
        return run.has_downloaded

    assert not asyncio.run(main())


def test_requests_of_other_callbacks_that_run_meanwhile_are_theirs():
    async def quiet() -> AsyncIterator[str]:
        await asyncio.sleep(0.01)
        yield "item"

    async def busy() -> AsyncIterator[str]:
        note_request()
        yield "item"

    async def main() -> list[bool]:
        runs = CallbackRun(), CallbackRun()
        await asyncio.gather(outputs(runs[0], quiet()), outputs(runs[1], busy()))
        return [run.has_downloaded for run in runs]

    assert asyncio.run(main()) == [False, True]
