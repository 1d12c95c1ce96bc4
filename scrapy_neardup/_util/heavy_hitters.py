"""What comes most often in a long run of things, counted in bounded memory."""

from __future__ import annotations

from collections import Counter


class HeavyHitters:
    """Counts things, and lets go of rare ones when there is no room.

    Beyond twice the room, what the first thing without room was counted is taken off all counts
    (Misra, Gries, Science of Computer Programming 1982, batch by batch as in Agarwal et al.,
    "Mergeable summaries", PODS 2012). A count is then too low by :attr:`error` at most, which is
    at most the number of all things divided by the room; whatever came more often is there.

    :param room: 1 or more things that are kept when others are let go.
    """

    def __init__(self, room: int = 10_000) -> None:
        #: By how much a count may be too low; 0 while nothing was let go.
        self.error = 0
        self._room = room
        self._counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Count a thing once more."""
        self._counts[name] += 1
        if len(self._counts) > 2 * self._room:
            self._let_go()

    def most_common(self, number: int) -> list[tuple[str, int]]:
        """The things that came most often, and at least how often."""
        return self._counts.most_common(number)

    def _let_go(self) -> None:
        least = sorted(self._counts.values(), reverse=True)[self._room]
        self.error += least
        self._counts = Counter({n: c - least for n, c in self._counts.items() if c > least})
