"""Finds near pairs by comparing each row with all later ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Fingerprints, shape ``(n,)``, or rows of numbers.
Prints = npt.NDArray[np.uint64]
#: Two ascending rows: the first and the second page of each pair.
Pairs = npt.NDArray[np.int64]


def near_pairs(fingerprints: Prints, distance: int) -> Pairs:
    """Return all pairs of 64-bit fingerprints that differ in at most ``distance`` bits."""
    found = [
        _beside(place, np.bitwise_count(fingerprints[place + 1 :] ^ fingerprint) <= distance)
        for place, fingerprint in enumerate(fingerprints)
    ]
    return np.concatenate(found, axis=1) if found else np.empty((2, 0), np.int64)


def alike_pairs(rows: Prints, share: float) -> Pairs:
    """Return all pairs of rows of which at least this share of the columns is equal."""
    narrow = rows.astype(np.uint32)
    found = [
        _beside(place, (narrow[place + 1 :] == row).mean(axis=1) >= share)
        for place, row in enumerate(narrow)
    ]
    return np.concatenate(found, axis=1) if found else np.empty((2, 0), np.int64)


def _beside(place: int, flags: npt.NDArray[np.bool_]) -> Pairs:
    others = np.flatnonzero(flags) + place + 1
    return np.stack([np.full_like(others, place), others])
