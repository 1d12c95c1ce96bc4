"""Monitors for Spidermon: they fail when a crawl is likely to lose pages, or to have lost some.

``SPIDERMON_SPIDER_CLOSE_MONITORS = ["scrapy_neardup.monitors.NearDupMonitorSuite"]`` runs all of
them. Importing this module requires the package spidermon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unittest import SkipTest

from spidermon import MonitorSuite
from spidermon.contrib.scrapy.monitors.base import BaseScrapyMonitor

from ._util.wording import quantity
from .crawl.judge import NearDupJudge
from .crawl.monitoring.crawl_log import counts
from .reasons import Reason

#: Settings of the monitors, and their defaults; documented in docs/monitoring.md.
MONITOR_SETTINGS: Mapping[str, float] = {
    "SPIDERMON_NEARDUP_MAX_WALLS": 0,
    "SPIDERMON_NEARDUP_MAX_SCRIPTED_SITES": 0,
    "SPIDERMON_NEARDUP_DROP_RATE_MARGIN": 0.1,
    "SPIDERMON_NEARDUP_MAX_UNDECIDED_SHARE": 0.25,
    "SPIDERMON_NEARDUP_MAX_STORE_ERRORS": 0,
    "SPIDERMON_NEARDUP_MIN_PAGES": 50,
    "SPIDERMON_NEARDUP_MIN_RUNS": 3,
}
#: Contents or sites that a message names, at most.
_MAX_NAMED = 5


class _Monitor(BaseScrapyMonitor):  # type: ignore[misc]
    """Reads settings, and is skipped in a crawl without the add-on."""

    def setUp(self) -> None:
        judge = self.data.crawler.get_extension(NearDupJudge)
        if judge is None:
            raise SkipTest("scrapy_neardup is disabled in this run")
        self.judge: NearDupJudge = judge

    def limit(self, name: str) -> float:
        """Return a setting of the monitors, by its name after ``SPIDERMON_NEARDUP_``."""
        name = f"SPIDERMON_NEARDUP_{name}"
        return float(self.data.crawler.settings.getfloat(name, MONITOR_SETTINGS[name]))

    def require_at_most(self, number: float, name: str, message: str) -> None:
        """Fail with a message when a number exceeds a setting, which the message then names."""
        limit = self.limit(name)
        if number > limit:
            self.fail(f"{message} (SPIDERMON_NEARDUP_{name} is {limit:g})")


class WallMonitor(_Monitor):
    """No content appears in the place of many pages."""

    def test_walls(self) -> None:
        floods = self.judge.session.log.floods.named
        shown = [
            f"<{flood.original}> in the place of {flood.pages} pages of "
            f"{flood.site or 'several sites'}"
            for flood in floods
        ]
        self.require_at_most(
            len(floods),
            "MAX_WALLS",
            f"{quantity(len(floods), 'content')} appeared in the place of many pages, such as a "
            f"login wall or a ban page: {_some(shown)}",
        )


class ScriptedSitesMonitor(_Monitor):
    """All sites show their pages without scripts."""

    def test_scripted_sites(self) -> None:
        sites = self.judge.session.scripted_sites.found
        self.require_at_most(
            len(sites),
            "MAX_SCRIPTED_SITES",
            f"The pages of {quantity(len(sites), 'site')} show almost nothing before their scripts "
            f"run, and were not compared: {_some(sites)}",
        )


class DropRateMonitor(_Monitor):
    """The share of dropped items is not much higher than in earlier runs of the spider.

    Requires a stats collector that keeps earlier runs, such as Spidermon's
    ``LocalStorageStatsHistoryCollector``.
    """

    def test_drop_rate(self) -> None:
        stats, least = self.data.stats, self.limit("MIN_PAGES")
        rate = _drop_rate(stats, least)
        if rate is None:
            raise SkipTest(f"the run has fewer than {least:g} items")
        earlier = [
            before
            for run in self.data.stats_history
            if run.get("start_time") != stats.get("start_time")
            # A wall says nothing of what is usual.
            and not run.get("neardup/swallowed/clusters")
            and (before := _drop_rate(run, least)) is not None
        ]
        if len(earlier) < max(1, self.limit("MIN_RUNS")):
            raise SkipTest(f"only {quantity(len(earlier), 'earlier run')} to compare with")
        usual = usual_rate(earlier)
        self.require_at_most(
            rate - usual,
            "DROP_RATE_MARGIN",
            f"{rate:.1%} of the items are near-duplicates, against at most {usual:.1%} in nine of "
            f"ten earlier runs ({len(earlier)} compared)",
        )


class UndecidedShareMonitor(_Monitor):
    """Most pages can be judged."""

    def test_undecided_share(self) -> None:
        judged = [counts(self.data.stats, f"{group}/") for group in ("pages", "judged_items")]
        total = sum(sum(kinds.values()) for kinds in judged)
        if total < self.limit("MIN_PAGES"):
            raise SkipTest(f"only {quantity(total, 'page')} were judged")
        reasons = counts(self.data.stats, "undecided/")
        # Of a soft 404 is known what it is.
        soft_404 = reasons.pop(Reason.SOFT_404, 0)
        undecided = sum(kinds.get("undecided", 0) for kinds in judged) - soft_404
        shown = [
            f"{reason} {reasons[reason]}" for reason in sorted(reasons, key=lambda r: reasons[r])
        ]
        self.require_at_most(
            undecided / total,
            "MAX_UNDECIDED_SHARE",
            f"{undecided} of {total} pages could not be judged: {_some(shown[::-1])}",
        )


class StoreErrorMonitor(_Monitor):
    """The store always answers."""

    def test_store_errors(self) -> None:
        errors = self.data.stats.get("neardup/store/errors", 0)
        name = self.judge.detector.store.name if self.judge.detector else ""
        self.require_at_most(
            errors,
            "MAX_STORE_ERRORS",
            f"The store {name} failed {quantity(errors, 'time')}; "
            "pages were kept meanwhile, and later runs may not recognise their copies",
        )


class NearDupMonitorSuite(MonitorSuite):  # type: ignore[misc]
    """All monitors of this module."""

    monitors = (
        WallMonitor,
        ScriptedSitesMonitor,
        DropRateMonitor,
        UndecidedShareMonitor,
        StoreErrorMonitor,
    )


def _drop_rate(stats: Mapping[str, Any], least: float) -> float | None:
    """Return the share of near-duplicates among the items; ``None`` with too few items."""
    items = counts(stats, "items/")
    # Items that were not judged are counted as kept too.
    total = sum(items.values()) - items.get("unjudged", 0)
    if total < max(1, least):
        return None
    return sum(items.get(name, 0) for name in ("dropped", "tagged", "untagged", "reported")) / total


def usual_rate(rates: Sequence[float]) -> float:
    """Return the rate that nine in ten of these, one or more, do not exceed."""
    return sorted(rates)[9 * (len(rates) - 1) // 10]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
