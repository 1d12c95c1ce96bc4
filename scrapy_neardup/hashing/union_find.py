"""Finds the connected components of a graph whose edges come in batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_Places = npt.NDArray[np.intp]


class Clusters:
    """A union-find structure (Tarjan, JACM 1975) over the elements 0 to ``size - 1``.

    Many pairs are joined at once: each root is linked to the least root that it is paired with,
    and paths are halved, until no pair has two roots (hooking and pointer jumping: Shiloach,
    Vishkin, Journal of Algorithms 1982). An element is only ever linked to a smaller one, so the
    root of a cluster is its smallest element.
    """

    def __init__(self, size: int) -> None:
        self._parents = np.arange(size)

    def join(self, first: _Places, second: _Places) -> None:
        """Put the two elements of each pair into one cluster; both of shape ``(n,)``."""
        while first.size:
            first, second = self._roots(first), self._roots(second)
            apart = first != second
            first, second = first[apart], second[apart]
            np.minimum.at(self._parents, np.maximum(first, second), np.minimum(first, second))

    def smallest(self) -> _Places:
        """Return the smallest element of each element's cluster; shape ``(size,)``."""
        return self._roots(np.arange(self._parents.size))

    def groups(self) -> Iterator[_Places]:
        """Yield clusters of two or more elements, each ascending, ordered by smallest element."""
        smallest = self.smallest()
        order = np.argsort(smallest, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(smallest[order])) + 1):
            if group.size > 1:
                yield group

    def _roots(self, places: _Places) -> _Places:
        """Return the roots of some elements."""
        while True:
            above = self._parents[places]
            further = self._parents[above]
            if np.array_equal(above, further):
                return above
            self._parents[places] = further
            places = further
