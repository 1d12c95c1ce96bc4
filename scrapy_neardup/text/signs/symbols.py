"""Finds the prices and symbols of a text: of two tables, ticks and crosses may be all that differs.

Operators of code are symbols too, and so is the case of a code, such as aBcDeF.
Tokens are words and numbers only. A number with the sign of a currency is a price and no counter.
A price or a run of other symbols, such as ``★★★☆☆``, belongs to the word before it: two lists of
the same prices for other things differ.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from ..characters import as_text
from ..idf import token_hashes
from ..marks import FIRST_CASE_MARK, LAST_CASE_MARK
from ..titles import MODIFIERS
from ..tokenization import Places, Spans
from .currencies import NAMED_PRICE, PRICE, matches_around
from .operators import CHARACTERS as OPERATOR_CHARACTERS
from .operators import may_be_operators, operators_at

_SIGNED_NUMBER = re.compile(r"[+\-−–](?=\d)(?<![^\s(].)")
#: Symbols that say something: ticks, stars, emoji, characters for private use, in which some sites
#: hide their numbers, tones of skin and of speech, letters in flags, and what stands behind a code
#: of mixed case. Not marks of trade, lines, arrows to other pages, single bullets.
_MARK = (
    rf"[\p{{So}}\p{{Co}}{MODIFIERS}{FIRST_CASE_MARK}-{LAST_CASE_MARK}×↑↓♯∀-⋿--[−∕∗∘∙∣∶∼⋅⋆"
    r"©®°℠™\u2500-\u257f■▪▫▶►◀◄●◆◾◽➔-➾❖✦]]"
)
#: The sign of a number.
_SIGN = r"(?<![^\s(])[+\-−–](?=\d)"
_FOUND = regex.compile(rf"{PRICE}|{_MARK}++|[●■◆]{{2,}}+|{_SIGN}", regex.VERSION1)
#: What the number of a price has besides its digits: 1,200.50 is 1.200,50 elsewhere.
_FORMAT = str.maketrans("", "", " .,'’")
#: Code points from here on are no symbols; it is a noncharacter itself.
_LAST = 0x1FFFF


class Symbols(NamedTuple):
    """The prices and runs of symbols of a text, in reading order.

    :ivar places: shape ``(n,)``, index in the text of the spans at which each begins.
    :ivar hashes: shape ``(n,)``, hash of each with the word before it, if that is no number.
    """

    places: Places
    hashes: npt.NDArray[np.uint64]


def symbols_of(spans: Spans) -> Symbols | None:
    """Return the prices and symbols of a text; ``None`` if it has none."""
    if not spans.starts.size:
        return None
    # The text of one page among several: normalized texts have no line feed.
    start = spans.text.rfind("\n", 0, int(spans.starts[0])) + 1
    end = spans.text.find("\n", int(spans.starts[-1]))
    end = len(spans.text) if end < 0 else end
    signs = np.flatnonzero(_table().take(spans.codes[start:end], mode="clip")) + start
    is_operator = may_be_operators(spans.codes.take(signs))
    found = _matches(spans.text, start, end, signs[~is_operator].tolist())
    found += operators_at(spans.text, spans.codes, signs[is_operator])
    if not found:
        return None
    found.sort(key=regex.Match.start)
    places = np.fromiter((match.start() for match in found), np.intp, len(found))
    before = spans.starts.searchsorted(places) - 1
    words = spans.tokens(np.maximum(before, 0))
    # A number there may be a counter.
    names = [
        f"{'' if place < 0 or any(map(str.isdigit, word)) else word}\n{match[0].translate(_FORMAT)}"
        for match, word, place in zip(found, words, before.tolist(), strict=True)
    ]
    return Symbols(places, token_hashes(names))


def _matches(text: str, start: int, end: int, signs: list[int]) -> list[regex.Match[str]]:
    """Return the prices and symbols within a text: each has one of the signs or a name in it."""
    hints = (NAMED_PRICE.finditer(text, start, end), _SIGNED_NUMBER.finditer(text, start, end))
    places = sorted([*signs, *(match.start() for match in chain(*hints))])
    return matches_around(_FOUND, text, places, start, end)


@cache
def _table() -> npt.NDArray[np.bool_]:
    """Return for each code point whether it may be part of what is looked for."""
    table = np.zeros(_LAST + 1, bool)
    characters = as_text(np.arange(_LAST, dtype=np.uint32))
    searched = regex.compile(rf"\p{{Sc}}|{_MARK}|[●■◆]", regex.VERSION1)
    table[[match.start() for match in searched.finditer(characters)]] = True
    table[list(map(ord, OPERATOR_CHARACTERS))] = True
    return table
