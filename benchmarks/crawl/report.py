"""Formats the results of overhead.py."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median

from .accounts import Account, CatalogueEntry, Crawl, Outcome, Run

_WIDTH = 38


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row about a page of the crawl with the add-on; URLs are those of the records."""

    id: str
    url: str
    outcome: str
    verdict: str | None
    reason: str
    duplicate_of_id: str | None
    duplicate_of: str | None
    distance: int | None
    similarity: float | None


def page_rows(run: Run) -> list[PageRow]:
    """Return what the first crawl with the add-on made of every page."""
    crawl, _ = run.of(addon=True)[0]
    pages = list(zip(run.catalogue, crawl.outcomes, crawl.judgements, strict=True))
    # Where several records have one URL, the first that was stored stands for it.
    originals = {
        page.request_url: page
        for page, outcomes, _ in reversed(pages)
        if any(outcome.kind == "stored" for outcome in outcomes)
    }
    return [_page_row(originals, *page) for page in pages]


def _page_row(
    originals: dict[str, CatalogueEntry],
    page: CatalogueEntry,
    outcomes: list[Outcome],
    judgement: Outcome | None,
) -> PageRow:
    told = judgement or (outcomes[0] if outcomes else Outcome("none"))
    original = originals.get(told.duplicate_of or "")
    return PageRow(
        id=page.id,
        url=page.url,
        outcome="+".join(outcome.kind for outcome in outcomes) or "none",
        verdict=judgement.kind if judgement else None,
        reason=told.reason,
        duplicate_of_id=original.id if original else None,
        duplicate_of=original.url if original else told.duplicate_of,
        distance=told.distance,
        similarity=told.similarity,
    )


def duplicate_rows(run: Run) -> list[PageRow]:
    """Return the pages that duplicate another, whatever NEARDUP_ACTION did with them."""
    return [
        row
        for row in page_rows(run)
        if row.duplicate_of and (row.verdict == "duplicate" or row.outcome == "dropped")
    ]


def print_report(run: Run, show: int) -> None:
    served = run.served
    print(f"{served['pages']:,} pages of {served['hosts']:,} hosts")
    if served["skipped"]:
        reasons = (f"{count:,} {reason}" for reason, count in served["skipped"].items())
        print(f"records skipped: {', '.join(reasons)}")
    _print_figures(run)
    _print_beats(run)
    _print_accounts(run)
    _print_counts(run)
    _print_duplicates(duplicate_rows(run), show)


def _header(title: str, *columns: str) -> None:
    print(f"\n{title:<{_WIDTH}}" + "".join(f"{column:>12}" for column in columns))


def _row(name: str, *values: str) -> None:
    print(f"  {name:<{_WIDTH - 2}}" + "".join(f"{value:>12}" for value in values))


def _medians(run: Run, value: Callable[[Crawl], float]) -> list[float]:
    """Return the medians without and with the add-on."""
    return [median(value(crawl) for crawl, _ in run.of(addon)) for addon in (False, True)]


def _figure(name: str) -> Callable[[Crawl], float]:
    return lambda crawl: crawl.figures[name]


def _beat(share: str) -> Callable[[Crawl], float]:
    return lambda crawl: crawl.beats[share]


def _failures(reason: str) -> Callable[[Account], int]:
    return lambda account: account.failures[reason]


def _print_figures(run: Run) -> None:
    repeats = len(run.crawls) // 2
    title = f"medians of {repeats} crawls each" if repeats > 1 else "one crawl each"
    _header(title, "without", "with", "ratio")
    pages = len(run.catalogue)
    rows: dict[str, list[float]] = {
        "pages/s": _medians(run, lambda crawl: pages / crawl.figures["crawl s"])
    }
    rows |= {name: _medians(run, _figure(name)) for name in run.crawls[0].figures}
    for name, (without, with_) in rows.items():
        if not without and not with_:
            continue
        ratio = f"{with_ / without:.2f}" if without else ""
        _row(name, f"{without:,.1f}", f"{with_:,.1f}", ratio)


def _print_beats(run: Run) -> None:
    _header("reactor held: a beat came late by, ms", "without", "with")
    for share in run.crawls[0].beats:
        values = _medians(run, _beat(share))
        _row(share, *(f"{value:,.1f}" for value in values))
    _header("the add-on's own code between two turns, ms", "with")
    of_addon = [crawl.slices for crawl, _ in run.of(True)]
    for share in of_addon[0]:
        _row(share, f"{median(slices[share] for slices in of_addon):,.1f}")


def _print_accounts(run: Run) -> None:
    """Print the sums of all crawls; several crawls of one kind show their range."""
    _header("what became of the pages", "without", "with")
    rows: dict[str, Callable[[Account], int]] = {
        "answered by the server": lambda account: account.answered,
        "stored": lambda account: account.stored,
        "dropped, the original named": lambda account: account.dropped,
        "failed": lambda account: account.failed,
    }
    reasons = sorted(set().union(*(account.failures for account in run.accounts)))
    rows |= {f"  {reason}": _failures(reason) for reason in reasons}
    for name, count in rows.items():
        _row(name, *(_range(count(a) for _, a in run.of(addon)) for addon in (False, True)))
    adds_up = ["no" if any(a.problems for _, a in run.of(x)) else "yes" for x in (False, True)]
    _row("adds up", *adds_up)


def _range(values: Iterable[int]) -> str:
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _print_counts(run: Run) -> None:
    crawl, _ = run.of(addon=True)[0]
    stats = {name: crawl.stats[name] for name in sorted(crawl.stats) if name.startswith("neardup/")}
    _print_table("stats of the add-on", stats)
    verdicts = Counter(
        f"{row.verdict}: {row.reason}" if row.reason else row.verdict
        for row in page_rows(run)
        if row.verdict
    )
    _print_table("verdicts and their reasons", dict(sorted(verdicts.items())))


def _print_table(title: str, rows: dict[str, float]) -> None:
    if rows:
        _header(title, "")
    for name, value in rows.items():
        _row(name, f"{value:,.1f}" if isinstance(value, float) else f"{value:,}")


def _print_duplicates(rows: list[PageRow], show: int) -> None:
    if not rows or not show:
        return
    shown = f"{min(show, len(rows)):,} of {len(rows):,}, the least similar first"
    print(f"\nduplicates ({shown}): distance, similarity")
    for row in sorted(rows, key=lambda row: row.similarity or 0)[:show]:
        outcome = "" if row.outcome == "dropped" else f" ({row.outcome})"
        print(f"  {_number(row.distance, 0)}  {_number(row.similarity, 2)}  {row.url}{outcome}")
        print(f"            of {row.duplicate_of}")


def _number(value: float | None, digits: int) -> str:
    return f"{'-' if value is None else f'{value:.{digits}f}':>4}"


def write_json(run: Run, path: Path) -> None:
    """Write everything: figures and stats of each crawl, and every page."""
    crawls = [
        {
            "addon": crawl.addon,
            "pages/s": len(run.catalogue) / crawl.figures["crawl s"],
            "figures": crawl.figures,
            "late beats ms": crawl.beats,
            "own code ms": crawl.slices,
            "account": asdict(account),
            "stats": crawl.stats,
        }
        for crawl, account in zip(run.crawls, run.accounts, strict=True)
    ]
    pages = [asdict(row) for row in page_rows(run)]
    content = {"served": run.served, "crawls": crawls, "pages": pages}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_csv(run: Run, path: Path) -> None:
    """Write the duplicates and their originals."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(PageRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in duplicate_rows(run))
