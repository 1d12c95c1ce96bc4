"""Finds the values of a method that are near a value."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..hashing.postings import Hashes, Postings
from .base import Method

#: Share of the keys needed in common that are taken for common without being looked up. With less,
#: a notice's keys are looked up; with all, one common word in ten makes a candidate.
_TAKEN = 0.9
#: Of a removed value, more keys are needed than any has.
_NEVER = (1 << 32) - 1
_MULTIPLIER, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class MethodMatch(NamedTuple):
    """A near-duplicate.

    :ivar number: number of the known value.
    :ivar similarity: 0 to 1.
    """

    number: int
    similarity: float


class MethodIndex:
    """Keeps the values of a method under numbers, and finds those near another value.

    Values with enough keys in common are compared; without keys, all are. The result is that of
    comparing all values, except for MinHash, whose bands miss a few near-duplicates.

    :param method: makes and compares the values.
    """

    def __init__(self, method: Method) -> None:
        self._method = method
        self._places: dict[int, int] = {}
        #: By place: numbers, values and the keys that they need in common with near-duplicates.
        self._numbers: list[int] = []
        self._values: list[bytes] = []
        self._needed = array("I")
        #: Places of removed values, which others take.
        self._free: list[int] = []
        self._postings = Postings()

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> bytes:
        return self._values[self._places[number]]

    def add(self, number: int, value: bytes) -> None:
        """Keep a value, not empty, under a number that is not in use."""
        # Before anything changes: a method of the user's own may raise.
        hashes, needed = _hashes(self._method.keys(value)), self._method.keys_in_common(value)
        if not self._free:
            self._needed.append(_NEVER)
            self._free.append(len(self._values))
            self._values.append(b"")
            self._numbers.append(number)
        self._needed[self._free[-1]] = needed
        place = self._places[number] = self._free.pop()
        self._values[place], self._numbers[place] = value, number
        self._postings.add(hashes, place)

    def remove(self, number: int) -> None:
        """Remove a value.

        :raises KeyError: if there is none under this number.
        """
        place = self._places.pop(number)
        value, self._values[place] = self._values[place], b""
        self._needed[place] = _NEVER
        # If its keys cannot be made again, their postings stay, and no other value takes the place.
        self._postings.remove(_hashes(self._method.keys(value)), place)
        self._free.append(place)

    def near(self, value: bytes) -> list[MethodMatch]:
        """Return the near-duplicates of a value, most similar first, then those added first."""
        if not value:
            return []
        found = []
        for place in self._candidates(value):
            known = self._values[place]
            if self._method.is_near(value, known):
                similarity = self._method.similarity(value, known)
                found.append(MethodMatch(self._numbers[place], similarity))
        return sorted(found, key=lambda match: (-match.similarity, match.number))

    def _candidates(self, value: bytes) -> Iterable[int]:
        """Return the places of the values with enough keys in common.

        The keys that most values have are taken for common without being looked up, so a notice on
        all pages takes no time ("DivideSkip" of Li, Lu, Lu, "Efficient merging and filtering
        algorithms for approximate string searches", ICDE 2008).
        """
        keys = self._method.keys(value)
        if keys is None or not self._places:
            return self._places.values()
        hashes, needed = _hashes(keys), self._method.keys_in_common(value)
        taken = int(needed * _TAKEN)
        by_size = np.argsort(self._postings.sizes(hashes), kind="stable")
        found = self._postings.sharers(hashes[by_size[: hashes.size - taken]]).numbers
        places, counts = np.unique(found, return_counts=True)
        needed_of_both = np.maximum(np.frombuffer(self._needed, np.uint32)[places], needed)
        kept: list[int] = places[counts + taken >= needed_of_both].tolist()
        return kept


def _hashes(keys: Iterable[int] | None) -> Hashes:
    """Return a hash of each key, shape ``(n,)``.

    Keys of one hash are counted too often, never too seldom, as both are kept.
    """
    if not isinstance(keys, np.ndarray):
        # Python's hash depends on all bits of a number of any size.
        keys = np.array([hash(key) for key in keys or ()], np.int64)
    mixed = keys.astype(np.uint64) * _MULTIPLIER
    return mixed ^ mixed >> _HALF
