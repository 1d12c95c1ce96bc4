"""Detects that the first pages of a site show one text under many addresses: a wall.

A crawl that meets a login, a consent, a ban or a rate limit at once gets nothing else, so there is
no need to wait for the thirty pages that :mod:`duplicate_floods` takes, which has to tell a wall
from other duplicates in the middle of a crawl. Titles may name the page that was asked for, so the
text counts, unless most pages have pictures, documents or prices of their own as well. Copies whose
addresses differ in the query only are one page, as far as that can be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from scrapy.utils.datatypes import LocalCache

from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import HELD, SHOWN, PageSignature
from ...text.values import CODE
from .addresses import page_address
from .duplicate_floods import MAX_SITES, DuplicateFlood, described
from .own_content import OwnContent, are_own

#: Number of first pages of a site that are examined, and of those that must show one text.
FIRST, SWALLOWED_FIRST = 10, 8
#: The main text is what a page shows from this share of its visible text on.
MAIN_SHARE = 0.5
#: Numbers, names and rare words by which a text is known, at least.
MIN_VALUES = 8
_SHORT = (Reason.FEW_FEATURES, Reason.THIN_TEXT)

#: Digests of a page's texts; pages with one text have at least one digest in common.
Texts = frozenset[bytes]


class _FirstPage(NamedTuple):
    """A page.

    :ivar address: see :func:`~.addresses.page_address`.
    :ivar own: what it has besides its text; ``None`` if no earlier page has its text.
    """

    texts: Texts
    url: str
    address: str
    own: OwnContent | None


class FirstPages:
    """The first pages of each site."""

    def __init__(self) -> None:
        self._sites = LocalCache[str, list[_FirstPage]](MAX_SITES)
        self._floods: dict[tuple[str, bytes], DuplicateFlood] = {}

    def is_open(self, site: str) -> bool:
        """Return whether the next page of a site may reveal a flood, or belong to a known one."""
        if any(of_site == site for of_site, _ in self._floods):
            return True
        pages = self._sites.get(site) or []
        if len(pages) >= FIRST:
            return False
        times = Counter(text for page in pages for text in page.texts)
        most = max(times.values(), default=0)
        return len(pages) - most <= FIRST - SWALLOWED_FIRST

    def judged(
        self,
        verdict: Verdict,
        site: str,
        texts: Texts,
        own: Callable[[], OwnContent | None] = lambda: None,
        whole: bytes | None = None,
    ) -> DuplicateFlood | None:
        """Add a judged page; return the flood that it reveals.

        :param texts: see :func:`texts_of` and :func:`~.wall_texts.wall_texts`.
        :param whole: the one of them for the whole page but for its address, if there is one: what
            differs in the facts of such pages is their name.
        :param own: returns what the page has besides its text; called if another has the text.
        """
        for text in texts:
            if (known := self._floods.get((site, text))) is not None:
                known.pages += 1
                return None
        pages = self._sites.setdefault(site, [])
        url = verdict.url.partition("#")[0]
        if len(pages) >= FIRST or any(url == other.url for other in pages):
            return None
        found = own() if any(texts & other.texts for other in pages) else None
        address = page_address(url, None if found is None else found.canonical)
        if any(address == other.address for other in pages):
            return None
        pages.append(_FirstPage(texts, url, address, None if verdict.is_duplicate else found))
        for text in texts:
            alike = [page for page in pages if text in page.texts]
            contents = (page.own for page in alike)
            if len(alike) >= SWALLOWED_FIRST and not are_own(contents, has_facts=text != whole):
                urls = [page.url for page in alike]
                flood = described("first_pages", site, urls[0], urls, len(pages))
                self._floods[site, text] = flood
                return flood
        return None


def texts_of(verdict: Verdict, page: PageSignature | None) -> Texts:
    """Return digests of what a page shows; a duplicate has one in common with its original.

    They are those of the main text, and of its values without those of a heading that repeats the
    title. If the text is only a part of what the page shows, it is that of all that it shows and
    holds: pages of a gallery may have one short text. Items with one text count together only if
    they hold the same, and not at all if the text is short.
    """
    found = {verdict.original_text} - {None}
    if page is not None and page.is_read and page.n_text:
        is_part = page.n_text < MAIN_SHARE * page.n_shown or verdict.reason in _SHORT
        if is_part:
            shown = page.shown_digest[SHOWN.start : HELD.stop]
            found.add(None if page.is_fragment else shown or None)
        else:
            found.add(page.text_digest)
            values = page.values[page.n_heading * CODE.itemsize :]
            has_enough = page.n_values - page.n_heading >= MIN_VALUES
            found.add(values if has_enough else None)
    # What fragments hold tells them apart, and a duplicate holds the same as its original.
    held = page.shown_digest[HELD] if page is not None and page.is_fragment else b""
    return frozenset(digest + held for digest in found if digest is not None)
