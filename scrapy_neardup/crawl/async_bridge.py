"""Awaits the results of other threads, with any reactor or without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from scrapy.utils.asyncio import is_asyncio_available
from twisted.internet.defer import Deferred

T = TypeVar("T")


async def result_of(future: Future[T]) -> T:
    """Wait for a future of another thread, and return its result."""
    if future.done():
        return future.result()
    if is_asyncio_available():
        # A crawl that is being stopped cancels the waiting coroutine, not the work.
        return await asyncio.shield(asyncio.wrap_future(future))
    from twisted.internet import reactor

    done: Deferred[None] = Deferred()
    future.add_done_callback(lambda _: reactor.callFromThread(done.callback, None))
    await done
    return future.result()


async def in_thread(call: Callable[[], T], threads: ThreadPoolExecutor | None = None) -> T:
    """Call in a thread, and return the result.

    :param threads: the pool to use; a new thread unless given.
    """
    if threads is not None:
        return await result_of(threads.submit(call))
    own = ThreadPoolExecutor(1, "neardup-aside")
    try:
        return await result_of(own.submit(call))
    finally:
        own.shutdown(wait=False)


async def wait_for(future: Future[Any] | None, seconds: float) -> None:
    """Wait until a future is done, at most so many seconds; without a future, exactly so many."""
    if is_asyncio_available():
        if future is None:
            await asyncio.sleep(seconds)
        else:
            await asyncio.wait([asyncio.wrap_future(future)], timeout=seconds)
        return
    reactor: Any = import_module("twisted.internet.reactor")
    woken: Deferred[None] = Deferred()

    def wake() -> None:
        if not woken.called:
            woken.callback(None)

    alarm = reactor.callLater(seconds, wake)
    if future is not None:
        future.add_done_callback(lambda _: reactor.callFromThread(wake))
    await woken
    if alarm.active():
        alarm.cancel()


def start(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in the background."""
    if is_asyncio_available():
        task = asyncio.get_event_loop().create_task(coroutine)
        _running.add(task)
        task.add_done_callback(_running.discard)
    else:
        Deferred.fromCoroutine(coroutine)


async def yield_to_loop() -> None:
    """Let other tasks of the event loop run; a no-op without asyncio."""
    if is_asyncio_available():
        await asyncio.sleep(0)


def from_any_thread(call: Callable[..., None]) -> Callable[..., None]:
    """Return a function that any thread may call: it runs the call in the current event loop."""
    if is_asyncio_available():
        loop = asyncio.get_event_loop()

        def soon(*given: Any) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call, *given)

        return soon
    reactor: Any = import_module("twisted.internet.reactor")
    return partial(reactor.callFromThread, call)


#: The event loop itself holds only weak references to tasks.
_running: set[asyncio.Task[None]] = set()
