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
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .idf import IdfTable, token_hashes

#: Version of the weighting. It changes when equal tokens would get other weights.
VERSION = "logtf-1"

_UNITS = 16
_NUMBER_WEIGHT = 1
_DIGIT = re.compile(r"\d")


class Features(NamedTuple):
    """Distinct tokens of a page.

    :ivar hashes: shape ``(n,)``, unkeyed hash of each.
    :ivar weights: shape ``(n,)``, whole numbers, at least 16.
    """

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]


def weigh(tokens: Sequence[str], idf: IdfTable) -> Features:
    """Weigh the distinct tokens of a page, in order of first appearance."""
    counts = Counter(tokens)
    hashes = token_hashes(counts)
    frequency = np.fromiter(counts.values(), np.float64, len(counts))
    saturated = np.rint(_UNITS * (1 + np.log(frequency)))
    numeric = np.fromiter((_DIGIT.search(token) is not None for token in counts), bool, len(counts))
    return Features(hashes, saturated * np.where(numeric, _NUMBER_WEIGHT, idf.weights(hashes)))
