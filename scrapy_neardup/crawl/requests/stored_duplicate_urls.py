"""URLs that led to a duplicate in earlier crawls, in arrays: there may be a million."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Shown(NamedTuple):
    """Digests of an original's URL, and of the text that is stored for it."""

    original: int
    content: int


class Copy(NamedTuple):
    """A URL that led to a duplicate.

    :ivar shown: ``None`` for a URL that is fetched again whatever it led to.
    :ivar led_at: seconds since 1970, or later.
    :ivar event: number of the event of this crawl; 0 for an earlier one.
    :ivar copies: number of copies of earlier crawls that led to the same.
    """

    shown: Shown | None
    led_at: float
    event: int = 0
    copies: int = 0


class StoredDuplicateUrls:
    """Copies of earlier crawls, in arrays; each has a place, and a group with the others of its
    original and content.

    :param copies: of type :data:`~scrapy_neardup.stores.hints.KNOWN`, or of one with its fields.
    """

    def __init__(self, copies: npt.NDArray[np.void]) -> None:
        copies = copies[np.argsort(copies["digest"], kind="stable")]
        self._seen_at: Sequence[int] = np.ascontiguousarray(copies["seen_at"]).data
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

    def __len__(self) -> int:
        return len(self._digests)

    def get(self, digest: int) -> Copy | None:
        """Return the copy of this digest, if it is here."""
        at = bisect_left(self._digests, digest)
        if at == len(self._digests) or self._digests[at] != digest:
            return None
        group = self._group[at]
        shown = Shown(self._originals[group], self._contents[group])
        return Copy(shown, self._seen_at[at], copies=self._copies[group])

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
