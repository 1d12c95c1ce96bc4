"""``scrapy neardup pairs``: find all near-duplicates among stored pages, in any order."""

from __future__ import annotations

import argparse
import heapq
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np
from scrapy.settings import BaseSettings

from ..exceptions import UnfitOption
from ..hashing.representatives import represented
from ..hashing.union_find import Clusters
from ..matching.method_matching import has_enough
from ..matching.rule import Rule
from ..reasons import REASONS_OF_EQUALITY, Reason
from ..signatures.signature import PageSignature
from ..signatures.signer import OFFLINE_KEY
from ..sources.readers import PageReader
from ..sources.record import Record
from ..stores import MemoryStore
from ..stores.in_process import InProcessStore
from ..workers import Failure, sign_record
from .engine.options import add_engine, check_engine
from .support.options import (
    Commands,
    Judge,
    add_cache,
    add_judge,
    add_method,
    add_pages,
    warn_undecided,
)
from .support.output import print_message, report_skipped
from .support.pair_output import Figures, add_outputs, check_outputs, open_outputs
from .support.progress import with_progress
from .support.store_address import add_store, open_copy
from .support.verdicts import LazyReader, warn_of_gone_bodies

#: Pairs that are joined to clusters at once.
_BATCH = 8192
#: Stored pages whose bodies are in memory at once, to be read in full.
_READ_AT_ONCE = 256


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "Find all pairs of near-duplicates among stored pages, and the clusters they form."
    parser = commands.add("pairs", summary, run)
    add_pages(parser, nargs="*")
    add_outputs(parser)
    add_store(parser, "--store")
    add_method(parser)
    add_judge(parser)
    add_cache(parser)
    add_engine(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Sign the pages, compare them with each other and with the store, and write the pairs."""
    check_engine(options)
    _check(options)
    if options.engine is not None:
        from .engine.pairs import run_on_cluster

        run_on_cluster(options, settings)
        return
    pages = PageReader(options.pages, options.columns)
    started = perf_counter()
    with _store(options) as store:
        judge = Judge.from_options(options, settings, store, extraction=store.extraction)
        found = _Pairs(store, keep=options.keep is not None)
        with open_outputs(options) as outputs:
            if options.pages:
                found.add_pages(pages, judge)
                found.complete_stored(judge)
            outputs.write("output", found.pair_lines(judge.detector.rule))
            outputs.write("clusters", found.cluster_lines())
            if outputs.wants("keep"):
                outputs.write("keep", found.kept_lines())
            figures = found.figures()
    print_message(f"{figures}; {perf_counter() - started:.1f} s")
    report_skipped(pages)


def _check(options: argparse.Namespace) -> None:
    """Refuse options that leave nothing to compare, or no file to write to."""
    if options.store is None:
        if not options.pages:
            raise UnfitOption("PAGES", "missing", "pages, or --store with a store, or both")
        if options.namespace:
            raise UnfitOption("--namespace", "given alone", "given with --store")
    check_outputs(options)


def _store(options: argparse.Namespace) -> AbstractContextManager[InProcessStore]:
    """Open a store in memory, with the pages of the given store, if any; that one stays as is."""
    if options.store is None:
        return nullcontext(MemoryStore(OFFLINE_KEY))
    return open_copy(options.store, options.namespace)


class _Pairs:
    """Finds the pairs among signed pages, and the clusters that they form.

    :param keep: remember what :meth:`kept_lines` needs.
    """

    def __init__(self, store: InProcessStore, *, keep: bool) -> None:
        self._store = store
        self._keep = keep
        self._remembered = len(store)
        self._signed = 0
        self._undecided: Counter[str] = Counter()
        #: Ids of pages by URL, where they differ from it.
        self._ids: dict[str, str | int] = {}
        self._numbers = store.numbers()
        #: Number of the first signed page; those of the next ones follow.
        self._first = 0
        #: Keys of stored pages that may resemble signed ones, but were read quickly only.
        self._unread: set[str] = set()
        #: How many pages were signed before each undecided one, and its line.
        self._aside: list[tuple[int, dict[str, Any]]] = []
        self._clusters = Clusters(0)
        self._n_pairs = 0
        self._sizes: list[int] = []
        self._kept: int | None = None
        #: Numbers of the pages of each pair, and whether they are equal, for :meth:`kept_lines`;
        #: each of shape ``(n, 3)``.
        self._links = [np.empty((0, 3), np.int64)]

    def add_pages(self, pages: PageReader, judge: Judge) -> None:
        """Sign pages and add them to the store."""
        method = judge.detector.signer.method
        looks_up = self._remembered and judge.is_lazy
        records = chain.from_iterable(map(_quickly_first, pages)) if looks_up else None
        quick_sketch = b""
        for record, outcome in judge.results(sign_record, pages, "read", records):
            if record.quick:
                quick_sketch = self._note_unread(outcome, judge.detector.rule)
                continue
            if isinstance(outcome, PageSignature) and outcome.n_features:
                self._ids[record.url] = record.id
                if record.id == record.url:
                    del self._ids[record.url]
                sketch = quick_sketch if record.kind == "html" else b""
                self._store.add(replace(outcome, quick_sketch=sketch))
                if method is not None and not has_enough(outcome, method, judge.detector.rule):
                    self._undecided[Reason.FEW_FEATURES] += 1
                if not self._signed:
                    self._first = int(self._store.numbers()[-1])
                self._signed += 1
                continue
            if isinstance(outcome, PageSignature):
                self._undecided["no_text"] += 1
            else:
                warn_undecided(record, outcome, self._undecided)
                self._undecided[outcome.reason] += 1
            if self._keep:
                self._aside.append((self._signed, {"id": record.id, "url": record.url}))

    def _note_unread(self, outcome: PageSignature | Failure, rule: Rule) -> bytes:
        """Note the stored pages that may resemble a page, but were read quickly only.

        Return the sketch of the page's text, to compare it with those of the other stored pages.
        """
        if not isinstance(outcome, PageSignature):
            return b""
        self._unread |= self._store.unread_candidates(outcome, rule)
        return outcome.quick_sketch

    def complete_stored(self, judge: Judge) -> None:
        """Read in full the stored pages that signed ones may resemble, if they were not yet."""
        if not self._unread:
            return
        keys = sorted(self._unread)
        bodies = self._store.body_cache(judge.body_cache * 2**20)
        with closing(bodies), judge.pool(sign_record) as workers:
            reader = LazyReader(judge.detector, workers, bodies)
            starts = range(0, len(keys), _READ_AT_ONCE)
            n_gone = sum(reader.complete(keys[at : at + _READ_AT_ONCE]) for at in starts)
        warn_of_gone_bodies(n_gone)

    def pair_lines(self, rule: Rule) -> Iterator[dict[str, Any]]:
        """Yield a line for each pair as it is found. Call it after all pages were added."""
        self._numbers = self._store.numbers()
        self._clusters = Clusters(self._numbers.size)
        waiting: list[tuple[int, int, bool]] = []
        for pair in with_progress(self._store.pairs(rule), None, "compare", "pairs"):
            waiting.append((*pair.numbers, pair.match.reason in REASONS_OF_EQUALITY))
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

    def kept_lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for each page that stays, in order. Call it after :meth:`pair_lines`."""
        first, second, is_equal = np.concatenate(self._links).T
        gone = represented(first, second, is_equal == 1)
        staying = self._numbers[~np.isin(self._numbers, gone)].tolist()
        pages = ((number, 1, None) for number in staying)
        end = self._first if self._signed else int(self._numbers.max(initial=0)) + 1
        aside = ((end + before, 0, line) for before, line in self._aside)
        self._kept = 0
        for number, _, line in heapq.merge(pages, aside, key=lambda each: each[:2]):
            self._kept += 1
            if line is None:
                page = self._store.page(number)
                yield {"id": self._id_of(page), "url": page.url}
            else:
                yield line

    def figures(self) -> Figures:
        """Return the numbers of pages, pairs and clusters."""
        compared = len(self._store)
        return Figures(
            pages=compared,
            pairs=self._n_pairs,
            clusters=len(self._sizes),
            members=sum(self._sizes),
            largest=max(self._sizes, default=0),
            remembered=self._remembered,
            replaced=self._remembered + self._signed - compared,
            undecided=self._undecided,
            kept=self._kept,
        )

    def _id_of(self, page: PageSignature) -> str | int:
        """Return the id of a page; its URL where it has none."""
        return self._ids.get(page.url, page.url)

    def _join(self, pairs: list[tuple[int, int, bool]]) -> None:
        self._n_pairs += len(pairs)
        links = np.array(pairs, np.int64).reshape(-1, 3)
        if self._keep:
            self._links.append(links)
        places = np.searchsorted(self._numbers, links[:, :2])
        self._clusters.join(places[:, 0], places[:, 1])


def _quickly_first(record: Record) -> Iterator[Record]:
    """Yield a page to be read quickly, for its passages, and then in full."""
    if record.kind == "html":
        yield replace(record, quick=True)
    yield record
