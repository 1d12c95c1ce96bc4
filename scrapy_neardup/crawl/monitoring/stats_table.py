"""Formats the stats of a crawl as a table for its log."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from ..._util.escaping import on_one_line
from ..._util.heavy_hitters import HeavyHitters
from .duplicate_floods import DuplicateFlood

#: Heading, number, share and details.
Row = tuple[str, str, str, str]

#: Kinds of verdicts, and the stats of their reasons.
_KINDS = {"new": "", "duplicate": "", "revisit": "revisits/", "undecided": "undecided/"}
_ITEMS = ("kept", "dropped", "tagged", "untagged", "reported", "unjudged")
#: Stats with one row each, unless they are 0.
_SINGLE = {
    "requests/refused": "requests refused",
    "url_rules/rules": "rules in force",
    "url_rules/skipped": "requests skipped",
    "url_rules/would_skip": "would be skipped",
    "url_rules/refetched": "later fetched",
    "links/skipped": "links skipped",
    "workers_lost": "workers lost",
    "store/errors": "store failures",
    "store/forgotten": "pages forgotten",
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
    for outcome in _ITEMS:
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
        what = "" if flood.what == "duplicates" else f"{flood.what}: "
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
