"""How the values of two texts differ, see :mod:`~scrapy_neardup.text.values`.

Both are aligned. Between what they have in common stand the gaps: values that replace others, that
only one text has, or that were moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from math import ceil
from typing import NamedTuple

from .values import has_date, has_word, is_lasting

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


class Difference(NamedTuple):
    """How the values of two texts differ.

    :ivar places: where both texts have values, and not the same ones; a date counts 0.4.
    :ivar words: stretches of such places in which both texts have words.
    :ivar dates: stretches in which both texts have dates.
    :ivar share: ``places`` as a part of the values of the text that has fewer, of 20 at least.
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
        bool(place) and all(map(has_word, both)) for place, both in zip(places, found, strict=True)
    )
    dates = sum(all(map(has_date, both)) for both in found)
    share = sum(places) / max(_FEWEST, min(len(values), len(others)))
    added = places.count(0)
    replaced = len(places) - added
    of_each = _added_to_each(gaps, own)
    exchanged = _exchanged(gaps, own)
    return Difference(sum(places), words, dates, share, replaced, added, of_each, exchanged)


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


def _added_to_each(gaps: Iterable[_Gap], own: Iterable[tuple[bytes, bytes]]) -> int:
    """Stretches within the texts that one of them has alone, of the text that has fewer."""
    within = [both for gap, both in zip(gaps, own, strict=True) if gap.is_within]
    of_first = sum(bool(a) and not b for a, b in within)
    return min(of_first, sum(bool(b) and not a for a, b in within))


def _exchanged(gaps: Iterable[_Gap], own: Iterable[tuple[bytes, bytes]]) -> int:
    """Gaps of moved values, if all of them are exchanges."""
    moved = [
        gap
        for gap, both in zip(gaps, own, strict=True)
        if not any(both) and (gap.values or gap.others)
    ]
    return len(moved) if all(map(_is_exchange, moved)) else 0


def _is_exchange(gap: _Gap) -> bool:
    return len(gap.values) == len(gap.others) <= _LONGEST_EXCHANGED


def _places(values: bytes, others: bytes) -> float:
    if not (values and others) or max(len(values), len(others)) > _LONGEST:
        return 0
    lasting = min(sum(map(is_lasting, each)) for each in (values, others))
    return min(lasting, _MOST_PLACES) or _DATE * ceil(min(len(values), len(others)) / _OF_DATE)


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
        may_be_name = max(b - a, d - c) <= _LONGEST_NAME and not (is_last and is_cut)
        if gap.is_within or b - a == d - c or may_be_name:
            yield gap
        else:
            yield gap._replace(others=b"")
            yield gap._replace(values=b"")


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
    """Joins two ranges where neighbours were exchanged or a range of numbers moved on.

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
    return max(len(part), len(other)) <= _LONGEST_RANGE and not (has_word(part) or has_word(other))


def _in_common(values: Sequence[int], others: Sequence[int]) -> int:
    """How many they have in common at the beginning."""
    pairs = enumerate(zip(values, others, strict=False))
    shorter = min(len(values), len(others))
    return next((place for place, (a, b) in pairs if a != b), shorter)
