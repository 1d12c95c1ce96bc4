"""Judges pages for the sub-commands, and counts the verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter

from ..._util.wording import quantity
from ...detector import NearDupDetector
from ...matching.verdict import Verdict
from ...signatures.signature import PageSignature
from ...sources.compression import packed_body
from ...sources.fields import CONTENT_FIELDS
from ...sources.readers import PageReader
from ...sources.record import Record
from ...stores.body_cache import BodyCache
from ...workers import Failure, PagePool, sign_record
from .options import Judge, warn_undecided
from .output import format_counts, print_message
from .progress import with_progress
from .quotes import Quotes
from .store_address import require_writable

#: Fields that tell a line of a scan's output from a page.
_OF_SCAN = {"verdict", "fingerprint"}


class LazyReader:
    """Judges pages that were read quickly, and reads in full those that may be copies.

    :param workers: sign records.
    :param bodies: keeps the bodies of pages that may still have to be read.
    """

    def __init__(
        self, detector: NearDupDetector, workers: PagePool[PageSignature], bodies: BodyCache
    ) -> None:
        self._detector = detector
        self._workers = workers
        self._bodies = bodies
        self._n_gone = 0

    def check(
        self, record: Record, signature: PageSignature
    ) -> tuple[PageSignature | Failure, Verdict]:
        """Return the signature of a page, perhaps read in full, and the verdict.

        :returns: a failure, with a verdict without meaning, if it cannot be read in full.
        """
        claim = self._detector.claim(signature)
        while claim.must_read or claim.unread:
            record = replace(record, quick=False, needs_facts=claim.needs_facts)
            own = self._workers.submit(record) if claim.must_read else None
            self._n_gone += self.complete(claim.unread, needs_facts=claim.needs_facts)
            if own is not None:
                result = own.result()
                if isinstance(result, Failure):
                    return result, claim.verdict
                signature = result.with_quick_parts_of(signature)
            claim = self._detector.claim(signature)
        if claim.is_blocked:
            return signature, self._detector.check(signature)
        if claim.ticket is not None:
            if signature.is_partly_read:
                # First: other processes may want to read a page as soon as it is stored.
                self._bodies.put(signature.key, record, packed_body(record.content))
            self._detector.store.commit(claim.ticket)
        return signature, claim.verdict

    def complete(self, keys: Iterable[str], *, needs_facts: bool = True) -> int:
        """Read stored pages in full, all at once; return how many have no body any more.

        :param needs_facts: whether their facts are wanted; if not, their bodies stay.
        """
        get = self._bodies.take if needs_facts else self._bodies.peek
        bodies = {key: get(key) for key in keys}
        readings = {
            key: body and self._workers.submit(replace(body, quick=False, needs_facts=needs_facts))
            for key, body in bodies.items()
        }
        for key, reading in readings.items():
            result = reading and reading.result()
            signature = result if isinstance(result, PageSignature) else None
            self._detector.store.complete(key, signature)
        return sum(body is None for body in bodies.values())

    def report(self) -> None:
        """Print how many pages could not be compared because their bodies are not kept."""
        warn_of_gone_bodies(self._n_gone)
        if n_evicted := self._bodies.n_evicted:
            print_message(
                f"warning: the cache evicted the bodies of {quantity(n_evicted, 'page')}, so later "
                "copies of them were not found; raise NEARDUP_BODY_CACHE (MiB)"
            )


def warn_of_gone_bodies(n_gone: int) -> None:
    """Print how many stored pages could not be read in full, if any."""
    if n_gone:
        print_message(
            f"warning: {quantity(n_gone, 'stored page')} may have copies that were not found, "
            "because the bodies of the stored pages are no longer kept; crawl these pages again to "
            "keep new bodies"
        )


class VerdictCounter:
    """Judges pages and counts the verdicts."""

    def __init__(self, judge: Judge, quotes: Quotes | None = None) -> None:
        #: Number of pages judged.
        self.pages = 0
        self._judge = judge
        self._quotes = quotes
        self._started = perf_counter()
        self._verdicts: Counter[str] = Counter()
        self._undecided: Counter[str] = Counter()

    def judge(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        """Judge all pages in order, and yield the results; stop if the store cannot be written."""
        detector = self._judge.detector
        judged = self._judged_lazily if self._judge.is_lazy else self._judged_in_full
        for record, outcome, verdict in judged(pages, what):
            self._count(verdict)
            yield record, outcome, verdict
            require_writable(detector.store)

    def match(
        self, pages: PageReader, what: str, matcher: Callable[[PageSignature], Sequence[Verdict]]
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        """Yield all verdicts of a matcher on each page; the first of them counts."""
        for record, outcome in self._judge.signatures(pages, what, self._quotes):
            if isinstance(outcome, PageSignature):
                verdicts = matcher(outcome)
            else:
                verdicts = [self._not_judged(record, outcome)]
            self._count(verdicts[0])
            for verdict in verdicts:
                yield record, outcome, verdict

    def _count(self, verdict: Verdict) -> None:
        self.pages += 1
        self._verdicts[verdict.kind] += 1
        if verdict.kind == "undecided":
            self._undecided[verdict.reason] += 1

    def _judged_in_full(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        quotes = self._quotes
        for record, outcome in self._judge.signatures(pages, what, quotes):
            if isinstance(outcome, PageSignature):
                verdict = self._judge.detector.check(outcome)
                if quotes is not None and not verdict.is_duplicate:
                    quotes.store()
                yield record, outcome, verdict
            else:
                yield record, outcome, self._not_judged(record, outcome)

    def _judged_lazily(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        judge = self._judge
        quick = (replace(record, quick=record.kind == "html") for record in pages)
        cache = judge.detector.store.body_cache(judge.body_cache * 2**20)
        with closing(cache), judge.pool(sign_record) as workers:
            reader = LazyReader(judge.detector, workers, cache)
            for record, quickly in with_progress(workers.map(quick), pages, what):
                outcome = quickly
                if isinstance(outcome, PageSignature):
                    outcome, verdict = reader.check(record, outcome)
                if isinstance(outcome, Failure):
                    verdict = self._not_judged(record, outcome)
                yield record, outcome, verdict
            reader.report()

    def _not_judged(self, record: Record, failure: Failure) -> Verdict:
        warn_undecided(record, failure, self._undecided)
        return Verdict("undecided", record.url, failure.reason)

    def report(self) -> None:
        """Print the counts."""
        seconds = perf_counter() - self._started
        print_message(
            f"{quantity(self.pages, 'page')}: {format_counts(self._verdicts)}"
            + (f"; undecided for: {format_counts(self._undecided)}" if self._undecided else "")
            + f"; {seconds:.1f} s, {self.pages / seconds:.0f} pages/s"
        )


def is_of_scan(start: bytes) -> bool:
    """Return whether a file begins with a line of a scan's output, which is no page."""
    try:
        fields = json.loads(start.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(fields, dict)
        and fields.keys() >= _OF_SCAN
        and fields.keys().isdisjoint(CONTENT_FIELDS)
    )
