"""Tells whether one collection is another with one item more, from eight bytes of each.

The bytes are the sums of the items' hashes and of the squares of these, modulo a prime. If one
collection has a single item more, the difference of the second sums is the square of the
difference of the first. Any other two collections agree in this in one of four thousand million
cases. The order of the items does not matter.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

#: The largest prime below 2 ** 32.
_PRIME = 4_294_967_291
_SUMS = struct.Struct("<II")
SIZE = _SUMS.size


def power_sums(hashes: npt.NDArray[np.uint64]) -> bytes:
    """Return the two sums of a collection.

    :param hashes: one of each item, with a key that authors of pages do not know.
    """
    items = hashes % np.uint64(_PRIME)
    squares = items * items % np.uint64(_PRIME)
    return _SUMS.pack(int(items.sum()) % _PRIME, int(squares.sum()) % _PRIME)


def has_one_more(sums: bytes, others: bytes) -> bool:
    """Return whether the first collection consists of the second and one item more."""
    first, second = _SUMS.unpack(sums)
    other_first, other_second = _SUMS.unpack(others)
    more: int = (first - other_first) % _PRIME
    squared: int = (second - other_second) % _PRIME
    return more != 0 and squared == more * more % _PRIME
