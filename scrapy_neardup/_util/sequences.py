"""Finds what two sequences have in common."""

from __future__ import annotations

from collections.abc import Sequence


def common_subsequence(values: Sequence[int], others: Sequence[int]) -> list[tuple[int, int]]:
    """Return the indices in both of each value of a longest common subsequence.

    Bit-parallel (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004), so that many equal
    values take no longer than others.
    """
    places_of = dict.fromkeys(others, 0)
    for place, value in enumerate(values):
        if value in places_of:
            places_of[value] |= 1 << place
    every = (1 << len(values)) - 1
    row, rows = every, []
    for value in others:
        matched = row & places_of[value]
        row = (row + matched | row - matched) & every
        rows.append(row)
    # A cleared bit of a row says that including its index makes the subsequence longer, given the
    # other text's values up to this row.
    found = []
    place, other = len(values) - 1, len(others) - 1
    while place >= 0 and other >= 0:
        if rows[other] >> place & 1:
            place -= 1
        elif other and not rows[other - 1] >> place & 1:
            other -= 1
        else:
            found.append((place, other))
            place, other = place - 1, other - 1
    return found[::-1]
