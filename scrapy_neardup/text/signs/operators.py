"""Finds the operators of a text: of two lines of code, ``+=`` and ``-=`` may be all that differs.

Only what stands between two operands counts. Themes differ in dashes, bars, arrows and slashes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import regex

from ..characters import CodePoints
from ..tokenization import Places

#: Characters of operators.
CHARACTERS = "=+*<>!-/%&|^"
#: What stands before and behind an operator.
_AFTER, _BEFORE = r"[\w)\]}\"']", r"[\w(\[{\"'+\-$@]"
#: Operators of two characters or three; a single one is also punctuation, and there are so many in
#: code that other values would not be kept.
_LONG = r"(?:[=!]==?|[<>+\-*/%&|^]=|&&|\|\||\*\*)"
_OPERATOR = regex.compile(
    rf"(?<={_AFTER} ){_LONG}(?= {_BEFORE})|(?<={_AFTER}){_LONG}(?={_BEFORE})", regex.VERSION1
)


def may_be_operators(codes: CodePoints) -> npt.NDArray[np.bool_]:
    """Return whether each character may be part of an operator."""
    return _table().take(codes, mode="clip")


def operators_at(text: str, codes: CodePoints, places: Places) -> list[regex.Match[str]]:
    """Return the operators of a text that begin at some of these places.

    :param codes: the text.
    :param places: indices of :data:`CHARACTERS` in ascending order.
    """
    chosen = places[may_be_operators(codes.take(places + 1, mode="clip"))]
    found = (_OPERATOR.match(text, place) for place in chosen.tolist())
    return [match for match in found if match]


@cache
def _table() -> npt.NDArray[np.bool_]:
    """Return for each ASCII character whether it may be part of an operator."""
    table = np.zeros(129, bool)
    table[list(map(ord, CHARACTERS))] = True
    return table
