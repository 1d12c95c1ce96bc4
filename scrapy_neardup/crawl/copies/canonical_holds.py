"""Holds pages back while the pages that they declare as canonical are being fetched.

The canonical page then becomes the original, although a print view of it came first. A page is held
only while a request for its canonical URL is scheduled or in progress, for a bounded time, and only
few pages at once: the others go on, so the crawl never waits for itself. A page that is held has
claimed nothing, and takes no place in the downloader. Whatever becomes of the canonical page, the
held one is judged afterwards as it would have been, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.http import Request, Response
from scrapy.utils.datatypes import LocalCache

from ..._util.urls import page_key
from ..async_bridge import engine_of, wait_for
from ..responses import page_links
from .contents import credible

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: Scheduled URLs that are remembered; for the oldest beyond that no page is held.
_MAX_SCHEDULED = 200_000
#: Pages that are held at once, at most, and their share of the bytes from which on Scrapy fetches
#: no more.
_MAX_HELD = 16
_MAX_SHARE = 0.25
#: Seconds after which a held page looks whether the spider is being closed.
_POLL_SECONDS = 0.5


class CanonicalHolds:
    """Holds the pages of one crawl back.

    :param max_wait: seconds that a page is held at most.
    :param count: adds to a stat.
    """

    def __init__(
        self, crawler: Crawler, max_wait: float, count: Callable[[str, int], None]
    ) -> None:
        self._crawler = crawler
        self._max_wait = max_wait
        self._count = count
        most = crawler.settings.getint("SCRAPER_SLOT_MAX_ACTIVE_SIZE", 5_000_000)
        self._max_bytes = most * _MAX_SHARE
        self._bytes = 0
        #: Keys of URLs with a request that has no outcome yet, and the ids of the requests.
        self._scheduled = LocalCache[str, int](_MAX_SCHEDULED)
        #: Futures that wake the pages held for a URL, by its key.
        self._waking: dict[str, list[Future[None]]] = {}
        crawler.signals.connect(self._on_scheduled, signals.request_scheduled)
        crawler.signals.connect(self._on_dropped, signals.request_dropped)

    def _on_scheduled(self, request: Request) -> None:
        if request.method == "GET":
            self._scheduled.setdefault(page_key(request.url), id(request))

    def _on_dropped(self, request: Request) -> None:
        """Note that the scheduler refused a request; another one may have the same URL."""
        self._end(request.meta.get("redirect_urls", ()))
        if self._scheduled.get(page_key(request.url)) == id(request):
            self._end([request.url])

    def end(self, request: Request | None) -> None:
        """Note that the outcome of a request is known, and that of those it was redirected from."""
        if request is not None:
            self._end([request.url, *request.meta.get("redirect_urls", ())])

    def _end(self, urls: Iterable[str]) -> None:
        for key in map(page_key, urls):
            self._scheduled.pop(key, None)
            for future in self._waking.pop(key, ()):
                future.set_result(None)

    async def hold(self, response: Response) -> None:
        """Wait while a page should not be judged, because its canonical page is on its way."""
        canonical = credible(page_links(response).canonical, response.url)
        key = None if canonical is None else page_key(canonical)
        if key is None or key not in self._scheduled or key in _keys_of(response):
            return
        size = len(response.body)
        n_held = sum(map(len, self._waking.values()))
        if n_held >= _MAX_HELD or self._bytes + size > self._max_bytes:
            self._count("held/too_many", 1)
            return
        # Else two pages that declare each other would wait for each other.
        self._scheduled.pop(page_key(response.url), None)
        outcome = Future[None]()
        self._waking.setdefault(key, []).append(outcome)
        self._bytes += size
        self._count("held/pages", 1)
        try:
            await self._wait_for(outcome)
        finally:
            self._bytes -= size
            if not outcome.done():
                self._forget(key, outcome)

    async def _wait_for(self, outcome: Future[None]) -> None:
        """Wait for an outcome, until the time is over or the spider is being closed."""
        until = monotonic() + self._max_wait
        while not (outcome.done() or self._is_closing()):
            seconds = until - monotonic()
            if seconds <= 0:
                self._count("held/timed_out", 1)
                return
            await wait_for(outcome, min(seconds, _POLL_SECONDS))

    def _forget(self, key: str, outcome: Future[None]) -> None:
        self._waking[key].remove(outcome)
        if not self._waking[key]:
            del self._waking[key]

    def _is_closing(self) -> bool:
        engine = engine_of(self._crawler)
        slot = getattr(engine, "_slot", None) or getattr(engine, "slot", None)
        return getattr(slot, "closing", None) is not None


def _keys_of(response: Response) -> set[str]:
    """Return the keys of a page's URL and of those that were redirected to it."""
    redirected = () if response.request is None else response.meta.get("redirect_urls", ())
    return set(map(page_key, [response.url, *redirected]))
