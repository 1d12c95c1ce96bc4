"""Finds the prices and symbols of a text: of two tables, ticks and crosses may be all that differs.

Tokens are words and numbers only. A number with the sign of a currency is a price and no counter.
A price or a run of other symbols, such as ``★★★☆☆``, belongs to the word before it: two lists of
the same prices for other things differ.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from .characters import as_text
from .idf import token_hashes
from .tokenization import Places, Spans

#: Signs of currencies; the Han characters only behind a number.
_CURRENCY, _HAN_CURRENCY = r"\p{Sc}", "[元円원]"
#: Symbols that say something: ticks, stars, emoji, and characters for private use, in which
#: some sites hide their numbers. Not marks of trade, lines, bullets, and arrows to other pages.
_MARK = r"[\p{So}\p{Co}×≠≤≥--[©®°℠™\u2500-\u257f■▪▫▶►◀◄●◆◾◽➔-➾❖✦]]"
#: A number in a price. Its length is bounded, so that a long run of digits takes linear time.
_NUMBER = r"\d[\d.,]{0,20}+"
_FOUND = regex.compile(
    rf"{_CURRENCY} ?{_NUMBER}|(?<![\d.,]){_NUMBER} ?(?:{_CURRENCY}|{_HAN_CURRENCY})|{_MARK}++",
    regex.VERSION1,
)
#: Code points from here on are no symbols; it is a noncharacter itself.
_LAST = 0x1FFFF


class Symbols(NamedTuple):
    """The prices and runs of symbols of a text, in reading order.

    :ivar places: shape ``(n,)``, index in the text of the spans at which each begins.
    :ivar hashes: shape ``(n,)``, hash of each with the word before it.
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
    # Faster than to search most texts in vain.
    if not _table().take(spans.codes[start:end], mode="clip").any():
        return None
    found = list(_FOUND.finditer(spans.text, start, end))
    places = np.fromiter((match.start() for match in found), np.intp, len(found))
    before = spans.starts.searchsorted(places) - 1
    words = spans.tokens(np.maximum(before, 0))
    names = [
        f"{word if place >= 0 else ''}\n{match[0]}"
        for match, word, place in zip(found, words, before.tolist(), strict=True)
    ]
    return Symbols(places, token_hashes(names)) if found else None


@cache
def _table() -> npt.NDArray[np.bool_]:
    """Return for each code point whether it may be part of what is looked for, but for digits."""
    table = np.zeros(_LAST + 1, bool)
    characters = as_text(np.arange(_LAST, dtype=np.uint32))
    searched = regex.compile(f"{_CURRENCY}|{_HAN_CURRENCY}|{_MARK}", regex.VERSION1)
    table[[match.start() for match in searched.finditer(characters)]] = True
    return table
