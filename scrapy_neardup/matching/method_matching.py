"""Finds a page's original by a method, in place of the rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..methods import Method, MethodMatch
from ..methods.base import guarded
from ..reasons import Reason
from ..signatures.signature import PageSignature
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
    is_open: npt.NDArray[np.bool_],
) -> Found:
    """Find the original as :func:`~scrapy_neardup.matching.candidates.find_original` does.

    It is the most similar of the pages that the method calls near, of equally similar ones the
    oldest. Of the rule's thresholds, only ``scope`` and ``min_features`` count.

    :param near: all pages that the method calls near, as
        :meth:`~scrapy_neardup.methods.index.MethodIndex.near` returns them.
    :param is_open: which of them have a claim that is not yet resolved; shape ``(n,)``.
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
            # Two sites may have one digest.
            if rule.scope == "all" or original.site == page.site:
                return _duplicate(page, original, near[place].similarity), place
        return None

    has_items = theirs["items"] != NO_ITEMS
    if (found := first_of(has_items & ~is_open)) is not None:
        return Found(found[0], int(theirs["items"][found[1]]))
    if (found := first_of(is_open)) is not None:
        return Found(found[0], blocker=near[found[1]].number)
    if (found := first_of(~has_items & ~is_open)) is not None:
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


def compare_by(method: Method, a: PageSignature, b: PageSignature, rule: Rule) -> Match | None:
    """Return the similarity of two pages, one of which is near the other; else ``None``.

    :raises MethodFailed: when the method fails.
    """
    if not (has_enough(a, method, rule) and has_enough(b, method, rule)):
        return None
    if rule.scope == "site" and a.site != b.site:
        return None
    with guarded(method):
        near = [
            method.similarity(one.value, other.value)
            for one, other in ((a, b), (b, a))
            if method.is_near(one.value, other.value)
        ]
    return Match(None, max(near), Reason.METHOD) if near else None


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
