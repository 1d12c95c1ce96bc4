"""Chooses the stored pages to read in full before a page is dropped.

A site's boilerplate is learned from the texts of its pages. Lazy extraction does not read pages in
full that resemble no other page, so when the first two pages of a template are compared, its
boilerplate is unknown. Two offers could be taken for copies because of the terms below them alone.
"""

from __future__ import annotations

from .._util.urls import site_of
from ..reasons import Reason
from ..signatures.passages import passages_in
from ..signatures.signature import PageSignature
from .passage_candidates import MAX_RECORDED, MIN_SHARED, PassageIndex, StoredPages, ranked
from .rule import THIN_FEATURES
from .verdict import Verdict

#: Number of texts of a template from which its boilerplate can be learned.
ENOUGH_TEXTS = 8
#: Number of pages with the same passages, at most, among which those of the site are looked for.
_MAX_SHARING = 32


def unread_texts(
    page: PageSignature, verdict: Verdict, index: PassageIndex, stored: StoredPages
) -> list[int]:
    """Return the numbers of the pages to read in full before this verdict is final.

    They are among the :data:`ENOUGH_TEXTS` pages of its site that share most passages with the
    page: if its text is boilerplate, so is theirs. For a short text, which may be a notice, pages
    of the original's site count as well. Each passage is recorded of few pages, so that the same
    few are chosen for all pages of a template.

    :param page: with all of its sampled passages.
    """
    sites = _sites_to_know(page, verdict)
    passages = passages_in(page.passages)
    if not (sites and passages.size):
        return []
    numbers, counts = ranked(index.sharers(passages).numbers)
    is_alike = counts >= MIN_SHARED * min(passages.size, MAX_RECORDED)
    sharing: list[int] = numbers[is_alike][:_MAX_SHARING].tolist()
    found = zip(sharing, stored.pages(sharing), strict=True)
    alike = [(number, other) for number, other in found if other and other.site in sites]
    return [number for number, other in alike[:ENOUGH_TEXTS] if other.can_still_be_read]


def _sites_to_know(page: PageSignature, verdict: Verdict) -> set[str]:
    """Return the sites whose boilerplate may be all that a page and its original share."""
    if not verdict.is_duplicate or verdict.duplicate_of is None:
        return set()
    if verdict.reason not in (Reason.SIMILAR_TEXT, Reason.SAME_TEXT):
        return set()
    sites = {page.site, site_of(verdict.duplicate_of)}
    is_short = page.n_features < THIN_FEATURES
    if not is_short and (len(sites) > 1 or verdict.reason == Reason.SAME_TEXT):
        return set()
    return sites
