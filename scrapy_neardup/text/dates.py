"""Tells the numbers of dates and times in a text from others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .characters import CodePoints, are_digits, are_in
from .tokenization import Spans

#: Largest distance in tokens between a month and its number: "3 de marzo".
MAX_DATE_GAP = 2
#: Characters between the numbers of dates and times, and after them.
_BETWEEN = np.array(list(map(ord, "-/:")), np.uint32)
_AFTER = np.array(list(map(ord, "年月日号號时時点點分년월일시분")), np.uint32)
_AFTER_HOURS, _AFTER_MINUTES = (
    np.array(list(map(ord, of)), np.uint32) for of in ("时時点點시", "分분")
)
_ZERO, _NINE, _COLON = ord("0"), ord("9"), ord(":")
#: The digits of the last hour of a day, and the first one of its last minute.
_TWO, _FOUR, _FIVE = ord("2"), ord("4"), ord("5")
#: Words of dates of visits that say something of what a page is about if a year follows.
_BEFORE_YEARS, _OF_YEAR = ("built in ", "registered in ", "published in "), 4
#: The last digits of the minutes at which something takes place.
_LAST_OF_MINUTES = np.array([_ZERO, ord("5")], np.uint32)
#: The first two characters of a year, 19 or 20, as one number.
_CENTURIES = np.array([ord("1") * 256 + _NINE, ord("2") * 256 + _ZERO], np.uint32)


def are_near(flags: npt.NDArray[np.bool_], gap: int) -> npt.NDArray[np.bool_]:
    """Return whether a flag is set within so many places of each place."""
    if not flags.any():
        return flags
    padded = np.pad(flags, gap)
    shifted = [padded[step : step + flags.size] for step in range(2 * gap + 1)]
    near: npt.NDArray[np.bool_] = np.logical_or.reduce(shifted)
    return near


def are_of_dates(
    spans: Spans, places: npt.NDArray[np.intp], near_month: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return whether each of these numbers is part of a date or time.

    Such numbers are: years from 1900 to 2099; one or two digits near a month or before a character
    such as ``月``; and one or two digits next to a dash or slash and another digit, or to a
    colon and two. Two single digits with a dash between them, such as 3-0, are a score, and so are
    31:28 and 1:72, which are no times of a day.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    ends = starts + lengths

    def at(where: npt.NDArray[np.intp]) -> CodePoints:
        return spans.codes.take(where, mode="clip")

    century = at(starts).astype(np.uint32) * 256 + at(starts + 1)
    is_year = (lengths == 4) & are_in(century, _CENTURIES) & are_digits(at(ends - 1))
    is_short = lengths <= 2
    # Minutes have two digits: 3:1 is a score.
    is_minute = (at(starts - 1) != _COLON) | (lengths == 2)
    before = are_in(at(starts - 1), _BETWEEN) & are_digits(at(starts - 2)) & (starts > 1)
    is_hour = (at(ends) != _COLON) | are_digits(at(ends + 2))
    after = are_in(at(ends), _BETWEEN) & are_digits(at(ends + 1))
    is_named = near_month | are_in(at(ends), _AFTER)
    is_linked = (before & is_minute | after & is_hour) & ~_are_scores(spans, places, before, after)
    is_linked &= ~_are_no_times(spans, places)
    found: npt.NDArray[np.bool_] = is_year | (is_short & (is_linked | is_named))
    return found | _are_dotted(is_year, is_short, (at(ends) == ord(".")), starts, ends)


def are_of_visits(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return whether each number is part of a time that is not one of full five minutes."""
    starts = spans.starts[places]
    ends = starts + spans.lengths[places]

    def at(where: npt.NDArray[np.intp]) -> CodePoints:
        return spans.codes.take(where, mode="clip")

    is_hour = (at(ends) == _COLON) & are_digits(at(ends + 1))
    is_behind = (at(starts - 1) == _COLON) & are_digits(at(starts - 2)) & (starts > 1)
    is_full = are_in(at(np.where(is_behind, ends - 1, ends + 2)), _LAST_OF_MINUTES)
    # With seconds there are two colons.
    has_seconds = np.where(is_hour, (at(ends + 3) == _COLON) | is_behind, at(starts - 4) == _COLON)
    # Of 19時30分 the minutes stand behind a character, as the hour does.
    minutes = are_in(at(ends), _AFTER_MINUTES) & ~are_in(at(ends - 1), _LAST_OF_MINUTES)
    behind_hour = np.where(are_digits(at(ends + 2)), ends + 2, ends + 1)
    has_minutes = are_in(at(ends), _AFTER_HOURS) & are_digits(at(ends + 1))
    is_odd_hour = has_minutes & ~are_in(at(behind_hour), _LAST_OF_MINUTES)
    is_odd: npt.NDArray[np.bool_] = (is_hour | is_behind) & (~is_full | has_seconds)
    return (is_odd & ~_are_no_times(spans, places)) | minutes | is_odd_hour


def are_years_of_facts(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return whether each number has four digits and stands behind words such as "built in"."""
    starts = spans.starts[places]
    found = np.zeros(starts.size, bool)
    for words in _BEFORE_YEARS:
        is_behind = starts >= len(words)
        for gap, letter in enumerate(reversed(words), start=1):
            is_behind &= spans.codes.take(starts - gap, mode="clip") == ord(letter)
        found |= is_behind
    found &= spans.lengths[places] == _OF_YEAR
    return found


def _are_no_times(spans: Spans, places: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Return whether each number is next to a colon, but too large for hours or minutes.

    Of three numbers or more in a row, as those of a countdown, none is.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    ends = starts + lengths

    def at(where: npt.NDArray[np.intp]) -> CodePoints:
        return spans.codes.take(where, mode="clip")

    def are_hours(tens: CodePoints, units: CodePoints) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (tens < _TWO) | ((tens == _TWO) & (units <= _FOUR))
        return found

    is_before = (at(ends) == _COLON) & are_digits(at(ends + 1))
    is_behind = (at(starts - 1) == _COLON) & are_digits(at(starts - 2)) & (starts > 1)
    is_hour = is_behind | (lengths == 1) | ((lengths == 2) & are_hours(at(starts), at(starts + 1)))
    # Seconds stand behind two digits that are minutes.
    is_second = (at(starts - 4) == _COLON) & (starts > 3)
    has_tens = are_digits(at(starts - 3)) & (starts > 2)
    is_behind_hour = ~has_tens | (
        are_hours(at(starts - 3), at(starts - 2)) & ~(are_digits(at(starts - 4)) & (starts > 3))
    )
    is_minute = (at(starts) <= _FIVE) & (is_second | is_behind_hour)
    no_hour = is_before & ~(is_hour & (at(ends + 1) <= _FIVE))
    is_in_row = (is_before & (is_behind | (at(ends + 3) == _COLON))) | (is_behind & is_second)
    found: npt.NDArray[np.bool_] = (no_hour | (is_behind & ~is_minute)) & ~is_in_row
    return found


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
