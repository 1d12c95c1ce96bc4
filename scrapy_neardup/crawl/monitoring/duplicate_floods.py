"""Detects that one content suddenly replaces many pages of a site.

A login wall, a cookie banner, a soft 404 or a ban page answers many URLs with one page, and a crawl
that drops near-duplicates would silently drop the whole site. Print views and mirrors make as many
duplicates, but of many originals. Bar-Yossef, Broder, Kumar, Tomkins ("Sic Transit Gloria Telae",
WWW 2004) detect soft 404s by requesting URLs that cannot have the same content; here, only the
pages that the crawl fetches anyway are examined.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable
from dataclasses import dataclass

from scrapy.utils.datatypes import LocalCache

from ..._util.urls import site_of
from ...matching.verdict import Verdict
from ...reasons import TOO_LITTLE_TEXT, Reason
from ...url_rules.path_patterns import PathPatterns
from ...url_rules.url_parts import parse_url

#: Number of most recent pages that are examined.
WINDOW = 50
#: Number of these, each with another URL, that must show one content.
SWALLOWED = 30
#: Pages with too little text to be compared must not be usual for the site: of at least SWALLOWED
#: earlier pages, at most this share had too little text.
USUAL_SHARE = 0.1
#: Floods that are reported in a crawl, at most.
MAX_NAMED = 10
#: Sites whose most recent pages are kept; beyond that the least recently visited are dropped.
MAX_SITES = 1000
#: Share of the URLs of an endless space that may have another shape.
_STRAYS = 0.1


@dataclass(slots=True, eq=False)
class DuplicateFlood:
    """Many pages that show one content.

    :ivar what: ``"duplicates"`` of one original, ``"changed"`` pages that now show one text,
        ``"walls"``, new pages that show one text apart from values of their requests, or the reason
        why pages of one site cannot be judged: ``"no_text"``, ``"few_features"`` or
        ``"thin_text"``; ``"first_pages"`` of a site that show one text.
    :ivar site: the site of the pages; ``""`` for pages of several sites.
    :ivar original: URL of the original, or of the first of these pages where there is none.
    :ivar example: URL of the last of these pages.
    :ivar last: number of these pages among the most recent ones when the flood was detected.
    :ivar of: number of most recent pages that were examined.
    :ivar shapes: number of patterns that the URLs of these pages match.
    :ivar shape: the pattern that nearly all of them match; ``None`` where there is none.
    :ivar pages: number of these pages so far, as far as is known.
    """

    what: str
    site: str
    original: str
    example: str
    last: int
    of: int
    shapes: int
    shape: str | None
    pages: int


class DuplicateFloodDetector:
    """Detects floods among the pages of a crawl.

    :ivar named: the floods that were reported, in the order in which they were detected.
    """

    def __init__(self) -> None:
        self.named: list[DuplicateFlood] = []
        self._by_key: dict[Hashable, DuplicateFlood] = {}
        #: Those that the first pages of a site revealed.
        self._early: dict[Hashable, DuplicateFlood] = {}
        self._sites = LocalCache[str, _LastPages](MAX_SITES)
        self._everywhere = _LastPages()

    def judged(
        self,
        verdict: Verdict,
        text_digest: bytes | None = None,
        wall: bytes | None = None,
        site: str | None = None,
    ) -> DuplicateFlood | None:
        """Add a judged page; return the flood that it reveals.

        :param text_digest: digest of its text, if that is known.
        :param wall: see :class:`~.wall_texts.WallTexts`.
        :param site: of the page, if that is known.
        """
        site = site_of(verdict.url) if site is None else site
        key = _key(verdict, site, text_digest, wall)
        url = verdict.url.partition("#")[0]  # several items of one page count once
        last_pages = self._of(site)
        last_pages.add(key, url)
        # Sites differ in how much text is usual.
        self._everywhere.add(None if key is None or key[0] in TOO_LITTLE_TEXT else key, url)
        if key is None:
            return None
        if (known := self._by_key.get(key)) is not None:
            # FirstPages counts its own.
            if known.what != "first_pages":
                known.pages += last_pages.floods(key) or self._everywhere.floods(key)
            return None
        if len(self.named) >= MAX_NAMED:
            return None
        for of_site, pages in ((site, last_pages), ("", self._everywhere)):
            if pages.floods(key) and (key[0] not in TOO_LITTLE_TEXT or pages.was_unusual(key)):
                if (known := self._early.get(key)) is not None:
                    self._by_key[key] = known
                    return None
                urls = pages.urls(key)
                original = verdict.duplicate_of or verdict.links_seen_at or urls[0]
                found = described(key[0], of_site, original, urls, len(pages))
                self.named.append(found)
                self._by_key[key] = found
                return found
        return None

    def note_early(
        self,
        flood: DuplicateFlood,
        verdict: Verdict,
        text_digest: bytes | None,
        wall: bytes | None = None,
    ) -> None:
        """Add a flood that the first pages of a site revealed, so that it is reported once."""
        self.named.append(flood)
        if (key := _key(verdict, flood.site, text_digest, wall)) is not None:
            self._early[key] = flood

    def is_flood(self, verdict: Verdict, text_digest: bytes | None = None) -> bool:
        """Return whether the last judged page belongs to a flood, reported or not."""
        site = site_of(verdict.url)
        key = _key(verdict, site, text_digest)
        if key is None or key[0] in TOO_LITTLE_TEXT:
            return False
        is_named = key in self._by_key
        return is_named or self._of(site).floods(key) or self._everywhere.floods(key)

    def _of(self, site: str) -> _LastPages:
        pages = self._sites.setdefault(site, _LastPages())
        self._sites.move_to_end(site)
        return pages


#: What the pages of a flood share: :attr:`DuplicateFlood.what`, and a content or site.
_Key = tuple[str, Hashable]


def _key(
    verdict: Verdict, site: str, text_digest: bytes | None, wall: bytes | None = None
) -> _Key | None:
    """Return what a page shares with others; ``None`` for a page with its own content."""
    if verdict.is_duplicate:
        return "duplicates", verdict.duplicate_of
    if verdict.kind == "new" and verdict.links_seen_at is not None:
        return "duplicates", verdict.links_seen_at
    if verdict.kind == "undecided" and verdict.reason in TOO_LITTLE_TEXT:
        return verdict.reason, site
    if verdict.kind == "revisit" and verdict.reason == Reason.CHANGED and text_digest is not None:
        return "changed", text_digest
    if wall is not None and (verdict.kind == "new" or verdict.reason == Reason.CROWDED):
        return "walls", wall
    return None


class _LastPages:
    """The most recent pages of a site, and counts of those before them."""

    __slots__ = ("_before", "_pages")

    def __init__(self) -> None:
        self._pages: deque[tuple[_Key | None, str]] = deque()
        #: Earlier pages, by the first part of their keys.
        self._before: Counter[str | None] = Counter()

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, key: _Key | None, url: str) -> None:
        self._pages.append((key, url))
        if len(self._pages) > WINDOW:
            gone, _ = self._pages.popleft()
            self._before[None if gone is None else gone[0]] += 1

    def floods(self, key: _Key) -> bool:
        return len(set(self.urls(key))) >= SWALLOWED

    def was_unusual(self, key: _Key) -> bool:
        before, total = self._before[key[0]], self._before.total()
        return total >= SWALLOWED and before <= USUAL_SHARE * total

    def urls(self, key: _Key) -> list[str]:
        """Return the URLs of the most recent pages with this key, in order."""
        return [url for at, url in self._pages if at == key]


def described(what: str, site: str, original: str, urls: list[str], of: int) -> DuplicateFlood:
    """Return the flood of pages with these URLs, among so many."""
    shapes = _shapes(urls)
    (shape, times), *_ = shapes.most_common(1)
    return DuplicateFlood(
        what=what,
        site=site,
        original=original,
        example=urls[-1],
        last=len(urls),
        of=of,
        shapes=len(shapes),
        shape=shape if times >= (1 - _STRAYS) * len(urls) else None,
        pages=len(urls),
    )


def _shapes(urls: list[str]) -> Counter[str]:
    """Count URL patterns: site, path with ``*`` for varying segments, and parameter names."""
    addresses = [(url, parse_url(url)) for url in urls]
    patterns: dict[str, PathPatterns] = {}
    for _, address in addresses:
        if address is not None:
            patterns.setdefault(address.site, PathPatterns()).learn(address.segments)
    shapes: Counter[str] = Counter()
    for url, address in addresses:
        if address is None:
            shapes[url] += 1
            continue
        path = patterns[address.site].name(address.segments)
        names = "&".join(sorted({name for name, _ in address.params}))
        shapes[f"{address.site}{path}?{names}" if names else f"{address.site}{path}"] += 1
    return shapes
