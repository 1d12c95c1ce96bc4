"""Fingerprints of requests, remembered by URL: a crawl meets the same links again and again."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request
from scrapy.utils.request import RequestFingerprinter, fingerprint

from .urls import plain_key

if TYPE_CHECKING:
    from scrapy.dupefilters import BaseDupeFilter

#: URLs that are remembered at most, and characters of each: some three megabytes, as links are.
MAX_URLS, MAX_URL_CHARS = 10_000, 2048


class RememberedFingerprints:
    """What Scrapy's own fingerprinter says, of a URL that was asked for lately from memory.

    Most links lead where others led before, in the same spelling. For each, Scrapy brings the URL
    into its canonical form and hashes it, which takes longer than all else that is asked of a link.
    A URL that is nearly in that form is brought into it here, in a tenth of the time, and Scrapy is
    told to take it as it is spelled.

    :param fingerprinter: Scrapy's own: of another one nobody knows what it looks at.
    """

    def __init__(self, fingerprinter: RequestFingerprinter) -> None:
        self._compute = fingerprinter.fingerprint
        self._takes_as_spelled = _takes_as_spelled()
        self._known: OrderedDict[str, bytes] = OrderedDict()

    def fingerprint(self, request: Request) -> bytes:
        url = request.url
        if (
            request.method != "GET"
            or request.body
            or len(url) > MAX_URL_CHARS
            # Since Scrapy 2.19: is the URL to be taken as it is spelled?
            or "verbatim_url" in request.meta
        ):
            return self._compute(request)
        found = self._known.get(url)
        if found is None:
            found = self._known[url] = self._computed(request)
            if len(self._known) > MAX_URLS:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(url)
        return found

    def _computed(self, request: Request) -> bytes:
        key = plain_key(request.url) if self._takes_as_spelled else None
        return self._compute(request if key is None else _as_spelled(key))


@cache
def _takes_as_spelled() -> bool:
    """Does Scrapy know how to take a URL as it is spelled? Since 2.19 it does."""
    url = "http://spelled.example/?b=&a="
    return fingerprint(Request(url)) != fingerprint(_as_spelled(url))


def _as_spelled(url: str) -> Request:
    return Request(url, meta={"verbatim_url": True})


def remember_fingerprints(dupefilter: BaseDupeFilter) -> None:
    """Let Scrapy's dupefilter, or one that inherits from it, take fingerprints from memory.

    Nothing happens to others, or where the project has a fingerprinter of its own.
    """
    if (
        isinstance(dupefilter, RFPDupeFilter)
        and type(dupefilter.fingerprinter) is RequestFingerprinter
    ):
        dupefilter.fingerprinter = RememberedFingerprints(dupefilter.fingerprinter)
