"""Weights tokens by ``(1 + ln tf) * idf``, in whole numbers.

With raw term frequency, a page that repeats another page's words many times would come
near it, and unrelated pages would collide; the logarithm limits that (Salton and
Buckley 1988, "Term-weighting approaches in automatic text retrieval", table 1).

A token with a digit weighs as little as the commonest word. Counters, clocks and dates
change with every fetch, and as rare tokens they would separate two copies of a short
page. Numbers still count: shingles and titles keep them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Version of the weighting; it changes whenever the weight of any token does.
VERSION = "logtf-1"

_UNITS = 16
#: ``1 + ln tf`` of common term frequencies, in whole sixteenths.
_SATURATED: npt.NDArray[np.float64] = np.rint(_UNITS * (1 + np.log(np.maximum(1, np.arange(1024)))))
#: IDF weight of a token with a digit, whatever the table says.
NUMBER_WEIGHT = 1
_digit_in = re.compile(r"\d").search
#: A code such as AB12, a hexadecimal one such as 60303ae, or a long number.
_NAME = re.compile(
    r"(?=.{4})\d*[^\W\d_]+\d\w*|\d{9,}|(?=.{6})(?=\d+[a-f])[\da-f]+",
)


class Features(NamedTuple):
    """The distinct tokens of a page, weighted.

    :ivar hashes: shape ``(n,)``, unkeyed hash of each token.
    :ivar weights: shape ``(n,)``, whole numbers, at least 16.
    """

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]


def are_numbers(tokens: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return whether each token has a digit."""
    return np.array(
        [not token.isalpha() and _digit_in(token) is not None for token in tokens], bool
    )


def are_names(tokens: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return whether each token names something by digits, and is none that counts something.

    What begins with a number, such as 15min, may do so.
    """
    return np.array([_NAME.fullmatch(token) is not None for token in tokens], bool)


def saturated(counts: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return ``1 + ln tf`` of term frequencies from 1 on, in whole sixteenths."""
    try:
        return _SATURATED.take(counts)
    except IndexError:
        weights: npt.NDArray[np.float64] = np.rint(_UNITS * (1 + np.log(counts)))
        return weights
