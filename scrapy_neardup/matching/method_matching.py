"""Finds a page's original by a method, in place of the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..methods import Method, MethodMatch
from ..methods.base import guarded
from ..reasons import Reason
from ..signatures.signature import PageSignature
from .all_pairs import Pair
from .candidates import Found, SignatureSource, Summaries, site_digest
from .rule import Rule
from .stored_items import NO_ITEMS
from .verdict import Match, Verdict


def has_enough(page: PageSignature, method: Method, rule: Rule) -> bool:
    """Return whether a page has enough text to be compared by a method."""
    return bool(page.value) and (method.short_texts or page.n_features >= rule.min_features)


def find_original_by(
    method: Method,
    page: PageSignature,
    near: Sequence[MethodMatch],
    source: SignatureSource,
    rule: Rule,
    *,
    is_reserved: npt.NDArray[np.bool_],
) -> Found:
    """Find the original as :func:`~scrapy_neardup.matching.candidates.find_original` does.

    It is the most similar of the pages that the method calls near, of equally similar ones the
    oldest. Of the rule's thresholds, only ``scope`` and ``min_features`` count.

    :param near: all pages that the method calls near, as
        :meth:`~scrapy_neardup.methods.index.MethodIndex.near` returns them.
    :param is_reserved: which of them are reserved and not yet committed; shape ``(n,)``.
    """
    if not has_enough(page, method, rule):
        return Found(Verdict("undecided", page.url, Reason.FEW_FEATURES))
    new = Verdict("new", page.url, Reason.NO_MATCH)
    if not near:
        return Found(new)
    theirs = source.summaries(np.array([match.number for match in near], np.intp))
    may_match = _may_match(method, page, theirs, rule)

    def first_of(places: npt.NDArray[np.bool_]) -> tuple[Verdict, int] | None:
        for place in np.flatnonzero(places & may_match).tolist():
            original = source.page(near[place].number)
            if _in_scope(page, original, rule):
                return _duplicate(page, original, near[place].similarity), place
        return None

    has_items = theirs["items"] != NO_ITEMS
    if (found := first_of(has_items & ~is_reserved)) is not None:
        return Found(found[0], int(theirs["items"][found[1]]))
    if (found := first_of(is_reserved)) is not None:
        return Found(found[0], blocker=near[found[1]].number)
    if (found := first_of(~has_items & ~is_reserved)) is not None:
        return Found(replace(new, links_seen_at=found[0].duplicate_of))
    return Found(new)


def _may_match(
    method: Method, page: PageSignature, theirs: Summaries, rule: Rule
) -> npt.NDArray[np.bool_]:
    """Return which pages are in scope and have enough text, by their summaries."""
    may_match = np.ones(theirs.size, bool)
    if rule.scope == "site":
        may_match &= theirs["site"] == site_digest(page.site)
    if not method.short_texts:
        may_match &= theirs["n_features"] >= rule.min_features
    return may_match


def _in_scope(page: PageSignature, other: PageSignature, rule: Rule) -> bool:
    """Return whether two pages, or two fields of items, are in scope.

    Two sites may have one digest in the summaries.
    """
    is_of_scope = rule.scope == "all" or page.site == other.site
    return is_of_scope and not page.is_other_kind(other)


def _are_comparable(method: Method, a: PageSignature, b: PageSignature, rule: Rule) -> bool:
    """Return whether two pages are in scope and have enough text."""
    return _in_scope(a, b, rule) and has_enough(a, method, rule) and has_enough(b, method, rule)


def compare_by(method: Method, a: PageSignature, b: PageSignature, rule: Rule) -> Match | None:
    """Return the similarity of two pages, one of which is near the other; else ``None``.

    :raises MethodFailed: when the method fails.
    """
    if not _are_comparable(method, a, b, rule):
        return None
    with guarded(method):
        near = [
            method.similarity(one.value, other.value)
            for one, other in ((a, b), (b, a))
            if method.is_near(one.value, other.value)
        ]
    return Match(None, max(near), Reason.METHOD) if near else None


def pairs_by(
    method: Method,
    numbers: Iterable[int],
    near: Callable[[bytes], Iterable[MethodMatch]],
    source: SignatureSource,
    rule: Rule,
) -> Iterator[Pair]:
    """Yield once each pair of pages of which the method calls one near the other.

    :param numbers: numbers of the pages, ascending.
    :param near: finds the pages near a value.
    :raises MethodFailed: when the method fails.
    """
    for number in numbers:
        page = source.page(number)
        for other in sorted(match.number for match in near(page.value)):
            if other == number:
                continue
            pages = page, source.page(other)
            if other < number:
                with guarded(method):
                    if method.is_near(pages[1].value, page.value):
                        # Found when the other page was looked up.
                        continue
            if (match := compare_by(method, *pages, rule)) is not None:
                if other < number:
                    yield Pair((other, number), (pages[1], page), match)
                else:
                    yield Pair((number, other), pages, match)


def matches_by(
    method: Method,
    page: PageSignature,
    near: Iterable[MethodMatch],
    source: SignatureSource,
    rule: Rule,
) -> Iterator[tuple[PageSignature, Match]]:
    """Yield the pages that a page is a near-duplicate of.

    :param near: pages that the method calls near, the most similar first.
    """
    for number, similarity in near:
        other = source.page(number)
        if _are_comparable(method, page, other, rule):
            yield other, Match(None, similarity, Reason.METHOD)


def _duplicate(page: PageSignature, original: PageSignature, similarity: float) -> Verdict:
    return Verdict(
        "duplicate",
        page.url,
        Reason.METHOD,
        original.url,
        similarity=similarity,
        original_text=original.text_digest,
        same_shown=page.shows_and_holds(original),
    )
