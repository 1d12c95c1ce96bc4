"""What a crawl did, as a table for its log."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from ..._util.escaping import on_one_line
from ..._util.heavy_hitters import HeavyHitters
from .duplicate_floods import DuplicateFlood

#: A heading, a number, its share, and more about it.
Row = tuple[str, str, str, str]

_KINDS = ("new", "duplicate", "revisit", "undecided")
_ITEMS = ("kept", "dropped", "tagged", "untagged", "reported", "unjudged")
#: Stats of one row each, where there is something to say.
_REQUESTS = {
    "requests/refused": "requests refused",
    "url_rules/rules": "rules in force",
    "url_rules/skipped": "requests skipped",
    "url_rules/would_skip": "would be skipped",
    "url_rules/refetched": "made after all",
    "links/skipped": "links held back",
}
_TROUBLES = {
    "workers_lost": "workers lost",
    "store/errors": "store failures",
    "store/forgotten": "pages forgotten",
}
_CLUSTERS, _RULES, _SWALLOWED = 5, 3, 3
_LONGEST = 160
#: Lines in a log are as long as they are.
_WIDTH = 4 * _LONGEST


def summary(
    stats: Mapping[str, Any],
    clusters: HeavyHitters,
    swallowed: Sequence[DuplicateFlood],
    remembered: str,
    report: str | None,
) -> str:
    """A table without colours and lines, of some 25 lines at most.

    :param stats: of the crawl, Scrapy's and ours.
    :param clusters: addresses of originals, once for each duplicate.
    :param remembered: how many pages the store holds.
    :param report: what to say of the report, such as where it goes to; ``None`` for nothing.
    """
    rows = [
        *_judged(stats),
        *_passed_over(stats),
        *_items(stats),
        *_bytes(stats),
        *_single(stats, _REQUESTS, lambda name: _top(stats, f"{name}/", _RULES)),
        *_single(stats, _TROUBLES, lambda name: ""),
        *_swallowed(swallowed),
        *_clusters(clusters),
        ("remembered", remembered, "", ""),
    ]
    if report is not None:
        rows.append(("report", "", "", report))
    return _rendered(rows)


def counts(stats: Mapping[str, Any], group: str) -> dict[str, int]:
    """Our own stats of a group, such as ``"pages/"``, by what is behind that."""
    start = f"neardup/{group}"
    return {name.removeprefix(start): stats[name] for name in stats if name.startswith(start)}


def _judged(stats: Mapping[str, Any]) -> Iterator[Row]:
    for group, what in (("pages/", "pages judged"), ("judged_items/", "items judged")):
        judged = counts(stats, group)
        total = sum(judged.values())
        if not total:
            continue
        yield what, str(total), "", ""
        details = {
            "revisit": _top(stats, "revisits/"),
            "undecided": _top(stats, "undecided/"),
        }
        for kind in _KINDS:
            if number := judged.get(kind, 0):
                yield f"  {kind}", str(number), _percent(number, total), details.get(kind, "")


def _passed_over(stats: Mapping[str, Any]) -> Iterator[Row]:
    if total := sum(counts(stats, "skipped/").values()):
        yield "passed over", str(total), "", _top(stats, "skipped/")


def _items(stats: Mapping[str, Any]) -> Iterator[Row]:
    found = counts(stats, "items/")
    # Those that nobody judged are among the kept ones.
    total = sum(found.values()) - found.get("unjudged", 0)
    for outcome in _ITEMS:
        if number := found.get(outcome, 0):
            yield f"items {outcome}", str(number), _percent(number, total), ""


def _bytes(stats: Mapping[str, Any]) -> Iterator[Row]:
    if number := stats.get("neardup/bytes/duplicate", 0):
        total = stats["neardup/bytes/judged"]
        share = _percent(number, total)
        yield "bytes of duplicates", decimal(number), share, f"of {decimal(total)} judged"


def _single(
    stats: Mapping[str, Any], names: Mapping[str, str], detail: Callable[[str], str]
) -> Iterator[Row]:
    for name, what in names.items():
        if number := stats.get(f"neardup/{name}", 0):
            yield what, str(number), "", detail(name)


def _swallowed(swallowed: Sequence[DuplicateFlood]) -> Iterator[Row]:
    for number, found in enumerate(swallowed[:_SWALLOWED]):
        what = "" if found.what == "duplicates" else f"{found.what}: "
        yield "swallowed by" if not number else "", str(found.pages), "", what + found.original
    if len(swallowed) > _SWALLOWED:
        more = len(swallowed) - _SWALLOWED
        yield "", "", "", f"and {more} more, see the warnings above"


def _clusters(clusters: HeavyHitters) -> Iterator[Row]:
    heading = "duplicates of" if not clusters.error else "duplicates of, at least"
    for url, number in clusters.most_common(_CLUSTERS):
        yield heading, str(number), "", url
        heading = ""


def _top(stats: Mapping[str, Any], group: str, number: int | None = None) -> str:
    """The greatest of a group of stats, in words."""
    found = counts(stats, group)
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
        table.add_row(*(Text(on_one_line(cell, _LONGEST)) for cell in row))
    text = io.StringIO()
    # Whatever the environment says of colours and widths: a log is no terminal.
    Console(file=text, width=_WIDTH, color_system=None, _environ={}).print(table)
    return "\n".join(f"  {line.rstrip()}" for line in text.getvalue().splitlines())
