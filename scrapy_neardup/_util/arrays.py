"""What several modules ask of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

_SPARE = 1 << 12


def borders_of_runs(values: npt.NDArray[Any], ends: Iterable[int] = ()) -> npt.NDArray[np.intp]:
    """Places in an array, shape ``(n,)``, at which another value follows; with 0 and ``n``.

    For arrays that are ordered already, or quickly put in order, this takes a part of the time of
    :func:`numpy.unique`.

    :param ends: places at which a run ends in any case.
    """
    is_border = np.empty(values.size + 1, bool)
    is_border[0] = is_border[-1] = True
    np.not_equal(values[1:], values[:-1], out=is_border[1:-1])
    for end in ends:
        is_border[end] = True
    return is_border.nonzero()[0]


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
