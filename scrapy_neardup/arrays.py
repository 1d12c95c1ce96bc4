"""What several modules ask of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_SPARE = 1 << 12


def starts_of_runs(ordered: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Places in an ordered array, shape ``(n,)``, at which a value stands for the first time.

    For arrays that are ordered already, or quickly put in order, this takes a part of the time of
    :func:`numpy.unique`.
    """
    is_first = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def ends_of_runs(ordered: npt.NDArray[Any], ends: Sequence[int]) -> npt.NDArray[np.intp]:
    """Likewise, the places at which a value stands for the last time in its part.

    :param ends: where the parts end, each of which is ordered for itself.
    """
    is_last = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    for end in ends:
        is_last[end - 1 : end] = True
    return np.flatnonzero(is_last)


def up_to_the_next(starts: npt.NDArray[np.intp], end: int) -> npt.NDArray[np.intp]:
    """From each of ascending places to the next one, and from the last one to the end."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = end - starts[-1:]
    return lengths


def with_more(room: npt.NDArray[Any], used: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values behind those that are there, in an array that has room for more.

    :param used: how many are there.
    """
    end = used + len(values)
    if end > len(room):
        grown = np.empty(2 * end + _SPARE, room.dtype)
        grown[:used] = room[:used]
        room = grown
    room[used:end] = values
    return room
