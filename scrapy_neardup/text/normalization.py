"""Normalizes texts, so that copies that look or read the same become equal.

Texts are case-folded, converted to Unicode's compatibility form (NFKC) and stripped of invisible
characters. Copies of a text also vary in traditional and simplified Chinese characters, in blanks
between Han characters, in ``ё`` and ``е``, and in the strokes that lengthen Arabic words; these
are folded as well.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from .characters import (
    BLANK,
    LAST_OF_BMP,
    UNSPACED_CLASS,
    CodePoints,
    are_unspaced,
    as_text,
    code_points,
)
from .combining_marks import bounded_marks

#: Invisible characters (soft hyphens, zero-width and direction marks) and the stroke that lengthens
#: Arabic words.
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u0640--\u3164]+", regex.V1)
#: Ends of lines, and blanks within a line between two characters of scripts without blanks.
_LINE_ENDS = np.array([0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], np.uint32)
_SUPERFLUOUS_BLANKS = regex.compile(
    rf"(?<={UNSPACED_CLASS})[\s--[\n\v\f\r\x85\u2028\u2029]]+(?={UNSPACED_CLASS})", regex.V1
)

#: Shorter texts are normalized faster as a whole than by the table of characters.
_SHORT = 128
#: Marks characters in the table that depend on others; U+FFFF itself is a noncharacter.
_UNSETTLED = LAST_OF_BMP
_SURROGATES = range(0xD800, 0xE000)
#: Vowels and final consonants of Hangul, which compose with the letter before (Unicode 3.12).
_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))


class Folded(NamedTuple):
    """A normalised text.

    :ivar length: number of its characters before normalization, without white space.
    """

    text: str
    length: int


class Spaced(NamedTuple):
    """A text with single blanks between words and none around it.

    :ivar data: in UTF-8.
    :ivar length: number of its characters, without white space.
    """

    data: bytes
    length: int


def normalize(text: str) -> str:
    """Normalize a text: NFKC, case, invisible characters, white space.

    Runs of combining marks are bounded first, which keeps the time linear in the text's length.
    """
    return _normalized_whole(text) if len(text) < _SHORT else folded(text).text


def folded(text: str) -> Folded:
    """Return a normalized text, and how long it was before."""
    codes, folds = code_points(text), _folds()
    # Code points beyond the BMP are clipped to its last one, which is unsettled.
    single = folds.single.take(codes, mode="clip")
    length = int(np.count_nonzero(single != BLANK))
    unsettled = np.flatnonzero(single == _UNSETTLED)
    if unsettled.size:
        codes = code_points(_settled(text, single, unsettled))
        single = folds.single.take(codes, mode="clip")
        # Those that are still unsettled were folded with their words.
        single = np.where(single == _UNSETTLED, codes, single)
    return Folded(as_text(_without_superfluous_blanks(single, codes)).strip(" "), length)


def _settled(text: str, single: npt.NDArray[np.uint16], unsettled: npt.NDArray[np.intp]) -> str:
    """Return the text with its unsettled characters folded, alone or with their whole words.

    Characters never affect others across white space, so words are folded independently.

    :param single: the folded code point of each character, or ``_UNSETTLED``.
    :param unsettled: the indices of the unsettled characters.
    """
    longer = _folds().longer
    characters = set(map(text.__getitem__, unsettled.tolist()))
    if characters <= longer.keys():
        for character in characters:
            text = text.replace(character, longer[character])
        return text
    blanks = np.flatnonzero(single == BLANK)
    words = np.unique(blanks.searchsorted(unsettled))
    starts = np.concatenate([[0], blanks + 1]).take(words).tolist()
    ends = np.concatenate([blanks, [len(text)]]).take(words).tolist()
    lines = "\n".join(map(text.__getitem__, map(slice, starts, ends)))
    folds = _folded_whole(lines).split("\n")
    between = map(text.__getitem__, map(slice, [0, *ends], [*starts, len(text)]))
    return "".join(chain.from_iterable(zip(between, [*folds, ""], strict=True)))


def single_spaced(text: str) -> Spaced:
    """Replace each run of white space by a blank, and strip the text."""
    spaced = " ".join(text.split())
    return Spaced(spaced.encode("utf-8", "surrogatepass"), len(spaced) - spaced.count(" "))


def _without_superfluous_blanks(folds: CodePoints, codes: CodePoints) -> CodePoints:
    """Keep the first of several blanks, but none between unspaced characters of one line.

    :param folds: the folded characters.
    :param codes: the same characters before they were folded.
    """
    is_kept = _first_blanks(folds)
    is_unspaced = are_unspaced(folds)
    if is_unspaced.any():
        others = np.flatnonzero(folds != BLANK)
        # The characters before and after each run of blanks.
        gaps = np.flatnonzero(np.diff(others) > 1)
        before, after = others[gaps], others[gaps + 1]
        n_ends = np.cumsum(np.isin(codes, _LINE_ENDS))
        in_line = n_ends[before] == n_ends[after]
        is_kept[before[in_line & is_unspaced[before] & is_unspaced[after]] + 1] = False
    return folds[is_kept]


def _first_blanks(codes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return a mask that drops every blank that follows another."""
    is_no_blank = codes != BLANK
    is_kept = np.empty(codes.size, bool)
    is_kept[:1] = True
    np.logical_or(is_no_blank[1:], is_no_blank[:-1], out=is_kept[1:])
    return is_kept


def _normalized_whole(text: str) -> str:
    return " ".join(_SUPERFLUOUS_BLANKS.sub("", _folded_whole(text)).split())


def _folded_whole(text: str) -> str:
    """Fold everything except white space, by Unicode's own algorithms."""
    folded = unicodedata.normalize("NFKC", bounded_marks(_case_folded(text)))
    return folded.translate(_same_letters())


@cache
def _same_letters() -> dict[int, int]:
    """Return the folds of letter variants: traditional Chinese characters, and ``ё``."""
    table = resources.files(__package__).joinpath("data/traditional.txt").read_text("utf-8")
    traditional, simplified = map(code_points, table.split())
    return {**dict(zip(traditional.tolist(), simplified.tolist(), strict=True)), ord("ё"): ord("е")}


def _case_folded(text: str) -> str:
    """Compose a text, fold its case and remove invisible characters.

    Case folding can undo a composition (Unicode 3.13, D145) and can turn one mark into two, so the
    caller has to bound marks and compose again.
    """
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", bounded_marks(text)).casefold())


class _Folds(NamedTuple):
    """The folds of the characters of the BMP that do not interact with their neighbours.

    :ivar single: for each code point, the one that it folds to (white space: a blank), or
        ``_UNSETTLED``.
    :ivar longer: the folds of unsettled characters that become several characters, or none.
    """

    single: npt.NDArray[np.uint16]
    longer: dict[str, str]


@cache
def _folds() -> _Folds:
    """Return the folds of all characters that can be folded one by one.

    A character can interact with those before it only if its decomposition begins with a mark of
    nonzero combining class or with the second part of a composition (Unicode 3.11, D107 to D117).
    All others are folded here, each on a line of its own.
    """
    plane = [chr(code) for code in range(LAST_OF_BMP) if code not in _SURROGATES]
    lines = "\n".join("" if character == "\n" else character for character in plane)
    case_folded = _case_folded(lines)
    folded = unicodedata.normalize("NFKC", case_folded).translate(_same_letters())
    folds, followers = folded.split("\n"), _followers()
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
            single[ord(character)] = BLANK
        elif len(fold) == 1:
            single[ord(character)] = ord(fold)
        else:
            longer[character] = fold
    # Their folds must consist of settled characters.
    settled = {
        character: fold
        for character, fold in longer.items()
        if all(single[ord(part)] in (ord(part), BLANK) for part in fold)
    }
    return _Folds(single, settled)


def _decomposed(lines: str) -> list[str]:
    return unicodedata.normalize("NFKD", lines).split("\n")


def _followers() -> frozenset[str]:
    """Return the characters of the BMP that may compose with those before them."""
    found = set(map(chr, _JAMO))
    for character in map(chr, range(LAST_OF_BMP)):
        if unicodedata.combining(character):
            found.add(character)
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)
