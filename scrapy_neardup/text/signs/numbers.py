"""Tells from what stands around a number whether it has a sign, or is a part of another one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..characters import BLANK, CodePoints, are_digits, are_in
from ..marks import RAISED
from ..tokenization import Spans

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

#: Signs of a negative number, and what stands before one that is no dash.
_MINUS = np.array(list(map(ord, "-−–")), np.uint32)
_BEFORE_MINUS = np.array(list(map(ord, " \n(")), np.uint32)
#: What stands behind a number in per mille, or one with raised digits.
_PER_MILLE = np.array(list(map(ord, "‰‱")), np.uint32)
_BEHIND = np.array([ord(RAISED), *_PER_MILLE], np.uint32)
#: Letters of codes, and the least length of a number behind them.
_N_LETTERS, _MIN_IN_CODE = 26, 3
#: Between an integer and its fraction, and between the ends of a range of short numbers.
_POINTS = np.array(list(map(ord, ".,")), np.uint32)
_MAX_IN_RANGE = 2


def are_parts(spans: Spans, places: Places) -> tuple[Flags, Flags]:
    """Return whether each number goes on behind a point or a dash, and whether it follows on one.

    So the 8 of 8.5 is told from 8, its 5 from 5, and the 2 of 2-3 from 2.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    ends = starts + lengths
    at = _codes_at(spans)
    is_short = lengths <= _MAX_IN_RANGE
    # A longer number behind a dash is one to call, or part of a code.
    is_long = are_digits(at(ends + 1)) & are_digits(at(ends + 2)) & are_digits(at(ends + 3))
    is_short_range = is_short & ~is_long
    has_more = are_in(at(ends), _POINTS) | (are_in(at(ends), _MINUS) & is_short_range)
    follows = are_in(at(starts - 1), _POINTS) | (are_in(at(starts - 1), _MINUS) & is_short)
    return has_more & are_digits(at(ends + 1)), follows & are_digits(at(starts - 2)) & (starts > 1)


def are_after_noon(spans: Spans, places: Places) -> Flags:
    """Return whether "pm" or "p.m." stands behind each number."""
    ends = spans.starts[places] + spans.lengths[places]
    at = _codes_at(spans)
    letter = np.where(at(ends) == BLANK, ends + 1, ends)
    second = np.where(at(letter + 1) == ord("."), letter + 2, letter + 1)
    found: Flags = (at(letter) == ord("p")) & (at(second) == ord("m"))
    return found & ~_is_letter(at(second + 1))


def are_negative(spans: Spans, places: Places) -> Flags:
    """Return whether each of these numbers has a minus right before it, and a blank before that."""
    before = spans.starts[places] - 1
    at = _codes_at(spans)
    is_apart = are_in(at(before - 1), _BEFORE_MINUS) | (before == 0)
    found: Flags = are_in(at(before), _MINUS) & is_apart
    return found


def are_of_codes(spans: Spans, places: Places) -> Flags:
    """Return whether each number is part of a code such as CVE-2024-10321.

    It has three digits or more and stands behind letters and a dash, or behind such a number.
    """
    starts, lengths = spans.starts[places], spans.lengths[places]
    at = _codes_at(spans)
    has_dash: Flags = (starts > 1) & (at(starts - 1) == ord("-"))
    if not has_dash.any():
        return has_dash
    found: Flags = has_dash & _is_letter(at(starts - 2)) & (lengths >= _MIN_IN_CODE)
    follows = has_dash[1:] & (starts[1:] == starts[:-1] + lengths[:-1] + 1)
    for place in np.flatnonzero(follows & ~found[1:]).tolist():
        found[place + 1] = found[place]
    return found


def have_sign_behind(spans: Spans, places: Places) -> Flags:
    """Return whether each of these numbers has raised digits, or stands before a per mille sign."""
    ends = spans.starts[places] + spans.lengths[places]
    at = _codes_at(spans)
    is_per_mille = (at(ends) == BLANK) & are_in(at(ends + 1), _PER_MILLE)
    found: Flags = are_in(at(ends), _BEHIND) | is_per_mille
    return found


def _codes_at(spans: Spans) -> Callable[[Places], CodePoints]:
    """Return what looks characters up; 0 outside, where other texts may stand or not."""

    def at(places: Places) -> CodePoints:
        is_within = (places >= 0) & (places < spans.codes.size)
        found: CodePoints = spans.codes.take(places, mode="clip") * is_within
        return found

    return at


def _is_letter(codes: CodePoints) -> Flags:
    is_letter: Flags = (codes | 0x20) - ord("a") < _N_LETTERS
    return is_letter
