"""Fingerprints of requests, remembered by URL: a crawl meets the same links again and again."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha1
from typing import TYPE_CHECKING

from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request
from scrapy.utils.request import RequestFingerprinter

from ..._util.urls import plain_key

if TYPE_CHECKING:
    from scrapy.dupefilters import BaseDupeFilter

#: URLs that are remembered at most, and characters of each: some three megabytes, as links are.
MAX_URLS, MAX_URL_CHARS = 10_000, 2048

#: By this it is found out whether Scrapy makes a fingerprint as is known here.
_PROBE = "https://probe.example:8080/a/b,c;d='e'/%E4?f=%C3%A4&g=1"


class RememberedFingerprints:
    """What Scrapy's own fingerprinter says, of a URL that was asked for lately from memory.

    Most links lead where others led before, in the same spelling. For each, Scrapy brings the URL
    into its canonical form and hashes it, which takes longer than all else that is asked of a link.
    Of a URL that is nearly in that form, the same fingerprint is made here in a small part of that
    time, as long as Scrapy is found to make it of the same text.

    :param fingerprinter: Scrapy's own: of another one nobody knows what it looks at.
    """

    def __init__(self, fingerprinter: RequestFingerprinter) -> None:
        self._compute = fingerprinter.fingerprint
        self._is_made_here = self._compute(Request(_PROBE)) == _of_plain(_PROBE)
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
        key = plain_key(request.url) if self._is_made_here else None
        return self._compute(request) if key is None else _of_plain(key)


def _of_plain(key: str) -> bytes:
    """What Scrapy, since 2.7, makes of a ``GET`` request: SHA-1 of all that counts, as JSON.

    :param key: a URL of which JSON has to escape nothing, in its canonical form.
    """
    told = f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{key}"}}'
    return sha1(told.encode(), usedforsecurity=False).digest()


def remember_fingerprints(dupefilter: BaseDupeFilter) -> None:
    """Let Scrapy's dupefilter, or one that inherits from it, take fingerprints from memory.

    Nothing happens to others, or where the project has a fingerprinter of its own.
    """
    if (
        isinstance(dupefilter, RFPDupeFilter)
        and type(dupefilter.fingerprinter) is RequestFingerprinter
    ):
        dupefilter.fingerprinter = RememberedFingerprints(dupefilter.fingerprinter)
