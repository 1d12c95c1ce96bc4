"""Tells two pages of a site apart by their titles, and by the headings that repeat them.

Tag pages, archives, chapters and variants of a product may share nearly all of their text and
differ in a name or a number in the title. Copies of a page have its title, or a title that
contains it.
"""

from __future__ import annotations

from ..signatures.facts import headings_differ, parts_in_heading
from ..signatures.signature import PageSignature
from ..text.titles import (
    Segment,
    Title,
    is_other_version,
    may_be_one,
    name_other_versions,
    title_words,
    without_list_kind,
    without_names,
    without_notes,
    without_signs,
)
from .site_boilerplate import SiteBoilerplate


def titles_differ(page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate) -> bool:
    """Return whether the titles of two pages of a site tell them apart."""
    if _name_other_values(*_for_comparison(page, other, page.title, other.title), boilerplate):
        return True
    own, other_own = own_titles(page, other, boilerplate)
    if not may_be_one(own, other_own):
        if not name_other_versions(page.title, other.title):
            return True
        # A module may have been moved: "dispatch" is "utils.dispatch" in a later version.
        own, other_own = without_names(own), without_names(other_own)
        if not may_be_one(own, other_own):
            return True
    nothing_left = not (title_words(own) or title_words(other_own))
    return nothing_left and _share_only_boilerplate_title(page, other, boilerplate)


def own_titles(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> tuple[Title, Title]:
    """Return the parts of two titles that are not boilerplate of the site."""
    own, other_own = (boilerplate.titles.own_parts(p.title) for p in (page, other))
    return _for_comparison(page, other, own, other_own)


def headings_name_others(page: PageSignature, other: PageSignature) -> bool:
    """Return whether the headings of two pages tell them apart, whose titles do not.

    Under one title, different headings do. Under different titles, two different headings do that
    are in neither title, or that repeat different parts of their titles: of "Tent | Shop" and
    "Tent - Blue | Shop" the second may be a copy in another section, but not if "Tent - Blue" is
    its heading. A label in front is that of a view: "Print: Tent". A heading whose parts are all in
    the other title too may be the site's name.
    """
    if page.title == other.title:
        return headings_differ(page, other)
    named, others = map(parts_in_heading, (page, other))
    if name_other_versions(page.title, other.title):
        # A manual's headings do not repeat its version, those of "Brakes - Golf 1.6" do.
        return name_other_versions(named, others)
    if headings_differ(page, other, same_title=False):
        return True
    named, others = _for_comparison(page, other, *map(without_notes, (named, others)))
    if not (named and others):
        return False
    if set(named).isdisjoint(others) and (
        set(named) <= set(other.title) or set(others) <= set(page.title)
    ):
        return False
    return len(named) != len(others) or not all(map(_are_one_but_for_label, named, others))


def _for_comparison(
    page: PageSignature, other: PageSignature, title: Title, other_title: Title
) -> tuple[Title, Title]:
    """Return parts of the titles of two pages, of two lists without the names of their kinds."""
    if page.is_list and other.is_list:
        return without_list_kind(title), without_list_kind(other_title)
    return title, other_title


def _name_other_values(title: Title, other: Title, boilerplate: SiteBoilerplate) -> bool:
    """Return whether a part of two titles differs in a value, as "100 mg" and "200 mg" do.

    The titles have equally many parts. Such parts recur beside many others, as the site's name
    does, so they may count as boilerplate. But they differ in numbers; or they share a word, and
    each has one of its own; or only one of them is boilerplate. Versions of a manual are compared
    elsewhere.
    """
    if title == other or len(title) != len(other):
        return False
    own = boilerplate.titles.own_parts
    are_versions = name_other_versions(title, other)
    for part, each in zip(title, other, strict=True):
        if part == each or is_other_version(part, each):
            continue
        words, others = frozenset(part), frozenset(each)
        if words == others or _have_other_numbers(part, each):
            return True
        if words < others or others < words:
            if without_signs(part) == without_signs(each):
                return True
            continue
        is_replaced = not are_versions and len(own((part,))) != len(own((each,)))
        if is_replaced or not words.isdisjoint(others):
            return True
    return False


def _have_other_numbers(part: Segment, other: Segment) -> bool:
    numbers, others = (
        sorted(word for word in each if any(map(str.isdigit, word))) for each in (part, other)
    )
    return bool(numbers and others) and numbers != others


def _are_one_but_for_label(part: Segment, other: Segment) -> bool:
    n_shared = min(len(part), len(other))
    return part[-n_shared:] == other[-n_shared:]


def _share_only_boilerplate_title(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> bool:
    """Return whether two titles share only words of many titles, and neither contains the other.

    A part of a title may recur beside different parts and yet name its page: "Kettle X200" in the
    titles of its manual, its parts and its reviews, or a chapter in many versions of a manual.
    """
    words, other_words = title_words(page.title), title_words(other.title)
    if words <= other_words or other_words <= words:
        return False
    common = tuple(part for part in page.title if part in other.title)
    return not boilerplate.titles.own_words(common)
