"""``scrapy neardup changes``: list pages that changed, and estimate how often pages change."""

from __future__ import annotations

import argparse
import math
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlsplit

from scrapy.settings import BaseSettings

from .._util.wording import quantity
from ..matching.rule import Rule
from ..stores import Namespace, StoreReader
from ..stores.visits import page_digest
from .support.options import Commands, at_least_0
from .support.output import format_time, print_message, print_output, table
from .support.row_output import Kind, open_rows
from .support.store_address import (
    add_store,
    namespace_in,
    open_copy,
    open_for_reading,
    parse_domain,
    paths_of,
    require_site,
)

_COLUMNS: dict[str, Kind] = {
    "url": "text",
    "changed_at": "text",
    "change": "float",
    "moved_to": "text",
    "visits": "int",
    "changes": "int",
    "first_visit": "text",
    "last_visit": "text",
}
_DAY = 86_400
_UNITS = {"m": 60, "h": 3600, "d": _DAY, "w": 7 * _DAY}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([mhdw])")
#: Units in which a span is told, their seconds, and from how many seconds on they are used.
_SPOKEN = (("day", _DAY, 47.5 * 3600), ("hour", 3600, 119.5 * 60), ("minute", 60, 59.5))
#: From this share of other text on, a page may have become another one.
_MAY_BE_ANOTHER = 0.5
#: An estimate is marked if there were fewer visits, of all pages together, or if the time between
#: the first and the last visit of a page is shorter on average, in seconds.
_FEW_VISITS, _SHORT_TIME = 10, _DAY


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = (
        "List the pages that changed between visits, or lead to another page now, and estimate how "
        "often those of each section change."
    )
    parser = commands.add("changes", summary, _run)
    add_store(parser)
    parser.add_argument(
        "--since",
        type=_parse_time,
        default=0,
        metavar="TIME",
        help="only changes since a time (2026-11-24 or 2026-11-24T18:00, UTC), or of the last "
        "90m, 12h, 7d, 2w (minutes, hours, days, weeks)",
    )
    parser.add_argument("--site", type=parse_domain, help="only pages of this registrable domain")
    parser.add_argument(
        "--limit",
        type=at_least_0,
        default=20,
        metavar="N",
        help="list the N latest changes only (default: 20); -o writes all",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.jsonl",
        help="write all changed pages to a file (.csv or .parquet for a table), or - for stdout",
    )


def _parse_time(text: str) -> float:
    if span := _SPAN.fullmatch(text):
        return time.time() - float(span[1]) * _UNITS[span[2]]
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a time such as 2026-11-24T18:00 nor a span such as 7d"
        ) from None
    return at.replace(tzinfo=at.tzinfo or timezone.utc).timestamp()


@dataclass
class _Page:
    """A stored page and its history, see :data:`~scrapy_neardup.stores.visits.HISTORY`.

    :ivar moved_to: URL of the page that its address leads to, or that it has become.
    """

    url: str
    key: str
    first_at: int
    last_at: int
    visits: int
    changes: int
    changed_at: int
    change: float
    moved_digest: int
    moved_at: int
    moved_to: str | None = None

    @property
    def section(self) -> str:
        """Host and first folder of its URL."""
        parts = urlsplit(self.url)
        first, slash, _ = parts.path.lstrip("/").partition("/")
        return f"{parts.netloc}/{first}/" if slash else f"{parts.netloc}/"

    @property
    def latest(self) -> int:
        """The time when it changed, or was first found to lead to where it leads now."""
        return max(self.changed_at, self.moved_at)

    def row(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "changed_at": format_time(self.latest),
            "change": round(self.change, 4) if self.changes else None,
            "moved_to": self.moved_to,
            "visits": self.visits,
            "changes": self.changes,
            "first_visit": format_time(self.first_at),
            "last_visit": format_time(self.last_at),
        }


@dataclass
class _Rate:
    """The visits of a section's pages.

    :ivar seconds: between the first visit and the last one, of all pages together.
    """

    pages: int = 0
    visits: int = 0
    changes: int = 0
    seconds: int = 0

    def add(self, page: _Page) -> None:
        if page.last_at > page.first_at:
            self.pages += 1
            self.visits += page.visits
            self.changes += page.changes
            self.seconds += page.last_at - page.first_at

    @property
    def days(self) -> float:
        """Estimated days between two changes of a page.

        Changes between two visits are seen as one; the estimator allows for that (Cho,
        Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003, section 4.2).
        """
        unchanged = (self.visits - self.changes + 0.5) / (self.visits + 0.5)
        return self.seconds / self.visits / -math.log(unchanged) / _DAY

    def text(self) -> tuple[str, str]:
        """Return how often a page changes, and what to do, in words."""
        watched = self.seconds / self.pages
        is_short = watched < _SHORT_TIME
        doubts = ["few visits"] * (self.visits < _FEW_VISITS) + ["short time"] * is_short
        mark = f" ({', '.join(doubts)})" if doubts else ""
        if not self.changes:
            advice = "too early to tell" if is_short else "come less often"
            return f"no change in {_span(watched)}{mark}", advice
        # After so long half of the pages have changed.
        return _every(self.days) + mark, _every(self.days * math.log(2))


def _every(days: float) -> str:
    return f"every {_span(days * _DAY).removeprefix('1 ')}"


def _span(seconds: float) -> str:
    """Return a span as people tell it, in whole numbers."""
    for unit, size, least in _SPOKEN:
        if seconds >= least:
            return quantity(round(seconds / size), unit)
    return quantity(max(round(seconds), 1), "second")


def _run(options: argparse.Namespace, settings: BaseSettings) -> None:
    with open_for_reading(options.store) as reader:
        space = namespace_in(reader, options.namespace)
        pages = _pages(reader, space, options.site)
        if not pages and options.site is not None:
            require_site(reader, space, options.site)
        changed = [page for page in pages if page.latest >= max(options.since, 1)]
        _name_targets(reader, space, changed)
    _name_what_they_became(options, space, changed)
    changed.sort(key=lambda page: -page.latest)
    if options.output is not None:
        with open_rows(options.output, paths_of(options.store), _COLUMNS) as output:
            for page in changed:
                output.write(page.row())
    if options.output != "-":
        _show(pages, changed[: options.limit], len(changed))


def _pages(reader: StoreReader, space: Namespace, site: str | None) -> list[_Page]:
    """Return the stored pages that were visited, with their histories."""
    histories = {row[0]: row[1:] for row in reader.visits(space.name).tolist()}
    pages = (stored.signature for stored in reader.pages(space.name, site))
    found = ((page, histories.get(page_digest(page.key))) for page in pages)
    return [_Page(page.url, page.key, *history) for page, history in found if history is not None]


def _name_targets(reader: StoreReader, space: Namespace, changed: Iterable[_Page]) -> None:
    """Look up the URLs of the pages that addresses lead to."""
    wanted = {page.moved_digest for page in changed if page.moved_digest}
    if not wanted:
        return
    stored = (page.signature for page in reader.pages(space.name))
    urls = {digest: page.url for page in stored if (digest := page_digest(page.key)) in wanted}
    for page in changed:
        page.moved_to = urls.get(page.moved_digest)


def _name_what_they_became(
    options: argparse.Namespace, space: Namespace, changed: Iterable[_Page]
) -> None:
    """Find the pages of which changed ones are near-duplicates now."""
    candidates = {
        page.key: page
        for page in changed
        if page.change >= _MAY_BE_ANOTHER and not page.moved_digest
    }
    if not candidates:
        return
    with open_copy(options.store, space.name) as store:
        for entry in store.entries():
            if (page := candidates.get(entry.signature.key)) is None:
                continue
            others = (other for other, _ in store.matches(entry.signature, Rule()))
            page.moved_to = next((o.url for o in others if o.key != page.key), None)


def _show(pages: list[_Page], listed: list[_Page], n_changed: int) -> None:
    rates: Mapping[str, _Rate] = defaultdict(_Rate)
    for page in pages:
        rates[page.section].add(page)
    if listed:
        print_output(table("latest", "page", "change", "leads to", rows=_lines(listed)))
    print_output(
        f"{quantity(n_changed, 'page')} changed or moved, of {len(pages)} that were visited"
    )
    sections = [
        (section, rate.pages, rate.visits, rate.changes, *rate.text())
        for section, rate in sorted(rates.items())
        if rate.pages
    ]
    if not sections:
        print_message("no page was visited twice yet: crawl again to learn how often pages change")
        return
    columns = ("section", "pages", "visits", "changes", "a page changes", "come again")
    print_output(table(*columns, rows=sections))


def _lines(listed: Iterable[_Page]) -> Iterator[tuple[object, ...]]:
    for page in listed:
        change = f"{page.change:.0%}" if page.changes else "-"
        yield format_time(page.latest), page.url, change, page.moved_to or "-"
