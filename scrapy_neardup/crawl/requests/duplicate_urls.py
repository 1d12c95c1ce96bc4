"""Records the URLs that led to a duplicate, in this crawl and in earlier ones, as digests.

Each URL is remembered with its original and with the text that was stored for the original. It is
believed only after the original's own URL has shown that text in this crawl, and until

- a page fetched from the original's URL shows something else, or
- a page fetched from a URL known to lead to a duplicate of it shows something else, or
- that text stands for many pages.

Each of these ends all that is known of the original, for later crawls as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scrapy.utils.datatypes import LocalCache
from xxhash import xxh3_64_intdigest

from ..._util.encoding import utf8
from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...stores.hints import COPY, MAX_KNOWN, ending_of, ending_of_copy, without_ended
from .known_copies import KnownCopies, OriginalContent, UrlStatus

#: Texts that stand for many pages; beyond, the oldest are forgotten.
_MAX_FLOODS = 10_000
#: Clocks of crawls that share a store may differ by so many seconds.
_MAX_SKEW = 3600


class UnsavedRows(NamedTuple):
    """Rows to be saved by :meth:`~scrapy_neardup.stores.base.Store.note_duplicates`.

    :ivar rows: of type :data:`~scrapy_neardup.stores.hints.COPY`, shape ``(n,)``.
    :ivar seen_at: seconds since 1970.
    """

    rows: npt.NDArray[np.void]
    seen_at: int
    endings: list[tuple[int, int, int]]
    copies: list[tuple[int, int, int]]


class DuplicateUrls:
    """Digests of canonical URLs that led to a duplicate.

    It has one method for each thing that a crawl may notice of such a URL, hence so many.

    :param ttl: seconds for which that is believed; with 0 nothing is, with infinity for ever.
    :param now: returns seconds since 1970.
    :param sample_rate: share of the believed URLs, 0.0 to 1.0, for which :meth:`explores` is
        true; other ones in each crawl.
    """

    def __init__(self, ttl: float, now: Callable[[], float], sample_rate: float = 0.0) -> None:
        self._ttl = ttl
        self._now = now
        self._sampled_below = round(sample_rate * 2**64)
        self._seed = 0
        self._hasher = _hasher(b"")
        self._known = KnownCopies()
        self._floods = LocalCache[int, None](_MAX_FLOODS)
        #: Marks of the store, digests and events of new ones.
        self._unsaved: deque[tuple[int, int, int]] = deque(maxlen=MAX_KNOWN)
        self._endings: dict[tuple[int, int, int], None] = {}
        #: Event of the last one that was taken to be saved.
        self._taken = 0
        self._last_noted = 0

    def open(self, secret: bytes, known: npt.NDArray[np.void]) -> None:
        """Take over what earlier crawls knew.

        :param secret: of the store.
        :param known: see :meth:`~scrapy_neardup.stores.base.Store.known_duplicates`.
        """
        self._hasher = _hasher(blake2b(key=secret, person=b"neardup-known").digest())
        now = self._now()
        self._seed = (int.from_bytes(secret[-8:], "little") + int(1000 * now)) % 2**64
        times = known["seen_at"]
        self._last_noted = int(times[times <= now + _MAX_SKEW].max(initial=0))
        self._known = KnownCopies(without_ended(known))

    @property
    def since(self) -> int:
        """Seconds since 1970: what was seen before is not believed."""
        # The time to live may be infinite.
        return int(max(0.0, self._now() - self._ttl))

    # --- asking -----------------------------------------------------------------------------

    def __contains__(self, url: str) -> bool:
        """Decide whether a URL is known to lead to a duplicate."""
        return self.status_of(url) == "superfluous"

    def status_of(self, url: str) -> UrlStatus:
        """Return ``"superfluous"`` for a URL that is contained, and ``"copy"`` if it may be."""
        if not (self._ttl and self._known):
            return "unknown"
        return self._known.status_of(self.digest_of(url), self.since)

    def explores(self, url: str) -> bool:
        """Return whether a URL is fetched as a sample; the answer does not change in a crawl."""
        digest = self.digest_of(url).to_bytes(8, "little")
        return xxh3_64_intdigest(digest, self._seed) < self._sampled_below

    def original_of(self, url: str) -> int | None:
        """Return the digest of the original of a URL that is known to lead to a duplicate."""
        known = self._known.get(self.digest_of(url))
        return None if known is None or known.shown is None else known.shown.original

    # --- what pages show --------------------------------------------------------------------

    def judged(self, verdict: Verdict, urls: Iterable[str] = ()) -> None:
        """Confirm or end what is known of the URLs that led to a page.

        A page that could not be judged ends it for this crawl only.

        :param urls: of its request, and of those that were redirected to it.
        """
        if not self._known:
            return
        page = self.digest_of(verdict.url)
        if (shown := self._shown(verdict)) is not None:
            self._end_other_content(shown)
        end = self._known.mark_doubtful if verdict.kind == "undecided" else self._end
        for digest in dict.fromkeys((page, *map(self.digest_of, urls))):
            if shown is None or shown.original != digest:
                end(digest)
            elif digest == page:
                self._known.record_content(shown, by_copy=False)
            # Else it redirects to a copy of what it showed itself, which says nothing new.
            known = self._known.get(digest)
            if known is not None and known.shown is not None:
                if known.shown == shown:
                    self._known.record_content(shown, by_copy=True)
                else:
                    end(known.shown.original)

    def passed(self, urls: Iterable[str]) -> None:
        """End what is known of URLs that led to a document that is not judged, such as a PDF."""
        for digest in map(self.digest_of, urls):
            self._end(digest)
            if (known := self._known.get(digest)) is not None and known.shown is not None:
                self._end(known.shown.original)

    def flood(self, text: bytes) -> None:
        """Discard the records of URLs that lead to a text which replaces many pages.

        :param text: its digest, see :attr:`~scrapy_neardup.matching.rule.Verdict.original_text`.
        """
        content = _content(text)
        if content in self._floods:
            return
        self._floods[content] = None
        for original in self._known.originals_with(content):
            self._end(original)

    def add(self, url: str, verdict: Verdict, mark: int = 0) -> None:
        """Add a URL that led to a duplicate just now.

        :param mark: of the store, behind the original: see :meth:`take_unsaved`.
        """
        shown = self._shown(verdict)
        digest = self.digest_of(url)
        if not self._ttl or shown is None or shown.original == digest:
            return
        if shown.content in self._floods:
            return
        self._end_other_content(shown)
        if (event := self._known.add(digest, shown, self._now())) is not None:
            self._unsaved.append((mark, digest, event))

    def keep_fetching_urls(self, urls: Iterable[str]) -> None:
        """Keep fetching URLs whose duplicate was the first page of this crawl to name some URL.

        Later crawls would miss what is behind them.
        """
        for digest in map(self.digest_of, urls):
            if self._known.keep_fetching(digest, self._taken):
                self._endings[ending_of_copy(digest)] = None

    def _shown(self, verdict: Verdict) -> OriginalContent | None:
        """Return the stored content that a page shows; ``None`` for one of its own."""
        if verdict.original_text is None:
            return None
        original = self.digest_of(verdict.duplicate_of or verdict.url)
        return OriginalContent(original, _content(verdict.original_text))

    def _end_other_content(self, shown: OriginalContent) -> None:
        """End what is known of an original that another crawl stored anew."""
        if self._known.content_of(shown.original) not in (None, shown.content):
            self._end(shown.original)

    def _end(self, original: int) -> None:
        """End all that is known of an original, for later crawls as well."""
        if self._known.end(original):
            self._endings[ending_of(original)] = None

    # --- saving -----------------------------------------------------------------------------

    def take_unsaved(self, confirmed: int) -> UnsavedRows | None:
        """Return what the store does not know yet, and may know; ``None`` if that is nothing.

        A copy must not be skipped for an original that a kill can still lose.

        :param confirmed: the mark up to which what was stored is known to be on disk.
        """
        endings, self._endings = list(self._endings), {}
        copies = []
        while self._unsaved and self._unsaved[0][0] <= confirmed:
            copies.append(self._unsaved.popleft())
            self._taken = copies[-1][2]
        rows = [*endings]
        for _, digest, event in copies:
            known = self._known.get(digest)
            if known is not None and known.shown is not None and known.event == event:
                rows.append((digest, *known.shown))
        if not rows:
            return None
        # An ending is later than all that it ends.
        seen_at = max(int(self._now()), self._last_noted + bool(endings))
        self._last_noted = seen_at
        return UnsavedRows(np.array(rows, COPY), seen_at, endings, copies)

    def put_back(self, unsaved: UnsavedRows) -> None:
        """Take back what could not be saved."""
        self._endings = {**dict.fromkeys(unsaved.endings), **self._endings}
        room = MAX_KNOWN - len(self._unsaved)
        self._unsaved.extendleft(unsaved.copies[::-1][:room])

    def digest_of(self, url: str) -> int:
        """Return the digest by which a URL is known here."""
        hasher = self._hasher.copy()
        hasher.update(utf8(page_key(url)))
        return int.from_bytes(hasher.digest(), "little")


def _content(text: bytes) -> int:
    """Return 64 bits of the digest of a text, not all of them zero."""
    return int.from_bytes(text[:8], "little") or 1


def _hasher(key: bytes) -> blake2b:
    return blake2b(digest_size=8, key=key)
