"""What looks or reads the same becomes the same text.

That is the compatibility form of Unicode (NFKC), without case and without what is not seen. Copies
of a text also write it with traditional Chinese characters or simplified ones, with blanks between
Han characters, with ``ё`` or ``е``, and with or without the strokes that lengthen Arabic words.
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
    as_text,
    code_points,
    without_blanks,
)
from .combining_marks import bounded_marks

#: Soft hyphen, zero-width and direction marks: they are not seen, so they do not count; and the
#: stroke that lengthens Arabic words.
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u0640--\u3164]+", regex.V1)
#: Ends of lines, and the blanks between two characters that are written without any. What stands in
#: two lines stays apart.
_LINE_ENDS = np.array([0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], np.uint32)
_IDLE_BLANKS = regex.compile(
    rf"(?<={UNSPACED_CLASS})[\s--[\n\v\f\r\x85\u2028\u2029]]+(?={UNSPACED_CLASS})", regex.V1
)

#: Shorter texts take less time as a whole than by their characters.
_SHORT = 128
#: In the table of single characters: look closer. It is no character itself.
_UNSETTLED = LAST_OF_BMP
_SURROGATES = range(0xD800, 0xE000)
#: Vowels and final consonants that are composed with what comes before (Unicode 3.12).
_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))


class Folded(NamedTuple):
    """A normalised text.

    :ivar length: characters that it had before, white space left out.
    """

    text: str
    length: int


class Spaced(NamedTuple):
    """A text with a blank for all white space between two words, and none around it.

    :ivar data: in UTF-8.
    :ivar length: its characters, white space left out.
    """

    data: bytes
    length: int


def normalize(text: str) -> str:
    """Fold what looks or reads the same: NFKC, case, invisible characters, white space.

    Runs of combining marks are bounded first, which keeps the time in proportion to the text.
    """
    return _normalized_whole(text) if len(text) < _SHORT else folded(text).text


def folded(text: str) -> Folded:
    """The same, and how long the text was."""
    codes, folds = code_points(text), _folds()
    # White space is all in the basic plane, whose last character is none.
    single = folds.single.take(codes, mode="clip")
    length = int(np.count_nonzero(single != BLANK))
    unsettled = np.flatnonzero(single == _UNSETTLED)
    if unsettled.size:
        codes = code_points(_settled(text, single, unsettled))
        single = folds.single.take(codes, mode="clip")
        # What is left of these was folded with its word.
        single = np.where(single == _UNSETTLED, codes, single)
    return Folded(as_text(_without_more_blanks(single, codes)).strip(" "), length)


def _settled(text: str, single: npt.NDArray[np.uint16], unsettled: npt.NDArray[np.intp]) -> str:
    """The text with its unsettled characters folded: each by itself, or else with its whole word.

    That is enough, for no character does anything to another one across white space.

    :param single: what becomes of each character.
    :param unsettled: the places of those that have to be looked at closer.
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
    """Leave out all white space but a blank between two words."""
    # One by one they take less time than a table of all: most of them stand nowhere.
    for white in _white_space():
        text = text.replace(white, " ")
    units = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    length = len(text) - units.size + int(np.count_nonzero(units != BLANK))
    return Spaced(units[_first_blanks(units)].tobytes().strip(b" "), length)


def _without_more_blanks(folds: CodePoints, codes: CodePoints) -> CodePoints:
    """Of several blanks the first one; of those between two Han characters of a line none.

    :param codes: what they were before they were folded.
    """
    is_kept = _first_blanks(folds)
    is_unspaced = without_blanks(folds)
    if is_unspaced.any():
        seen = np.flatnonzero(folds != BLANK)
        # Of each character behind blanks, the one before them.
        behind = np.flatnonzero(np.diff(seen) > 1)
        before, after = seen[behind], seen[behind + 1]
        n_ends = np.cumsum(np.isin(codes, _LINE_ENDS))
        in_line = n_ends[before] == n_ends[after]
        is_kept[before[in_line & is_unspaced[before] & is_unspaced[after]] + 1] = False
    return folds[is_kept]


def _first_blanks(codes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """All characters but blanks, and of several blanks the first one."""
    is_seen = codes != BLANK
    is_kept = np.empty(codes.size, bool)
    is_kept[:1] = True
    np.logical_or(is_seen[1:], is_seen[:-1], out=is_kept[1:])
    return is_kept


def _normalized_whole(text: str) -> str:
    return " ".join(_IDLE_BLANKS.sub("", _folded_whole(text)).split())


def _folded_whole(text: str) -> str:
    """All but white space, whatever the characters do to each other."""
    folded = unicodedata.normalize("NFKC", bounded_marks(_case_folded(text)))
    return folded.translate(_same_letters())


@cache
def _same_letters() -> dict[int, int]:
    """Letters that copies write in another way: traditional characters, and ``ё``."""
    table = resources.files(__package__).joinpath("data/traditional.txt").read_text("utf-8")
    traditional, simplified = map(code_points, table.split())
    return {**dict(zip(traditional.tolist(), simplified.tolist(), strict=True)), ord("ё"): ord("е")}


def _case_folded(text: str) -> str:
    """The text after the first composition, its case folded, without what is not seen.

    Case folding can undo a composition (Unicode 3.13, D145), so another one has to follow; and a
    mark may have become two.
    """
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", bounded_marks(text)).casefold())


@cache
def _white_space() -> str:
    """All but the blank; there is none beyond the basic plane."""
    return "".join(filter(str.isspace, map(chr, range(LAST_OF_BMP)))).replace(" ", "")


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
    # What they become must be settled itself.
    settled = {
        character: fold
        for character, fold in longer.items()
        if all(single[ord(part)] in (ord(part), BLANK) for part in fold)
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
