"""Counts the events of a crawl, logs its start and its end, and warns of floods of duplicates."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from ..._util.escaping import on_one_line
from ..._util.heavy_hitters import HeavyHitters
from ..._util.urls import site_of
from ...detector import NearDupDetector
from ...exceptions import StoreError
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ...sources.record import Record
from ..settings import Config
from .duplicate_floods import MAX_NAMED, DuplicateFlood, DuplicateFloodDetector
from .first_pages import FirstPages, texts_of
from .own_content import OwnContent, own_content
from .spider_logger import SpiderLogger
from .start_line import start_line
from .wall_texts import AlikePages, WallTexts, wall_texts

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ..store_client import StoreClient

logger = logging.getLogger("scrapy_neardup")

#: What the last warning of a kind ends with.
LAST_WARNING = ". Further warnings of this kind are suppressed"

_NO_REPORT = 'none; set NEARDUP_REPORT = "report.html" to write one'


class CrawlStats:
    """The stats ``neardup/…`` of a crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._logger = SpiderLogger(logger, crawler)
        self._warned: set[str] = set()

    def count(self, name: str, number: int = 1) -> None:
        """Add to a stat; adding 0 does not create it.

        :param name: without ``neardup/``.
        """
        if number:
            self._add(f"neardup/{name}", number)

    @cached_property
    def _add(self) -> Callable[[str, int], None]:
        # Each access to an attribute of Scrapy's collector takes as long as the sum itself.
        assert self._crawler.stats
        return self._crawler.stats.inc_value

    def warn_once(self, kind: str, message: str, *args: Any, exc_info: bool = False) -> None:
        """Log the first warning of a kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            self._logger.warning(message, *args, exc_info=exc_info)


class CrawlLog:
    """Writes the log lines about one crawl.

    :ivar floods: detects that one content replaces many pages.
    """

    def __init__(self, config: Config, crawler: Crawler) -> None:
        self._config = config
        self._logger = SpiderLogger(logger, crawler)
        self._clusters = HeavyHitters()
        self.floods = DuplicateFloodDetector()
        self._first_pages = FirstPages()
        self._alike_pages = AlikePages()

    def begin(self, detector: NearDupDetector) -> None:
        """Log the settings in effect, and the number of known pages."""
        if detector.store.forgotten:
            self._logger.warning(
                "The last run did not end cleanly: %d pages are forgotten because their items may "
                "not be on disk; they are stored again when they are fetched",
                detector.store.forgotten,
            )
        self._logger.info("%s", start_line(self._config, detector))

    def judged(
        self,
        verdict: Verdict,
        text_digest: bytes | None,
        page: PageSignature | None = None,
        record: Record | None = None,
    ) -> DuplicateFlood | None:
        """Record the verdict on a page or an item; return the flood that it reveals, if any.

        :param page: the page or item, where it could be read.
        :param record: content of the page; ``None`` for an item.
        """
        if verdict.duplicate_of is not None:
            self._clusters.add(verdict.duplicate_of)
        site = site_of(verdict.url) if page is None else page.site
        walls = self._wall_texts(site, page, record)
        flood = self.floods.judged(verdict, text_digest, walls.references, site)
        if flood is None:
            texts = texts_of(verdict, page) | walls.digests
            found = self._first_pages.judged(
                verdict,
                site,
                texts,
                lambda: self._own_content(page, record),
                walls.references,
            )
            if found is not None and len(self.floods.named) < MAX_NAMED:
                flood = found
                self.floods.note_early(flood, verdict, text_digest, walls.references)
        if flood is not None:
            is_last = len(self.floods.named) == MAX_NAMED
            self._logger.warning("%s%s", _warning(flood), LAST_WARNING if is_last else "")
        return flood

    def _wall_texts(
        self, site: str, page: PageSignature | None, record: Record | None
    ) -> WallTexts:
        """Return what a page shows apart from its request, if it may be one of a wall."""
        if page is None or record is None:
            return WallTexts()
        if self._alike_pages.has(page) or self._first_pages.is_open(site):
            return wall_texts(page, record, self._config.page_limits)
        return WallTexts()

    def _own_content(self, page: PageSignature | None, record: Record | None) -> OwnContent | None:
        if page is None or record is None:
            return None
        return own_content(page, record, self._config.page_limits)

    def end(self, stats: StatsCollector, client: StoreClient, report: str | None) -> None:
        """Log the outcome of the crawl: one line for tools such as grep, and a table for people."""
        if floods := self.floods.named:
            stats.set_value("neardup/swallowed/clusters", len(floods))
            stats.set_value("neardup/swallowed/pages", sum(flood.pages for flood in floods))
        judged = "judged_items" if self._config.item_field else "pages"
        remembered, values = _size_of(client), stats.get_stats()
        waiting = client.n_waiting + client.n_unwritten
        if report is None and self._config.policy.action == "report":
            report = _NO_REPORT
        self._logger.info(
            "Judged %s: %s; undecided for: %s; passed over: %s; items: %s; %s remembered%s\n%s",
            judged.replace("judged_", ""),
            *(_counts_line(values, group) for group in (judged, "undecided", "skipped", "items")),
            remembered,
            f", {waiting} more waiting to be recorded" if waiting else "",
            summary(values, self._clusters, floods, remembered, report),
        )


def _counts_line(stats: Mapping[str, Any], group: str) -> str:
    found = counts(stats, f"{group}/")
    return ", ".join(f"{name} {found[name]}" for name in sorted(found)) or "none"


def _size_of(client: StoreClient) -> str:
    """Return the number of recorded pages, in words when the store fails."""
    try:
        return str(len(client.store) - client.n_unwritten)
    except StoreError:
        return "an unknown number"


_SHOWN = {
    "duplicates": "are near-duplicates of <{original}>",
    Reason.CHANGED: "have changed since they were stored, and now show the text of <{original}>",
    "walls": "show the text of <{original}>, apart from their own URLs, reference numbers, times "
    "or IP addresses",
    Reason.NO_TEXT: "have no text to judge them by",
    Reason.FEW_FEATURES: "have too little text to judge them by",
    Reason.THIN_TEXT: "have too little text of their own to judge them by",
}
_WALL = (
    "Open some of them: they may be a login wall, a cookie banner, a ban page or an error page "
    "with status 200. Then the crawl misses the pages behind it: stop the crawl, and check what "
    "the site requires of the spider (cookies, a login, a slower pace)"
)
_FIRST = (
    "{last} of the first {of} pages of {site} show one text, such as <{original}> and <{example}>. "
    "Open them with `scrapy fetch`. If they should show different contents, the crawl misses "
    "them: log the spider in if the text is a login page; send its cookie if it asks for consent; "
    "slow down (AUTOTHROTTLE_ENABLED, DOWNLOAD_DELAY) if it is a ban or a rate limit; render "
    "pages, for example with scrapy-playwright, if it asks for JavaScript; set NEARDUP_SOFT_404 if "
    "it says that the page is missing. If they are copies of one page, such as by session ids or "
    'in a calendar, NEARDUP_URL_RULES = "on" skips further requests for such URLs'
)
_ENDLESS = (
    "Nearly all of these URLs match {shape}. Open some of them: for an endless space, such as a "
    'calendar, set NEARDUP_URL_RULES = "on" to skip such URLs. For a login wall, a cookie banner, '
    "a ban page or an error page with status 200, check what the site requires of the spider"
)


def _warning(flood: DuplicateFlood) -> str:
    if flood.what == "first_pages":
        return on_one_line(_FIRST.format(**asdict(flood)))
    of_site = f" of {flood.site}" if flood.site else ""
    shown = _SHOWN[flood.what].format(original=flood.original)
    is_endless = flood.what == "duplicates" and flood.shape is not None
    advice = _ENDLESS.format(shape=flood.shape) if is_endless else _WALL
    patterns = f"{flood.shapes} URL pattern{'' if flood.shapes == 1 else 's'}"
    return on_one_line(
        f"{flood.last} of the last {flood.of} pages{of_site} {shown}, such as <{flood.example}> "
        f"({patterns}). {advice}"
    )


# --- the table at the end ---------------------------------------------------------------

#: Heading, number, share and details.
Row = tuple[str, str, str, str]

#: Kinds of verdicts, and the stats of their reasons.
_KINDS = {"new": "", "duplicate": "", "revisit": "revisits/", "undecided": "undecided/"}
#: What becomes of items, in the order of the rows; the metrics have these labels.
ITEM_OUTCOMES = ("kept", "dropped", "tagged", "untagged", "reported", "unjudged")
#: Stats with one row each, unless they are 0.
_SINGLE = {
    "requests/refused": "requests refused",
    "url_rules/rules": "rules in force",
    "url_rules/skipped": "requests skipped",
    "url_rules/would_skip": "would be skipped",
    "url_rules/refetched": "later fetched",
    "links/skipped": "links skipped",
    "soft_404/soft": "sections with soft 404s",
    "soft_404/late": "soft 404s found late",
    "workers_lost": "workers lost",
    "bodies_evicted": "bodies evicted",
    "store/errors": "store failures",
    "store/forgotten": "pages forgotten",
    "store/added_later": "recorded later",
    "store/not_remembered": "not recorded",
}
#: Rows of each kind, at most.
_MAX_CLUSTERS, _MAX_RULES, _MAX_FLOODS = 5, 3, 3
_MAX_CELL = 160
#: Wide enough for any row, because log lines are not wrapped.
_WIDTH = 4 * _MAX_CELL


def summary(
    stats: Mapping[str, Any],
    clusters: HeavyHitters,
    floods: Sequence[DuplicateFlood],
    remembered: str,
    report: str | None,
) -> str:
    """Return a table without colours and rules, of some 25 lines at most.

    :param stats: all stats of the crawl.
    :param clusters: URLs of originals, once for each duplicate.
    :param remembered: number of pages in the store.
    :param report: file of the report, or a note on it; ``None`` for no row.
    """
    rows = [
        *_judged(stats),
        *_items(stats),
        *_bytes(stats),
        *_single(stats),
        *_floods(floods),
        *_clusters(clusters),
        ("remembered", remembered, "", ""),
    ]
    if report is not None:
        rows.append(("report", "", "", report))
    return _rendered(rows)


def counts(stats: Mapping[str, Any], group: str) -> dict[str, int]:
    """Return our stats of a group such as ``"pages/"``, by the rest of their names."""
    start = f"neardup/{group}"
    return {name.removeprefix(start): stats[name] for name in stats if name.startswith(start)}


def _judged(stats: Mapping[str, Any]) -> Iterator[Row]:
    for group, what in (("pages/", "pages judged"), ("judged_items/", "items judged")):
        judged = counts(stats, group)
        total = sum(judged.values())
        if not total:
            continue
        yield what, str(total), "", ""
        for kind, reasons in _KINDS.items():
            if number := judged.get(kind, 0):
                yield f"  {kind}", str(number), _percent(number, total), _top(stats, reasons)
    if total := sum(counts(stats, "skipped/").values()):
        yield "passed over", str(total), "", _top(stats, "skipped/")


def _items(stats: Mapping[str, Any]) -> Iterator[Row]:
    found = counts(stats, "items/")
    # Items that were not judged are counted as kept too.
    total = sum(found.values()) - found.get("unjudged", 0)
    for outcome in ITEM_OUTCOMES:
        if number := found.get(outcome, 0):
            yield f"items {outcome}", str(number), _percent(number, total), ""


def _bytes(stats: Mapping[str, Any]) -> Iterator[Row]:
    if number := stats.get("neardup/bytes/duplicate", 0):
        total = stats["neardup/bytes/judged"]
        share = _percent(number, total)
        yield "bytes of duplicates", decimal(number), share, f"of {decimal(total)} judged"


def _single(stats: Mapping[str, Any]) -> Iterator[Row]:
    for name, what in _SINGLE.items():
        if number := stats.get(f"neardup/{name}", 0):
            yield what, str(number), "", _top(stats, f"{name}/", _MAX_RULES)


def _floods(floods: Sequence[DuplicateFlood]) -> Iterator[Row]:
    heading = "swallowed by"
    for flood in floods[:_MAX_FLOODS]:
        is_one_page = flood.what in ("duplicates", "first_pages", "walls")
        what = "" if is_one_page else f"{flood.what}: "
        yield heading, str(flood.pages), "", what + flood.original
        heading = ""
    if len(floods) > _MAX_FLOODS:
        yield "", "", "", f"and {len(floods) - _MAX_FLOODS} more, see the warnings above"


def _clusters(clusters: HeavyHitters) -> Iterator[Row]:
    heading = "duplicates of" if not clusters.error else "duplicates of, at least"
    for url, number in clusters.most_common(_MAX_CLUSTERS):
        yield heading, str(number), "", url
        heading = ""


def _top(stats: Mapping[str, Any], group: str, number: int | None = None) -> str:
    """Return the greatest stats of a group on one line; nothing of the group ``""``."""
    found = counts(stats, group) if group else {}
    first = sorted(found, key=lambda name: (-found[name], name))
    shown = [f"{name} {found[name]}" for name in first[:number]]
    if len(shown) < len(first):
        shown.append(f"and {len(first) - len(shown)} more")
    return ", ".join(shown)


def _percent(number: int, total: int) -> str:
    return f"{100 * number / total:.1f} %"


def _rendered(rows: Sequence[Row]) -> str:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    for justify in ("left", "right", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(on_one_line(cell, _MAX_CELL)) for cell in row))
    text = io.StringIO()
    # Ignore the environment's colours and widths: a log is not a terminal.
    Console(file=text, width=_WIDTH, color_system=None, _environ={}).print(table)
    return "\n".join(f"  {line.rstrip()}" for line in text.getvalue().splitlines())
