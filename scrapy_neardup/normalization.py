"""What looks or reads the same becomes the same text."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from .characters import LAST_OF_BMP, CodePoints, as_text, code_points
from .repair import bounded_marks

#: Soft hyphen, zero-width and direction marks: they are not seen, so they do not count.
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}--\u3164]+", regex.V1)

_BLANK = ord(" ")
#: In the table of single characters: look closer. It is no character itself.
_UNSETTLED = LAST_OF_BMP
_SURROGATES = range(0xD800, 0xE000)
#: Vowels and final consonants that are composed with what comes before (Unicode 3.12).
_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))


def normalize(text: str) -> str:
    """Fold what looks or reads the same: NFKC, case, invisible characters, white space.

    Runs of combining marks are bounded first, which keeps the time in proportion to the text.
    """
    codes = code_points(text)
    if codes.itemsize > 2:
        return " ".join(_folded(text).split())
    folds = _folds()
    folded = folds.single.take(codes)
    unsettled = np.flatnonzero(folded == _UNSETTLED)
    if unsettled.size:
        characters = set(map(text.__getitem__, unsettled.tolist()))
        if not characters <= folds.longer.keys():
            return " ".join(_folded(text).split())
        for character in characters:
            text = text.replace(character, folds.longer[character])
        folded = folds.single.take(code_points(text))
    return _without_more_blanks(folded)


def single_spaced(text: str) -> str:
    """The text with a blank for all white space between two words, and none around it."""
    codes = code_points(text)
    return _without_more_blanks(np.where(_is_white(codes), codes.dtype.type(_BLANK), codes))


def length(text: str) -> int:
    """Characters of a text, white space left out."""
    return len(text) - int(np.count_nonzero(_is_white(code_points(text))))


def _is_white(codes: CodePoints) -> npt.NDArray[np.bool_]:
    # None stands beyond the basic plane, and its last character is none.
    white: npt.NDArray[np.bool_] = _folds().single.take(codes, mode="clip") == _BLANK
    return white


def _without_more_blanks(codes: CodePoints) -> str:
    """As text: of several blanks the first one, and none around it."""
    is_seen = codes != _BLANK
    is_kept = np.ones(codes.size, bool)
    np.logical_or(is_seen[1:], is_seen[:-1], out=is_kept[1:])
    return as_text(codes[is_kept]).strip(" ")


def _folded(text: str) -> str:
    """All but white space, whatever the characters do to each other."""
    return unicodedata.normalize("NFKC", bounded_marks(_case_folded(text)))


def _case_folded(text: str) -> str:
    """The text after the first composition, its case folded, without what is not seen.

    Case folding can undo a composition (Unicode 3.13, D145), so another one has to follow; and a
    mark may have become two.
    """
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", bounded_marks(text)).casefold())


class _Folds(NamedTuple):
    """What becomes of each character of the basic plane that leaves its neighbours alone.

    :ivar single: by code point, the one that it becomes, white space a blank; or ``_UNSETTLED``.
    :ivar longer: of some of the latter, what it becomes: several characters, or none.
    """

    single: npt.NDArray[np.uint16]
    longer: dict[str, str]


@cache
def _folds() -> _Folds:
    """Of texts of such characters, what becomes of the whole is what becomes of each, in a row.

    Only a character that begins with one that follows others, when it is decomposed, can change
    what stands before it: a mark with a combining class, or the second part of a composition
    (Unicode 3.11, D107 to D117). All others are folded here, each in a line of its own.
    """
    plane = [chr(code) for code in range(LAST_OF_BMP) if code not in _SURROGATES]
    lines = "\n".join("" if character == "\n" else character for character in plane)
    case_folded = _case_folded(lines)
    folds, followers = unicodedata.normalize("NFKC", case_folded).split("\n"), _followers()
    begins = [
        {line[:1] for line in (first, second)}
        for first, second in zip(_decomposed(lines), _decomposed(case_folded), strict=True)
    ]
    single = np.full(LAST_OF_BMP + 1, _UNSETTLED, np.uint16)
    longer = {}
    for character, fold, begin in zip(plane, folds, begins, strict=True):
        if not begin.isdisjoint(followers) or max(fold, default="") > chr(LAST_OF_BMP - 1):
            continue
        if character.isspace():
            single[ord(character)] = _BLANK
        elif len(fold) == 1:
            single[ord(character)] = ord(fold)
        else:
            longer[character] = fold
    # What they become must be settled itself.
    settled = {
        character: fold
        for character, fold in longer.items()
        if all(single[ord(part)] in (ord(part), _BLANK) for part in fold)
    }
    return _Folds(single, settled)


def _decomposed(lines: str) -> list[str]:
    return unicodedata.normalize("NFKD", lines).split("\n")


def _followers() -> frozenset[str]:
    """Characters of the basic plane that may be composed with what comes before them."""
    found = set(map(chr, _JAMO))
    for character in map(chr, range(LAST_OF_BMP)):
        if unicodedata.combining(character):
            found.add(character)
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)
