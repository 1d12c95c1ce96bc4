"""Extracts the values of a text: numbers, names, rare words and symbols, in reading order.

Pages made from one form (a register, a notice, a catalogue) share nearly all words but differ in
their values. Copies of one page have the same values, or one of them has more. So the values of two
resembling texts are aligned (``value_differences.py``), and the places where each has its own are
counted.

A value is stored as a code of four bytes. Equal values have equal codes; two different ones have
the same code in one case of 10^9. A shorter code would not do: a page of a large register is
compared with all others, and must not agree with any of them by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .characters import are_cut_into_pairs, are_in
from .dates import MAX_DATE_GAP, are_near, are_of_dates, are_of_visits, are_years_of_facts
from .idf import IdfTable, token_hashes
from .known_words import MONTHS, NAMES
from .signs.numbers import are_after_noon, are_negative, are_of_codes, are_parts, have_sign_behind
from .signs.symbols import symbols_of
from .titles import LIST_KINDS
from .tokenization import Spans

#: Version of the values, for the recipe.
VERSION = "values-21"

#: Number of values of a text that are kept, from its beginning.
MAX_VALUES = 248
#: Type of a code, as stores keep it.
CODE = np.dtype("<u4")

#: A word is a value from this share of the weight of an unknown word on.
_RARE = 0.5
#: Ranges of codes: 0 is no value; then words, numbers, parts of dates and times, and numbers with a
#: minus, with raised digits or in per mille.
_CODES = 2**30
#: The last bit of the code of a number or month says whether another visit may show another one:
#: it is part of a counter, or of a time. The other bit says so as long as it may be that of a date.
_OF_VISIT, _DATE_OF_VISIT = np.uint32(1), np.uint32(2)
_FLAGS = _OF_VISIT | _DATE_OF_VISIT
_UNUSED_BITS = np.uint64(34)
#: What distinguishes the code of a number that goes on, that follows on another one, and that is an
#: hour after noon: any bits but the flags and those of the range.
_HAS_MORE, _FOLLOWS, _AFTER_NOON = (np.uint32(bits << 2) for bits in (0x2A5F13, 0x51C6E9, 0x1B3D87))
FIRST_NUMBER, FIRST_OF_DATE, FIRST_SIGNED = _CODES, 2 * _CODES, 3 * _CODES
#: Differences of the codes of numbers that only one text has as parts of others.
_OF_POINTS = np.array([0, _HAS_MORE, _FOLLOWS, _HAS_MORE ^ _FOLLOWS], CODE)

#: Characters between thousands, and how many digits stand behind them.
_THOUSANDS, _OF_THOUSANDS = np.array(list(map(ord, ",.'’ ")), np.uint32), 3
#: Of pairs of characters, one of 1,024 is taken at least.
_MAX_HALVINGS = 11


class _Known(NamedTuple):
    """Words that are known, by ascending hash.

    :ivar hashes: shape ``(n,)``.
    :ivar kinds: shape ``(n,)``, one of the constants below for each.
    """

    hashes: npt.NDArray[np.uint64]
    kinds: npt.NDArray[np.uint8]

    def kinds_of(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each word; 0 for unknown ones."""
        places = self.hashes[:-1].searchsorted(hashes)
        kinds: npt.NDArray[np.uint8] = np.where(
            self.hashes[places] == hashes, self.kinds[places], 0
        ).astype(np.uint8)
        return kinds


#: Kinds of words; that of a month is its number behind the last one.
_LIST_KIND, _NAME, _BEFORE_MONTHS = 1, 2, 2


def _known() -> _Known:
    kind_of = dict.fromkeys(LIST_KINDS, _LIST_KIND) | dict.fromkeys(NAMES.split(), _NAME)
    kind_of |= {name: _BEFORE_MONTHS + number for name, number in MONTHS.items()}
    hashes = token_hashes(list(kind_of))
    order = hashes.argsort()
    return _Known(hashes[order], np.array([*kind_of.values()], np.uint8)[order])


_KNOWN = _known()

Codes = npt.NDArray[np.uint32]


class ValueSequence(NamedTuple):
    """The values of a text, in reading order.

    :ivar values: four bytes each.
    :ivar n_heading: number of leading values that belong to its heading.
    """

    values: bytes
    n_heading: int


def value_codes(
    hashes: npt.NDArray[np.uint64],
    is_number: npt.NDArray[np.bool_],
    is_name: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.int64],
    idf: IdfTable,
) -> Codes:
    """Return the code of each token; 0 for those that are no values.

    :param hashes: hashes of the tokens, see :func:`~scrapy_neardup.text.idf.token_hashes`.
    :param is_number: whether each token has a digit.
    :param is_name: whether each names something by digits, see
        :func:`~scrapy_neardup.text.weighting.are_names`: it is a word, because nothing counts so.
    :param weights: IDF weight of each token.

    Names of kinds of lists (``tag``, ``category``) are no values, because lists of one subject
    differ in them. With an empty table no word is known to be rare: only months are values then.
    """
    numbers, kinds = _codes_of_numbers(hashes), _KNOWN.kinds_of(hashes)
    is_rare = ((weights >= _RARE * idf.default) & (kinds != _LIST_KIND)) | (kinds == _NAME)
    words = np.where(is_rare & (len(idf) > 0), _codes_of_words(hashes), 0)
    months = _CODES_OF_MONTHS.take(kinds - np.minimum(kinds, _BEFORE_MONTHS))
    words = np.where(kinds > _BEFORE_MONTHS, months, words)
    codes = np.where(is_number, numbers, words)
    return np.where(is_name, _codes_of_words(hashes), codes).astype(CODE)


def with_visits(
    codes: Codes, of_numbers: npt.NDArray[np.bool_], of_dates: npt.NDArray[np.bool_]
) -> Codes:
    """Return the codes of a text's tokens, numbers marked that another visit may show otherwise.

    :param of_numbers: whether each token is such a number, if it is none of a date.
    :param of_dates: whether each is such a one of a date; see ``signs/visits.py``.
    """
    flags = of_numbers * _OF_VISIT + of_dates * _DATE_OF_VISIT
    return codes | (codes >= FIRST_NUMBER) * flags


def _codes_of_words(hashes: npt.NDArray[np.uint64]) -> Codes:
    """Return the codes of words with these hashes."""
    codes: Codes = np.maximum(hashes >> _UNUSED_BITS, 1).astype(CODE)
    return codes


def _codes_of_numbers(hashes: npt.NDArray[np.uint64]) -> Codes:
    """Return the codes of numbers with these hashes."""
    codes: Codes = (FIRST_NUMBER + (hashes >> _UNUSED_BITS)).astype(CODE)
    return codes & ~_FLAGS


def _codes_of_dates(numbers: npt.NDArray[np.intp]) -> Codes:
    """Return the codes of numbers as parts of a date."""
    codes = _codes_of_numbers(token_hashes(list(map(str, numbers.tolist()))))
    return codes + CODE.type(FIRST_OF_DATE - FIRST_NUMBER)


#: The codes of months in dates, from 1 on, are those of their numbers; and the codes of digits.
_CODES_OF_MONTHS = _codes_of_dates(np.arange(len(set(MONTHS.values())) + 1))
_CODES_OF_DIGITS = _codes_of_dates(np.arange(10))


def value_sequence(codes: Codes, spans: Spans | None, heading: int) -> ValueSequence:
    """Return the first :data:`MAX_VALUES` values of a text.

    :param codes: shape ``(n,)``, codes of its tokens in reading order, see :func:`value_codes`.
    :param spans: the tokens, if known, by which dates and times are told from other numbers, and
        symbols are found.
    :param heading: number of tokens of its heading.
    """
    if (is_month := codes >= FIRST_OF_DATE).any():
        # "May" is also a verb.
        is_month &= are_near((codes >= FIRST_NUMBER) & ~is_month, MAX_DATE_GAP)
        codes = np.where((codes < FIRST_OF_DATE) | is_month, codes, 0)
    if spans is not None:
        codes = _with_joined_thousands(codes, spans)
        codes = _with_fewer_pairs(codes, spans)
    tokens = np.flatnonzero(codes)[:MAX_VALUES]
    found = codes[tokens]
    of_visits = _of_whole_dates(found & _DATE_OF_VISIT, tokens, found >= FIRST_NUMBER)
    months = found >= FIRST_OF_DATE
    found[months] = found[months] & ~_FLAGS | of_visits[months]
    if spans is None:
        return ValueSequence(found.tobytes(), int(np.count_nonzero(tokens < heading)))
    numbers = np.flatnonzero((found >= FIRST_NUMBER) & (found < FIRST_OF_DATE))
    if numbers.size:
        places = tokens[numbers]
        near_month = are_near(is_month, MAX_DATE_GAP)[places]
        of_codes = are_of_codes(spans, places) & ~near_month
        of_dates = are_of_dates(spans, places, near_month) & ~of_codes
        is_signed = ~of_dates & (are_negative(spans, places) | have_sign_behind(spans, places))
        dated = numbers[of_dates]
        as_dates = _as_of_dates(found[dated] & ~_FLAGS, spans, places[of_dates])
        of_visits[numbers[are_years_of_facts(spans, places) & ~near_month]] = 0
        found[numbers] &= ~_DATE_OF_VISIT
        found[dated] = as_dates | of_visits[dated]
        found[numbers] ^= _codes_of_parts(codes, spans, places, of_dates | of_codes)
        found[numbers[is_signed]] += FIRST_SIGNED - FIRST_NUMBER
        found[numbers[of_codes]] %= _CODES
    places, symbols = spans.starts[tokens], symbols_of(spans)
    if symbols is not None:
        places = np.concatenate([symbols.places, places])
        order = places.argsort(kind="stable")[:MAX_VALUES]
        found = np.concatenate([_codes_of_words(symbols.hashes), found])[order]
        places = places[order]
    n_heading = heading and int(np.count_nonzero(places <= spans.starts[heading - 1]))
    return ValueSequence(found.tobytes(), n_heading)


def _codes_of_parts(
    codes: Codes, spans: Spans, places: npt.NDArray[np.intp], are_whole: npt.NDArray[np.bool_]
) -> Codes:
    """Return what distinguishes the codes of numbers that are parts of others, or of the afternoon.

    :param codes: of all tokens; 0 behind the first of those that are joined to one number.
    :param are_whole: whether each number is none of a fraction or range, but of a date or code.
    """
    has_more, follows = are_parts(spans, places)
    has_more &= codes.take(places + 1, mode="clip") > 0
    parts = (has_more & ~are_whole) * _HAS_MORE ^ (follows & ~are_whole) * _FOLLOWS
    found: Codes = (parts ^ are_after_noon(spans, places) * _AFTER_NOON).astype(CODE)
    return found


def _with_fewer_pairs(codes: Codes, spans: Spans) -> Codes:
    """Return the codes of a text with a sample of those of pairs of characters, if it has too many.

    Scripts without spaces are cut into pairs, of which hardly any is a known word. Two sentences
    of Thai would have as many values as are kept, and a number behind them would not be seen.
    Every second, fourth or eighth pair is taken, and so on, by its code.
    """
    if np.count_nonzero(codes) <= MAX_VALUES:
        return codes
    is_left_out = are_cut_into_pairs(spans.codes.take(spans.starts, mode="clip"))
    is_left_out &= codes < FIRST_NUMBER
    for n_bits in range(1, _MAX_HALVINGS) if is_left_out.any() else ():
        is_sampled = codes % CODE.type(1 << n_bits) == 0
        fewer = np.where(is_left_out & ~is_sampled, 0, codes).astype(CODE)
        if np.count_nonzero(fewer) <= MAX_VALUES:
            return fewer
    return codes


def _of_whole_dates(
    flags: Codes, tokens: npt.NDArray[np.intp], is_number: npt.NDArray[np.bool_]
) -> Codes:
    """Return 1 for values of a date of a visit: if it begins with one, the others are too.

    :param flags: nonzero for values that are near a word which says so.
    :param tokens: the places of the values among the tokens.
    """
    found: Codes = (flags > 0).astype(CODE)
    follows = is_number[1:] & is_number[:-1] & (np.diff(tokens) <= MAX_DATE_GAP)
    if found.any():
        for place in np.flatnonzero(follows).tolist():
            found[place + 1] |= found[place]
    return found


def _as_of_dates(codes: Codes, spans: Spans, places: npt.NDArray[np.intp]) -> Codes:
    """Return the codes of numbers as parts of dates and times, 03 as 3."""
    first, second = (spans.codes.take(spans.starts[places] + at, mode="clip") for at in (0, 1))
    has_zero = (spans.lengths[places] == 2) & (first == ord("0"))
    codes = codes + CODE.type(FIRST_OF_DATE - FIRST_NUMBER)
    digits = _CODES_OF_DIGITS[(second - ord("0")) % _CODES_OF_DIGITS.size]
    of_dates: Codes = np.where(has_zero, digits, codes).astype(CODE)
    return of_dates | are_of_visits(spans, places).astype(CODE)


def n_leading(values: Sequence[int], words: Sequence[str]) -> int:
    """Return how many of the first values are those of words, in the same order."""
    number = 0
    for code in (token_hashes(list(words)) >> _UNUSED_BITS).tolist():
        if number < len(values) and values[number] % _CODES | int(_FLAGS) == code | int(_FLAGS):
            number += 1
    return number


def has_word(values: Sequence[int]) -> bool:
    """Return whether any of these values is a word."""
    return any(value < FIRST_NUMBER for value in values)


def has_date(values: Sequence[int]) -> bool:
    """Return whether any of these values is part of a date."""
    return any(map(is_of_date, values))


def is_of_date(value: int) -> bool:
    """Return whether this value is part of a date or time."""
    return FIRST_OF_DATE <= value < FIRST_SIGNED


def tells_pages_apart(value: int) -> bool:
    """Return whether this value is a number, or part of a date, that each visit shows alike.

    Times do if they have full five minutes, as in 19:30; one such as 19:32:07 may be a visit's.
    """
    return value >= FIRST_NUMBER and not value & int(_OF_VISIT)


def alike_in_each_visit(values: Iterable[int]) -> tuple[int, ...]:
    """Return values as if each of them were one that each visit shows alike.

    What stands around a number, by which that is told, may differ where the number does not.
    """
    flag = int(_OF_VISIT)
    return tuple(value & ~flag if value >= FIRST_NUMBER else value for value in values)


def numbers_were_replaced(
    values: Iterable[int], others: Iterable[int], *, as_many: bool
) -> tuple[bool, bool]:
    """Return whether each of two texts has numbers that the other one lacks.

    The second answer is for those of dates alone. What another visit may show otherwise does not
    count.

    :param as_many: whether it must be as many numbers. 9 am and 9:30 am have not as many.
    """
    own, of_others = (Counter(filter(tells_pages_apart, each)) for each in (values, others))
    more, fewer = [*(own - of_others).elements()], [*(of_others - own).elements()]
    dated, other_dated = (sum(map(is_of_date, each)) for each in (more, fewer))
    are_even = not as_many or len(more) == len(fewer)
    return bool(more and fewer and are_even), 0 < dated == other_dated


def with_points_of(values: Codes, others: Codes) -> Codes:
    """Return the second values with points and dashes between numbers where the first have them.

    A copy may have lost its punctuation: "12 5" for "12.5". Texts of different numbers of values
    are not aligned.
    """
    if values.shape != others.shape:
        return others
    with_points: Codes = np.where(np.isin(values ^ others, _OF_POINTS), values, others).astype(CODE)
    return with_points


def has_same_number(values: Iterable[int], others: Iterable[int]) -> bool:
    """Return whether one of two texts has a number with a sign that the other has without."""
    (signed, plain), (others_signed, others_plain) = map(_numbers, (values, others))
    return bool(signed & others_plain or plain & others_signed)


def _numbers(values: Iterable[int]) -> tuple[set[int], set[int]]:
    """Return the numbers with a sign and those without, dates left out."""
    codes = list(values)
    plain = {value % _CODES for value in codes if FIRST_NUMBER <= value < FIRST_OF_DATE}
    return {value % _CODES for value in codes if value >= FIRST_SIGNED}, plain


def _with_joined_thousands(codes: Codes, spans: Spans) -> Codes:
    """Return the codes of tokens with that of 4812 for a number such as 4,812 or 4.812."""
    starts, lengths = spans.starts, spans.lengths
    ends = starts + lengths
    is_part = (lengths == _OF_THOUSANDS) & (codes >= FIRST_NUMBER) & (codes < FIRST_OF_DATE)
    is_part[:1] = False
    places = np.flatnonzero(is_part)
    before = places - 1
    is_joined = (
        (starts[places] == ends[before] + 1)
        & (lengths[before] <= _OF_THOUSANDS)
        & (codes[before] >= FIRST_NUMBER)
        & are_in(spans.codes.take(ends[before], mode="clip"), _THOUSANDS)
    )
    if not is_joined.any():
        return codes
    codes, before_joining = codes.copy(), codes
    numbers: dict[int, str] = {}
    for place in places[is_joined][::-1].tolist():
        more = numbers.pop(place, None) or spans.tokens(np.array([place]))[0]
        numbers[place - 1] = spans.tokens(np.array([place - 1]))[0] + more
        codes[place] = 0
    joined = _codes_of_numbers(token_hashes(list(numbers.values())))
    behind = before_joining[[place + 1 for place in numbers]]
    flags = (before_joining[[*numbers]] | behind) & _FLAGS
    codes[[*numbers]] = joined | flags
    return codes
