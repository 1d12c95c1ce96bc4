"""Records URLs that led to a duplicate, and whether their originals are unchanged."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._util.arrays import run_boundaries
from ...stores.hints import KNOWN, MAX_KNOWN


class OriginalContent(NamedTuple):
    """Digests of an original's URL, and of the text that is stored for it."""

    original: int
    content: int


class DuplicateUrl(NamedTuple):
    """A URL that led to a duplicate.

    :ivar shown: ``None`` for a URL that is fetched again whatever it led to.
    :ivar led_at: seconds since 1970, or later.
    :ivar event: number of the event of this crawl; 0 for an earlier one.
    :ivar copies: number of copies of earlier crawls that led to the same.
    """

    shown: OriginalContent | None
    led_at: float
    event: int = 0
    copies: int = 0


class StoredDuplicateUrls:
    """Copies of earlier crawls, in arrays, because there may be a million.

    Each has a place, and a group with the others of its original and content.

    :param copies: of type :data:`~scrapy_neardup.stores.hints.KNOWN`, or of one with its fields.
    """

    def __init__(self, copies: npt.NDArray[np.void]) -> None:
        copies = copies[np.argsort(copies["digest"], kind="stable")]
        self._seen_at: Sequence[int] = np.ascontiguousarray(copies["seen_at"]).data
        self._digests = _ints(copies["digest"])
        by_group = np.lexsort((copies["content"], copies["original"]))
        originals, contents = copies["original"][by_group], copies["content"][by_group]
        bounds = np.union1d(run_boundaries(originals), run_boundaries(contents))
        sizes = np.diff(bounds).astype(np.int32)
        group = np.empty(len(copies), np.int32)
        group[by_group] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._group: Sequence[int] = group.data
        #: Of each group, sorted by originals.
        self._copies: Sequence[int] = sizes.data
        self._originals = _ints(originals[bounds[:-1]])
        self._contents = _ints(contents[bounds[:-1]])

    def __len__(self) -> int:
        return len(self._digests)

    def get(self, digest: int) -> DuplicateUrl | None:
        """Return the copy of this digest, if it is here."""
        at = bisect_left(self._digests, digest)
        if at == len(self._digests) or self._digests[at] != digest:
            return None
        group = self._group[at]
        shown = OriginalContent(self._originals[group], self._contents[group])
        return DuplicateUrl(shown, self._seen_at[at], copies=self._copies[group])

    def has_original(self, original: int) -> bool:
        """Decide whether copies of this original are here."""
        at = bisect_left(self._originals, original)
        return at < len(self._originals) and self._originals[at] == original

    def originals_with(self, content: int) -> list[int]:
        """Return the originals of which copies with this content are here."""
        found = np.flatnonzero(np.asarray(self._contents) == np.uint64(content))
        return [self._originals[group] for group in found.tolist()]


def _ints(digests: npt.NDArray[np.uint64]) -> Sequence[int]:
    """Return the same memory: numpy takes long to look up single numbers."""
    return np.ascontiguousarray(digests, np.uint64).data


UrlStatus = Literal["unknown", "copy", "superfluous"]

#: Of an original with so many known duplicates, one must have been fetched and have led to it again
#: before the others are believed: one login page answers many URLs.
CONFIRM_FROM = 4

_NONE = np.empty(0, KNOWN)


@dataclass(slots=True, eq=False)
class _Original:
    """An original of known copies. Events of the crawl are numbered.

    :ivar content: what it showed last; that of its new copies if there are some.
    :ivar copies: number of URLs that led to it in this crawl, since that ended.
    :ivar met: the last event at which its own URL showed the content; 0 for never.
    :ivar confirmed: the last event at which a known copy led to the content; 0 for never.
    :ivar ended: the last event at which what was known of it ended; -1 for never.
    :ivar is_doubted: whether one of its URLs showed what could not be judged.
    """

    content: int = 0
    copies: int = 0
    met: int = 0
    confirmed: int = 0
    ended: int = -1
    is_doubted: bool = False

    @property
    def is_known(self) -> bool:
        """Whether a record is still in force."""
        return bool(self.copies) or self.ended < 0

    def show(self, content: int) -> None:
        """Let this content count from now on."""
        if self.content != content:
            self.content, self.met, self.confirmed = content, 0, 0


class KnownCopies:
    """URLs that led to a duplicate in this crawl and in earlier ones, and their originals.

    All URLs are digests. There is a method for each thing that a page may show of them.

    :param stored: the copies of earlier crawls, see :class:`StoredDuplicateUrls`.
    """

    def __init__(self, stored: npt.NDArray[np.void] = _NONE) -> None:
        self._stored = StoredDuplicateUrls(stored)
        self._new: OrderedDict[int, DuplicateUrl] = OrderedDict()
        #: Those of new copies, and those of stored ones of which a page has shown something.
        self._originals: dict[int, _Original] = {}
        self._events = 0

    def __bool__(self) -> bool:
        return bool(self._new or self._stored)

    def status_of(self, url: int, since: int) -> UrlStatus:
        """Return ``"superfluous"`` for a copy that is believed, and ``"copy"`` for another one.

        :param since: in seconds since 1970: what was seen before is unknown.
        """
        copy = self.get(url)
        if copy is None or copy.shown is None or copy.led_at < since:
            return "unknown"
        original = self._originals.get(copy.shown.original)
        if original is None or original.content != copy.shown.content or original.is_doubted:
            return "copy"
        copies = original.copies if copy.event else copy.copies
        is_confirmed = copies < CONFIRM_FROM or original.confirmed > copy.event
        return "superfluous" if is_confirmed and original.met > copy.event else "copy"

    def get(self, url: int) -> DuplicateUrl | None:
        """Return what is known of a URL, unless that has ended."""
        copy = self._new.get(url) or self._stored.get(url)
        if copy is not None and copy.shown is not None:
            original = self._originals.get(copy.shown.original)
            if original is not None and copy.event <= original.ended:
                return None
        return copy

    def content_of(self, url: int) -> int | None:
        """Return the content of an original of new copies, unless that has ended."""
        original = self._originals.get(url)
        return original.content if original is not None and original.copies else None

    def originals_with(self, content: int) -> list[int]:
        new = [url for url, original in self._originals.items() if original.content == content]
        return [*new, *self._stored.originals_with(content)]

    def add(self, url: int, shown: OriginalContent, led_at: float) -> int | None:
        """Add a copy, and return the number of the event; ``None`` for one that is fetched."""
        if (known := self._new.get(url)) is not None and known.shown is None:
            return None
        self._forget(url)
        original = self._originals.setdefault(shown.original, _Original())
        original.show(shown.content)
        original.copies += 1
        self._events += 1
        self._new[url] = DuplicateUrl(shown, led_at, self._events)
        if len(self._new) > MAX_KNOWN:
            self._forget(next(iter(self._new)))
        return self._events

    def keep_fetching(self, url: int, saved: int) -> bool:
        """Let a URL be fetched whatever it led to, and return whether the store knows it.

        :param saved: the last event that was saved in the store.
        """
        copy = self._new.get(url)
        if copy is None or copy.shown is None:
            return False
        self._forget(url)
        self._new[url] = copy._replace(shown=None)
        return copy.event <= saved or self._stored.get(url) is not None

    def record_content(self, shown: OriginalContent, *, by_copy: bool) -> None:
        """Note that an original's URL showed a content, or that a known copy led to it again."""
        if (original := self._original(shown.original)) is not None:
            original.show(shown.content)
            self._events += 1
            if by_copy:
                original.confirmed = self._events
            else:
                original.met = self._events

    def mark_doubtful(self, url: int) -> None:
        """Believe nothing that leads to an original any more in this crawl."""
        if (original := self._original(url)) is not None:
            original.is_doubted = True

    def end(self, url: int) -> bool:
        """End all that is known of an original, and return whether there was anything."""
        original = self._original(url)
        if original is None:
            return False
        self._events += 1
        original.ended = self._events
        original.copies = 0
        original.is_doubted = False
        return True

    def _original(self, url: int) -> _Original | None:
        """Return the original of this URL, if anything is known of it that has not ended."""
        if url not in self._originals and self._stored.has_original(url):
            self._originals[url] = _Original()
        original = self._originals.get(url)
        return original if original is not None and original.is_known else None

    def _forget(self, url: int) -> None:
        copy = self._new.pop(url, None)
        if copy is None or copy.shown is None:
            return
        key = copy.shown.original
        original = self._originals[key]
        if copy.event > original.ended:
            original.copies -= 1
        if not original.copies and original.ended < 0 and not self._stored.has_original(key):
            del self._originals[key]
