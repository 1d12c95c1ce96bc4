"""The fingerprints that every index is filled with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_SEED = 7
_CHUNK = 10_000


def fingerprints(first: int, last: int) -> Iterator[npt.NDArray[np.uint64]]:
    """The random fingerprints from one number to another, some at a time; always the same."""
    for start in range(first - first % _CHUNK, last, _CHUNK):
        some = np.random.default_rng((_SEED, start)).integers(0, 1 << 64, _CHUNK, np.uint64)
        yield some[max(first - start, 0) : last - start]
