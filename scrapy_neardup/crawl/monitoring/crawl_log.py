"""What the log says of a crawl: at its beginning, at its end, and when one page stands for many."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..._util.escaping import on_one_line
from ..._util.heavy_hitters import HeavyHitters
from ..._util.urls import site_of
from ...detector import NearDupDetector
from ...exceptions import StoreError
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...stores import Store
from ..settings import Config
from .duplicate_floods import MAX_NAMED, MAX_SITES, DuplicateFlood, DuplicateFloodDetector
from .stats_table import counts, summary

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger("scrapy_neardup")

_HOW_TO = 'none; NEARDUP_REPORT = "report.html" writes one, for a browser'
#: At so many pages of a site that scripts have yet to fill, a warning says so.
_SCRIPTED_PAGES = 3
_DOING = {"drop": "Dropping", "tag": "Tagging", "report": "Reporting"}


class CrawlLog:
    """Says in the log of one crawl what is done."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._clusters = HeavyHitters()
        self._swallowing = DuplicateFloodDetector()
        #: Pages that need scripts, by site; of more sites, those that were met first are let go.
        self._scripted: OrderedDict[str, int] = OrderedDict()

    def begin(self, detector: NearDupDetector) -> None:
        """What will be done, by which rule, and what is known already."""
        config = self._config
        policy, rule, store = config.policy, config.policy.rule, detector.store
        if store.forgotten:
            logger.warning(
                "The last run did not end cleanly: %d pages are forgotten of which nobody knows "
                "whether they reached the disk; they are stored again when they are met",
                store.forgotten,
            )
        logger.info(
            "%s near-duplicate %s: max_distance %d, min_similarity %s, min_features %d, scope %s, "
            "links %s, revisit %s; %s; store %s, %d pages known",
            _DOING[policy.action],
            f"items by field {config.item_field}" if config.item_field else "pages",
            rule.max_distance,
            rule.min_similarity,
            rule.min_features,
            rule.scope,
            policy.links,
            policy.revisit,
            ", ".join(f"{part} {name}" for part, name in detector.signer.parts.items()),
            store.name,
            len(store),
        )

    def judged(self, verdict: Verdict, text_digest: bytes | None) -> DuplicateFlood | None:
        """A page, or an item, was judged; what was warned of for it, if anything was?

        :param text_digest: of its text, where it is known.
        """
        if verdict.duplicate_of is not None:
            self._clusters.add(verdict.duplicate_of)
        if verdict.reason == Reason.NEEDS_SCRIPTS:
            self._needs_scripts(verdict.url)
        found = self._swallowing.judged(verdict, text_digest)
        if found is not None:
            is_last = len(self._swallowing.named) == MAX_NAMED
            logger.warning("%s%s", _warning(found), " (No more of these are named.)" * is_last)
        return found

    def is_flood(self, verdict: Verdict, text_digest: bytes | None) -> bool:
        """Is this page, which was judged last, one of many in whose place one content stands?"""
        return self._swallowing.is_flood(verdict, text_digest)

    def _needs_scripts(self, url: str) -> None:
        """Warn once of each site whose pages have to be rendered."""
        site = site_of(url)
        pages = self._scripted[site] = self._scripted.get(site, 0) + 1
        if len(self._scripted) > MAX_SITES:
            self._scripted.popitem(last=False)
        if pages == _SCRIPTED_PAGES:
            logger.warning(
                "%s",
                on_one_line(
                    f"Pages of {site} show next to nothing before their scripts have run, <{url}> "
                    "for one. They are kept, and not compared: render them (scrapy-playwright is "
                    "one way), or set NEARDUP_ITEM_FIELD to judge what the spider reads"
                ),
            )

    def end(self, stats: StatsCollector, store: Store, report: str | None) -> None:
        """What was done, as the stats have it.

        The first line stands for itself, for who looks for one; the table is for who reads.

        :param report: where the report goes to, if there is one.
        """
        if swallowed := self._swallowing.named:
            stats.set_value("neardup/swallowed/clusters", len(swallowed))
            stats.set_value("neardup/swallowed/pages", sum(found.pages for found in swallowed))
        judged = "judged_items" if self._config.item_field else "pages"
        remembered, values = _size_of(store), stats.get_stats()
        logger.info(
            "Judged %s: %s; undecided for: %s; passed over: %s; items: %s; %s remembered\n%s",
            judged.replace("judged_", ""),
            *(_in_a_line(values, group) for group in (judged, "undecided", "skipped", "items")),
            remembered,
            summary(values, self._clusters, swallowed, remembered, report or self._missing_report),
        )

    @property
    def _missing_report(self) -> str | None:
        """Who asks for nothing but a report is told how to have one that can be looked at."""
        return _HOW_TO if self._config.policy.action == "report" else None


def _in_a_line(stats: Mapping[str, Any], group: str) -> str:
    found = counts(stats, f"{group}/")
    return ", ".join(f"{name} {found[name]}" for name in sorted(found)) or "none"


def _size_of(store: Store) -> str:
    """How many pages it holds, when it can be asked."""
    try:
        return str(len(store))
    except StoreError:
        return "an unknown number"


_SHOWN = {
    "duplicates": "are near-duplicates of <{original}>",
    Reason.CHANGED: "have changed since they were stored, and all show the text of <{original}>",
    Reason.NO_TEXT: "have no text to judge them by",
    Reason.FEW_FEATURES: "have too little text to judge them by",
    Reason.THIN_TEXT: "have too little text of their own to judge them by",
}
_WALL = (
    "Open some: a login wall, a cookie banner, a ban page or an error page with status 200 looks "
    "like this. What stands behind such a page is lost to the crawl: stop it if this is one, and "
    "look what the site wants of the spider (cookies, a login, a slower pace)"
)
_ENDLESS = (
    "Nearly all their addresses are like {shape}. An endless space, such as a calendar, looks like "
    'this: NEARDUP_URL_RULES = "on" spares it. So does a login wall, a cookie banner, a ban page '
    "or an error page with status 200 in front of these pages; open some to see which it is"
)


def _warning(found: DuplicateFlood) -> str:
    whose = f" of {found.site}" if found.site else ""
    shown = _SHOWN[found.what].format(original=found.original)
    is_endless = found.what == "duplicates" and found.shape is not None
    advice = _ENDLESS.format(shape=found.shape) if is_endless else _WALL
    return on_one_line(
        f"{found.last} of the last {found.of} pages{whose} {shown}, <{found.example}> for one, at "
        f"addresses of {_counted(found.shapes, 'shape')}. {advice}"
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
