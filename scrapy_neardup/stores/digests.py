"""Digests of pages' keys, and a table of page numbers by these, in five bytes each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xxhash

_BUCKETS = 1 << 16
_NUMBER_BYTES = 4


class KeyTable:
    """Finds the page numbers that may belong to a key.

    Numbers are dealt to buckets by the last 16 bits of their key's digest. A bucket does not hold
    the digests themselves: whoever asks has them elsewhere and compares.
    """

    def __init__(self) -> None:
        # Nothing in reserve: a growing array keeps an eighth, and leaves holes behind.
        self._buckets = [b""] * _BUCKETS

    def add(self, digest: int, number: int) -> None:
        """Add a number, in ``[0, 2**32)``, under a digest, in ``[0, 2**64)``."""
        self._buckets[digest % _BUCKETS] += number.to_bytes(_NUMBER_BYTES, "little")

    def extend(self, digests: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint32]) -> None:
        """Add many numbers at once; both of shape ``(n,)``."""
        places = digests.astype(np.uint16)
        order = np.argsort(places, kind="stable")
        data = numbers[order].astype("<u4").tobytes()
        ends = np.cumsum(np.bincount(places, minlength=_BUCKETS)) * _NUMBER_BYTES
        start = 0
        for place, end in enumerate(ends.tolist()):
            if end > start:
                self._buckets[place] += data[start:end]
                start = end

    def remove(self, digest: int, number: int) -> None:
        """Remove a number that was added under this digest.

        :raises KeyError: when it was not.
        """
        place = digest % _BUCKETS
        kept = self.numbers(digest)
        if number not in kept:
            raise KeyError((digest, number))
        self._buckets[place] = kept[kept != number].astype("<u4").tobytes()

    def has(self, digest: int, number: int) -> bool:
        """Return whether this number was added under this digest, or one of its bucket."""
        return bool((self.numbers(digest) == number).any())

    def numbers(self, digest: int) -> npt.NDArray[np.intp]:
        """Return the numbers that may have been added under this digest."""
        return np.frombuffer(self._buckets[digest % _BUCKETS], "<u4").astype(np.intp)


def key_seed(secret: bytes) -> int:
    """Return the seed for :func:`key_digest`: only its owner can make keys of one digest."""
    return xxhash.xxh3_64_intdigest(secret)


def key_digest(key: str, seed: int) -> int:
    """Return 64 bits by which a page is found under its key."""
    return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"), seed)
