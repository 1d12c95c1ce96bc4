"""What the values of two resembling texts say: pages of one form, or one content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..signatures.signature import PageSignature
from ..text.value_differences import Difference, agreement, difference
from ..text.values import MAX_VALUES


class _Enough(NamedTuple):
    """A difference that is enough for two pages of one form.

    :ivar places: so many values differ at least.
    :ivar share: as a part of all.
    :ivar replaced_to_added: so many stretches are replaced for each that was added or taken out, as
        where copies are edited.
    """

    places: float
    share: float
    replaced_to_added: float


#: Where many values differ it matters less what else does. Of a text that has more values than are
#: kept only the beginning is compared, so a larger part must differ there.
_ON_ONE_SITE: tuple[_Enough, ...] = _Enough(2, 0.025, 0), _Enough(0.8, 0, 1.5)
_ON_ONE_SITE_CUT = _Enough(2, 0.028, 0), _Enough(4, 0.016, 1), _Enough(2, 0, 3)
_ACROSS_SITES: tuple[_Enough, ...] = _Enough(2, 0.025, 1), _Enough(1.4, 0, 2)
_ACROSS_SITES_CUT = (_Enough(2, 0.045, 1),)
#: A number that stands alone may be a counter, such as that of a page's readers; "4,812" is two
#: values. In lists of one site two numbers may be those of their pages.
MOST_COUNTERS, MOST_OF_COUNTER, MOST_PAGE_NUMBERS = 1, 2, 2
#: On two sites, texts of one title may differ more when so many values of one are in the other: all
#: but a few, and of the other most. Then what a resemblance lacks to 1 may be so many times what
#: ``min_similarity`` lacks.
LEAST_SAME_VALUES = 20
MIN_SAME_VALUES, MIN_SAME_OF_ALL = 0.95, 0.78
SAME_VALUES_LENIENCY = 1.57


def values_differ(page: PageSignature, other: PageSignature) -> bool:
    """Do the same words stand around other numbers and names, as in the pages of one form?"""
    is_cut = max(len(page.values), len(other.values)) == MAX_VALUES
    if page.site != other.site:
        found = difference(page.values, other.values, is_cut=is_cut)
        enough = _ACROSS_SITES_CUT if is_cut else _ACROSS_SITES
        return not _are_counters(found) and _is_any(enough, found, found.places, found.replaced)
    # Titles are compared on one site, and some templates have no heading.
    found = difference(*(each.values[each.n_heading :] for each in (page, other)), is_cut=is_cut)
    if page.is_list and other.is_list and not found.words and found.places <= MOST_PAGE_NUMBERS:
        return False
    # Values that one text has here, and the other there, replace common words. An edited text has
    # more of them than the other.
    if not is_cut and 0 < found.added <= 2 * found.added_to_each:
        return True
    enough = _ON_ONE_SITE_CUT if is_cut else _ON_ONE_SITE
    places, replaced = found.places + found.exchanged, found.replaced + found.exchanged
    if found.words and not is_cut:
        # A name weighs more than a line that one of the pages has besides.
        replaced = max(replaced, int(places))
    return not _are_counters(found) and _is_any(enough, found, places, replaced)


def _are_counters(found: Difference) -> bool:
    others = found.words or found.dates or found.exchanged
    return not others and found.replaced <= MOST_COUNTERS and found.places <= MOST_OF_COUNTER


def _is_any(enough: Iterable[_Enough], found: Difference, places: float, replaced: int) -> bool:
    return any(
        places >= least.places
        and found.share >= least.share
        and replaced >= least.replaced_to_added * found.added
        for least in enough
    )


def values_agree(page: PageSignature, other: PageSignature) -> bool:
    """Under one title on two sites: has one text the values of the other, and few more?

    What differs besides are common words, as in the template of another site.
    """
    sizes = len(page.values), len(other.values)
    if page.site == other.site or page.title != other.title or not page.title:
        return False
    if min(sizes) < LEAST_SAME_VALUES or max(sizes) == MAX_VALUES:
        return False
    parts = agreement(page.values, other.values)
    return max(parts) >= MIN_SAME_VALUES and min(parts) >= MIN_SAME_OF_ALL
