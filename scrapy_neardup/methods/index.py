"""Finds the values of a method that are near a value."""

from __future__ import annotations

from typing import NamedTuple

from .base import Method
from .keys import KeyCounts, KeySets


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
        self._values: dict[int, bytes] = {}
        # A set for each key takes a fifth of the time of counting, and many times its memory.
        is_one_enough = type(method).keys_in_common is Method.keys_in_common
        self._keys = KeySets(method) if is_one_enough else KeyCounts(method)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> bytes:
        return self._values[number]

    def add(self, number: int, value: bytes) -> None:
        """Keep a value, not empty, under a number that is not in use."""
        # First, because a method of the user's own may raise.
        self._keys.add(number, value)
        self._values[number] = value

    def remove(self, number: int) -> None:
        """Remove a value.

        :raises KeyError: if there is none under this number.
        """
        self._keys.remove(number, self._values.pop(number))

    def near(self, value: bytes) -> list[MethodMatch]:
        """Return the near-duplicates of a value, most similar first, then those added first."""
        if not value:
            return []
        found, candidates = [], self._keys.sharers(value)
        for number in self._values if candidates is None else candidates:
            # None if its keys could not be made again when it was removed.
            known = self._values.get(number)
            if known is not None and self._method.is_near(value, known):
                found.append(MethodMatch(number, self._method.similarity(value, known)))
        return sorted(found, key=lambda match: (-match.similarity, match.number))
