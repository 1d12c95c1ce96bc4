"""Fingerprints of requests in less time: Scrapy's own take longer than all else asked of a link."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha1
from typing import TYPE_CHECKING

from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request
from scrapy.utils.request import RequestFingerprinter

from .urls import plain_key

if TYPE_CHECKING:
    from scrapy.dupefilters import BaseDupeFilter

#: URLs that are remembered at most, and characters of each: some three megabytes, as links are.
MAX_URLS, MAX_URL_CHARS = 10_000, 2048

#: What Scrapy hashes of a request that is nothing but a URL.
_HASHED = '{"body": "", "headers": {}, "method": "GET", "url": "%s"}'
#: Whether it does so is tried with these.
_TRIED = ("https://a.example/b/?d=1&c=%E4", "http://a.example:8080/;b")


class RememberedFingerprints:
    """What Scrapy's own fingerprinter says, of a URL that was asked for lately from memory.

    Most links lead where others led before, in the same spelling. Of plain URLs that are new it is
    reckoned here, where Scrapy is found to reckon in the same way.

    :param fingerprinter: Scrapy's own: of another one nobody knows what it looks at.
    """

    def __init__(self, fingerprinter: RequestFingerprinter) -> None:
        self._compute = fingerprinter.fingerprint
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._is_as_scrapys = all(_of_plain(u) == self._compute(Request(u)) for u in _TRIED)

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
            if self._is_as_scrapys:
                found = _of_plain(url)
            found = self._known[url] = found or self._compute(request)
            if len(self._known) > MAX_URLS:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(url)
        return found


def _of_plain(url: str) -> bytes | None:
    """The fingerprint of a request for this; ``None`` where Scrapy has to be asked."""
    key = plain_key(url)
    return None if key is None else sha1((_HASHED % key).encode()).digest()


def remember_fingerprints(dupefilter: BaseDupeFilter) -> None:
    """Let Scrapy's dupefilter, or one that inherits from it, take fingerprints from memory.

    Nothing happens to others, or where the project has a fingerprinter of its own.
    """
    if (
        isinstance(dupefilter, RFPDupeFilter)
        and type(dupefilter.fingerprinter) is RequestFingerprinter
    ):
        dupefilter.fingerprinter = RememberedFingerprints(dupefilter.fingerprinter)
