"""Finds the values that have keys in common with a value: one key, or as many as both need."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable

import numpy as np

from ..hashing.postings import Hashes, Postings
from .base import Method

#: Share of the keys needed in common that are taken for common without being looked up. With less,
#: a notice's keys are looked up; with all, one common word in ten makes a candidate.
_TAKEN = 0.9
#: Number of removed values, at least, whose postings are left until they are swept together.
_LEFT = 4096
#: Of a removed value, more keys are needed than any has.
_NEVER = (1 << 32) - 1
_MULTIPLIER, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


class KeySets:
    """The numbers of the values that have each key, for a method that needs one in common."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self._numbers: dict[int, set[int]] = {}

    def add(self, number: int, value: bytes) -> None:
        # Before anything changes: a method of the user's own may raise.
        keys = list(self._method.keys(value) or ())
        for key in keys:
            self._numbers.setdefault(key, set()).add(number)

    def remove(self, number: int, value: bytes) -> None:
        for key in set(self._method.keys(value) or ()):
            numbers = self._numbers[key]
            numbers.remove(number)
            if not numbers:
                del self._numbers[key]

    def sharers(self, value: bytes) -> Collection[int] | None:
        """Return the numbers of the values with a key in common, ``None`` without keys."""
        keys = self._method.keys(value)
        return None if keys is None else set().union(*(self._numbers.get(key, ()) for key in keys))


class KeyCounts:
    """Counts the keys in common, for a method that needs more than one.

    The keys that most values have are taken for common without being looked up, so a notice on all
    pages takes no time ("DivideSkip" of Li, Lu, Lu, "Efficient merging and filtering algorithms for
    approximate string searches", ICDE 2008).
    """

    def __init__(self, method: Method) -> None:
        self._method = method
        self._postings = Postings()
        #: Each value has a place: its number, and how many keys a near-duplicate has in common.
        self._places: dict[int, int] = {}
        self._numbers: list[int] = []
        self._needed = array("I")
        #: Places of removed values: those that still have postings, and those that others take.
        self._left: list[int] = []
        self._free: list[int] = []

    def add(self, number: int, value: bytes) -> None:
        # Before anything changes: a method of the user's own may raise.
        hashes, needed = _hashes(self._method.keys(value)), self._method.keys_in_common(value)
        if not self._free:
            self._free.append(len(self._needed))
            self._needed.append(_NEVER)
            self._numbers.append(0)
        place = self._free[-1]
        self._needed[place], self._numbers[place] = needed, number
        self._places[number] = self._free.pop()
        self._postings.add(hashes, place)

    def remove(self, number: int, value: bytes) -> None:
        place = self._places.pop(number)
        self._needed[place] = _NEVER
        self._left.append(place)
        # One at a time, each removal would read all postings of the keys that most values have.
        if len(self._left) > max(len(self._places) // 2, _LEFT):
            self._postings.keep(np.frombuffer(self._needed, np.uint32) != _NEVER)
            self._free += self._left
            self._left.clear()

    def sharers(self, value: bytes) -> Collection[int] | None:
        """Return the numbers of the values with enough keys in common, ``None`` without keys."""
        keys = self._method.keys(value)
        if keys is None:
            return None
        hashes, needed = _hashes(keys), self._method.keys_in_common(value)
        if taken := int(needed * _TAKEN):
            by_size = np.argsort(self._postings.sizes(hashes), kind="stable")
            hashes = hashes[by_size[: hashes.size - taken]]
        found = self._postings.sharers(hashes).numbers
        places, counts = np.unique(found, return_counts=True)
        needed_of_both = np.maximum(np.frombuffer(self._needed, np.uint32)[places], needed)
        near = places[counts + taken >= needed_of_both]
        return [self._numbers[place] for place in near.tolist()]


def _hashes(keys: Iterable[int] | None) -> Hashes:
    """Return a hash of each key, shape ``(n,)``.

    Keys of one hash are counted too often, never too seldom, as both are kept.
    """
    if not isinstance(keys, np.ndarray):
        # Python's hash depends on all bits of a number of any size.
        keys = np.array([hash(key) for key in keys or ()], np.int64)
    mixed = keys.astype(np.uint64) * _MULTIPLIER
    return mixed ^ mixed >> _HALF
