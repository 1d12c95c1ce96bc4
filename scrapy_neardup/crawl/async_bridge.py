"""Awaits the results of other threads, with any reactor or none and any version of Scrapy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from threading import get_ident
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

K = TypeVar("K")
T = TypeVar("T")


def engine_of(crawler: Crawler) -> ExecutionEngine | None:
    """Return the crawler's engine, or None where there is none yet.

    From Scrapy 2.19 on, reading ``crawler.engine`` before it is set raises RuntimeError.
    """
    try:
        return crawler.engine
    except RuntimeError:
        return None


async def result_of(future: Future[T]) -> T:
    """Wait for a future of another thread, and return its result."""
    if not future.done():
        await wait_for(future)
    return future.result()


class Outcomes(Generic[K, T]):
    """Caches one asynchronous result per object, however many tasks request it at once.

    A result is forgotten with its object.
    """

    def __init__(self) -> None:
        self._futures: WeakKeyDictionary[K, Future[T]] = WeakKeyDictionary()

    async def get(self, about: K, find_out: Callable[[], Awaitable[T]]) -> T:
        """Return what was found out about an object, or find it out.

        :raises Exception: the one that this raised, for all who ask.
        """
        if about not in self._futures:
            outcome = self._futures[about] = Future()
            try:
                outcome.set_result(await find_out())
            except BaseException as error:
                outcome.set_exception(error)
        return await result_of(self._futures[about])


async def wait_for(future: Future[Any] | None, seconds: float | None = None) -> None:
    """Wait until a future is done or so many seconds have passed, whichever is first."""
    if future is not None and future.done():
        return
    woken: Deferred[None] = Deferred()

    def wake() -> None:
        if not woken.called:
            woken.callback(None)

    alarm = None if seconds is None else call_later(max(seconds, 0), wake)
    if future is not None:
        wake_from_any_thread = from_any_thread(wake)
        future.add_done_callback(lambda _: wake_from_any_thread())
    await maybe_deferred_to_future(woken)
    if alarm is not None:
        alarm.cancel()


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


def start(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in the background."""
    deferred_from_coro(coroutine)


def from_any_thread(call: Callable[..., None]) -> Callable[..., None]:
    """Return a function that any thread may call: it runs the call in the current event loop."""
    if is_asyncio_available():
        loop, thread = asyncio.get_event_loop(), get_ident()

        def soon(*given: Any) -> None:
            if loop.is_closed():
                return
            if get_ident() == thread:
                # The loop is awake, and need not be woken by a system call.
                loop.call_soon(call, *given)
            else:
                loop.call_soon_threadsafe(call, *given)

        return soon
    from twisted.internet import reactor

    return lambda *given: reactor.callFromThread(call, *given)
