"""Finds the most frequent of many names in bounded memory."""

from __future__ import annotations

from collections import Counter


class HeavyHitters:
    """Counts items, and drops rare ones when there are too many.

    When more than twice the capacity is counted, the highest count beyond the capacity is
    subtracted from all counts (Misra, Gries, Science of Computer Programming 1982, in batches as
    in Agarwal et al., "Mergeable summaries", PODS 2012). A count is then too low by :attr:`error`
    at most, which never exceeds the number of all items divided by the capacity; every item that
    came more often than that is kept.

    :param capacity: number of items, 1 or more, that are kept when others are dropped.
    """

    def __init__(self, capacity: int = 10_000) -> None:
        #: By how much a count may be too low; 0 while nothing was dropped.
        self.error = 0
        self._capacity = capacity
        self._counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Count an item once more."""
        self._counts[name] += 1
        if len(self._counts) > 2 * self._capacity:
            least = sorted(self._counts.values(), reverse=True)[self._capacity]
            self.error += least
            self._counts = Counter({n: c - least for n, c in self._counts.items() if c > least})

    def most_common(self, number: int) -> list[tuple[str, int]]:
        """Return the most frequent items, each with a lower bound of its count."""
        return self._counts.most_common(number)
