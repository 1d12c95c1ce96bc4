"""The values of a text: its numbers, names and other words that are not common, in reading order.

The pages of a form (a register, a notice, a catalogue) have nearly all words in common, and differ
in their values. Copies of one page have the same values; where they differ, one of them has more.
So the values of two resembling texts are aligned, and places where each has its own are counted.

A value is kept as one byte. Equal values have equal bytes; two different ones have the same byte in
one case of 127 (words) or 64 (numbers).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .characters import CodePoints
from .idf import IdfTable, token_hashes
from .tokens import Spans

#: Version of all this, for the recipe.
VERSION = "values-2"

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
#: Numbers of a date; more are several, as in a table of tides.
_OF_DATE = 3
#: Stretches up to this length were exchanged, as in a way there and back; longer ones were moved.
_LONGEST_EXCHANGED = 4
#: Values of a name, a signature or a date at an end of a text.
_LONGEST_NAME = 4
#: Pairs of equal values up to which texts are aligned by their longest equal stretches.
_MANY_PAIRS = 3000
#: Numbers of a range, such as that of two dates.
_LONGEST_RANGE = 8
#: Fewer values than this count as this many: one of five is no twentieth.
_FEWEST = 20

#: Characters between the numbers of dates and times, and behind them.
_BETWEEN = np.array(list(map(ord, "-/:")), np.uint32)
_BEHIND = np.array(list(map(ord, "年月日号號时時点點分년월일시분")), np.uint32)
_ZERO, _NINE = ord("0"), ord("9")
#: Names of months, which belong to a date where a number stands so near: "3 de marzo".
_MONTHS = np.unique(
    token_hashes(
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec "
        "januar februar märz mai juni juli oktober dezember jänner "
        "janvier février mars avril juin juillet août septembre octobre novembre décembre "
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
        "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
        "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro "
        "januari februari maart mei augustus "
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października "
        "listopada grudnia "
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря "
        "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık "
        "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر".split()
    )
)
_IN_A_DATE = 2

Codes = npt.NDArray[np.uint8]


class Difference(NamedTuple):
    """How the values of two texts differ.

    :ivar places: where both texts have values, and others; a place of dates alone counts 0.4.
    :ivar words: those of them where both have words among these values.
    :ivar dates: stretches where both have dates.
    :ivar share: these as a part of the values of the text that has fewer, of 20 at least.
    :ivar replaced: stretches of such places.
    :ivar added: stretches where one text has values that the other has not.
    :ivar added_to_each: such stretches within the texts, of the text that has fewer of them.
    :ivar exchanged: places where values stand that changed their places with others, as in a way
        there and back; not counted above. None where anything else was moved, as in a list that is
        sorted otherwise.
    """

    places: float
    words: int
    dates: int
    share: float
    replaced: int
    added: int
    added_to_each: int
    exchanged: int


class _Gap(NamedTuple):
    """What two texts have between values that are the same.

    :ivar is_within: do such values stand on both sides of it?
    """

    values: bytes
    others: bytes
    is_within: bool


class _Range(NamedTuple):
    """Where a gap is in each of two texts."""

    start: int
    end: int
    other_start: int
    other_end: int

    @property
    def only_in(self) -> int | None:
        """0 or 1 when only the first or the second text has values here."""
        if self.start == self.end:
            return 1
        return 0 if self.other_start == self.other_end else None


def value_codes(
    hashes: npt.NDArray[np.uint64],
    is_number: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.int64],
    idf: IdfTable,
) -> Codes:
    """The byte of each of some tokens; 0 for those that are no values.

    :param hashes: of the tokens, see :func:`~scrapy_neardup.idf.token_hashes`.
    :param is_number: does the token have a digit?
    :param weights: what each token weighs by the table.

    By a table without words no word is known to be rare, and none but months are values.
    """
    drawn = hashes >> np.uint64(40)
    is_rare = (weights >= _RARE * idf.default) & (len(idf) > 0)
    words = np.where(is_rare, _FIRST_WORD + drawn % np.uint64(_WORDS), 0)
    words = np.where(np.isin(hashes, _MONTHS), _FIRST_OF_DATE + drawn % np.uint64(_NUMBERS), words)
    return np.where(is_number, _FIRST_NUMBER + drawn % np.uint64(_NUMBERS), words).astype(np.uint8)


def value_sequence(codes: Codes, spans: Spans | None = None) -> bytes:
    """The first :data:`MAX_VALUES` values of a text.

    :param codes: shape ``(n,)``, of its tokens in reading order, see :func:`value_codes`.
    :param spans: where they stand, if that is known: it tells dates and times from other numbers.
    """
    is_month = codes >= _FIRST_OF_DATE
    if is_month.any():
        # "May" is also a verb.
        is_month &= _are_near((codes >= _FIRST_NUMBER) & ~is_month)
        codes = np.where((codes < _FIRST_OF_DATE) | is_month, codes, 0)
    places = np.flatnonzero(codes)[:MAX_VALUES]
    found = codes[places]
    if spans is not None:
        is_number = (found >= _FIRST_NUMBER) & (found < _FIRST_OF_DATE)
        of_dates = _are_of_dates(spans, places, _are_near(is_month)[places]) & is_number
        found[of_dates] += _FIRST_OF_DATE - _FIRST_NUMBER
    return found.tobytes()


def difference(values: bytes, others: bytes, *, is_cut: bool = False) -> Difference:
    """Align the values of two texts, and count where both have their own.

    :param is_cut: does a text go on behind the last of these values?
    """
    if values == others:
        return Difference(0, 0, 0, 0, 0, 0, 0, 0)
    # In either order the same alignment is found.
    values, others = sorted((values, others))
    more, more_of_others = _surplus(values, others), _surplus(others, values)
    gaps = list(_gaps(values, others, is_cut=is_cut))
    own = [(_own(gap.values, more), _own(gap.others, more_of_others)) for gap in gaps]
    found = list(filter(any, own))
    places = [_places(*both) for both in found]
    words = sum(
        bool(place) and all(map(_has_word, both)) for place, both in zip(places, found, strict=True)
    )
    dates = sum(all(map(_has_date, both)) for both in found)
    share = sum(places) / max(_FEWEST, min(len(values), len(others)))
    added = places.count(0)
    within = within_others = 0
    moved: list[_Gap] = []
    for gap, (a, b) in zip(gaps, own, strict=True):
        if not (a or b):
            if gap.values or gap.others:
                moved.append(gap)
        elif gap.is_within and not (a and b):
            within += bool(a)
            within_others += bool(b)
    added_to_each = min(within, within_others)
    replaced = len(places) - added
    exchanged = len(moved) if all(map(_is_exchange, moved)) else 0
    return Difference(sum(places), words, dates, share, replaced, added, added_to_each, exchanged)


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


def _is_exchange(gap: _Gap) -> bool:
    return len(gap.values) == len(gap.others) <= _LONGEST_EXCHANGED


def _places(values: bytes, others: bytes) -> float:
    if not (values and others) or max(len(values), len(others)) > _LONGEST:
        return 0
    lasting = min(sum(value < _FIRST_OF_DATE for value in each) for each in (values, others))
    return min(lasting, _MOST_PLACES) or _DATE * ceil(min(len(values), len(others)) / _OF_DATE)


def _has_word(values: bytes) -> bool:
    return any(value < _FIRST_NUMBER for value in values)


def _has_date(values: bytes) -> bool:
    return any(value >= _FIRST_OF_DATE for value in values)


def _gaps(values: bytes, others: bytes, *, is_cut: bool) -> Iterator[_Gap]:
    """What stands between the values that both have in the same order.

    At the beginning and at the end of the texts, stretches of unequal lengths are two additions
    unless both are short: one text has a teaser there, and the other a line for readers of its
    print view. Short ones are names.
    """
    start = _in_common(values, others)
    end = _in_common(values[start:][::-1], others[start:][::-1])
    inner, other = values[start : len(values) - end], others[start : len(others) - end]
    for a, b, c, d in _joined(_unequal(inner, other), inner, other):
        is_first = start == a == c == 0
        is_last = end == 0 and b == len(inner) and d == len(other)
        gap = _Gap(inner[a:b], other[c:d], is_within=not (is_first or is_last))
        is_end = not (is_last and is_cut)
        is_name = b - a == d - c or (max(b - a, d - c) <= _LONGEST_NAME and is_end)
        if not (gap.is_within or is_name):
            yield gap._replace(others=b"")
            yield gap._replace(values=b"")
        else:
            yield gap


def _unequal(values: bytes, others: bytes) -> Iterator[_Range]:
    at, other_at = 0, 0
    for place, other, size in [*_blocks(values, others), (len(values), len(others), 0)]:
        if place > at or other > other_at:
            yield _Range(at, place, other_at, other)
        at, other_at = place + size, other + size


def _blocks(values: bytes, others: bytes) -> list[tuple[int, int, int]]:
    """Where equal stretches begin in both, and their lengths.

    Long stretches first, as a reader would; in tables of equal numbers this takes too long.
    """
    counts = Counter(others)
    if sum(counts[value] for value in values) > _MANY_PAIRS:
        return [(place, other, 1) for place, other in _common_subsequence(values, others)]
    matcher = SequenceMatcher(None, values, others, autojunk=False)
    return [(*block,) for block in matcher.get_matching_blocks()]


def _common_subsequence(values: bytes, others: bytes) -> list[tuple[int, int]]:
    """The places in both of each value of a longest common subsequence.

    Bit-parallel (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004), so that tables of
    equal numbers take no longer than other texts.
    """
    places_of = dict.fromkeys(others, 0)
    for place, value in enumerate(values):
        if value in places_of:
            places_of[value] |= 1 << place
    every = (1 << len(values)) - 1
    row, rows = every, []
    for value in others:
        matched = row & places_of[value]
        row = (row + matched | row - matched) & every
        rows.append(row)
    # A cleared bit of a row: up to that place, and with the values up to this row, the subsequence
    # is longer than without the place.
    found = []
    place, other = len(values) - 1, len(others) - 1
    while place >= 0 and other >= 0:
        if rows[other] >> place & 1:
            place -= 1
        elif other and not rows[other - 1] >> place & 1:
            other -= 1
        else:
            found.append((place, other))
            place, other = place - 1, other - 1
    return found[::-1]


def _joined(ranges: Iterable[_Range], values: bytes, others: bytes) -> list[_Range]:
    """The same, but one where neighbours were exchanged, and where a range of numbers moved on.

    From "1 March to 1 June" to "1 June to 1 September" an alignment takes a date away before June,
    and adds one behind.
    """
    joined: list[_Range] = []
    for found in ranges:
        if joined and joined[-1].only_in != found.only_in:
            a, _, c, _ = joined[-1]
            both = _Range(a, found.end, c, found.other_end)
            if _belong_together(values[a : both.end], others[c : both.other_end]):
                joined[-1] = both
                continue
        joined.append(found)
    return joined


def _belong_together(part: bytes, other: bytes) -> bool:
    if len(part) == len(other) <= _LONGEST_EXCHANGED and sorted(part) == sorted(other):
        return True
    return max(len(part), len(other)) <= _LONGEST_RANGE and not (
        _has_word(part) or _has_word(other)
    )


def _in_common(values: Sequence[int], others: Sequence[int]) -> int:
    """How many they have in common at the beginning."""
    pairs = enumerate(zip(values, others, strict=False))
    shorter = min(len(values), len(others))
    return next((place for place, (a, b) in pairs if a != b), shorter)


def _are_near(are: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which tokens have such a one two places away, or nearer?"""
    if not are.any():
        return are
    padded = np.pad(are, _IN_A_DATE)
    shifted = [padded[step : step + are.size] for step in range(2 * _IN_A_DATE + 1)]
    near: npt.NDArray[np.bool_] = np.logical_or.reduce(shifted)
    return near


def _are_of_dates(
    spans: Spans, places: npt.NDArray[np.intp], near_month: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Which of these tokens, if they are numbers, are parts of dates and times?

    Years from 1900 to 2099; one or two digits near a month or before a character such as ``月``;
    numbers with a dash, slash or colon between.
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
    is_named = near_month | np.isin(at(ends), _BEHIND)
    found: npt.NDArray[np.bool_] = is_year | (is_short & (before | after | is_named))
    return found | _are_dotted(is_year, is_short, (at(ends) == ord(".")), starts, ends)


def _are_dotted(
    is_year: npt.NDArray[np.bool_],
    is_short: npt.NDArray[np.bool_],
    is_before_dot: npt.NDArray[np.bool_],
    starts: npt.NDArray[np.intp],
    ends: npt.NDArray[np.intp],
) -> npt.NDArray[np.bool_]:
    """Which are the day and the month of 3.5.2024 or 2024.5.3?"""
    found = np.zeros(is_year.size, bool)
    if found.size > 2:
        linked = is_before_dot[:-1] & (starts[1:] == ends[:-1] + 1)
        both = linked[:-1] & linked[1:] & is_short[1:-1]
        year_last, year_first = (
            both & is_short[:-2] & is_year[2:],
            both & is_year[:-2] & is_short[2:],
        )
        found[:-2] |= year_last
        found[1:-1] |= year_last | year_first
        found[2:] |= year_first
    return found


def _is_digit(codes: CodePoints) -> npt.NDArray[np.bool_]:
    is_digit: npt.NDArray[np.bool_] = (codes >= _ZERO) & (codes <= _NINE)
    return is_digit
