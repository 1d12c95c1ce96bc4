"""Fingerprints of requests, remembered by URL: a crawl meets the same links again and again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.request import RequestFingerprinter

if TYPE_CHECKING:
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.http import Request

#: URLs that are remembered at most, and characters of each: some three megabytes, as links are.
MAX_URLS, MAX_URL_CHARS = 10_000, 2048


class RememberedFingerprints:
    """What Scrapy's own fingerprinter says, of a URL that was asked for lately from memory.

    Most links lead where others led before, in the same spelling. For each, Scrapy brings the URL
    into its canonical form and hashes it, which takes longer than all else that is asked of a link.

    :param fingerprinter: Scrapy's own: of another one nobody knows what it looks at.
    """

    def __init__(self, fingerprinter: RequestFingerprinter) -> None:
        self._compute = fingerprinter.fingerprint
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
            found = self._known[url] = self._compute(request)
            if len(self._known) > MAX_URLS:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(url)
        return found


def remember_fingerprints(dupefilter: BaseDupeFilter) -> None:
    """Let Scrapy's dupefilter, or one that inherits from it, take fingerprints from memory.

    Nothing happens to others, or where the project has a fingerprinter of its own.
    """
    if (
        isinstance(dupefilter, RFPDupeFilter)
        and type(dupefilter.fingerprinter) is RequestFingerprinter
    ):
        dupefilter.fingerprinter = RememberedFingerprints(dupefilter.fingerprinter)
