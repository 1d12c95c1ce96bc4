"""Compares one page of two versions of a manual, which its titles name."""

from __future__ import annotations

from ..signatures.signature import PageSignature
from ..text.titles import name_other_versions
from .site_boilerplate import Boilerplates
from .value_rules import each_adds_values, few_are_renamed

#: Least resemblance of two versions of a page in which words were renamed: little else has changed.
MIN_RENAMED_SIMILARITY = 0.84
#: Two versions that resemble by less than this differ in what they say if more features than these
#: are in one of them only, or if each has a passage of its own.
MAX_OTHER_SIMILARITY = 0.8
MAX_FEATURES_IN_ONE = 120


def versions_differ(page: PageSignature, other: PageSignature, similarity: float) -> bool:
    """Return whether two versions of a page differ in much of their text, or each adds a passage.

    :param similarity: resemblance of the texts, 0.0 to 1.0.
    """
    if similarity >= MAX_OTHER_SIMILARITY:
        return False
    if not name_other_versions(page.title, other.title):
        return False
    # Of all features, two sets that resemble by s have (1 - s) / (1 + s) in one of them only.
    n_features = page.n_features + other.n_features
    in_one_only = n_features * (1 - similarity) / (1 + similarity)
    return in_one_only > MAX_FEATURES_IN_ONE or each_adds_values(page, other)


def are_renamed_versions(
    page: PageSignature, other: PageSignature, similarity: float, boilerplates: Boilerplates
) -> bool:
    """Return whether two pages are one page of two versions of a manual, with few words renamed.

    The titles share the page's name, which may have a label of many pages in front, and each has
    boilerplate of its site with another version of the manual: "Module: Magics — Handbook 1.2
    documentation".
    """
    if similarity < MIN_RENAMED_SIMILARITY:
        return False
    titles, other_titles = (boilerplates.of(p.site).titles for p in (page, other))
    names, other_names = (
        titles.with_unlabelled(page.title),
        other_titles.with_unlabelled(other.title),
    )
    shared = tuple(names & other_names)
    if not (titles.own_words(shared) and other_titles.own_words(shared)):
        return False
    of_site, of_other_site = (
        tuple(part for part in each.title if not of.own_parts((part,)))
        for each, of in ((page, titles), (other, other_titles))
    )
    return few_are_renamed(page, other) and name_other_versions(of_site, of_other_site)
