"""Chooses the stored pages to read in full before a page is dropped.

A site's boilerplate is learned from the texts of its pages. Lazy extraction does not read pages in
full that resemble no other page, so when the first two pages of a site are compared, its
boilerplate is unknown. Two offers could be taken for copies because of the terms below them alone.
"""

from __future__ import annotations

from .._util.urls import site_of
from ..reasons import Reason
from ..signatures.signature import PageSignature
from .rule import THIN_FEATURES
from .site_boilerplate import Boilerplates
from .verdict import Verdict

#: Number of texts from which a site's boilerplate can be learned.
ENOUGH_TEXTS = 8


def texts_to_read(page: PageSignature, verdict: Verdict, boilerplates: Boilerplates) -> list[str]:
    """Return the keys of the pages to read in full before this verdict is final.

    They are pages of the page's site; for a short text, which may be a notice, also of the
    original's site. Each key is returned once.
    """
    if not verdict.is_duplicate or verdict.duplicate_of is None:
        return []
    if verdict.reason not in (Reason.SIMILAR_TEXT, Reason.SAME_TEXT):
        return []
    sites = {page.site, site_of(verdict.duplicate_of)}
    is_short = page.n_features < THIN_FEATURES
    if not is_short and (len(sites) > 1 or verdict.reason == Reason.SAME_TEXT):
        return []
    keys = []
    for site in sites:
        boilerplate = boilerplates.of(site)
        keys += boilerplate.take_unread(ENOUGH_TEXTS - boilerplate.texts.count)
    return keys
