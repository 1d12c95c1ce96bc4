"""Calls a store without blocking the event loop, and handles its failures.

After each failure calls are paused for a longer while, so that no page waits for time-outs (a
circuit breaker: Nygard, "Release It!", 2007).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic, perf_counter
from typing import TypeVar

from ...exceptions import StoreError
from ...stores import Store
from ..async_bridge import in_thread, result_of, start

T = TypeVar("T")

#: Concurrent calls to a remote store.
_THREADS = 8
#: Seconds for which calls are paused after a failure: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0


class StoreCalls:
    """Calls a store: a remote one in threads, one of this process directly."""

    def __init__(self, store: Store, on_failure: Callable[[StoreError], None]) -> None:
        #: Seconds spent in a store of this process.
        self.seconds = 0.0
        self.threads = ThreadPoolExecutor(_THREADS, "neardup-call") if store.is_remote else None
        self._on_failure = on_failure
        self._pause = _FIRST_PAUSE
        self._paused_until = 0.0
        self._n_running = 0
        self._idle: Future[None] | None = None

    @property
    def is_paused(self) -> bool:
        """Are calls paused after a failure?"""
        return monotonic() < self._paused_until

    @property
    def is_idle(self) -> bool:
        """Have all calls of :meth:`tell` ended?"""
        return not self._n_running

    async def ask(self, call: Callable[[], T]) -> T:
        """Call, and return the answer.

        :raises StoreError: when it fails.
        """
        if self.threads is not None:
            return await in_thread(call, self.threads)
        started = perf_counter()
        try:
            return call()
        finally:
            self.seconds += perf_counter() - started

    def tell(self, call: Callable[[], None], if_lost: Callable[[], None] = lambda: None) -> None:
        """Call without waiting for the answer.

        :param if_lost: called when the store fails.
        """
        if self.threads is not None:
            self._n_running += 1
            start(self._tell_in_thread(call, if_lost))
            return
        try:
            call()
        except StoreError as error:
            self.failed(error)
            if_lost()

    def failed(self, error: StoreError) -> None:
        """Pause calls, and report the error."""
        self._paused_until = monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        self._on_failure(error)

    def succeeded(self) -> None:
        """Reset the length of the next pause."""
        self._pause = _FIRST_PAUSE

    async def finish(self) -> None:
        """Wait until all calls have ended."""
        if self._n_running:
            self._idle = Future()
            await result_of(self._idle)

    async def close(self, store: Store) -> None:
        """Close the store and end the threads; raises StoreError as the store does."""
        await in_thread(store.close, self.threads)
        if self.threads is not None:
            self.threads.shutdown(wait=False)

    async def _tell_in_thread(self, call: Callable[[], None], if_lost: Callable[[], None]) -> None:
        try:
            await in_thread(call, self.threads)
        except StoreError as error:
            self.failed(error)
            if_lost()
        finally:
            self._n_running -= 1
            if not self._n_running and self._idle is not None:
                self._idle.set_result(None)
