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

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .characters import BLANK, CodePoints
from .idf import IdfTable, token_hashes
from .known_words import MONTHS, NAMES
from .marks import RAISED
from .signs.symbols import symbols_of
from .titles import LIST_KINDS
from .tokenization import Spans

#: Version of the values, for the recipe.
VERSION = "values-10"

#: Number of values of a text that are kept, from its beginning.
MAX_VALUES = 248
#: Type of a code, as stores keep it.
CODE = np.dtype("<u4")

#: A word is a value from this share of the weight of an unknown word on.
_RARE = 0.5
#: Ranges of codes: 0 is no value; then words, numbers, parts of dates and times, and numbers with a
#: minus, with raised digits or in per mille.
_CODES = 2**30
_UNUSED_BITS = np.uint64(34)
FIRST_NUMBER, FIRST_OF_DATE, FIRST_SIGNED = _CODES, 2 * _CODES, 3 * _CODES

#: Characters between thousands, and how many digits stand behind them.
_THOUSANDS, _OF_THOUSANDS = np.array(list(map(ord, ",.'’ ")), np.uint32), 3
#: Characters between the numbers of dates and times, and after them.
_BETWEEN = np.array(list(map(ord, "-/:")), np.uint32)
_AFTER = np.array(list(map(ord, "年月日号號时時点點分년월일시분")), np.uint32)
#: Signs of a negative number, and what stands before one that is no dash.
_MINUS = np.array(list(map(ord, "-−–")), np.uint32)
_BEFORE_MINUS = np.array(list(map(ord, " \n(")), np.uint32)
#: What stands behind a number in per mille, or one with raised digits.
_PER_MILLE = np.array(list(map(ord, "‰‱")), np.uint32)
_BEHIND = np.array([ord(RAISED), *_PER_MILLE], np.uint32)
#: Letters of codes, and the least length of a number behind them.
_N_LETTERS, _MIN_IN_CODE = 26, 3
_ZERO, _NINE, _COLON = ord("0"), ord("9"), ord(":")
#: The first two characters of a year, 19 or 20, as one number.
_CENTURIES = np.array([ord("1") * 256 + _NINE, ord("2") * 256 + _ZERO], np.uint32)


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


_LIST_KIND, _MONTH, _NAME = 1, 2, 3


def _known(*kinds: Iterable[str]) -> _Known:
    kind_of = {word: kind for kind, words in enumerate(kinds, start=1) for word in words}
    hashes = token_hashes(list(kind_of))
    order = hashes.argsort()
    return _Known(hashes[order], np.array([*kind_of.values()], np.uint8)[order])


_KNOWN = _known(LIST_KINDS, MONTHS.split(), NAMES.split())
#: Largest distance in tokens between a month and its number: "3 de marzo".
_MAX_DATE_GAP = 2

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
    words = np.where(kinds == _MONTH, FIRST_OF_DATE - FIRST_NUMBER + numbers, words)
    codes = np.where(is_number, numbers, words)
    return np.where(is_name, _codes_of_words(hashes), codes).astype(CODE)


def _codes_of_words(hashes: npt.NDArray[np.uint64]) -> Codes:
    """Return the codes of words with these hashes."""
    codes: Codes = np.maximum(hashes >> _UNUSED_BITS, 1).astype(CODE)
    return codes


def _codes_of_numbers(hashes: npt.NDArray[np.uint64]) -> Codes:
    """Return the codes of numbers with these hashes."""
    codes: Codes = (FIRST_NUMBER + (hashes >> _UNUSED_BITS)).astype(CODE)
    return codes


def value_sequence(codes: Codes, spans: Spans | None = None, heading: int = 0) -> ValueSequence:
    """Return the first :data:`MAX_VALUES` values of a text.

    :param codes: shape ``(n,)``, codes of its tokens in reading order, see :func:`value_codes`.
    :param spans: the tokens, if known, by which dates and times are told from other numbers, and
        symbols are found.
    :param heading: number of tokens of its heading.
    """
    is_month = codes >= FIRST_OF_DATE
    if is_month.any():
        # "May" is also a verb.
        is_month &= _are_near((codes >= FIRST_NUMBER) & ~is_month)
        codes = np.where((codes < FIRST_OF_DATE) | is_month, codes, 0)
    if spans is not None:
        codes = _with_joined_thousands(codes, spans)
    tokens = np.flatnonzero(codes)[:MAX_VALUES]
    found = codes[tokens]
    if spans is None:
        return ValueSequence(found.tobytes(), int(np.count_nonzero(tokens < heading)))
    numbers = np.flatnonzero((found >= FIRST_NUMBER) & (found < FIRST_OF_DATE))
    if numbers.size:
        places = tokens[numbers]
        near_month = _are_near(is_month)[places]
        of_codes = _are_of_codes(spans, places) & ~near_month
        of_dates = _are_of_dates(spans, places, near_month) & ~of_codes
        is_signed = ~of_dates & (_are_negative(spans, places) | _have_sign_behind(spans, places))
        found[numbers[of_dates]] += FIRST_OF_DATE - FIRST_NUMBER
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


def n_leading(values: Sequence[int], words: Sequence[str]) -> int:
    """Return how many of the first values are those of words, in the same order."""
    number = 0
    for code in (token_hashes(list(words)) >> _UNUSED_BITS).tolist():
        if number < len(values) and values[number] % _CODES == code:
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
        & _are_in(spans.codes.take(ends[before], mode="clip"), _THOUSANDS)
    )
    if not is_joined.any():
        return codes
    codes = codes.copy()
    numbers: dict[int, str] = {}
    for place in places[is_joined][::-1].tolist():
        more = numbers.pop(place, None) or spans.tokens(np.array([place]))[0]
        numbers[place - 1] = spans.tokens(np.array([place - 1]))[0] + more
        codes[place] = 0
    codes[[*numbers]] = _codes_of_numbers(token_hashes(list(numbers.values())))
    return codes


def _are_near(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return whether a flag is set within :data:`_MAX_DATE_GAP` tokens of each token."""
    if not flags.any():
        return flags
    padded = np.pad(flags, _MAX_DATE_GAP)
    shifted = [padded[step : step + flags.size] for step in range(2 * _MAX_DATE_GAP + 1)]
    near: npt.NDArray[np.bool_] = np.logical_or.reduce(shifted)
    return near


def _are_negative(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return whether each of these numbers has a minus right before it, and a blank before that."""
    before = spans.starts[places] - 1
    has_sign = _are_in(spans.codes.take(before, mode="clip"), _MINUS)
    is_apart = _are_in(spans.codes.take(before - 1, mode="clip"), _BEFORE_MINUS) | (before == 0)
    found: npt.NDArray[np.bool_] = has_sign & is_apart
    return found


def _are_of_codes(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return whether each number is part of a code such as CVE-2024-10321.

    It has three digits or more and stands behind letters and a dash, or behind such a number.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    has_dash: npt.NDArray[np.bool_] = (starts > 1) & (
        spans.codes.take(starts - 1, mode="clip") == ord("-")
    )
    if not has_dash.any():
        return has_dash
    before = spans.codes.take(starts - 2, mode="clip")
    is_letter = (before | 0x20) - ord("a") < _N_LETTERS
    found: npt.NDArray[np.bool_] = has_dash & is_letter & (lengths >= _MIN_IN_CODE)
    follows = has_dash[1:] & (starts[1:] == starts[:-1] + lengths[:-1] + 1)
    for place in np.flatnonzero(follows & ~found[1:]).tolist():
        found[place + 1] = found[place]
    return found


def _have_sign_behind(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return whether each of these numbers has raised digits, or stands before a per mille sign."""
    ends = spans.starts[places] + spans.lengths[places]
    behind = spans.codes.take(ends, mode="clip")
    next_to_it = spans.codes.take(ends + 1, mode="clip")
    found: npt.NDArray[np.bool_] = _are_in(behind, _BEHIND) | (
        (behind == BLANK) & _are_in(next_to_it, _PER_MILLE)
    )
    return found


def _are_of_dates(
    spans: Spans, places: npt.NDArray[np.intp], near_month: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return whether each of these numbers is part of a date or time.

    Such numbers are: years from 1900 to 2099; one or two digits near a month or before a character
    such as ``月``; and one or two digits next to a dash or slash and another digit, or to a
    colon and two. Two single digits with a dash between them, such as 3-0, are a score.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    ends = starts + lengths

    def at(where: npt.NDArray[np.intp]) -> CodePoints:
        return spans.codes.take(where, mode="clip")

    century = at(starts).astype(np.uint32) * 256 + at(starts + 1)
    is_year = (lengths == 4) & _are_in(century, _CENTURIES)
    is_short = lengths <= 2
    # Minutes have two digits: 3:1 is a score.
    is_minute = (at(starts - 1) != _COLON) | (lengths == 2)
    before = _are_in(at(starts - 1), _BETWEEN) & _is_digit(at(starts - 2)) & (starts > 1)
    is_hour = (at(ends) != _COLON) | _is_digit(at(ends + 2))
    after = _are_in(at(ends), _BETWEEN) & _is_digit(at(ends + 1))
    is_named = near_month | _are_in(at(ends), _AFTER)
    is_linked = (before & is_minute | after & is_hour) & ~_are_scores(spans, places, before, after)
    found: npt.NDArray[np.bool_] = is_year | (is_short & (is_linked | is_named))
    return found | _are_dotted(is_year, is_short, (at(ends) == ord(".")), starts, ends)


def _are_scores(
    spans: Spans,
    places: npt.NDArray[np.intp],
    before: npt.NDArray[np.bool_],
    after: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """Return whether each number is one of two single digits with a dash between them, as in 3-0.

    :param before: whether a character of dates links each to a number before it.
    :param after: whether one links it to a number behind it.
    """
    starts, are_digits = spans.starts[places], spans.lengths[places] == 1
    found = np.zeros(places.size, bool)
    is_first = are_digits[:-1] & after[:-1] & ~before[:-1]
    is_pair = is_first & are_digits[1:] & ~after[1:] & (starts[1:] == starts[:-1] + 2)
    is_pair &= spans.codes.take(starts[:-1] + 1, mode="clip") == ord("-")
    found[:-1] |= is_pair
    found[1:] |= is_pair
    return found


def _are_dotted(
    is_year: npt.NDArray[np.bool_],
    is_short: npt.NDArray[np.bool_],
    is_before_dot: npt.NDArray[np.bool_],
    starts: npt.NDArray[np.intp],
    ends: npt.NDArray[np.intp],
) -> npt.NDArray[np.bool_]:
    """Return whether each number is part of a date such as 3.5.2024 or 2024.5.3."""
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


def _are_in(codes: CodePoints, few: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return whether each code is one of a few; faster than :func:`numpy.isin` for few codes."""
    are_in: npt.NDArray[np.bool_] = (codes[:, np.newaxis] == few).any(axis=1)
    return are_in


def _is_digit(codes: CodePoints) -> npt.NDArray[np.bool_]:
    is_digit: npt.NDArray[np.bool_] = (codes >= _ZERO) & (codes <= _NINE)
    return is_digit
