"""Counts, and warns of, sites whose pages show almost nothing before their scripts run."""

from __future__ import annotations

from scrapy.utils.datatypes import LocalCache

from ..._util.escaping import on_one_line
from ..._util.urls import site_of
from ...matching.verdict import Verdict
from ...reasons import Reason
from .crawl_log import CrawlStats
from .duplicate_floods import MAX_SITES

#: Pages of a site that need scripts before the site counts; a single one may be an exception.
MIN_PAGES = 3


class ScriptedSites:
    """Counts pages that need scripts by site, and the sites in ``neardup/scripted_sites``.

    :ivar found: sites with at least :data:`MIN_PAGES` such pages, in the order in which they were
        found; at most :data:`~.duplicate_floods.MAX_SITES`.
    """

    def __init__(self, stats: CrawlStats) -> None:
        self.found: list[str] = []
        self._stats = stats
        #: Pages by site; beyond MAX_SITES the oldest are dropped.
        self._pages = LocalCache[str, int](MAX_SITES)

    def judged(self, verdict: Verdict) -> None:
        """Count a page if scripts have yet to create its content; warn once for each site."""
        if verdict.reason != Reason.NEEDS_SCRIPTS:
            return
        site = site_of(verdict.url)
        pages = self._pages[site] = self._pages.pop(site, 0) + 1
        if pages == MIN_PAGES and site not in self.found and len(self.found) < MAX_SITES:
            self.found.append(site)
            self._stats.count("scripted_sites")
            self._stats.warn_once(
                f"scripted site {site}",
                "Pages of %s show almost no text before their scripts run, such as <%s>. They are "
                "kept and not compared: render them, for example with scrapy-playwright, or set "
                "NEARDUP_ITEM_FIELD to judge a field of the items",
                on_one_line(site),
                on_one_line(verdict.url),
            )
