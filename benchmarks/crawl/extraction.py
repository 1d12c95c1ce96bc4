"""Compares crawls without the add-on, with full extraction and with lazy extraction.

Pages are served and crawled as by overhead.py, the kinds of crawl in turn. Without stored pages,
made-up ones are crawled none of which resembles another; ``--none-alike`` chooses such pages of the
stored ones, by a file of pairs. Prints pages a second and per second of processor time, their
ratios to full extraction, how many pages were read in full, and which pages the two ways of
extraction decide differently. A further kind of crawl with lazy extraction opens a SQLite store in
which a crawl before the first round, which is not printed, has stored all pages: it has seen all
bytes before. What holds the reactor is measured in one more crawl of each kind, because watching it
takes time itself.

Exit status: 0 when every page of every crawl is accounted for, else as that of overhead.py.
"""

from __future__ import annotations

import argparse
import base64
import csv
import gzip
import json
import resource
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from ..common.options import add_settings, at_least, command_parser
from ..common.stored_pages import InputError, Page, read_pages
from ..common.tables import Table
from ..corpora import made_up_pages
from .accounts import CatalogueEntry, Crawl, account_for, read_catalogue
from .overhead import Failed, PageServer, crawl_once, page_server
from .single_crawl import Job

_WITHOUT = "no add-on"
#: Of the crawl's process and its workers, starts included.
_CPU = "CPU s of all processes"
_KINDS = {_WITHOUT: None, "full": "full", "lazy": "lazy"}
_AGAIN = "lazy, bytes seen before"
#: Made-up pages; with fewer the start of the workers counts much.
_MADE_UP = 4000


def none_alike(pages: Iterable[Page], pairs: Path) -> Iterator[Page]:
    """Yield the pages that no row of a CSV file (``id_a``, ``id_b``) joins to an earlier one.

    :raises InputError: when the file cannot be read.
    """
    others: defaultdict[str, set[str]] = defaultdict(set)
    try:
        with pairs.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                others[row["id_a"]].add(row["id_b"])
                others[row["id_b"]].add(row["id_a"])
    except (OSError, KeyError) as error:
        raise InputError(f"{pairs}: no pairs of id_a and id_b in it: {error!r}") from error
    yielded: set[str] = set()
    for page in pages:
        if others[page.id].isdisjoint(yielded):
            yielded.add(page.id)
            yield page


def write_pages(pages: Iterable[Page], folder: Path) -> str:
    """Write pages as stored ones, and return the file."""
    path = folder / "pages.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for page in pages:
            body = base64.b64encode(page.body).decode()
            record = {"id": page.id, "url": page.url, "html_b64": body}
            file.write(json.dumps({**record, "content_type": page.content_type}) + "\n")
    return str(path)


@dataclass
class Crawls:
    """The crawls of the served pages by kind, in the order that they were made in.

    :ivar timed: those that were timed.
    :ivar again: those with lazy extraction of pages that an earlier crawl has stored, timed.
    :ivar watched: one of each kind in which the reactor was watched.
    :ivar problems: what does not add up.
    """

    pages: list[CatalogueEntry]
    timed: dict[str, list[Crawl]] = field(default_factory=lambda: {name: [] for name in _KINDS})
    again: list[Crawl] = field(default_factory=list)
    watched: dict[str, Crawl] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def crawls(options: argparse.Namespace, folder: Path) -> Crawls:
    """Crawl in turn: as often as is asked for, and once more to watch the reactor."""
    catalogue = folder / "catalogue.jsonl"
    with page_server(options, catalogue) as server:
        done = Crawls(read_catalogue(catalogue))

        def crawled(name: str, *, watches_reactor: bool = False, **settings: str) -> Crawl:
            job = _job(
                name, server, folder, options, watches_reactor=watches_reactor, settings=settings
            )
            before = _cpu_seconds()
            crawl = crawl_once(job, folder)
            crawl.figures[_CPU] = _cpu_seconds() - before
            crawl.answered = server.answered()
            problems = account_for(done.pages, crawl).problems
            done.problems += [f"{name}: {problem}" for problem in problems]
            return crawl

        store = f"sqlite:///{folder / 'store.sqlite'}"
        crawled("lazy", NEARDUP_STORE=store)
        for _ in range(options.repeat):
            for name in _KINDS:
                done.timed[name].append(crawled(name))
            done.again.append(crawled("lazy", NEARDUP_STORE=store))
        for name in _KINDS:
            done.watched[name] = crawled(name, watches_reactor=True)
    return done


def _job(
    name: str,
    server: PageServer,
    folder: Path,
    options: argparse.Namespace,
    *,
    watches_reactor: bool,
    settings: dict[str, str],
) -> Job:
    settings = {**dict(options.settings), **settings, "NEARDUP_WORKERS": str(options.workers)}
    extraction = _KINDS[name]
    if extraction:
        settings["NEARDUP_EXTRACTION"] = extraction
    return Job(
        str(folder / "catalogue.jsonl"),
        f"http://127.0.0.1:{server.ready['port']}",
        extraction is not None,
        settings,
        str(folder / "result.json"),
        watches_reactor,
    )


def report(crawls: Crawls) -> list[Table]:
    pages, done = len(crawls.pages), {**crawls.timed, _AGAIN: crawls.again}
    head = ("", "pages/s", "ratio", "pages/CPU s", "ratio", "dropped", "read in full", "peak MiB")
    speed = Table(f"{pages:,} pages, medians of {len(done[_WITHOUT])}", head)
    by_time = {name: _speed(pages, runs, "crawl s") for name, runs in done.items()}
    by_cpu = {name: _speed(pages, runs, _CPU) for name, runs in done.items()}
    for name, runs in done.items():
        speed.add(
            name,
            by_time[name],
            by_time[name] / by_time["full"],
            by_cpu[name],
            by_cpu[name] / by_cpu["full"],
            int(median(len(_dropped(crawl)) for crawl in runs)),
            int(median(_read(name, pages, crawl.stats) for crawl in runs)),
            median(crawl.figures["peak memory MiB"] for crawl in runs),
        )
    beats = Table("reactor held, ms, in one more crawl of each", ("", *crawls.watched))
    for share in crawls.watched[_WITHOUT].beats:
        beats.add(share, *(crawl.beats[share] for crawl in crawls.watched.values()))
    return [speed, beats, _holders(crawls.watched)]


def _holders(watched: dict[str, Crawl]) -> Table:
    """Return what holds the reactor beside Scrapy's own steps."""
    table = Table("what holds it", ("", *watched))
    for share in ("99 %", "99.9 %", "max"):
        steps = (crawl.slices.get(share, 0.0) for crawl in watched.values())
        table.add(f"a step of the add-on, {share}, ms", *steps)
    for name in filter(lambda name: "collections" in name, watched[_WITHOUT].figures):
        table.add(name, *(crawl.figures[name] for crawl in watched.values()))
    return table


def differences(crawls: Crawls) -> Table:
    """Return the pages that only one way of extraction dropped, in the first crawl of each."""
    full, lazy = (_dropped(crawls.timed[name][0]) for name in ("full", "lazy"))
    table = Table(
        f"dropped by both {len(full & lazy):,}, by full alone {len(full - lazy):,}, "
        f"by lazy alone {len(lazy - full):,}",
        ("by", "page"),
    )
    for name, only in (("full", full - lazy), ("lazy", lazy - full)):
        for number in sorted(only)[:20]:
            table.add(name, crawls.pages[number].url)
    return table


def _cpu_seconds() -> float:
    """Return user and system time of all ended child processes and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _speed(pages: int, runs: list[Crawl], figure: str) -> float:
    return median(pages / crawl.figures[figure] for crawl in runs)


def _dropped(crawl: Crawl) -> set[int]:
    return {
        number
        for number, outcomes in enumerate(crawl.outcomes)
        if any(outcome.kind == "dropped" for outcome in outcomes)
    }


def _read(name: str, pages: int, stats: dict[str, Any]) -> int:
    """Return the number of full readings: of all pages, but with lazy extraction."""
    if name == _WITHOUT:
        return 0
    return pages if name == "full" else int(stats.get("neardup/read_in_full", 0))


def main() -> int:
    parser = command_parser("benchmarks.crawl.extraction", __doc__)
    add = parser.add_argument
    add("pages", nargs="*", metavar="PAGES.jsonl.gz", help="stored pages, JSON lines, gzip or not")
    add("--made-up", type=at_least(1), default=_MADE_UP, metavar="N", help="pages to make up")
    add(
        "--none-alike",
        type=Path,
        metavar="PAIRS.csv",
        help="crawl no page that a row of this file (id_a, id_b) pairs with an earlier one",
    )
    add("--workers", type=at_least(0), default=1)
    add("--repeat", type=at_least(1), default=1, metavar="N")
    add("--limit", type=at_least(1), metavar="N", help="only the first N pages")
    add_settings(parser, "a Scrapy setting for all crawls")
    parser.set_defaults(ports=False)
    options = parser.parse_args()
    if options.none_alike is not None and not options.pages:
        parser.error("--none-alike chooses among stored pages: name their files, PAGES.jsonl.gz")
    try:
        with tempfile.TemporaryDirectory(prefix="extraction-") as folder:
            if options.none_alike is not None:
                chosen = none_alike(read_pages(options.pages, Counter()), options.none_alike)
                options.pages = [write_pages(chosen, Path(folder))]
            elif not options.pages:
                options.pages = [write_pages(made_up_pages.pages(options.made_up), Path(folder))]
            done = crawls(options, Path(folder))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except Failed as error:
        return error.status
    except KeyboardInterrupt:
        return 130
    for table in (*report(done), differences(done)):
        print(table.as_text())
    for problem in done.problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if done.problems else 0


if __name__ == "__main__":
    sys.exit(main())
