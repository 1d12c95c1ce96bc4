"""Filters requests whose URLs are known to lead to duplicates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.http import Request
from scrapy.spiders import Spider
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter

from .crawl.judge import NearDupJudge
from .crawl.settings import Config
from .url_rules.rule import UrlRule

#: URLs that are cached at most, and characters of each: some three megabytes for usual links.
MAX_URLS, MAX_URL_CHARS = 10_000, 2048


class NearDupDupeFilter(BaseDupeFilter):
    """Wraps the configured dupefilter, asks it first, and also refuses superfluous requests.

    A dupefilter cannot be disabled as other components can; without a judge this one only
    delegates.

    :param wrapped: any dupefilter.
    """

    def __init__(self, wrapped: BaseDupeFilter, crawler: Crawler) -> None:
        self.wrapped = wrapped
        cache_fingerprints(wrapped)
        self._crawler = crawler
        self._judge: NearDupJudge | None = crawler.get_extension(NearDupJudge)
        #: The last refused request, until it is logged, and the rule that refused it, if any.
        self._refused: tuple[Request, UrlRule | bool] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDupDupeFilter:
        return cls(build_from_crawler(_wrapped_class(crawler), crawler), crawler)

    @classmethod
    def from_spider(cls, spider: Spider) -> NearDupDupeFilter:
        """Build the dupefilter for scrapy-redis, whose dupefilters need the spider's name."""
        wrapped = _wrapped_class(spider.crawler)
        if hasattr(wrapped, "from_spider"):
            return cls(wrapped.from_spider(spider), spider.crawler)
        return cls.from_crawler(spider.crawler)

    def __getattr__(self, name: str) -> Any:
        # Other attributes of the wrapped dupefilter stay accessible.
        return getattr(self.__dict__["wrapped"], name)

    def open(self) -> Any:
        return self.wrapped.open()

    def close(self, reason: str) -> Any:
        # The scheduler's queues are closed by now.
        if self._judge is not None:
            self._judge.session.request_filter.rules.queue.stop()
        return self.wrapped.close(reason)

    def request_seen(self, request: Request) -> bool:
        """Return whether the wrapped dupefilter has seen it, or it would bring nothing new."""
        if self.wrapped.request_seen(request):
            if self._judge is not None and "redirect_urls" in request.meta:
                self._judge.session.request_filter.redirected(request)
                self._judge.session.visits.note_moved(request.meta["redirect_urls"], request.url)
            return True
        if self._judge is not None and (refusal := self._judge.refuses(request)):
            self._refused = request, refusal
            return True
        if self._judge is not None:
            self._judge.session.request_filter.is_new(request)
        return False

    def log(self, request: Request, spider: Spider) -> None:
        """Log and count a refused request; the dupefilter that refused it does so."""
        if self._refused is None or request is not self._refused[0]:
            self.wrapped.log(request, spider)
            return
        refusal, self._refused = self._refused[1], None
        assert self._judge is not None
        assert self._crawler.stats
        self._crawler.stats.inc_value("dupefilter/filtered")
        self._judge.count_refused(request, refusal)


def _wrapped_class(crawler: Crawler) -> Any:
    return load_object(Config.from_settings(crawler.settings).dupefilter)


class CachedFingerprints:
    """Return what Scrapy's own fingerprinter returns, for a repeated URL from a cache.

    Scrapy canonicalizes and hashes each URL, in some 20 microseconds; the cache takes less than
    one. About three links of four repeat a URL as it was spelled before.

    :param fingerprinter: Scrapy's own: what another one depends on is not known.
    """

    def __init__(self, fingerprinter: RequestFingerprinter) -> None:
        self._compute = fingerprinter.fingerprint
        self._of_url = lru_cache(MAX_URLS)(lambda url: self._compute(Request(url)))

    def fingerprint(self, request: Request) -> bytes:
        is_cached = (
            request.method == "GET"
            and not request.body
            and len(request.url) <= MAX_URL_CHARS
            # Since Scrapy 2.19, it says whether the URL is canonicalized.
            and "verbatim_url" not in request.meta
        )
        return self._of_url(request.url) if is_cached else self._compute(request)


def cache_fingerprints(dupefilter: BaseDupeFilter) -> None:
    """Make Scrapy's dupefilter, or one that inherits from it, cache its fingerprints.

    Others are left as they are, and so is one with a project's own fingerprinter.
    """
    if (
        isinstance(dupefilter, RFPDupeFilter)
        and type(dupefilter.fingerprinter) is RequestFingerprinter
    ):
        dupefilter.fingerprinter = CachedFingerprints(dupefilter.fingerprinter)
