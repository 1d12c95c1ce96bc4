"""Tells pages of one form, whose values differ, from copies, whose texts resemble as much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._util.urls import are_on_one_host
from ..signatures.signature import PageSignature
from ..text.value_differences import Difference, agreement, difference
from ..text.values import CODE, MAX_VALUES, numbers_were_replaced, with_points_of
from ..text.word_sums import WordSums, choices_differ, name_was_replaced


class _Bound(NamedTuple):
    """The least difference of two pages of one form.

    :ivar places: how many values differ.
    :ivar share: how many, as a part of all values.
    :ivar replaced_to_added: replaced stretches for each stretch that only one text has. Edited
        copies have few.
    """

    places: float
    share: float
    replaced_to_added: float


#: Two pages are of one form when any of the bounds is reached. The more values differ, the less
#: other differences matter. Of a text with more values than are kept (a cut one) only the beginning
#: is compared, so a larger part must differ.
_ON_ONE_SITE: tuple[_Bound, ...] = _Bound(2, 0.025, 0), _Bound(0.8, 0, 1.5)
_ON_ONE_SITE_CUT = _Bound(2, 0.028, 0), _Bound(4, 0.016, 1), _Bound(2, 0, 3)
_ACROSS_SITES: tuple[_Bound, ...] = _Bound(2, 0.025, 1), _Bound(1.4, 0, 2)
_ACROSS_SITES_CUT = (_Bound(2, 0.045, 1),)
#: Between two versions of a manual, few words are renamed or translated anew: a smaller part of the
#: values than this, which is more than twice what pages of one form may differ in.
MAX_RENAMED = 0.06
#: A single number that differs may be a counter, as of a page's views. In lists of one site, two
#: numbers may be the numbers of their pages, and three in one stretch too: the page, with the one
#: before and the one behind it.
MAX_COUNTERS, MAX_COUNTER_VALUES = 1, 1
MAX_PAGE_NUMBERS, MAX_NEIGHBOURS = 2, 3
#: Of two lists, a longer stretch of values that only one of them has is an entry of its own: a name
#: with a date or a second name. Labels and counters of templates are shorter.
MAX_ADDED_TO_LIST = 1
#: Of two lists with more values than are kept, one has an entry more if its text is longer by more
#: characters than this.
MAX_MORE_TEXT_OF_LIST = 12
#: Each of two texts has a passage of its own if each has a stretch of so many values of its own.
MIN_ADDED_TO_EACH = 3
#: A name or number tells two pages of one title apart beside so many stretches, for each name, that
#: only one text has: an ad may have a sentence more.
MAX_ADDED_TO_REPLACED = 2
#: On two sites, texts under one title may resemble by less when so large a part of one text's
#: values is in the other, and of the other's in the one. The difference of the resemblance from 1
#: may then be so many times that of ``min_similarity``.
LEAST_SAME_VALUES = 20
MIN_SAME_VALUES, MIN_SAME_OF_ALL = 0.95, 0.78
SAME_VALUES_LENIENCY = 1.57


def values_differ(page: PageSignature, other: PageSignature) -> bool:
    """Return whether two similar texts differ in numbers and names, as pages of one form do."""
    if page.n_values == other.n_values and page.values != other.values:
        codes = with_points_of(*(np.frombuffer(each.values, CODE) for each in (page, other)))
        other = replace(other, values=codes.tobytes())
    is_cut, found = _is_cut(page, other), _difference(page, other)
    if page.is_list and other.is_list and _has_other_entries(page, other, found):
        return True
    if _words_differ(page, other, found) or _only_number_differs(page, other, found):
        return True
    if page.site != other.site:
        bounds = _ACROSS_SITES_CUT if is_cut else _ACROSS_SITES
        return not _are_counters(found) and _reaches(bounds, found, found.places, found.replaced)
    if _are_lists(page, other) and _are_page_numbers(found):
        return False
    if not is_cut and _is_filled_in(found):
        return True
    bounds = _ON_ONE_SITE_CUT if is_cut else _ON_ONE_SITE
    places, replaced = found.places + found.exchanged, found.replaced + found.exchanged
    if (found.words or found.signs) and not is_cut:
        # A name or sign that differs weighs more than a line that only one page has.
        replaced = max(replaced, int(places))
    return not _are_counters(found) and _reaches(bounds, found, places, replaced)


def _words_differ(page: PageSignature, other: PageSignature, found: Difference) -> bool:
    """Return whether words or numbers tell two pages of a site apart that have one title."""
    if page.site != other.site or page.title != other.title or page.n_heading != other.n_heading:
        return False
    sums, others = (WordSums.from_bytes(each.word_sums) for each in (page, other))
    if choices_differ(sums, others):
        return True
    if _is_cut(page, other):
        # In a long text a word may have been edited.
        return False
    # If it is not even, a heading that one text lacks may stand against a word of the other one.
    is_even = sums[:3] == others[:3]
    if not _are_lists(page, other):
        numbers_differ, dates_differ = numbers_were_replaced(
            page.value_codes, other.value_codes, as_many=found.added > 0
        )
        if dates_differ or (numbers_differ and (is_even or found.added <= MAX_ADDED_TO_REPLACED)):
            return True
    n_names = found.words + found.kinds
    names_differ = n_names > 0 and found.added <= MAX_ADDED_TO_REPLACED * n_names
    return names_differ or (is_even and found.words > 0) or name_was_replaced(sums, others, found)


def _only_number_differs(page: PageSignature, other: PageSignature, found: Difference) -> bool:
    """Return whether two pages of a site with different titles differ in a number only.

    A used camera may differ from a new one in the price and a word of the title.
    """
    if page.site != other.site or page.title == other.title or _are_lists(page, other):
        return False
    if found.added or found.replaced != 1 or _is_cut(page, other):
        return False
    values = (each.value_codes[each.n_heading :] for each in (page, other))
    return any(numbers_were_replaced(*values, as_many=True))


def each_adds_values(page: PageSignature, other: PageSignature) -> bool:
    """Return whether each of two texts has a stretch of values with no counterpart in the other."""
    return _difference(page, other).longest_added_to_each >= MIN_ADDED_TO_EACH


def few_are_renamed(page: PageSignature, other: PageSignature) -> bool:
    """Return whether two similar texts differ in few words and in no numbers, as versions do."""
    found = _difference(page, other)
    only_words = found.words == found.replaced and not found.exchanged
    return only_words and not _is_filled_in(found) and found.share < MAX_RENAMED


def _are_lists(page: PageSignature, other: PageSignature) -> bool:
    """Return whether both pages are lists of one host, which may have different page numbers."""
    return page.is_list and other.is_list and are_on_one_host(page.url, other.url)


def _has_other_entries(page: PageSignature, other: PageSignature, found: Difference) -> bool:
    """Return whether one of two lists has an entry that the other one lacks."""
    if found.longest_added > MAX_ADDED_TO_LIST:
        return True
    return _is_cut(page, other) and abs(page.n_text - other.n_text) > MAX_MORE_TEXT_OF_LIST


def _difference(page: PageSignature, other: PageSignature) -> Difference:
    pages = page, other
    # The titles of one site's pages were compared before, and some templates have no heading.
    starts = [each.n_heading if page.site == other.site else 0 for each in pages]
    values = (each.value_codes[start:] for each, start in zip(pages, starts, strict=True))
    return difference(*values, is_cut=_is_cut(page, other))


def _is_cut(page: PageSignature, other: PageSignature) -> bool:
    return max(page.n_values, other.n_values) == MAX_VALUES


def _is_filled_in(found: Difference) -> bool:
    """Return whether each text has values where the other has common words.

    Pages of one form have. Of two versions of a text, the edited one has more of them.
    """
    return 0 < found.added <= 2 * found.added_to_each


def _are_counters(found: Difference) -> bool:
    others = found.words or found.dates or found.signs or found.exchanged
    n_values = max(found.places, found.numbers)
    return not others and found.replaced <= MAX_COUNTERS and n_values <= MAX_COUNTER_VALUES


def _are_page_numbers(found: Difference) -> bool:
    most = MAX_NEIGHBOURS if found.replaced == 1 else MAX_PAGE_NUMBERS
    return not found.words and found.places <= most


def _reaches(bounds: Iterable[_Bound], found: Difference, places: float, replaced: int) -> bool:
    return any(
        places >= bound.places
        and found.share >= bound.share
        and replaced >= bound.replaced_to_added * found.added
        for bound in bounds
    )


def values_agree(page: PageSignature, other: PageSignature) -> bool:
    """Return whether pages of two sites with equal titles have nearly the same values.

    Such texts differ in common words, as those of two sites' templates do.
    """
    sizes = page.n_values, other.n_values
    if page.site == other.site or page.title != other.title or not page.title:
        return False
    if min(sizes) < LEAST_SAME_VALUES or max(sizes) == MAX_VALUES:
        return False
    parts = agreement(page.value_codes, other.value_codes)
    return max(parts) >= MIN_SAME_VALUES and min(parts) >= MIN_SAME_OF_ALL
