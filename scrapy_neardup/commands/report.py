"""``scrapy neardup report``: show decisions or a store as an HTML page."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from time import time

from scrapy.settings import BaseSettings

from ..exceptions import InvalidOption, UnfitOption
from ..report.decisions import DecisionReader, UrlTable, stored_decisions
from ..report.document import Columns, Origin, render_report
from ..sources.readers import PageReader, beginning
from ..stores.factory import SQLITE_MAGIC
from ..stores.in_process import InProcessStore
from ..workers import Failure, read_page
from .support.options import Commands, Judge, add_cache, add_judge, add_pages
from .support.output import open_output, print_message, report_skipped
from .support.progress import with_progress
from .support.store_address import open_copy

#: Suffixes by which a missing file is taken for a store.
_STORE_NAMES = (".sqlite", ".sqlite3", ".db")


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "Show the verdicts of a scan, or the pages of a store, as one HTML page."
    parser = commands.add("report", summary, run)
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="output files of `scan` (plain, gzip, zstd; - for standard input), or one store: its "
        "address (sqlite:///path, redis://…) or file",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT.html", help="file to write, or - for stdout"
    )
    parser.add_argument(
        "--namespace", metavar="NAME", help="namespace of the store (default: its only one)"
    )
    add_pages(parser, "--pages", default=[])
    add_judge(parser)
    add_cache(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Read the decisions, and the texts of their pages if these are given; write the report."""
    if options.cache and not options.pages:
        raise UnfitOption("--cache", "given alone", "given with --pages")
    pages = PageReader(options.pages, options.columns)
    columns = Columns()
    with _store(options) as store:
        extraction = "full" if store is None else store.extraction
        judge = Judge.from_options(options, settings, store, extraction=extraction)
        decisions = DecisionReader(options.sources if store is None else [])
        rule = judge.detector.rule
        found = iter(decisions) if store is None else stored_decisions(store, rule)
        for decision in with_progress(found, decisions, "report", "decisions"):
            columns.add(decision)
        for original, better in ({} if store is None else store.better_urls()).items():
            columns.set_better_url(original, better.url)
    origin = Origin(
        "scan" if store is None else "store",
        ", ".join(map(_name, options.sources if store is None else [store.name])),
        int(time()),
        max_distance=rule.max_distance,
        min_similarity=rule.min_similarity,
    )
    with closing(UrlTable()) as texts:
        if options.pages:
            _read(pages, columns, texts, judge)
        text_of = texts.get if options.pages else None
        data = columns.packed(origin, text_of, texts.dropped)
    with open_output(options.output, [*options.sources, *options.pages]) as stream:
        stream.write(render_report(data))
    print_message(f"{len(columns)} decisions, {len(columns.paired)} pages in pairs")
    for source in decisions.empty:
        shown = "standard input" if source == "-" else source
        print_message(f"warning: {shown} is empty: the report shows no decision of it")
    report_skipped(pages)


def _store(options: argparse.Namespace) -> AbstractContextManager[InProcessStore | None]:
    """Open the store, so that it stays as it is; ``None`` if the sources are verdicts."""
    stores = [source for source in options.sources if _is_store(source)]
    if stores and len(options.sources) > 1:
        raise InvalidOption("SOURCE", " ".join(options.sources), "one store, or verdicts alone")
    if stores:
        return open_copy(stores[0], options.namespace)
    if options.namespace:
        raise InvalidOption("--namespace", options.namespace, "given with a store")
    return nullcontext()


def _is_store(source: str) -> bool:
    if "://" in source:
        return True
    if source.endswith(_STORE_NAMES) and not Path(source).exists():
        return True
    return source != "-" and beginning(source).startswith(SQLITE_MAGIC)


def _name(source: str) -> str:
    """Return the name of a source for the report: of a file without its folders."""
    if source == "-":
        return "standard input"
    is_remote = "://" in source and not source.startswith("sqlite:")
    return source if is_remote else Path(source).name


def _read(pages: PageReader, columns: Columns, texts: UrlTable, judge: Judge) -> None:
    """Keep titles and texts of the pages that belong to a pair."""
    paired = set(columns.paired)
    wanted = (record for record in pages if record.url in paired)
    for record, outcome in judge.results(read_page, pages, "texts", wanted):
        if not isinstance(outcome, Failure):
            columns.describe(record.url, outcome.title)
            texts.put(record.url, outcome.text)
