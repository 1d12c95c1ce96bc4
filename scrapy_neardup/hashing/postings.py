"""Finds the documents that share features, each given by a 64-bit hash.

Features are passages of pages, fingerprints of files, and the keys of methods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_BUCKETS = 1 << 17
_BUCKET_MASK = np.uint64(_BUCKETS - 1)
#: An entry: the hash's upper half above the document's number.
_ENTRY_BYTES = 8
#: Bytes from which a bucket grows in place: it takes an eighth more memory, and no copy.
_LONG = 1 << 10
_TAG_MASK = np.uint64(0xFFFF_FFFF_0000_0000)
_NUMBER_MASK = np.uint64(0xFFFF_FFFF)

Hashes = npt.NDArray[np.uint64]


class Sharers(NamedTuple):
    """The documents that have features that were looked up.

    :ivar places: place of each feature among those looked up, shape ``(n,)``.
    :ivar numbers: number of a document that has it, shape ``(n,)``.
    """

    places: npt.NDArray[np.intp]
    numbers: npt.NDArray[np.intp]


class Postings:
    """An index of features and of the documents, by number, that have them.

    A document takes 8 bytes for each of its features. The upper halves of two hashes in one of
    131,072 buckets are equal by chance in one of four billion cases, which proposes a document too
    many.
    """

    def __init__(self) -> None:
        self._buckets: list[bytes | bytearray] = [b""] * _BUCKETS

    def add(self, hashes: Hashes, number: int) -> None:
        """Record the features of a document.

        :param hashes: shape ``(n,)``; equal ones are recorded as often as they occur.
        :param number: in ``[0, 2**32)``.
        """
        entries = (hashes & _TAG_MASK) | np.uint64(number)
        data = entries.astype("<u8").tobytes()
        for i, bucket in enumerate(_places(hashes)):
            held = self._buckets[bucket]
            if len(held) >= _LONG and isinstance(held, bytes):
                held = bytearray(held)
            held += data[i * _ENTRY_BYTES : (i + 1) * _ENTRY_BYTES]
            self._buckets[bucket] = held

    def extend(self, hashes: Hashes, numbers: npt.NDArray[np.uint32]) -> None:
        """Record features of many documents at once, each of the one at its place; shape ``(n,)``.

        :param numbers: shape ``(n,)``.
        """
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
        """Remove the features of a document, as they were added; missing ones are ignored.

        It takes time for all entries of their buckets; :meth:`keep` is for many documents.
        """
        for bucket, entry in zip(
            _places(hashes), (hashes & _TAG_MASK) | np.uint64(number), strict=True
        ):
            entries = np.frombuffer(self._buckets[bucket], "<u8")
            self._buckets[bucket] = entries[entries != entry].tobytes()

    def keep(self, is_kept: npt.NDArray[np.bool_]) -> None:
        """Remove all features of many documents at once, in one pass over all entries.

        :param is_kept: by number, whether a document keeps its features; shape ``(n,)``.
        """
        for bucket, held in enumerate(self._buckets):
            if held:
                entries = np.frombuffer(held, "<u8")
                self._buckets[bucket] = entries[is_kept[entries & _NUMBER_MASK]].tobytes()

    def sizes(self, hashes: Hashes) -> npt.NDArray[np.intp]:
        """Return how many entries a lookup of each feature reads: those of its bucket.

        :param hashes: shape ``(n,)``, as that of the sizes.
        """
        sizes = (len(self._buckets[bucket]) for bucket in _places(hashes))
        return np.fromiter(sizes, np.intp, hashes.size) // _ENTRY_BYTES

    def sharers(self, hashes: Hashes) -> Sharers:
        """Return the documents that have these features; shape of ``hashes``: ``(n,)``."""
        found = [self._buckets[bucket] for bucket in _places(hashes)]
        entries = np.frombuffer(b"".join(found), "<u8")
        sizes = np.fromiter(map(len, found), np.intp, hashes.size) // _ENTRY_BYTES
        places = np.repeat(np.arange(hashes.size), sizes)
        is_it = (entries & _TAG_MASK) == (hashes & _TAG_MASK)[places]
        return Sharers(places[is_it], (entries[is_it] & _NUMBER_MASK).astype(np.intp))


def _places(hashes: Hashes) -> list[int]:
    buckets: list[int] = (hashes & _BUCKET_MASK).tolist()
    return buckets
