"""Counts how the values of two texts differ, see :mod:`~scrapy_neardup.text.values`.

Both sequences are aligned. Between the values that they share are gaps: values that replace
others, that only one text has, or that were moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from math import ceil
from typing import NamedTuple

from .._util.sequences import common_subsequence
from .values import (
    alike_in_each_visit,
    has_date,
    has_same_number,
    has_word,
    is_of_date,
    tells_pages_apart,
)

#: A longer stretch on one side is an independent block, which was added or removed, unless both are
#: the numbers of tables.
_MAX_REPLACED = 20
#: Largest number of places that one stretch counts as, and what a date counts: two dates that
#: changed are not yet another content.
_MAX_PLACES, _DATE_PLACES = 4, 0.4
#: Numbers in a date; more are several dates, as in a table of tides.
_NUMBERS_IN_DATE = 3
#: Longest stretches that were exchanged, as in directions there and back; longer ones were moved,
#: unless their two ends changed places, such as the names of plaintiff and defendant.
_MAX_EXCHANGED = 4
_MAX_WITH_ENDS, _MAX_END = 14, 5
#: Longest name, signature or date at an end of a text.
_MAX_NAME = 4
#: Longest address at the end of a text, and how many times as long as the other one it may be.
_MAX_ADDRESS, _MAX_RATIO_OF_ADDRESSES = 12, 3
#: With more pairs of equal values than this, a longest common subsequence is used for alignment.
_MAX_PAIRS = 3000
#: Longest range of numbers, such as that of two dates.
_MAX_RANGE = 8
#: Least number of values of a text when shares are taken.
_MIN_VALUES = 20

#: Codes of values in reading order.
Values = Sequence[int]


class Difference(NamedTuple):
    """Differences between the values of two texts.

    :ivar places: places at which both texts have values, and different ones; a date counts 0.4.
    :ivar words: stretches of such places in which both texts have words.
    :ivar kinds: such stretches in which one text has words, and the other numbers but none of a
        visit.
    :ivar dates: stretches in which both texts have dates.
    :ivar signs: stretches in which both texts have a number, one of them with another sign.
    :ivar share: ``places`` divided by the number of values of the shorter text, at least 20.
    :ivar replaced: stretches of such places.
    :ivar added: stretches that only one text has.
    :ivar added_to_each: such stretches within the texts, of the text that has fewer of them.
    :ivar exchanged: gaps whose values were exchanged with others, as in directions there and back;
        not counted above. 0 if anything else was moved, as in a list that is sorted differently.
    :ivar numbers: of one gap at most, numbers in whose places there are others, even if these were
        moved within it.
    :ivar longest_added: values of the longest stretch that only one text has. If the texts continue
        after the last of these values, the end does not count: there, one has more only because
        the other has more elsewhere.
    :ivar longest_added_to_each: values of the longest such stretch of either text; the lesser one.
    """

    places: float
    words: int
    kinds: int
    dates: int
    signs: int
    share: float
    replaced: int
    added: int
    added_to_each: int
    exchanged: int
    numbers: int
    longest_added: int
    longest_added_to_each: int


class _Gap(NamedTuple):
    """The values of two texts between those that they share.

    :ivar is_within: whether shared values are on both sides of it.
    :ivar is_last: whether no shared value is behind it.
    """

    values: Values
    others: Values
    is_within: bool
    is_last: bool


class _Range(NamedTuple):
    """The positions of a gap in both texts."""

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


def difference(values: Values, others: Values, *, is_cut: bool = False) -> Difference:
    """Align the values of two texts, and count their differences.

    :param is_cut: whether a text continues after the last of these values.
    """
    stable = _stable_numbers(values) | _stable_numbers(others)
    values, others = alike_in_each_visit(values), alike_in_each_visit(others)
    if values == others:
        return Difference(*[0] * len(Difference._fields))
    # Sorted, so that the result is symmetric.
    values, others = sorted((values, others))
    more, more_of_others = _surplus(values, others), _surplus(others, values)
    gaps = list(_gaps(values, others, is_cut=is_cut))
    own = [(_own(gap.values, more), _own(gap.others, more_of_others)) for gap in gaps]
    found = list(filter(any, own))
    places = [_places(*both) for both in found]
    words = sum(
        bool(place) and all(map(has_word, both)) for place, both in zip(places, found, strict=True)
    )
    kinds = sum(_have_other_kinds(*both, stable) for both in found)
    dates = sum(all(map(has_date, both)) for both in found)
    signs = sum(has_same_number(*both) for both in found)
    share = sum(places) / max(_MIN_VALUES, min(len(values), len(others)))
    added = places.count(0)
    replaced = len(places) - added
    of_each = _added_to_each(gaps, own)
    exchanged = _exchanged(gaps, own)
    numbers = max(map(_replaced_numbers, gaps), default=0)
    longest = _longest_added(gaps, own, is_cut=is_cut)
    counts = words, kinds, dates, signs, share, replaced, added, of_each, exchanged, numbers
    return Difference(sum(places), *counts, max(longest), min(longest))


def agreement(values: Values, others: Values) -> tuple[float, float]:
    """Return the share of the values of each text that the other one has as well."""
    counts = (Counter(alike_in_each_visit(each)) for each in (values, others))
    common = (next(counts) & next(counts)).total()
    return common / max(1, len(values)), common / max(1, len(others))


def _stable_numbers(values: Values) -> frozenset[int]:
    """Return the numbers that are the same in each visit and no part of a date."""
    stable = (value for value in values if tells_pages_apart(value) and not is_of_date(value))
    return frozenset(alike_in_each_visit(stable))


def _have_other_kinds(values: Values, others: Values, stable: frozenset[int]) -> bool:
    """Return whether one of two short stretches has only words, the other only stable numbers."""
    if not 0 < max(len(values), len(others)) <= _MAX_NAME:
        return False
    are_words = [
        bool(each) and all(has_word((value,)) for value in each) for each in (values, others)
    ]
    are_stable = [bool(each) and stable.issuperset(each) for each in (values, others)]
    return (are_words[0] and are_stable[1]) or (are_words[1] and are_stable[0])


def _surplus(values: Values, others: Values) -> Counter[int]:
    """Count the values that others lack; values that were only moved are left out."""
    return Counter(values) - Counter(others)


def _own(gap: Values, more: Counter[int]) -> list[int]:
    """Return the values of a gap that the other text lacks, and remove them from ``more``."""
    found = []
    for value in gap:
        if more[value] > 0:
            more[value] -= 1
            found.append(value)
    return found


def _added_to_each(gaps: Iterable[_Gap], own: Iterable[tuple[Values, Values]]) -> int:
    """Count the stretches within the texts that only one has, for each; return the lesser count."""
    within = [both for gap, both in zip(gaps, own, strict=True) if gap.is_within]
    of_first = sum(bool(a) and not b for a, b in within)
    return min(of_first, sum(bool(b) and not a for a, b in within))


def _longest_added(
    gaps: Iterable[_Gap], own: Iterable[tuple[Values, Values]], *, is_cut: bool
) -> tuple[int, int]:
    """Return the length of the longest stretch that only the first, or the second text has."""
    counted = zip(gaps, own, strict=True)
    added = [both for gap, both in counted if not (is_cut and gap.is_last) and not all(both)]
    return max((len(a) for a, _ in added), default=0), max((len(b) for _, b in added), default=0)


def _exchanged(gaps: Iterable[_Gap], own: Iterable[tuple[Values, Values]]) -> int:
    """Count the gaps of moved values if all of them are exchanges, else return 0."""
    moved = [
        gap
        for gap, both in zip(gaps, own, strict=True)
        if not any(both) and (gap.values or gap.others)
    ]
    return len(moved) if all(map(_is_exchange, moved)) else 0


def _is_exchange(gap: _Gap) -> bool:
    """Return whether the values of a gap were exchanged, and are no date in another format."""
    is_date = all(map(is_of_date, gap.values)) and all(map(is_of_date, gap.others))
    is_short = len(gap.values) == len(gap.others) <= _MAX_EXCHANGED
    return (is_short or _were_exchanged(gap.values, gap.others)) and not is_date


def _were_exchanged(part: Values, other: Values) -> bool:
    """Return whether one stretch has the other's values in another order, as if exchanged."""
    if len(part) != len(other) or len(part) > _MAX_WITH_ENDS:
        return False
    if len(part) <= _MAX_EXCHANGED:
        return sorted(part) == sorted(other)
    size, ends = len(part), range(1, _MAX_END + 1)
    firsts = [n for n in ends if part[:n] == other[size - n :]]
    lasts = [n for n in ends if part[size - n :] == other[:n]]
    return any(
        first + last <= size and part[first : size - last] == other[last : size - first]
        for first in firsts
        for last in lasts
    )


def _places(values: Values, others: Values) -> float:
    """Return the number of places that a stretch counts as; 0 if it was only added or removed."""
    shorter, longer = sorted((len(values), len(others)))
    if not shorter or (longer > _MAX_REPLACED and not _are_tables(values, others)):
        return 0
    undated = min(len(each) - sum(map(is_of_date, each)) for each in (values, others))
    return min(undated, _MAX_PLACES) or _DATE_PLACES * ceil(shorter / _NUMBERS_IN_DATE)


def _are_tables(values: Values, others: Values) -> bool:
    """Return whether two stretches are numbers only, and neither is twice as long as the other."""
    shorter, longer = sorted((len(values), len(others)))
    return longer < 2 * shorter and not (has_word(values) or has_word(others))


def _replaced_numbers(gap: _Gap) -> int:
    """Count the numbers in whose places there are others, as in a score or a size."""
    if len(gap.values) != len(gap.others) or has_word(gap.values) or has_word(gap.others):
        return 0
    pairs = zip(gap.values, gap.others, strict=True)
    return sum(a != b and not (is_of_date(a) or is_of_date(b)) for a, b in pairs)


def _gaps(values: Values, others: Values, *, is_cut: bool) -> Iterator[_Gap]:
    """Yield the gaps between the values that both have in the same order.

    At the beginning and at the end of the texts, stretches of unequal lengths are two additions:
    one text has a teaser there, and the other a line for readers of its print view. Not so are
    short ones, which are names, tables, and addresses at the end.
    """
    start = _in_common(values, others)
    end = _in_common(values[start:][::-1], others[start:][::-1])
    inner, other = values[start : len(values) - end], others[start : len(others) - end]
    ranges = _without_chance(_unequal(inner, other, is_cut=is_cut), inner, other)
    for a, b, c, d in _joined(ranges, inner, other):
        is_first = start == a == c == 0
        is_last = end == 0 and b == len(inner) and d == len(other)
        gap = _Gap(inner[a:b], other[c:d], not (is_first or is_last), is_last)
        is_even = b - a == d - c or _are_tables(gap.values, gap.others)
        is_name = max(b - a, d - c) <= _MAX_NAME or (is_last and _are_addresses(*gap[:2]))
        if gap.is_within or is_even or (is_name and not (is_last and is_cut)):
            yield gap
        else:
            yield gap._replace(others=())
            yield gap._replace(values=())


def _are_addresses(values: Values, others: Values) -> bool:
    """Return whether two stretches at the end of the texts may be addresses or lists of names.

    Lines with dates are neither: one page ends with the time of its print view, and the other with
    a counter.
    """
    shorter, longer = sorted((len(values), len(others)))
    is_like = longer <= min(_MAX_ADDRESS, _MAX_RATIO_OF_ADDRESSES * shorter)
    return is_like and not (has_date(values) or has_date(others))


def _unequal(values: Values, others: Values, *, is_cut: bool) -> Iterator[_Range]:
    # Long texts have few tables among much else.
    blocks = _blocks_between(values, others) if is_cut else _blocks(values, others)
    at, other_at = 0, 0
    for place, other, size in [*blocks, (len(values), len(others), 0)]:
        if place > at or other > other_at:
            yield _Range(at, place, other_at, other)
        at, other_at = place + size, other + size


def _blocks(values: Values, others: Values) -> Iterator[tuple[int, int, int]]:
    """Yield where equal stretches begin in both, and their lengths.

    Words that both have once are matched first, so that rows of a table are matched by their names
    and not by equal numbers.
    """
    at, other_at = 0, 0
    for place, other in [*_anchors(values, others), (len(values), len(others))]:
        for a, b, size in _blocks_between(values[at:place], others[other_at:other]):
            yield at + a, other_at + b, size
        if place < len(values):
            yield place, other, 1
        at, other_at = place + 1, other + 1


def _anchors(values: Values, others: Values) -> list[tuple[int, int]]:
    """Return the indices of words that both have once, as many as are in the same order."""
    counts, of_others = Counter(values), Counter(others)
    place_of = {value: place for place, value in enumerate(others) if has_word((value,))}
    pairs = [
        (place, place_of[value])
        for place, value in enumerate(values)
        if value in place_of and counts[value] == of_others[value] == 1
    ]
    ascending = common_subsequence([other for _, other in pairs], sorted(b for _, b in pairs))
    return [pairs[place] for place, _ in ascending]


def _blocks_between(values: Values, others: Values) -> list[tuple[int, int, int]]:
    """Return where equal stretches begin in both, and their lengths.

    Long stretches are matched first, as a reader would, unless there are many equal values, as in
    tables of numbers: that would take too long.
    """
    counts = Counter(others)
    if sum(counts[value] for value in values) > _MAX_PAIRS:
        return [(place, other, 1) for place, other in common_subsequence(values, others)]
    matcher = SequenceMatcher(None, values, others, autojunk=False)
    return [(*block,) for block in matcher.get_matching_blocks()]


def _without_chance(ranges: Iterable[_Range], values: Values, others: Values) -> list[_Range]:
    """Join ranges of numbers between which fewer numbers are equal than differ on either side.

    In two tables, some numbers are equal by chance.
    """
    joined: list[_Range] = []
    for found in ranges:
        if joined:
            a, b, c, d = joined[-1]
            both = _Range(a, found.end, c, found.other_end)
            n_equal, n_before = found.start - b, max(b - a, d - c)
            n_behind = max(found.end - found.start, found.other_end - found.other_start)
            parts = values[a : both.end], others[c : both.other_end]
            if n_equal < min(n_before, n_behind) and not any(map(has_word, parts)):
                joined[-1] = both
                continue
        joined.append(found)
    return joined


def _joined(ranges: Iterable[_Range], values: Values, others: Values) -> list[_Range]:
    """Join neighbouring ranges if values were exchanged or a range of numbers was shifted.

    Between "1 March to 1 June" and "1 June to 1 September" an alignment removes a date before June
    and adds one after it.
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


def _belong_together(part: Values, other: Values) -> bool:
    if _were_exchanged(part, other):
        return True
    return max(len(part), len(other)) <= _MAX_RANGE and not (has_word(part) or has_word(other))


def _in_common(values: Sequence[int], others: Sequence[int]) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(values, others, strict=False))
    shorter = min(len(values), len(others))
    return next((place for place, (a, b) in pairs if a != b), shorter)
