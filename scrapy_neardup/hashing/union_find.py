"""What hangs together by pairs: the connected components of a graph, joined batch by batch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_Places = npt.NDArray[np.intp]


class Clusters:
    """A union-find structure (Tarjan, JACM 1975) over the places 0 to ``size - 1``.

    Many pairs are joined at once: each root is hung below the least root that it has a pair with,
    and paths are halved, until no pair has two roots (hooking and pointer jumping: Shiloach,
    Vishkin, Journal of Algorithms 1982). A place is only ever hung below a smaller one, so that a
    cluster's root is its smallest place.
    """

    def __init__(self, size: int) -> None:
        self._parents = np.arange(size)

    def join(self, first: _Places, second: _Places) -> None:
        """Put the two places of each pair into one cluster; both of shape ``(n,)``."""
        while first.size:
            first, second = self._roots(first), self._roots(second)
            apart = first != second
            first, second = first[apart], second[apart]
            np.minimum.at(self._parents, np.maximum(first, second), np.minimum(first, second))

    def smallest(self) -> _Places:
        """The smallest place of each place's cluster; shape ``(size,)``."""
        return self._roots(np.arange(self._parents.size))

    def groups(self) -> Iterator[_Places]:
        """Clusters of several places, each ascending, in the order of their smallest places."""
        smallest = self.smallest()
        order = np.argsort(smallest, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(smallest[order])) + 1):
            if group.size > 1:
                yield group

    def _roots(self, places: _Places) -> _Places:
        """Where the paths from some places end."""
        while True:
            above = self._parents[places]
            further = self._parents[above]
            if np.array_equal(above, further):
                return above
            self._parents[places] = further
            places = further
