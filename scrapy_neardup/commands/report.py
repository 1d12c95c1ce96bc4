"""``scrapy neardup report``: show decisions or a store as an HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from ..exceptions import InvalidOption
from ..report import Columns, DecisionReader, KeptTexts, Origin, render_report, stored_decisions
from ..sources.readers import PageReader, beginning
from ..sources.record import Record
from ..stores.in_process import InProcessStore
from ..workers import Failure, read_page
from .pairs import open_copy
from .support.options import (
    AddGlobalOptions,
    Commands,
    Judge,
    add_pages,
    add_rule,
    add_workers,
    new_command,
)
from .support.output_files import lines_to
from .support.store_address import looking_at, namespace_in, say_forgotten
from .support.terminal import report_skipped, say, with_progress

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_SQLITE = b"SQLite format 3\0"


def add_command(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Add the sub-command."""
    parser = new_command(
        commands,
        "report",
        "Show the verdicts of a scan, or the pages of a store, as one HTML page.",
        run,
        add_global_options,
    )
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
    add_rule(parser)
    add_workers(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Read the decisions, and the texts of their pages if these are given; write the report."""
    pages = PageReader(options.pages)
    columns = Columns()
    with _store(options) as (store, name):
        judge = Judge.from_options(options, settings, store)
        decisions = DecisionReader(options.sources if store is None else [])
        rule = judge.detector.rule
        found = iter(decisions) if store is None else stored_decisions(store, rule)
        for decision in with_progress(found, decisions, "report", "decisions"):
            columns.add(decision)
    origin = Origin(
        "scan" if store is None else "store",
        name,
        int(time()),
        max_distance=rule.max_distance,
        min_similarity=rule.min_similarity,
    )
    with closing(KeptTexts()) as texts:
        if options.pages:
            _read(pages, columns, texts, judge, options)
        text_of = texts.get if options.pages else None
        data = columns.packed(origin, text_of, texts.dropped)
    with lines_to(options.output, [*options.sources, *options.pages]) as stream:
        stream.write(render_report(data))
    say(f"{len(columns)} decisions, {len(columns.paired)} pages in pairs")
    report_skipped(pages)


@contextmanager
def _store(options: argparse.Namespace) -> Iterator[tuple[InProcessStore | None, str]]:
    """Yield the store, ``None`` for verdicts, and the name of the source; the store stays as is."""
    stores = [source for source in options.sources if _is_store(source)]
    if not stores:
        if options.namespace:
            raise InvalidOption("--namespace", options.namespace, "given with a store")
        names = ("standard input" if name == "-" else name for name in options.sources)
        yield None, ", ".join(map(_base, names))
        return
    if len(options.sources) > 1:
        raise InvalidOption("SOURCE", " ".join(options.sources), "one store, or verdicts alone")
    with looking_at(stores[0]) as reader:
        store = open_copy(reader, namespace_in(reader, options.namespace))
        with closing(store):
            say_forgotten(store)
            yield store, reader.name if reader.is_remote else _base(stores[0])


def _is_store(source: str) -> bool:
    return "://" in source or (source != "-" and beginning(source).startswith(_SQLITE))


def _base(path: str) -> str:
    """Return the name of a file without its folders."""
    return Path(path).name


def _read(
    pages: PageReader,
    columns: Columns,
    texts: KeptTexts,
    judge: Judge,
    options: argparse.Namespace,
) -> None:
    """Keep titles and texts of the pages that belong to a pair."""
    with judge.pool(read_page, options) as workers:
        wanted = _among(pages, set(columns.paired))
        for record, outcome in with_progress(workers.map(wanted), pages, "texts"):
            if not isinstance(outcome, Failure):
                columns.describe(record.url, outcome.title)
                texts.put(record.url, outcome.text)


def _among(pages: PageReader, wanted: set[str]) -> Iterator[Record]:
    return (record for record in pages if record.url in wanted)
