"""Detects that the first pages of a site show one text under many addresses: a wall.

A crawl that meets a login, a consent, a ban or a rate limit at once gets nothing else, so there is
no need to wait for the thirty pages that :mod:`duplicate_floods` takes, which has to tell a wall
from other duplicates in the middle of a crawl. Only the text counts: titles may name the page that
was asked for.
"""

from __future__ import annotations

from scrapy.utils.datatypes import LocalCache

from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import HELD, SHOWN, PageSignature
from .duplicate_floods import MAX_SITES, DuplicateFlood, described

#: Number of first pages of a site that are examined, and of those that must show one text.
FIRST, SWALLOWED_FIRST = 10, 8
#: The main text is what a page shows from this share of its visible text on.
_MAIN_SHARE = 0.5
_SHORT = (Reason.FEW_FEATURES, Reason.THIN_TEXT)


class FirstPages:
    """The first pages of each site."""

    def __init__(self) -> None:
        self._sites = LocalCache[str, list[tuple[bytes | None, str]]](MAX_SITES)
        self._floods: dict[tuple[str, bytes], DuplicateFlood] = {}

    def judged(self, verdict: Verdict, site: str, text: bytes | None) -> DuplicateFlood | None:
        """Add a judged page; return the flood that it reveals.

        :param text: see :func:`text_of`.
        """
        if text is not None and (known := self._floods.get((site, text))) is not None:
            known.pages += 1
            return None
        pages = self._sites.setdefault(site, [])
        url = verdict.url.partition("#")[0]
        if len(pages) >= FIRST or any(url == other for _, other in pages):
            return None
        pages.append((text, url))
        urls = [other for of_other, other in pages if of_other == text]
        if text is None or len(urls) < SWALLOWED_FIRST:
            return None
        flood = described("first_pages", site, urls[0], urls, len(pages))
        self._floods[site, text] = flood
        return flood


def text_of(verdict: Verdict, page: PageSignature | None) -> bytes | None:
    """Return a digest of what a page shows; equal for a duplicate and its original.

    It is that of the main text, or, if that is only a part, of all that the page shows and holds:
    pages of a gallery may have one short text.
    """
    if verdict.original_text is not None:
        return verdict.original_text
    if page is None or not page.is_read or not page.n_text:
        return None
    is_part = page.n_text < _MAIN_SHARE * page.n_shown or verdict.reason in _SHORT
    if is_part:
        return page.shown_digest[SHOWN.start : HELD.stop] or None
    return page.text_digest
