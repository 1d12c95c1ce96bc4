"""``scrapy neardup scan``: judge stored pages in order, as a crawl would."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from scrapy.settings import BaseSettings

from ..exceptions import UnfitOption
from ..hashing.simhash import to_hex
from ..matching.verdict import Verdict
from ..methods.containment import MIN_SHARE
from ..reasons import Reason
from ..report.decisions import Decision, UrlTable
from ..signatures.signature import Extraction, PageSignature
from ..sources.readers import PageReader
from ..sources.record import Record
from ..stores import Store
from ..workers import Failure
from .support.library import Library
from .support.options import (
    Commands,
    Judge,
    above_0_to_1,
    add_cache,
    add_judge,
    add_method,
    add_pages,
)
from .support.output import report_skipped
from .support.quotes import Quotes
from .support.row_output import Kind, open_rows
from .support.store_address import (
    add_store,
    namespace_in,
    open_for_reading,
    open_for_writing,
    print_forgotten,
)
from .support.verdicts import VerdictCounter
from .support.warc_output import WarcOutput, open_warc

_FIELDS = (
    "id url verdict duplicate_of duplicate_of_id look_alike look_alike_id distance similarity "
    "reason objection"
).split()
#: The kinds of columns in a table.
_COLUMNS: dict[str, Kind] = {
    **dict.fromkeys([*_FIELDS, "fingerprint"], "text"),
    **dict.fromkeys(["id", "duplicate_of_id", "look_alike_id"], "id"),
    "distance": "int",
    "similarity": "float",
}


#: Further columns with ``--containment``.
_QUOTE_COLUMNS: dict[str, Kind] = {
    "contained_in": "text",
    "contained_in_id": "id",
    "contains": "text",
    "contains_id": "id",
    "share": "float",
}


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "Judge stored pages in order, as a crawl would, and write a JSON line per page."
    parser = commands.add("scan", summary, run)
    add_pages(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT.jsonl",
        help="file to write (.csv or .parquet for a table), or - for stdout",
    )
    add_store(parser, "--store")
    parser.add_argument(
        "--add", action="store_true", help="add pages that are not duplicates to the store"
    )
    parser.add_argument(
        "--library",
        metavar="OLD",
        action="append",
        default=[],
        help="match the pages with those of this file or folder, and not with each other; may be "
        "repeated",
    )
    parser.add_argument(
        "--matches",
        choices=("first", "all"),
        help="with --library: write a line for the nearest match of a page, or one for each "
        "(default: first)",
    )
    _add_more(parser)
    add_method(parser)
    add_judge(parser)
    add_cache(parser)


def _add_more(parser: argparse.ArgumentParser) -> None:
    """Add the options for what is found beside the verdicts."""
    parser.add_argument(
        "--containment",
        nargs="?",
        type=above_0_to_1,
        const=MIN_SHARE,
        metavar="SHARE",
        help="also name the page before that holds most of a page, or that it holds, from this "
        f"share of the shorter one on (default: {MIN_SHARE:g}); this changes no verdict",
    )
    parser.add_argument(
        "--warc-out",
        metavar="OUT.warc.gz",
        help="also write the pages as a WARC file, with revisit records for equal bytes and "
        "metadata records for other duplicates",
    )


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Judge the pages and write the verdicts."""
    _check(options)
    pages = PageReader(options.pages, options.columns)
    with _store(options) as store, _warc(options) as warc:
        needs_text = options.library or options.containment is not None
        extraction: Extraction | None = "full" if needs_text else None
        judge = Judge.from_options(options, settings, store, extraction=extraction)
        quotes = None if options.containment is None else Quotes(options.containment)
        tally = VerdictCounter(judge, quotes)
        columns = _COLUMNS if quotes is None else _COLUMNS | _QUOTE_COLUMNS
        with (
            closing(_Ids()) as ids,
            open_rows(options.output, [*options.pages, *options.library], columns) as output,
        ):
            if options.library:
                all_matches = options.matches == "all"
                library = Library(judge, all_matches=all_matches, quotes=quotes)
                for record in library.read(PageReader(options.library, options.columns)):
                    ids.put(record)
                judged = tally.match(pages, "scan", library.matches)
            else:
                judged = tally.judge(pages, "scan")
            for record, outcome, verdict in judged:
                if not options.library:
                    ids.add(record, verdict)
                if warc is not None:
                    warc.note(record, verdict)
                line = _line(record, outcome, verdict, ids)
                output.write(line if quotes is None else line | _quote(quotes, ids))
        tally.report()
        if quotes is not None:
            quotes.report()
        report_skipped(pages)
        if warc is not None:
            warc.write()


def _warc(options: argparse.Namespace) -> AbstractContextManager[WarcOutput | None]:
    """Open the file of ``--warc-out``."""
    if options.warc_out is None:
        return nullcontext()
    return open_warc(options.warc_out, PageReader(options.pages, options.columns))


def _check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if options.library and options.store is not None:
        raise UnfitOption("--library", "given with --store", "given without it")
    if options.matches and not options.library:
        raise UnfitOption("--matches", "given alone", "given with --library")


@contextmanager
def _store(options: argparse.Namespace) -> Iterator[Store | None]:
    """Open the store to judge against; it changes only with ``--add``."""
    if options.store is None:
        for name in ("add", "namespace"):
            if getattr(options, name):
                raise UnfitOption(f"--{name}", "given alone", "given with --store")
        yield None
        return
    with open_for_reading(options.store) as reader:
        namespace = namespace_in(reader, options.namespace).name
        if not options.add:
            with closing(reader.overlay(namespace)) as store:
                print_forgotten(store)
                yield store
            return
    with open_for_writing(options.store, namespace) as store:
        yield store


class _Ids:
    """Ids of pages that may be originals, where they differ from the URL."""

    def __init__(self) -> None:
        # A dictionary would need more memory than the store, which takes 140 bytes per page.
        self._table = UrlTable(most_bytes=sys.maxsize)
        self.close = self._table.close

    def add(self, record: Record, verdict: Verdict) -> None:
        """Remember the id of a page if it is stored."""
        if not verdict.is_duplicate and verdict.reason != Reason.UNCHANGED:
            self.put(record)

    def put(self, record: Record) -> None:
        """Remember the id of a page."""
        if record.id != record.url:
            self._table.put(record.url, json.dumps(record.id).encode())

    def get(self, url: str | None) -> str | int | None:
        """Return the id of the page at a URL; the URL itself where it has none."""
        found = None if url is None else self._table.get(url)
        id_: str | int | None = url if found is None else json.loads(found)
        return id_


def _line(
    record: Record, outcome: PageSignature | Failure, verdict: Verdict, ids: _Ids
) -> dict[str, Any]:
    """Return the line of a page."""
    decision = Decision.of(verdict)
    decision = replace(
        decision,
        id=record.id,
        duplicate_of_id=ids.get(decision.duplicate_of),
        look_alike_id=ids.get(decision.look_alike),
    )
    fingerprint = None
    if isinstance(outcome, PageSignature) and outcome.n_features:
        fingerprint = to_hex(outcome.fingerprint)
    return {**{name: getattr(decision, name) for name in _FIELDS}, "fingerprint": fingerprint}


def _quote(quotes: Quotes, ids: _Ids) -> dict[str, Any]:
    """Return what a line says of the page that the last one shares most of its text with."""
    found, columns = quotes.found, dict.fromkeys(_QUOTE_COLUMNS)
    if found is None:
        return columns
    named = {
        found.direction: found.key,
        f"{found.direction}_id": ids.get(found.key),
        "share": round(found.share, 4),
    }
    return columns | named
