"""Backpressure: pages reach their callbacks only as fast as workers read pages.

For each page in a callback Scrapy keeps ``CONCURRENT_ITEMS`` tasks, and each full garbage
collection walks through all of them while the event loop is blocked. Pages that would only wait
for a worker therefore wait earlier, as responses, where they also keep Scrapy's downloader from
fetching more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

#: Pages per worker: those that it reads, and as many that it reads next, because it goes on while
#: the event loop is blocked. With more, the answers would come in bursts that block the loop for
#: longer than Scrapy itself does.
_PAGES_PER_WORKER = 16

#: Seconds after which a page that was let through is no longer counted without news: its callback
#: is slow, has failed, or there is none.
_SILENCE_SECONDS = 0.1


class Throttle:
    """Lets pages through while few are in progress.

    Pages wait for workers only, never for a callback, so every waiting page gets its turn whatever
    callbacks do or wait for.

    :param workers: number of processes that read pages; with 0 nothing waits.
    """

    def __init__(self, workers: int) -> None:
        self._most = _PAGES_PER_WORKER * workers
        self._being_read = 0
        #: Pages that were let through, and are neither being read nor settled otherwise yet.
        self._coming = 0
        self._waiting: deque[Deferred[None]] = deque()
        self._silence: CallLaterResult | None = None

    async def turn(self) -> None:
        """Wait until this page may go on; first come, first served."""
        if not self._most:
            return
        if not self._waiting and self._has_room:
            self._coming += 1
            return
        place: Deferred[None] = Deferred()
        self._waiting.append(place)
        self._let_through()
        await maybe_deferred_to_future(place)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count a page while it waits for its signature."""
        self._being_read += 1
        self.settle()
        try:
            yield
        finally:
            self._being_read -= 1
            self._let_through()

    def settle(self) -> None:
        """Note that a page that was let through is now being read, or will not be."""
        self._coming = max(0, self._coming - 1)
        self._let_through()

    @property
    def _has_room(self) -> bool:
        return self._being_read + self._coming < self._most

    def _let_through(self) -> None:
        while self._waiting and self._has_room:
            self._coming += 1
            self._waiting.popleft().callback(None)
        if self._waiting and self._coming and self._silence is None:
            self._silence = call_later(_SILENCE_SECONDS, self._forget)

    def _forget(self) -> None:
        self._silence = None
        self._coming = 0
        self._let_through()
