"""Marks in a text what normalization would lose: raised digits of numbers, and the case of codes.

Normalization makes ``102`` of ``10²``, and ``abcdef`` of ``aBcDeF``. Marks are noncharacters of
Unicode behind such words. Tokens have no marks, so the features of a text do not depend on them;
its digest and its values do.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
import regex

from .characters import SPACED_LETTER, CodePoints, code_points
from .idf import token_hashes
from .normalization import Folded, folded, normalize

#: Stands behind a number that has raised, lowered or circled digits, or ends in a fraction.
RAISED = "\ufdd0"
#: Four of these stand behind a code; together they are a hash of it.
FIRST_CASE_MARK, LAST_CASE_MARK = "\ufde0", "\ufdef"
_N_CASE_MARKS, _BITS = 4, 4

#: Digits, signs and fractions that normalization makes plain.
_SPECIAL = "¹²³¼-¾⁰ⁱ⁴-⁹⁺⁻ⁿ₀-₉₊₋ₙ⅐-⅟↉①-⒛⓪-⓿❶-➓"
#: All of them are in these ranges, which rules out most texts.
_RANGES = ((0xB2, 0xBE), (0x2070, 0x24FF), (0x2776, 0x2793))
_INVISIBLE = r"\p{Default_Ignorable_Code_Point}"
_WORD = rf"[{SPACED_LETTER}{_INVISIBLE}\p{{No}}™℠]*+"
_RAISED_DIGITS = regex.compile(f"[{_SPECIAL}]++")
#: The parts of a word behind and before a place.
_REST = regex.compile(_WORD, regex.VERSION1)
_BEGINNING = regex.compile(rf"(?r){_WORD}", regex.VERSION1)
_IGNORED = regex.compile(f"{_INVISIBLE}+")
#: Two capitals behind small letters, or a digit with another one of the ranges behind it.
_MAY_BE_MARKED = re.compile(
    "[a-z][A-Z].*[a-z][A-Z]|[0-9][{}-{}{}-{}{}-{}]".format(*map(chr, chain.from_iterable(_RANGES))),
    re.DOTALL,
)
_MARKS = regex.compile(f"[{RAISED}{FIRST_CASE_MARK}-{LAST_CASE_MARK}]+")
#: A code has at least two capitals behind small letters, and one for every four characters. Names
#: in programs, such as ``getElementById``, have fewer.
_MIN_HUMPS, _MAX_PER_HUMP = 2, 4

Places = npt.NDArray[np.intp]


def marked_and_folded(text: str) -> Folded:
    """Return a normalised text with marks; they do not count in its length."""
    with_marks = marked(text)
    found = folded(with_marks)
    return found._replace(length=found.length - len(with_marks) + len(text))


def marked_and_folded_line(line: str) -> str:
    """Return the text that :func:`marked_and_folded` makes of a line, faster if it is short."""
    return normalize(marked(line) if _MAY_BE_MARKED.search(line) else line)


def marked(text: str) -> str:
    """Add marks behind numbers with special digits, and behind codes of mixed case."""
    codes = code_points(text)
    marks = dict(_case_marks(text, codes))
    if not text.isascii():
        for end in _ends_of_raised_numbers(text, codes):
            marks[end] = RAISED + marks.get(end, "")
    if not marks:
        return text
    pieces = (f"{text[start:end]}{marks[end]}" for start, end in pairwise([0, *sorted(marks)]))
    return f"{''.join(pieces)}{text[max(marks) :]}"


def without_marks(text: str) -> str:
    """Remove all marks from a text."""
    return text if text.isascii() else _MARKS.sub("", text)


def _ends_of_raised_numbers(text: str, codes: CodePoints) -> set[int]:
    """Return the ends of numbers in which special digits stand behind plain ones."""
    places = np.concatenate([np.flatnonzero(_are_in(codes[1:], *bounds)) for bounds in _RANGES])
    is_behind_digit = _are_in(codes.take(places), ord("0"), ord("9"))
    ends, end = set[int](), 0
    for place in sorted(places[is_behind_digit].tolist()):
        if digits := _RAISED_DIGITS.match(text, place + 1):
            # Many in one word: its rest is searched only once.
            end = _end_of_word(text, digits.end()) if digits.end() > end else end
            ends.add(end)
    return ends


def _end_of_word(text: str, place: int) -> int:
    """Return where the word at a place ends."""
    rest = _REST.match(text, place)
    assert rest
    return rest.end()


def _are_in(codes: CodePoints, first: int, last: int) -> npt.NDArray[np.bool_]:
    """Return whether each code is in a range. Differences below 0 become large numbers."""
    are_in: npt.NDArray[np.bool_] = codes - codes.dtype.type(first) <= last - first
    return are_in


def _case_marks(text: str, codes: CodePoints) -> Iterator[tuple[int, str]]:
    """Yield the end of each code of mixed case, and its marks."""
    humps = _humps(codes)
    # A code has two that are near each other.
    is_near = humps[1:] - humps[:-1] < 2 * _MAX_PER_HUMP
    places, end = humps.tolist(), 0
    for place in humps[:-1][is_near].tolist():
        if place >= end:
            start, end = _word_around(text, place, end)
            n_humps = bisect_left(places, end) - bisect_left(places, start)
            word = _IGNORED.sub("", text[start:end])
            if n_humps >= max(_MIN_HUMPS, len(word) / _MAX_PER_HUMP):
                yield end, _marks_of(word)


def _word_around(text: str, place: int, start: int) -> tuple[int, int]:
    """Return where the word at a place begins, not before the start, and where it ends."""
    before = _BEGINNING.match(text, start, place)
    assert before
    return before.start(), _end_of_word(text, place)


def _humps(codes: CodePoints) -> Places:
    """Return the places of capitals directly behind small letters, those of ASCII alone."""
    is_capital = _are_in(codes[1:], ord("A"), ord("Z"))
    return np.flatnonzero(is_capital & _are_in(codes[:-1], ord("a"), ord("z"))) + 1


def _marks_of(word: str) -> str:
    """Return the hash of a word as marks."""
    number = int(token_hashes([word])[0])
    parts = (number >> _BITS * place & (1 << _BITS) - 1 for place in range(_N_CASE_MARKS))
    return "".join(chr(ord(FIRST_CASE_MARK) + part) for part in parts)
