"""Finds the pages that share passages, each given by a 64-bit hash.

A passage that :data:`MAX_PAGES` pages have is boilerplate or a common phrase: it is not recorded of
any more pages. So the lists of pages stay short whatever is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Number of pages, at most, that are recorded for a passage.
MAX_PAGES = 6

_BUCKETS = 1 << 17
_BUCKET_MASK = np.uint64(_BUCKETS - 1)
#: An entry: the hash's upper half above the page's number.
_ENTRY_BYTES = 8
_TAG_MASK = np.uint64(0xFFFF_FFFF_0000_0000)
_NUMBER_MASK = np.uint64(0xFFFF_FFFF)

Hashes = npt.NDArray[np.uint64]


class Sharers(NamedTuple):
    """The pages that have passages of a page.

    :ivar places: place of each passage among those looked up, shape ``(n,)``.
    :ivar numbers: number of a page that has it, shape ``(n,)``.
    """

    places: npt.NDArray[np.intp]
    numbers: npt.NDArray[np.intp]


class PassageIndex:
    """An index of passages and of the pages, by number, that have them.

    A page takes 8 bytes for each of its passages. The upper halves of two hashes in one of 131,072
    buckets are equal by chance in one of four billion cases, which proposes a page too many.
    """

    def __init__(self) -> None:
        self._buckets = [b""] * _BUCKETS

    def add(self, hashes: Hashes, number: int) -> None:
        """Record the passages of a page; the caller leaves out those of :data:`MAX_PAGES` pages.

        :param hashes: shape ``(n,)``.
        :param number: in ``[0, 2**32)``.
        """
        entries = (hashes & _TAG_MASK) | np.uint64(number)
        data = entries.astype("<u8").tobytes()
        for i, bucket in enumerate(_places(hashes)):
            self._buckets[bucket] += data[i * _ENTRY_BYTES : (i + 1) * _ENTRY_BYTES]

    def extend(self, hashes: Hashes, numbers: npt.NDArray[np.uint32]) -> None:
        """Record passages of many pages at once, each of the page at its place; shapes ``(n,)``."""
        buckets = hashes & _BUCKET_MASK
        order = np.argsort(buckets, kind="stable")
        data = ((hashes & _TAG_MASK) | numbers)[order].astype("<u8").tobytes()
        ends = np.cumsum(np.bincount(buckets.astype(np.intp), minlength=_BUCKETS)) * _ENTRY_BYTES
        start = 0
        for bucket, end in enumerate(ends.tolist()):
            if end > start:
                self._buckets[bucket] += data[start:end]
                start = end

    def remove(self, hashes: Hashes, number: int) -> None:
        """Remove the passages of a page, as they were added; those that are missing are ignored."""
        for bucket, entry in zip(
            _places(hashes), (hashes & _TAG_MASK) | np.uint64(number), strict=True
        ):
            entries = np.frombuffer(self._buckets[bucket], "<u8")
            self._buckets[bucket] = entries[entries != entry].tobytes()

    def sharers(self, hashes: Hashes) -> Sharers:
        """Return the pages that have these passages; shape of ``hashes``: ``(n,)``."""
        found = [self._buckets[bucket] for bucket in _places(hashes)]
        entries = np.frombuffer(b"".join(found), "<u8")
        sizes = np.fromiter(map(len, found), np.intp, len(found)) // _ENTRY_BYTES
        places = np.repeat(np.arange(hashes.size), sizes)
        is_it = (entries & _TAG_MASK) == (hashes & _TAG_MASK)[places]
        return Sharers(places[is_it], (entries[is_it] & _NUMBER_MASK).astype(np.intp))


def _places(hashes: Hashes) -> list[int]:
    buckets: list[int] = (hashes & _BUCKET_MASK).tolist()
    return buckets
