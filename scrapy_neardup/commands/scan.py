"""``scrapy neardup scan``: judge stored pages in order, as a crawl would."""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from ..detector import NearDupDetector
from ..exceptions import InvalidOption
from ..hashing.simhash import to_hex
from ..reasons import Reason
from ..report import Decision
from ..signatures.signature import PageSignature
from ..sources.readers import PageReader
from ..sources.record import Record
from ..stores import Store
from ..workers import Failure, sign_record
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
from .support.store_address import (
    add_store,
    looking_at,
    namespace_in,
    require_writable,
    say_forgotten,
    writing_to,
)
from .support.tally import Tally
from .support.terminal import report_skipped, with_progress

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def add_command(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Add the sub-command."""
    parser = new_command(
        commands,
        "scan",
        "Judge stored pages in order, as a crawl would, and write a JSON line per page.",
        run,
        add_global_options,
    )
    add_pages(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT.jsonl", help="file to write, or - for stdout"
    )
    add_store(parser, "--store")
    parser.add_argument(
        "--add", action="store_true", help="add pages that are not duplicates to the store"
    )
    add_rule(parser)
    add_workers(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Judge the pages and write the verdicts."""
    pages = PageReader(options.pages)
    with _store(options) as store:
        judge = Judge.from_options(options, settings, store)
        with (
            closing(_Ids()) as ids,
            lines_to(options.output, options.pages) as output,
            judge.pool(sign_record, options) as workers,
        ):
            scan = _Scan(judge.detector, ids)
            for record, outcome in with_progress(workers.map(pages), pages, "scan"):
                output.write(json.dumps(scan.line(record, outcome)) + "\n")
                require_writable(store)
    scan.tally.report()
    report_skipped(pages)


@contextmanager
def _store(options: argparse.Namespace) -> Iterator[Store | None]:
    """Open the store to judge against; it changes only with ``--add``."""
    if options.store is None:
        for name in ("add", "namespace"):
            if getattr(options, name):
                raise InvalidOption(f"--{name}", "given alone", "given with --store")
        yield None
        return
    with looking_at(options.store) as reader:
        namespace = namespace_in(reader, options.namespace)
        if not options.add:
            with closing(reader.overlay(namespace)) as store:
                say_forgotten(store)
                yield store
            return
    with writing_to(options.store, namespace) as store:
        yield store


class _Scan:
    """Judges pages and makes the output lines."""

    def __init__(self, detector: NearDupDetector, ids: _Ids) -> None:
        self.tally = Tally(detector)
        self._ids = ids

    def line(self, record: Record, outcome: PageSignature | Failure) -> dict[str, Any]:
        """Judge a page and return its line."""
        verdict = self.tally.judge(record, outcome)
        if (
            record.id != record.url
            and not verdict.is_duplicate
            and verdict.reason != Reason.UNCHANGED
        ):
            self._ids.put(record.url, record.id)
        decision = Decision.of(verdict)
        return {
            "id": record.id,
            "url": record.url,
            "verdict": verdict.kind,
            "duplicate_of": decision.duplicate_of,
            "duplicate_of_id": self._id(decision.duplicate_of),
            "look_alike": decision.look_alike,
            "look_alike_id": self._id(decision.look_alike),
            "distance": decision.distance,
            "similarity": decision.similarity,
            "reason": verdict.reason,
            "objection": decision.objection,
            "fingerprint": _fingerprint(outcome),
        }

    def _id(self, url: str | None) -> str | int | None:
        return None if url is None else self._ids.get(url)


class _Ids:
    """Ids of pages that may be originals, where they differ from the URL.

    They are kept in a temporary SQLite file: a dictionary would need more memory than the store,
    which takes 140 bytes per page.
    """

    def __init__(self) -> None:
        # The empty name is a private temporary file that is deleted with the connection.
        self._table = sqlite3.connect("", isolation_level=None)
        self._table.execute("PRAGMA journal_mode = OFF")
        self._table.execute("CREATE TABLE ids(url BLOB PRIMARY KEY, id TEXT) WITHOUT ROWID")
        self._table.execute("BEGIN")

    def put(self, url: str, id_: str | int) -> None:
        """Set the id of the page at a URL."""
        # As JSON, because SQLite has no integers above 64 bits and no lone surrogates.
        self._table.execute(
            "INSERT OR REPLACE INTO ids VALUES (?, ?)", (_blob(url), json.dumps(id_))
        )

    def get(self, url: str) -> str | int:
        """Return the id of the page at a URL; the URL itself where none was set."""
        found = self._table.execute("SELECT id FROM ids WHERE url = ?", (_blob(url),)).fetchone()
        id_: str | int = url if found is None else json.loads(found[0])
        return id_

    def close(self) -> None:
        """Delete the file."""
        self._table.close()


def _blob(url: str) -> bytes:
    return url.encode("utf-8", "surrogatepass")


def _fingerprint(outcome: PageSignature | Failure) -> str | None:
    """Return the fingerprint in hexadecimal; ``None`` for a page without text."""
    if isinstance(outcome, Failure) or not outcome.n_features:
        return None
    return to_hex(outcome.fingerprint)
