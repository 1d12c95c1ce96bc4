"""``scrapy neardup pairs``: find all near-duplicates among stored pages, in any order."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scrapy.settings import BaseSettings

from ..exceptions import InvalidOption
from ..hashing.union_find import Clusters
from ..matching.rule import Rule
from ..signatures.signature import PageSignature
from ..signatures.signer import OFFLINE_KEY
from ..sources.readers import PageReader
from ..stores import MemoryStore
from ..stores.in_process import InProcessStore
from ..workers import sign_record
from .support.options import (
    Commands,
    Judge,
    add_cache,
    add_judge,
    add_method,
    add_pages,
    warn_undecided,
)
from .support.output import (
    format_counts,
    print_message,
    quantity,
    report_skipped,
    with_progress,
)
from .support.row_output import Kind, RowWriter, open_rows
from .support.store_address import add_store, open_copy

#: Pairs that are joined to clusters at once.
_BATCH = 8192

_PAIR_COLUMNS: dict[str, Kind] = {
    "id_a": "id",
    "url_a": "text",
    "id_b": "id",
    "url_b": "text",
    "distance": "int",
    "similarity": "float",
    "reason": "text",
}
_CLUSTER_COLUMNS: dict[str, Kind] = {"pages": "int", "ids": "ids", "urls": "texts"}


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "Find all pairs of near-duplicates among stored pages, and the clusters they form."
    parser = commands.add("pairs", summary, run)
    add_pages(parser, nargs="*")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.jsonl",
        help="write a line per pair to a file (.csv or .parquet for a table), or - (stdout)",
    )
    parser.add_argument(
        "--clusters",
        metavar="OUT.jsonl",
        help="write a line per cluster to a file, as with --output, or - (stdout)",
    )
    add_store(parser, "--store")
    add_method(parser)
    add_judge(parser)
    add_cache(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Sign the pages, compare them with each other and with the store, and write the pairs."""
    _check(options)
    pages = PageReader(options.pages, options.columns)
    started = perf_counter()
    with _store(options) as store:
        judge = Judge.from_options(options, settings, store, extraction=store.extraction)
        found = _Pairs(store)
        with (
            _rows_to(options.output, options.pages, _PAIR_COLUMNS) as pair_lines,
            _rows_to(options.clusters, options.pages, _CLUSTER_COLUMNS) as cluster_lines,
        ):
            if options.pages:
                found.add_pages(pages, judge)
            _write(found.pair_lines(judge.detector.rule), pair_lines)
            _write(found.cluster_lines(), cluster_lines)
            summary = found.summary()
    print_message(f"{summary}; {perf_counter() - started:.1f} s")
    report_skipped(pages)


def _check(options: argparse.Namespace) -> None:
    """Refuse options that leave nothing to compare, or no file to write to."""
    if options.store is None:
        if not options.pages:
            raise InvalidOption("PAGES", "missing", "pages, or --store with a store, or both")
        if options.namespace:
            raise InvalidOption("--namespace", "given alone", "given with --store")
    if options.output is None and options.clusters is None:
        raise InvalidOption("--output", "missing", "a file or -, unless --clusters is given")
    if None not in (options.output, options.clusters):
        targets = {Path(target).resolve() for target in (options.output, options.clusters)}
        if len(targets) == 1:
            raise InvalidOption("--clusters", options.clusters, "another file than --output")


def _store(options: argparse.Namespace) -> AbstractContextManager[InProcessStore]:
    """Open a store in memory, with the pages of the given store, if any; that one stays as is."""
    if options.store is None:
        return nullcontext(MemoryStore(OFFLINE_KEY))
    return open_copy(options.store, options.namespace)


def _rows_to(
    target: str | None, inputs: list[str], columns: dict[str, Kind]
) -> AbstractContextManager[RowWriter | None]:
    return nullcontext() if target is None else open_rows(target, inputs, columns)


def _write(lines: Iterator[dict[str, Any]], writer: RowWriter | None) -> None:
    for line in lines:
        if writer is not None:
            writer.write(line)


class _Pairs:
    """Finds the pairs among signed pages, and the clusters that they form."""

    def __init__(self, store: InProcessStore) -> None:
        self._store = store
        self._remembered = len(store)
        self._signed = 0
        self._undecided: Counter[str] = Counter()
        #: Ids of pages by URL, where they differ from it.
        self._ids: dict[str, str | int] = {}
        self._numbers = store.numbers()
        self._clusters = Clusters(0)
        self._n_pairs = 0
        self._sizes: list[int] = []

    def add_pages(self, pages: PageReader, judge: Judge) -> None:
        """Sign pages and add them to the store."""
        for record, outcome in judge.results(sign_record, pages, "read"):
            if not isinstance(outcome, PageSignature):
                warn_undecided(record, outcome, self._undecided)
                self._undecided[outcome.reason] += 1
            elif not outcome.n_features:
                self._undecided["no_text"] += 1
            else:
                self._ids[record.url] = record.id
                if record.id == record.url:
                    del self._ids[record.url]
                self._signed += 1
                self._store.add(outcome)

    def pair_lines(self, rule: Rule) -> Iterator[dict[str, Any]]:
        """Yield a line for each pair as it is found. Call it after all pages were added."""
        self._numbers = self._store.numbers()
        self._clusters = Clusters(self._numbers.size)
        waiting: list[tuple[int, int]] = []
        for pair in with_progress(self._store.pairs(rule), None, "compare", "pairs"):
            waiting.append(pair.numbers)
            if len(waiting) == _BATCH:
                self._join(waiting)
                waiting = []
            a, b = pair.pages
            yield {
                "id_a": self._id_of(a),
                "url_a": a.url,
                "id_b": self._id_of(b),
                "url_b": b.url,
                "distance": pair.match.distance,
                "similarity": round(pair.match.similarity, 4),
                "reason": pair.match.reason,
            }
        self._join(waiting)

    def cluster_lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for each cluster. Call it after :meth:`pair_lines`."""
        for group in self._clusters.groups():
            self._sizes.append(group.size)
            pages = [self._store.page(number) for number in self._numbers[group].tolist()]
            yield {
                "pages": group.size,
                "ids": list(map(self._id_of, pages)),
                "urls": [page.url for page in pages],
            }

    def summary(self) -> str:
        """Return the numbers of pages, pairs and clusters."""
        compared = len(self._store)
        parts = [quantity(compared, "page")]
        if self._remembered:
            parts.append(f"{self._remembered} remembered")
        if replaced := self._remembered + self._signed - compared:
            parts.append(f"{replaced} replaced by a later one with the same URL")
        if self._undecided:
            parts.append(f"undecided: {format_counts(self._undecided)}")
        found = f"{', '.join(parts)}: {quantity(self._n_pairs, 'pair')}"
        if not self._sizes:
            return found
        clusters = quantity(len(self._sizes), "cluster")
        total = quantity(sum(self._sizes), "page")
        return f"{found}; {clusters} of {total}, the biggest of {max(self._sizes)}"

    def _id_of(self, page: PageSignature) -> str | int:
        """Return the id of a page; its URL where it has none."""
        return self._ids.get(page.url, page.url)

    def _join(self, pairs: list[tuple[int, int]]) -> None:
        self._n_pairs += len(pairs)
        places = np.searchsorted(self._numbers, np.array(pairs, np.intp).reshape(-1, 2))
        self._clusters.join(places[:, 0], places[:, 1])
