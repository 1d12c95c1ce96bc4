"""URLs that led to a duplicate in earlier crawls, in arrays: there may be a million."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Standing = Literal["unknown", "copy", "superfluous"]

#: Of an original with so many known duplicates, one must have been fetched and have led to it again
#: before the others are believed: one login page answers many URLs.
MANY = 4

#: States of an original with its content, which add up.
MET, CONFIRMED, DOUBTED, ENDED = 1, 2, 4, 8


class Shown(NamedTuple):
    """Digests of an original's URL, and of the text that is stored for it."""

    original: int
    content: int


class StoredDuplicateUrls:
    """Copies of earlier crawls, in arrays; each has a place, and a group with the others of its
    original and content.

    :param copies: of type :data:`~scrapy_neardup.stores.hints.COPY`, or with more fields.
    :param seen_at: seconds since 1970 of each, or later.
    """

    def __init__(self, copies: npt.NDArray[np.void], seen_at: npt.NDArray[np.uint32]) -> None:
        order = np.argsort(copies["digest"], kind="stable")
        copies = copies[order]
        self._seen_at: Sequence[int] = np.ascontiguousarray(seen_at[order]).data
        self._digests = _ints(copies["digest"])
        by_group = np.lexsort((copies["content"], copies["original"]))
        grouped = copies[by_group]
        is_first = np.ones(len(grouped), np.bool_)
        is_first[1:] = grouped["original"][1:] != grouped["original"][:-1]
        is_first[1:] |= grouped["content"][1:] != grouped["content"][:-1]
        group = np.empty(len(grouped), np.int32)
        group[by_group] = np.cumsum(is_first, dtype=np.int32) - 1
        self._group: Sequence[int] = group.data
        self._copies: Sequence[int] = np.bincount(group).astype(np.int32).data
        #: Of each group, sorted by originals.
        self._originals = _ints(grouped["original"][is_first])
        self._contents = _ints(grouped["content"][is_first])
        self._states = bytearray(len(self._originals))

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, digest: int) -> bool:
        return self._find(digest) is not None

    def _find(self, digest: int) -> int | None:
        """Return the place of a copy, if it is here."""
        at = bisect_left(self._digests, digest)
        return at if at < len(self._digests) and self._digests[at] == digest else None

    def standing(self, digest: int, since: int) -> Standing:
        """Return what is known of a URL.

        :param since: in seconds since 1970: what was seen before is unknown.
        """
        at = self._find(digest)
        if at is None or self._seen_at[at] < since:
            return "unknown"
        group = self._group[at]
        state = self._states[group]
        if state & ENDED:
            return "unknown"
        needed = MET if self._copies[group] < MANY else MET | CONFIRMED
        return "superfluous" if state & (needed | DOUBTED) == needed else "copy"

    def shown(self, digest: int) -> Shown | None:
        """Return what a URL is known to lead to, unless that has ended."""
        at = self._find(digest)
        if at is None or self._states[self._group[at]] & ENDED:
            return None
        group = self._group[at]
        return Shown(self._originals[group], self._contents[group])

    def originals_with(self, content: int) -> list[int]:
        """Return the originals of which copies with this content are known."""
        found = np.flatnonzero(np.asarray(self._contents) == np.uint64(content))
        return [self._originals[group] for group in found.tolist()]

    def set(self, state: int, original: int, content: int | None = None) -> bool:
        """Add a state of an original, of one content or of all, and return whether it is new."""
        is_new = False
        for group in self._groups_of(original):
            if content is None or self._contents[group] == content:
                is_new |= not self._states[group] & state
                self._states[group] |= state
        return is_new

    def _groups_of(self, original: int) -> Iterator[int]:
        group = bisect_left(self._originals, original)
        while group < len(self._originals) and self._originals[group] == original:
            yield group
            group += 1


def _ints(digests: npt.NDArray[np.uint64]) -> Sequence[int]:
    """Return the same memory: numpy takes long to look up single numbers."""
    return np.ascontiguousarray(digests, np.uint64).data
