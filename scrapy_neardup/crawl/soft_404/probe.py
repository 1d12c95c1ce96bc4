"""Asks sites for addresses that cannot exist, in the way of Scrapy's own requests.

The request passes the downloader middlewares and waits in the slot of its site, so that robots.txt,
delays, concurrency, AutoThrottle and proxies apply. It does not pass the scheduler, the engine or
the spider: no callback, dupefilter, queue on disk or count of responses ever sees it. In the slot
it comes before the requests of pages. While nothing else is left to do, the crawl waits for it no
longer than a delay and a second.
"""

from __future__ import annotations

import secrets
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import CallLaterResult, call_later
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from ..._util.urls import site_of
from ..async_bridge import engine_of
from ..responses import why_not_judged

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: Seconds that an answer may take at most.
_TIMEOUT = 10.0
#: Seconds for which a crawl that has nothing else to do waits for answers, besides the delay of
#: their site, and between two looks; what a delay is multiplied by at most.
_GRACE, _LOOK, _MAX_JITTER = 1.0, 0.25, 1.5
_MAX_REDIRECTS = 5
#: Of a page's request, what the site may depend on. Cookies are sent, and none are taken.
_HEADERS = ("User-Agent", "Accept", "Accept-Language", "Authorization", "Cookie")
_META = ("proxy", "cookiejar", "bindaddress", "download_slot", "playwright", "playwright_context")
#: Statuses that say nothing about the address that was asked for.
_BUSY = frozenset((408, 425, 429))
#: Marks our own requests.
_MARK = "neardup_soft_404"


class ProbeAnswer(NamedTuple):
    """The answer of a site to a request of ours.

    :ivar url: the address that was asked for.
    :ivar token: its random part.
    :ivar moved_to: the other address to which it was redirected; ``None`` without a redirect.
    :ivar response: ``None`` if the redirect leads to another site, which is not asked.
    """

    url: str
    token: str
    moved_to: str | None
    response: Response | None

    @property
    def kind(self) -> str:
        """The kind: ``"honest"``, ``"soft"``, or ``"failed"``, which says nothing of the site."""
        if self.response is None or why_not_judged(self.response) is None:
            return "soft"
        if 300 <= self.response.status < 500 and self.response.status not in _BUSY:
            return "honest"
        return "failed"

    @property
    def description(self) -> str:
        """The answer in words, for log lines."""
        if self.moved_to is not None:
            return f"redirects to <{self.moved_to}>"
        assert self.response is not None
        return f"has status {self.response.status}"


class Prober:
    """Sends the requests of one crawl.

    :ivar in_progress: requests that are waiting or being answered, each with what cancels it.
    :ivar is_closed: whether none are sent any more.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.in_progress: dict[Request, Deferred[Any]] = {}
        self._look: CallLaterResult | None = None
        self._idle_since: float | None = None
        self.is_closed = False
        crawler.signals.connect(self._waits, signals.request_reached_downloader)

    async def ask(self, like: Request, folder: str = "/") -> ProbeAnswer:
        """Ask for an address that cannot exist, of the same form as that of a request.

        :param folder: path, ending with a slash, under which it is asked for.
        :raises IgnoreRequest: if robots.txt or another middleware forbids it.
        :raises Exception: if there is no answer.
        """
        token = secrets.token_hex(16)
        url = missing_address(like.url, token, folder)
        request, moved_to = self._request(url, like), None
        for _ in range(_MAX_REDIRECTS):
            result = await self._fetch(request)
            if isinstance(result, Response):
                return ProbeAnswer(url, token, moved_to, result)
            if token not in urlsplit(result.url).path:
                moved_to = result.url
                if site_of(moved_to) != site_of(url):
                    return ProbeAnswer(url, token, moved_to, None)
            # Other middlewares may have replaced what ours depends on.
            request = result.replace(meta={**result.meta, **_own_meta(self._timeout)})
        raise IgnoreRequest("too many redirects")

    def close(self) -> None:
        """Cancel all requests, and send no more."""
        self.is_closed = True
        self._cancel_all()

    def _request(self, url: str, like: Request) -> Request:
        like = without_page(like)
        meta = {**like.meta, **_own_meta(self._timeout)}
        return like.replace(url=url, meta=meta, callback=NO_CALLBACK, dont_filter=True)

    @property
    def _timeout(self) -> float:
        return min(_TIMEOUT, self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT") or _TIMEOUT)

    async def _fetch(self, request: Request) -> Response | Request:
        engine = engine_of(self._crawler)
        if self.is_closed or engine is None or engine.spider is None:
            raise IgnoreRequest("the crawl is ending")
        fetching = deferred_from_coro(engine.downloader.fetch(request))
        self.in_progress[request] = fetching
        self._idle_since = None
        self._watch()
        try:
            return await maybe_deferred_to_future(fetching)
        finally:
            self.in_progress.pop(request, None)
            self.wake_engine()

    @property
    def is_pressed(self) -> bool:
        """Whether the crawl waits for its pages: it ends, or they fill the memory it may use."""
        engine = engine_of(self._crawler)
        if engine is None or engine.scraper.slot is None:
            return True
        is_closing = getattr(getattr(engine, "_slot", None), "closing", None) is not None
        return is_closing or engine.scraper.slot.needs_backout()

    def wake_engine(self) -> None:
        """Let the engine look whether the crawl is over.

        It does when a request of its own ends, and otherwise every five seconds.
        """
        if (slot := getattr(engine_of(self._crawler), "_slot", None)) is not None:
            slot.nextcall.schedule()

    def _waits(self, request: Request) -> None:
        """Let a request of ours overtake the pages that wait for the delay of its site.

        Else these would be judged before the answer is there.
        """
        if is_probe(request):
            # It joins the queue after this signal.
            call_later(0, self._overtake, request)

    def _overtake(self, request: Request) -> None:
        slot = self._slot_of(request)
        for entry in [] if slot is None else list(slot.queue):
            if entry[0] is request:
                slot.queue.remove(entry)
                slot.queue.appendleft(entry)

    def _slot_of(self, request: Request) -> Any:
        """Return the slot of the downloader in which a request waits, if it has come there."""
        engine = engine_of(self._crawler)
        slots = {} if engine is None else getattr(engine.downloader, "slots", {})
        return slots.get(request.meta.get("download_slot"))

    @property
    def _patience(self) -> float:
        """For how many seconds a crawl that has nothing else to do waits for answers."""
        slots = filter(None, map(self._slot_of, self.in_progress))
        delays = [_MAX_JITTER * slot.delay for slot in slots]
        return _GRACE + max((delay for delay in delays if delay <= _TIMEOUT), default=0)

    def _watch(self) -> None:
        if self._look is None:
            self._look = call_later(_LOOK, self._look_around)

    def _look_around(self) -> None:
        """Cancel the requests if the crawl has waited long enough for them alone."""
        self._look = None
        if not self.in_progress:
            self._idle_since = None
            return
        if not self._is_idle_otherwise():
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = monotonic()
        elif monotonic() - self._idle_since >= self._patience:
            self._cancel_all()
            return
        self._watch()

    def _is_idle_otherwise(self) -> bool:
        engine = engine_of(self._crawler)
        if engine is None or engine.spider is None or engine.scraper.slot is None:
            return True
        active = engine.downloader.active
        ours = active & set(self.in_progress)
        active -= ours
        try:
            return engine.spider_is_idle()
        finally:
            active |= ours

    def _cancel_all(self) -> None:
        for fetching in list(self.in_progress.values()):
            fetching.cancel()


def without_page(request: Request) -> Request:
    """Return a request with what the site may depend on, and nothing of its page."""
    headers = {name: request.headers.getlist(name) for name in _HEADERS if name in request.headers}
    meta = {name: request.meta[name] for name in _META if name in request.meta}
    return Request(request.url, headers=headers, meta=meta)


def is_probe(request: Request) -> bool:
    """Return whether a request is one of ours."""
    return _MARK in request.meta


def missing_address(url: str, token: str, folder: str) -> str:
    """Return an address of a site that cannot exist, of the form of another one.

    It ends like that one: with the same suffix, with a slash, or without either.
    """
    parts = urlsplit(url)
    last = parts.path.rpartition("/")[2]
    stem, dot, suffix = last.rpartition(".")
    has_suffix = stem and suffix.isalnum() and len(suffix) <= 5 and not suffix.isdecimal()
    ending = f".{suffix}" if has_suffix and dot else ""
    if not last and parts.path.count("/") > 1:
        ending = "/"
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}{token}{ending}", "", ""))


def _own_meta(timeout: float) -> dict[str, Any]:
    return {
        _MARK: True,
        "download_timeout": timeout,
        "dont_retry": True,
        "dont_cache": True,
        "dont_merge_cookies": True,
    }
