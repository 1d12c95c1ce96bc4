"""Says which pages to read in full before a page is taken for a duplicate.

What recurs on a site is learned from texts. Where pages are read quickly, those that resemble no
other are not read in full, so when the first two of a site are compared its boilerplate would be
unknown: two offers with the same terms below them would resemble each other by these alone.
"""

from __future__ import annotations

from .._util.urls import site_of
from ..reasons import Reason
from ..signatures.signature import PageSignature
from .rule import THIN_FEATURES
from .site_boilerplate import Boilerplates
from .verdict import Verdict

#: Texts of a site by which its boilerplate can be told.
ENOUGH_TEXTS = 8


def texts_to_read(page: PageSignature, verdict: Verdict, boilerplates: Boilerplates) -> list[str]:
    """Return keys of pages whose texts may speak against a verdict; each is returned once.

    They are of the page's site, and of that of its original where a short text may be a notice.
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
