"""Handles characters: arrays of code points, classes of scripts, long runs of combining marks.

All characters of a page are classified at once, by a table.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import numpy.typing as npt
import regex

BLANK = ord(" ")

#: Classes of scripts by how their texts are cut into words.
NO_WORD, SPACED, HAN, UNSPACED = range(4)
_HAN = r"\p{Han}"
_UNSPACED = r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
#: Blocks of Thai, Lao, Myanmar and Khmer.
_CUT_INTO_PAIRS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)),
    *((0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)),
)
#: A character of a word of a script with spaces, for ``regex`` with its flag ``V1``.
SPACED_LETTER = rf"[\w--[_{_HAN}{_UNSPACED}]]"
_CLASSES = {SPACED: SPACED_LETTER, HAN: _HAN, UNSPACED: _UNSPACED}

#: Characters with a combining class other than 0, or that decompose (NFKD) into such ones.
_MARKS = r"[\P{Canonical_Combining_Class=0}\u0f73\u0f75\u0f81\uff9e\uff9f]"

#: Largest run of Unicode's stream-safe text format (UAX #15, section 13).
_MARKS_IN_A_RUN = 30
#: Invisible characters do not end a run, because they may be removed later.
_LONG_RUN = regex.compile(
    rf"(?>(?:{_MARKS}\p{{Default_Ignorable_Code_Point}}*+){{{_MARKS_IN_A_RUN}}})(?={_MARKS})"
)
COMBINING_MARKS = regex.compile(rf"{_MARKS}+")
_IN_LONG_RUN = regex.compile(rf"{_MARKS}|\p{{Default_Ignorable_Code_Point}}")

#: The conventional base of a mark without a base character.
_DOTTED_CIRCLE = "\u25cc"

_PLAIN_QUOTES = str.maketrans("‘’‚‛‹›“”„‟«»", "''''''\"\"\"\"\"\"")

#: Unicode code points, shape ``(n,)``; 16 bits wide if the text is within the BMP.
CodePoints = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def with_plain_quotes(text: str) -> str:
    """Return a text with straight quotation marks: copies are set in either way."""
    return text if text.isascii() else text.translate(_PLAIN_QUOTES)


def code_points(text: str) -> CodePoints:
    """Return the code point of each character, lone surrogates included."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):
        return np.frombuffer(data, "<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def are_in(codes: CodePoints, few: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return whether each code is one of a few; faster than :func:`numpy.isin` for few codes."""
    are_in: npt.NDArray[np.bool_] = (codes[:, np.newaxis] == few).any(axis=1)
    return are_in


def are_digits(codes: CodePoints) -> npt.NDArray[np.bool_]:
    """Return whether each character is one of the ten digits."""
    return (codes >= ord("0")) & (codes <= ord("9"))


def are_cut_into_pairs(codes: CodePoints) -> npt.NDArray[np.bool_]:
    """Return whether each character is one of Thai, Lao, Burmese or Khmer.

    These are written without spaces and cut into pairs of characters, of which hardly any is a
    known word. Japanese has words in Han, and endings that are known.
    """
    are_cut: npt.NDArray[np.bool_] = _pair_table().take(codes)
    return are_cut


def as_text(codes: CodePoints) -> str:
    """Return the text of some code points."""
    if codes.itemsize == 2:
        text = codes.tobytes().decode("utf-16-le", "surrogatepass")
        if len(text) == codes.size:
            return text
        # Two lone surrogates were decoded as one character.
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def scripts_of(codes: CodePoints) -> npt.NDArray[np.uint8]:
    """Return the class of each character: :data:`NO_WORD`, :data:`SPACED` and so on."""
    return _script_table().take(codes)


@cache
def _pair_table() -> npt.NDArray[np.bool_]:
    table = np.zeros(sys.maxunicode + 1, bool)
    for first, last in _CUT_INTO_PAIRS:
        table[first : last + 1] = True
    return table


@cache
def _script_table() -> npt.NDArray[np.uint8]:
    table = np.zeros(sys.maxunicode + 1, np.uint8)
    characters = as_text(np.arange(sys.maxunicode + 1, dtype=np.uint32))
    for number, of_class in _CLASSES.items():
        for run in regex.finditer(f"{of_class}+", characters, flags=regex.V1):
            table[run.start() : run.end()] = number
    return table


def bounded_marks(text: str) -> str:
    """Break runs of more than 30 combining marks by inserting dotted circles.

    Normalisation sorts each run, which takes quadratic time. No language has such runs. The circle
    is visible, so texts that differ in their marks still differ.
    """
    # Every run that is too long covers at least one of the sampled positions.
    if text.isascii() or not _IN_LONG_RUN.search(text[:: _MARKS_IN_A_RUN + 1]):
        return text
    return _LONG_RUN.sub(rf"\g<0>{_DOTTED_CIRCLE}", text)
