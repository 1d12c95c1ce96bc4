"""Finds the values of a method that are near a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .base import Method


class MethodMatch(NamedTuple):
    """A near-duplicate.

    :ivar number: number of the known value.
    :ivar similarity: 0 to 1.
    """

    number: int
    similarity: float


class MethodIndex:
    """Keeps the values of a method under numbers, and finds those near another value.

    Values that share a key are compared; without keys, all are. The result is that of comparing all
    values, except for MinHash, whose bands miss a few near-duplicates.

    :param method: makes and compares the values.
    """

    def __init__(self, method: Method) -> None:
        self._method = method
        self._values: dict[int, bytes] = {}
        self._numbers: dict[int, set[int]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> bytes:
        return self._values[number]

    def add(self, number: int, value: bytes) -> None:
        """Keep a value, not empty, under a number that is not in use."""
        # Before anything changes: a method of the user's own may raise.
        keys = list(self._method.keys(value) or ())
        self._values[number] = value
        for key in keys:
            self._numbers.setdefault(key, set()).add(number)

    def remove(self, number: int) -> None:
        """Remove a value.

        :raises KeyError: if there is none under this number.
        """
        value = self._values.pop(number)
        for key in set(self._method.keys(value) or ()):
            numbers = self._numbers[key]
            numbers.remove(number)
            if not numbers:
                del self._numbers[key]

    def near(self, value: bytes) -> list[MethodMatch]:
        """Return the near-duplicates of a value, most similar first, then those added first."""
        if not value:
            return []
        found = []
        for number in self._candidates(value):
            # None if its keys could not be made again when it was removed.
            known = self._values.get(number)
            if known is not None and self._method.is_near(value, known):
                found.append(MethodMatch(number, self._method.similarity(value, known)))
        return sorted(found, key=lambda match: (-match.similarity, match.number))

    def _candidates(self, value: bytes) -> Iterable[int]:
        keys = self._method.keys(value)
        if keys is None:
            return self._values
        return set().union(*(self._numbers.get(key, ()) for key in keys))
