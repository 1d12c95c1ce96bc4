"""URLs that led to a duplicate in earlier crawls, in arrays: a store may know a million."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Of an original with so many known duplicates, one must have been fetched and have led to it again
#: before the rest are believed: one wall answers many addresses.
MANY = 4

#: States of an original with its content, which add up.
MET, CONFIRMED, DOUBTED, ENDED = 1, 2, 4, 8


class Shown(NamedTuple):
    """Digests of an original's address, and of the text that is stored for it."""

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
        self.seen_at: Sequence[int] = np.ascontiguousarray(seen_at[order]).data
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

    def find(self, digest: int) -> int | None:
        """The place of a copy, if it is here."""
        at = bisect_left(self._digests, digest)
        return at if at < len(self._digests) and self._digests[at] == digest else None

    def shown(self, at: int) -> Shown:
        group = self._group[at]
        return Shown(self._originals[group], self._contents[group])

    def is_ended(self, at: int) -> bool:
        return bool(self._states[self._group[at]] & ENDED)

    def is_believed(self, at: int) -> bool:
        group = self._group[at]
        wanted = MET if self._copies[group] < MANY else MET | CONFIRMED
        return self._states[group] & (wanted | DOUBTED | ENDED) == wanted

    def originals_with(self, content: int) -> list[int]:
        """Originals of which copies with this content are known."""
        found = np.flatnonzero(np.asarray(self._contents) == np.uint64(content))
        return [self._originals[group] for group in found.tolist()]

    def set(self, state: int, original: int, content: int | None = None) -> bool:
        """Note a state of an original, of one content or of all; was that not known before?"""
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
    """The same memory: among all else that a crawl does, numpy takes long to find one number."""
    return np.ascontiguousarray(digests, np.uint64).data
