"""The values of a text: its numbers, names and other words that are not common, in reading order.

The pages of a form (a register, a notice, a catalogue) have nearly all words in common, and differ
in their values. Copies of one page have the same values; where they differ, one of them has more.
So the values of two resembling texts are aligned, and places where each has its own are counted.

A value is kept as one byte. Equal values have equal bytes; two different ones have the same byte in
one case of 127 (words) or 64 (numbers).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .characters import CodePoints
from .idf import IdfTable
from .tokens import Spans

#: Version of all this, for the recipe.
VERSION = "values-1"

#: Values of a text that are kept at most, its first ones.
MAX_VALUES = 248

#: A word is a value when it weighs at least such a part of what a word weighs that is in no table.
_RARE = 0.5
#: Bytes: 0 is no value; words from 1 on, numbers, and numbers of dates and times.
_FIRST_WORD, _WORDS = 1, 127
_FIRST_NUMBER, _NUMBERS = 128, 64
_FIRST_OF_DATE = 192

#: A longer stretch on one side is a block of its own, which was added or taken out.
_LONGEST = 20
#: A stretch of several values counts as so many places at most, and one that is only dates as less
#: than a half: two dates that have moved are not another content.
_MOST_PLACES, _DATE = 4, 0.4
#: Stretches up to this length were exchanged, as in a way there and back; longer ones were moved.
_LONGEST_EXCHANGED = 2
#: Fewer values than this count as this many: one of five is no twentieth.
_FEWEST = 20

#: Characters between the numbers of dates and times, and behind them.
_BETWEEN = np.array(list(map(ord, "-/:")), np.uint32)
_BEHIND = np.array(list(map(ord, "年月日号號时時点點分년월일시분")), np.uint32)
_ZERO, _NINE = ord("0"), ord("9")

Codes = npt.NDArray[np.uint8]


class Difference(NamedTuple):
    """How the values of two texts differ.

    :ivar places: where both texts have values, and others; a place of dates alone counts 0.4.
    :ivar words: those of them where both have words among these values.
    :ivar share: these as a part of the values of the text that has fewer, of 20 at least.
    :ivar replaced: stretches of such places.
    :ivar added: stretches where one text has values that the other has not.
    :ivar exchanged: places where values stand that changed their places with others, as in a way
        there and back; not counted above.
    """

    places: float
    words: int
    share: float
    replaced: int
    added: int
    exchanged: int


def value_codes(
    hashes: npt.NDArray[np.uint64], is_number: npt.NDArray[np.bool_], idf: IdfTable
) -> Codes:
    """The byte of each of some tokens; 0 for those that are no values.

    :param hashes: of the tokens, see :func:`~scrapy_neardup.idf.token_hashes`.
    :param is_number: does the token have a digit?

    By a table without words no word is known to be rare, and none is a value.
    """
    drawn = hashes >> np.uint64(40)
    is_rare = (idf.weights(hashes) >= _RARE * idf.default) & (len(idf) > 0)
    words = np.where(is_rare, _FIRST_WORD + drawn % np.uint64(_WORDS), 0)
    return np.where(is_number, _FIRST_NUMBER + drawn % np.uint64(_NUMBERS), words).astype(np.uint8)


def value_sequence(codes: Codes, spans: Spans | None = None) -> bytes:
    """The first :data:`MAX_VALUES` values of a text.

    :param codes: shape ``(n,)``, of its tokens in reading order.
    :param spans: where they stand, if that is known: it tells dates and times from other numbers.
    """
    places = np.flatnonzero(codes)[:MAX_VALUES]
    found = codes[places]
    if spans is not None:
        of_dates = _are_of_dates(spans, places) & (found >= _FIRST_NUMBER)
        found[of_dates] += _FIRST_OF_DATE - _FIRST_NUMBER
    return found.tobytes()


def difference(values: bytes, others: bytes) -> Difference:
    """Align the values of two texts, and count where both have their own."""
    if values == others:
        return Difference(0, 0, 0, 0, 0, 0)
    more, more_of_others = _surplus(values, others), _surplus(others, values)
    gaps = list(_gaps(values, others))
    own = [(_own(a, more), _own(b, more_of_others)) for a, b in gaps]
    found = list(filter(any, own))
    places = [_places(*both) for both in found]
    words = sum(
        bool(place) and all(map(_has_word, both)) for place, both in zip(places, found, strict=True)
    )
    share = sum(places) / max(_FEWEST, min(len(values), len(others)))
    added = places.count(0)
    exchanged = sum(
        not any(both) and 0 < len(a) == len(b) <= _LONGEST_EXCHANGED
        for (a, b), both in zip(gaps, own, strict=True)
    )
    return Difference(sum(places), words, share, len(places) - added, added, exchanged)


def agreement(values: bytes, others: bytes) -> tuple[float, float]:
    """The part of the values of each text that the other one has as well."""
    common = sum((Counter(values) & Counter(others)).values())
    return common / max(1, len(values)), common / max(1, len(others))


def _surplus(values: bytes, others: bytes) -> Counter[int]:
    """Which values come more often here, and how much more: what was only moved does not."""
    return Counter(values) - Counter(others)


def _own(gap: bytes, more: Counter[int]) -> bytes:
    """Values of a gap that the other text has not; each is taken out of ``more``."""
    found = bytearray()
    for value in gap:
        if more[value] > 0:
            more[value] -= 1
            found.append(value)
    return bytes(found)


def _places(values: bytes, others: bytes) -> float:
    if not (values and others) or max(len(values), len(others)) > _LONGEST:
        return 0
    lasting = min(sum(value < _FIRST_OF_DATE for value in each) for each in (values, others))
    return min(lasting, _MOST_PLACES) or _DATE


def _has_word(values: bytes) -> bool:
    return any(value < _FIRST_NUMBER for value in values)


def _gaps(values: bytes, others: bytes) -> Iterator[tuple[bytes, bytes]]:
    """What stands between the values that both have in the same order.

    At the beginning and at the end of the texts, stretches of unequal lengths are two additions:
    one text has a heading there, and the other a line for readers of its print view.
    """
    start = _in_common(values, others)
    end = _in_common(values[start:][::-1], others[start:][::-1])
    inner, other = values[start : len(values) - end], others[start : len(others) - end]
    for tag, a, b, c, d in SequenceMatcher(None, inner, other, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        is_first = start == a == c == 0
        is_last = end == 0 and b == len(inner) and d == len(other)
        if (is_first or is_last) and b - a != d - c:
            yield inner[a:b], b""
            yield b"", other[c:d]
        else:
            yield inner[a:b], other[c:d]


def _in_common(values: Sequence[int], others: Sequence[int]) -> int:
    """How many they have in common at the beginning."""
    pairs = enumerate(zip(values, others, strict=False))
    shorter = min(len(values), len(others))
    return next((place for place, (a, b) in pairs if a != b), shorter)


def _are_of_dates(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Which of these tokens, if they are numbers, are parts of dates and times?

    Years from 1900 to 2099; one or two digits before a character such as ``月``; numbers with a
    dash, slash or colon between.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    ends = starts + lengths

    def at(where: npt.NDArray[np.intp]) -> CodePoints:
        return spans.codes.take(where, mode="clip")

    century = at(starts).astype(np.uint32) * 256 + at(starts + 1)
    is_year = (lengths == 4) & np.isin(century, [ord("1") * 256 + _NINE, ord("2") * 256 + _ZERO])
    is_short = lengths <= 2
    before = np.isin(at(starts - 1), _BETWEEN) & _is_digit(at(starts - 2)) & (starts > 1)
    after = np.isin(at(ends), _BETWEEN) & _is_digit(at(ends + 1))
    is_named = np.isin(at(ends), _BEHIND)
    found: npt.NDArray[np.bool_] = is_year | (is_short & (before | after | is_named))
    return found


def _is_digit(codes: CodePoints) -> npt.NDArray[np.bool_]:
    is_digit: npt.NDArray[np.bool_] = (codes >= _ZERO) & (codes <= _NINE)
    return is_digit
