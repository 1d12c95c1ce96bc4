"""The pace of a crawl: pages come to their callbacks only as fast as workers read pages.

For each page in its spiders Scrapy keeps ``CONCURRENT_ITEMS`` tasks, and each full collection of
garbage walks through all of them while the event loop stands still. So pages that would only wait
for a worker had better wait before, as mere responses, where they also keep Scrapy's downloader
from fetching more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

#: For each worker, what it reads included: while the loop is held, workers go on. A worker is given
#: what waits at once, so of more than these the answers would come in bursts that hold the loop for
#: longer than Scrapy does by itself.
_PAGES_PER_WORKER = 8

#: A page that was let through and of which nothing is heard for so long counts no more: its
#: callback takes its time, has failed, or never was one. It takes some turns of the loop otherwise.
_SILENCE_SECONDS = 0.1


class Throttle:
    """Lets pages through while few are under way.

    Nobody waits for a page's callback here, only for workers, and workers wait for nobody: a page
    that waits always gets its turn, whatever callbacks do or wait for.

    :param workers: number of processes that read pages; with 0 everything is let through.
    """

    def __init__(self, workers: int) -> None:
        self._most = _PAGES_PER_WORKER * workers
        self._being_read = 0
        #: Let through, and neither being read yet nor settled otherwise.
        self._coming = 0
        self._waiting: deque[Deferred[None]] = deque()
        self._silence: CallLaterResult | None = None

    async def turn(self) -> None:
        """Wait until this page may go on; those that came before go first."""
        if not self._most:
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
        """Of a page that was let through it is known now whether it will be read."""
        self._coming = max(0, self._coming - 1)
        self._let_through()

    def _let_through(self) -> None:
        while self._waiting and self._being_read + self._coming < self._most:
            self._coming += 1
            self._waiting.popleft().callback(None)
        if self._waiting and self._coming and self._silence is None:
            self._silence = call_later(_SILENCE_SECONDS, self._forget)

    def _forget(self) -> None:
        self._silence = None
        self._coming = 0
        self._let_through()
