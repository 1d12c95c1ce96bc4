"""Chooses elements of a graph such that each other one has an edge to one of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def represented(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], is_equal: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return the elements that a smaller one represents; ascending, each once.

    An element is represented if a smaller one that is not represented has an edge to it; then the
    ends of a chain are not taken for near each other. It is also represented if it equals a smaller
    element, by whatever represents that one.

    :param first: smaller element of each edge; shape ``(n,)``, like the others.
    :param second: greater element of each edge.
    :param is_equal: whether the two are equal.
    """
    found: set[int] = set()
    # All edges to an element that is a first one come before those from it.
    order = np.argsort(second, kind="stable")
    edges = (column[order].tolist() for column in (first, second, is_equal))
    for one, other, equal in zip(*edges, strict=True):
        if equal or one not in found:
            found.add(other)
    return np.array(sorted(found), np.int64)
