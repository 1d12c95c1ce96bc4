"""Normalizes texts, so that copies that look or read the same become equal.

Texts are case-folded, converted to Unicode's compatibility form (NFKC) and stripped of invisible
characters. The sharp s stays one letter, because Weiß and Weiss are two names; its capital is
folded. Copies of a text also vary in traditional and simplified Chinese characters, in blanks
between Han characters, in ``ё`` and ``е``, and in the strokes that lengthen Arabic words; these
are folded as well. Signs that are numbers, such as ``❷`` and Ethiopic digits, become digits.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from .._util.encoding import utf8
from .characters import BLANK, CodePoints, as_text, bounded_marks, code_points

#: Invisible characters (soft hyphens, zero-width and direction marks) and the stroke that lengthens
#: Arabic words. Not the letters in a flag of a part of a country, which say of which.
_INVISIBLE = regex.compile(
    r"\U0001f3f4[\U000e0020-\U000e007e]++\U000e007f(*SKIP)(*FAIL)|"
    r"[\p{Default_Ignorable_Code_Point}\u0640--\u3164]+",
    regex.V1,
)
#: Characters that Chinese and Japanese write without blanks.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"
#: Blanks between two such characters of one line, and a cheap test that rules out most texts.
_SUPERFLUOUS_BLANKS = regex.compile(rf"(?<={_UNSPACED}) +(?={_UNSPACED})")
_MAYBE_SUPERFLUOUS = re.compile(r" (?<=[\u2e80-\U0010ffff] )")
#: Ends of lines and control characters that separate.
_LINE_ENDS = "\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"

#: Shorter texts are normalized faster as a whole than by the table of characters.
_SHORT = 128
#: The last code point of the Basic Multilingual Plane (BMP), a noncharacter. Marks characters in
#: the table that depend on others.
_UNSETTLED = 0xFFFF
_SURROGATES = range(0xD800, 0xE000)
_LINE_FEED = ord("\n")
_LAST_SPACE = 0x3000
#: The last code point of the plane behind the BMP; no number is beyond it.
_LAST_NUMBER = 0x1FFFF
#: Characters that may compose with others before them (Unicode 3.11, D107 to D117), or change
#: places with them.
_JOINING = regex.compile(r"[\p{NFC_Quick_Check=Maybe}\P{Canonical_Combining_Class=0}]")


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


def normalized_words(words: str) -> frozenset[str]:
    """Return words that are listed with blanks between them, each normalised.

    Together they would be one text, in which blanks between Han characters do not count.
    """
    return frozenset(map(normalize, words.split()))


def normalize(text: str) -> str:
    """Normalize a text: NFKC, case, invisible characters, white space.

    Runs of combining marks are bounded first, which keeps the time linear in the text's length.
    """
    if text.isascii():  # nothing but case and white space can differ
        return " ".join(text.lower().split())
    return _normalized_whole(text) if len(text) < _SHORT else folded(text).text


def folded(text: str) -> Folded:
    """Return a normalized text, and how long it was before."""
    folds = _folds()
    # Code points beyond the BMP are clipped to its last one, which is unsettled.
    single = folds.single.take(code_points(text), mode="clip")
    length = single.size - int(np.count_nonzero((single == BLANK) | (single == _LINE_FEED)))
    unsettled = set(map(text.__getitem__, np.flatnonzero(single == _UNSETTLED).tolist()))
    if not unsettled <= folds.longer.keys():
        return Folded(_normalized_whole(text), length)
    if unsettled:
        for character in unsettled:
            text = text.replace(character, folds.longer[character])
        single = folds.single.take(code_points(text))
    return Folded(as_text(_single_blanks(single)), length)


def single_spaced(text: str) -> Spaced:
    """Replace each run of white space by a blank, and strip the text."""
    spaced = " ".join(text.split())
    return Spaced(utf8(spaced), len(spaced) - spaced.count(" "))


def _normalized_whole(text: str) -> str:
    """Normalize a text by Unicode's own algorithms."""
    folded = unicodedata.normalize("NFKC", bounded_marks(_case_folded(text)))
    return _without_superfluous_blanks(folded.translate(_same_letters()))


def _without_superfluous_blanks(text: str) -> str:
    """Keep single blanks between words, and none between unspaced characters of one line."""
    if _MAYBE_SUPERFLUOUS.search(text):
        text = _SUPERFLUOUS_BLANKS.sub("", text)
    return " ".join(text.split())


def _single_blanks(codes: CodePoints) -> CodePoints:
    """Remove superfluous blanks of folded code points of the BMP, in a third of the time.

    Their white space is blanks and line feeds.
    """
    is_line_feed = codes == _LINE_FEED
    places = np.flatnonzero(~(is_line_feed | (codes == BLANK)))
    kept = codes[places]
    line = np.cumsum(is_line_feed, dtype=np.int32)[places]
    is_unspaced = _unspaced_table().take(kept)
    is_superfluous = is_unspaced[:-1] & is_unspaced[1:] & (line[:-1] == line[1:])
    has_blank = (np.diff(places) > 1) & ~is_superfluous
    target = np.arange(kept.size)
    target[1:] += np.cumsum(has_blank)
    spaced = np.full(kept.size + np.count_nonzero(has_blank), BLANK, codes.dtype)
    spaced[target] = kept
    return spaced


@cache
def _unspaced_table() -> npt.NDArray[np.bool_]:
    """Return for each code point of the BMP whether it is written without blanks."""
    plane = as_text(np.arange(_UNSETTLED + 1, dtype=np.uint32))
    table = np.zeros(_UNSETTLED + 1, bool)
    for run in regex.finditer(f"{_UNSPACED}+", plane, flags=regex.V1):
        table[run.start() : run.end()] = True
    return table


@cache
def _same_letters() -> dict[int, int | str]:
    """Return the folds of white space, numbers, traditional Chinese characters, and of ``ё``."""
    table = resources.files(__package__).joinpath("data/traditional.txt").read_text("utf-8")
    traditional, simplified = map(code_points, table.split())
    return {
        **_spaces(),
        **dict(zip(traditional.tolist(), simplified.tolist(), strict=True)),
        **_numbers(),
        ord("ё"): ord("е"),
    }


@cache
def _spaces() -> dict[int, int]:
    spaces = [code for code in range(_LAST_SPACE + 1) if chr(code).isspace()]
    return {code: _LINE_FEED if chr(code) in _LINE_ENDS else BLANK for code in spaces}


def _numbers() -> dict[int, str]:
    """Return the digits of characters that are numbers, but that NFKC leaves as they are."""
    found = {}
    for character in map(chr, range(_LAST_NUMBER + 1)):
        if unicodedata.category(character) == "No":
            number = unicodedata.numeric(character, None)
            if number is not None and unicodedata.normalize("NFKC", character) == character:
                # As NFKC writes fractions.
                digits = str(Fraction(number).limit_denominator(1000)).replace("/", "\u2044")
                found[ord(character)] = digits
    return found


def _case_folded(text: str) -> str:
    """Compose a text, fold its case and remove invisible characters.

    Case folding can undo a composition (Unicode 3.13, D145) and can turn one mark into two, so the
    caller has to bound marks and compose again.
    """
    composed = unicodedata.normalize("NFKC", bounded_marks(text)).replace("ẞ", "ß")
    # Unicode's case folding would make "ss" of it.
    case_folded = "ß".join(part.casefold() for part in composed.split("ß"))
    return _INVISIBLE.sub("", case_folded)


class _Folds(NamedTuple):
    """The folds of the characters of the BMP that do not interact with their neighbours.

    :ivar single: for each code point, the one that it folds to (white space: a blank or line feed),
        or ``_UNSETTLED``.
    :ivar longer: the folds of unsettled characters that become several characters, or none.
    """

    single: npt.NDArray[np.uint16]
    longer: dict[str, str]


@cache
def _folds() -> _Folds:
    """Return the folds of all characters that can be folded one by one.

    A character can interact with those before it only if its decomposition begins with one that
    may compose with them. All others are folded here, each on a line of its own.
    """
    plane = [chr(code) for code in range(_UNSETTLED) if code not in _SURROGATES]
    lines = "\n".join("" if character.isspace() else character for character in plane)
    case_folded = _case_folded(lines)
    folded = unicodedata.normalize("NFKC", case_folded).translate(_same_letters())
    columns = (folded, *(unicodedata.normalize("NFKD", each) for each in (lines, case_folded)))
    single = np.full(_UNSETTLED + 1, _UNSETTLED, np.uint16)
    longer = {}
    last = chr(_UNSETTLED)
    joining = set(_JOINING.findall("".join(columns[1:])))
    rows = zip(plane, *(column.split("\n") for column in columns), strict=True)
    for character, fold, plain, in_lower_case in rows:
        if plain[:1] in joining or in_lower_case[:1] in joining:
            continue
        if character == fold:
            single[ord(character)] = ord(fold)
        elif character.isspace():
            single[ord(character)] = _spaces()[ord(character)]
        elif max(fold, default="") >= last:
            continue
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
