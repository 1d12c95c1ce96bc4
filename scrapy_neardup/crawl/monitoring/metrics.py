"""Writes the stats of a crawl as Prometheus metrics, for node_exporter's textfile collector.

A file that cannot be written does not stop the crawl; an error is logged once.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncio import create_looping_call

from ...exceptions import MissingPackage
from ..async_bridge import in_thread, start
from .crawl_log import ITEM_OUTCOMES, counts
from .duplicate_floods import DuplicateFlood

if TYPE_CHECKING:
    from prometheus_client import Metric as Family
    from scrapy.crawler import Crawler

    from ..settings import Config

logger = logging.getLogger(__name__)

_PREFIX = "neardup_"


@dataclass(frozen=True, slots=True)
class Metric:
    """A counter and the stats that it is made of.

    :ivar name: without ``neardup_`` and ``_total``.
    :ivar help: what it counts.
    :ivar stat: a stat without ``neardup/``, or the start of the names of a group of stats.
    :ivar label: name of the label that has the rest of a stat's name; empty for a single stat.
    :ivar values: those of the label; the ones that are not counted yet are written as 0. Without
        any, all stats of the group are written that are there.
    """

    name: str
    help: str
    stat: str
    label: str = ""
    values: tuple[str, ...] = ()

    def samples(self, stats: Mapping[str, Any]) -> dict[str, float]:
        """Return the numbers by the value of the label."""
        if not self.label:
            return {"": stats.get(f"neardup/{self.stat}", 0)}
        found = counts(stats, self.stat)
        return {value: found.get(value, 0) for value in self.values or found}


_KINDS = ("new", "duplicate", "revisit", "undecided")
#: Names and labels are documented and stay as they are.
COUNTERS = (
    Metric("responses", "Responses that were processed.", "responses"),
    Metric("pages", "Judged pages by verdict.", "pages/", "kind", _KINDS),
    Metric("judged_items", "Judged items by verdict.", "judged_items/", "kind", _KINDS),
    Metric("undecided", "Pages that could not be judged.", "undecided/", "reason"),
    Metric("revisits", "Pages that are known under their own URL.", "revisits/", "reason"),
    Metric("skipped", "Responses that were not judged.", "skipped/", "reason"),
    Metric("items", "Items by what became of them.", "items/", "outcome", ITEM_OUTCOMES),
    Metric("judged_bytes", "Bytes of judged pages.", "bytes/judged"),
    Metric("duplicate_bytes", "Bytes of duplicates.", "bytes/duplicate"),
    Metric("scripted_sites", "Sites whose pages need scripts.", "scripted_sites"),
    Metric(
        "requests", "Requests that are known to lead to a duplicate.", "requests/", "outcome",
        ("refused", "explored"),
    ),
    Metric(
        "url_rule_requests", "Requests that a URL rule applies to.", "url_rules/", "outcome",
        ("would_skip", "skipped", "explored", "refetched", "let_go"),
    ),
    Metric("links_skipped", "Links of duplicates that were not followed.", "links/skipped"),
    Metric(
        "files", "Files by what became of them.", "files/", "outcome",
        ("stored", "duplicates", "near_duplicates", "unchanged", "moved"),
    ),
    Metric("duplicate_file_bytes", "Bytes of files that were not stored.", "files/duplicate_bytes"),
    Metric("file_index_errors", "Calls that the index of files did not answer.",
           "files/index_errors"),
    Metric(
        "soft_404_probes", "Addresses asked for that cannot exist, by answer.", "soft_404/",
        "outcome", ("asked", "honest", "soft", "unclear", "failed"),
    ),
    Metric("soft_404_late", "Soft 404s that were judged before the answer.", "soft_404/late"),
    Metric("copies_not_written", "Lines on copies that could not be written.",
           "copies/not_written"),
    Metric(
        "held_pages", "Pages that waited for their canonical page.", "held/", "outcome",
        ("pages", "timed_out", "too_many"),
    ),
    Metric("store_errors", "Calls that the store did not answer.", "store/errors"),
    Metric("store_added_later", "Pages recorded after the store recovered.", "store/added_later"),
    Metric("store_not_remembered", "Stored pages that were not recorded.", "store/not_remembered"),
    Metric("store_forgotten", "Pages forgotten at the start.", "store/forgotten"),
    Metric("workers_lost", "Workers that died or were ended.", "workers_lost"),
)  # fmt: skip


def require_metrics(config: Config) -> None:
    """Check that the package that writes metrics is installed, if they are to be written.

    :raises MissingPackage: when it is not.
    """
    if config.metrics is None:
        return
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        wanted = 'pip install "scrapy-neardup[prometheus]"'
        raise MissingPackage("NEARDUP_METRICS", config.metrics, wanted) from None


def metrics_path(crawler: Crawler, path: str, job: Path | None) -> Path:
    """Return the path of a crawl's file, with what its placeholders stand for."""
    for name, value in zip(("name", "job"), _labels(crawler, job).values(), strict=True):
        path = path.replace(f"%({name})s", re.sub(r"[/\\\0]", "_", value))
    return Path(path)


def _labels(crawler: Crawler, job: Path | None) -> dict[str, str]:
    assert crawler.spider is not None
    # Without a job directory, the id that scrapyd gives to a job.
    job_name = getattr(crawler.spider, "_job", "") if job is None else job.name
    return {"spider": crawler.spider.name, "job": str(job_name)}


class MetricsFile:
    """Writes the metrics of a crawl at its start, at an interval, and at its end.

    :param path: the file; ``%(name)s`` in it is the spider's name and ``%(job)s`` the job.
    :param interval: seconds, above 0.
    :param floods: contents in the place of many pages, as they are detected.
    """

    def __init__(
        self,
        crawler: Crawler,
        path: str,
        interval: float,
        job: Path | None,
        floods: Sequence[DuplicateFlood],
    ) -> None:
        self._labels = _labels(crawler, job)
        self._path = metrics_path(crawler, path, job)
        self._stats = crawler.stats
        self._floods = floods
        self._interval = interval
        self._has_failed = False
        self._is_writing = False
        # One thread for all: the last file is written after the one before.
        self._thread = ThreadPoolExecutor(1, "neardup-metrics")
        self._writing = create_looping_call(lambda: start(self._write_unless_busy()))

    @classmethod
    def begun(
        cls, crawler: Crawler, config: Config, floods: Sequence[DuplicateFlood]
    ) -> MetricsFile | None:
        """Return the file of a crawl, which is being written; ``None`` if no setting needs it."""
        if config.metrics is None:
            return None
        file = cls(crawler, config.metrics, config.metrics_interval, config.job, floods)
        file.begin()
        return file

    def begin(self) -> None:
        """Write the file for the first time, and then at the interval."""
        self._writing.start(self._interval, now=True)

    async def end(self) -> None:
        """Write the file for the last time."""
        self._writing.stop()
        await self._write(running=False)
        self._thread.shutdown(wait=False)

    async def _write_unless_busy(self) -> None:
        """Write the file, unless a slow disk still writes the last one."""
        if not self._is_writing:
            await self._write(running=True)

    async def _write(self, *, running: bool) -> None:
        self._is_writing = True
        try:
            families = list(self._families(running=running))
            await in_thread(partial(_write, self._path, families), self._thread)
        except Exception as error:
            # Whatever it is: the crawl goes on.
            if not self._has_failed:
                self._has_failed = True
                logger.error(
                    "Cannot write the metrics to %s: %s (logged once; retrying every %g s)",
                    self._path.absolute(),
                    # An OSError's own text names the file under another name that is written first.
                    getattr(error, "strerror", None) or error,
                    self._interval,
                )
        finally:
            self._is_writing = False

    def _families(self, *, running: bool) -> Iterator[Family]:
        """Yield all metrics with their current numbers."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        assert self._stats is not None
        stats = self._stats.get_stats()
        labels, ours = list(self._labels), list(self._labels.values())
        for metric in COUNTERS:
            own = [metric.label] if metric.label else []
            family = CounterMetricFamily(_PREFIX + metric.name, metric.help, labels=labels + own)
            for value, number in sorted(metric.samples(stats).items()):
                family.add_metric([*ours, value] if own else ours, number)
            yield family
        pages = sum(flood.pages for flood in self._floods)
        for name, text, number in (
            ("floods", "Contents that appeared in the place of many pages.", len(self._floods)),
            ("flood_pages", "Pages in whose place they appeared.", pages),
        ):
            family = CounterMetricFamily(_PREFIX + name, text, labels=labels)
            family.add_metric(ours, number)
            yield family
        began = stats.get("start_time")
        for name, text, gauge in (
            ("running", "1 while the crawl runs, 0 when it has ended.", int(running)),
            ("start_time_seconds", "When the crawl began.", began.timestamp() if began else 0),
            ("write_time_seconds", "When this file was written.", time()),
        ):
            state = GaugeMetricFamily(_PREFIX + name, text, labels=labels)
            state.add_metric(ours, gauge)
            yield state


def _write(path: Path, families: list[Family]) -> None:
    """Write under another name first, so that no reader sees half of it."""
    from prometheus_client import CollectorRegistry, write_to_textfile
    from prometheus_client.registry import Collector

    class Families(Collector):
        def collect(self) -> list[Family]:
            return families

    if path.exists() and not path.is_file():
        # It would be replaced by a file, even /dev/null.
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise OSError(errno.EINVAL, f"it is {kind}, not a file")
    registry = CollectorRegistry()
    registry.register(Families())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_to_textfile(str(path), registry)
    except (FileExistsError, NotADirectoryError):
        raise OSError(errno.ENOTDIR, "a file is in the place of its folder") from None
