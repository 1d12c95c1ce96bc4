"""Tokens to weighted features: ``(1 + ln tf) * idf``, in whole numbers.

Raw term frequency lets a page that repeats another page's words many times come near
it, and makes unrelated pages collide; the logarithm keeps that in bounds (Salton and
Buckley 1988, "Term-weighting approaches in automatic text retrieval", table 1).

A token with a digit weighs as little as the commonest word. Counters, clocks and dates
change at every fetch, and as rare tokens they would push two copies of a short page out
of each other's reach. What a number tells is not lost: shingles and titles keep it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Version of the weighting. It changes when equal tokens would get other weights.
VERSION = "logtf-1"

_UNITS = 16
#: ``1 + ln tf`` of the term frequencies that nearly all tokens have, in whole sixteenths.
_SATURATED: npt.NDArray[np.float64] = np.rint(_UNITS * (1 + np.log(np.maximum(1, np.arange(1024)))))
#: Weight of a token with a digit where it stands once, whatever the table says.
NUMBER_WEIGHT = 1
_digit_in = re.compile(r"\d").search


class Features(NamedTuple):
    """Distinct tokens of a page.

    :ivar hashes: shape ``(n,)``, unkeyed hash of each.
    :ivar weights: shape ``(n,)``, whole numbers, at least 16.
    """

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]


def are_numbers(tokens: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which tokens have a digit."""
    return np.array(
        [not token.isalpha() and _digit_in(token) is not None for token in tokens], bool
    )


def saturated(counts: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """``1 + ln tf`` of term frequencies from 1 on, in whole sixteenths."""
    try:
        return _SATURATED.take(counts)
    except IndexError:
        weights: npt.NDArray[np.float64] = np.rint(_UNITS * (1 + np.log(counts)))
        return weights
