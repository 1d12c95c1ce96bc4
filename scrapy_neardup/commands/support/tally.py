"""Judges pages one after another, and counts the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from time import perf_counter

from ...matching.verdict import Verdict
from ...signatures.signature import PageSignature
from ...sources.readers import PageReader
from ...sources.record import Record
from ...workers import Failure, sign_record
from .options import Judge
from .store_address import require_writable
from .terminal import counted, quantity, say


def say_undecided(record: Record, failure: Failure, known: Container[str]) -> None:
    """Print why a page could not be read, once for each reason."""
    if failure.reason not in known:
        say(f"warning: <{record.url}> is undecided, {failure.reason}: {failure.detail}")


class Tally:
    """Judges pages and counts the verdicts."""

    def __init__(self, judge: Judge) -> None:
        #: Number of pages judged.
        self.pages = 0
        self._judge = judge
        self._started = perf_counter()
        self._verdicts: Counter[str] = Counter()
        self._undecided: Counter[str] = Counter()

    def judge(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        """Judge all pages in order, and yield the results; stop if the store cannot be written."""
        detector = self._judge.detector
        for record, outcome in self._judge.results(sign_record, pages, what):
            if isinstance(outcome, PageSignature):
                verdict = detector.check(outcome)
            else:
                say_undecided(record, outcome, self._undecided)
                verdict = Verdict("undecided", record.url, outcome.reason)
            self.pages += 1
            self._verdicts[verdict.kind] += 1
            if verdict.kind == "undecided":
                self._undecided[verdict.reason] += 1
            yield record, outcome, verdict
            require_writable(detector.store)

    def report(self) -> None:
        """Print the counts."""
        seconds = perf_counter() - self._started
        say(
            f"{quantity(self.pages, 'page')}: {counted(self._verdicts)}"
            + (f"; undecided for: {counted(self._undecided)}" if self._undecided else "")
            + f"; {seconds:.1f} s, {self.pages / seconds:.0f} pages/s"
        )
