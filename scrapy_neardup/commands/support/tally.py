"""Judges pages one after another, and counts the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from time import perf_counter

from ...detector import NearDupDetector
from ...matching.verdict import Verdict
from ...signatures.signature import PageSignature
from ...sources.record import Record
from ...workers import Failure
from .terminal import counted, counted_pages, say


def say_undecided(record: Record, failure: Failure, known: Container[str]) -> None:
    """Print why a page could not be read, once for each reason."""
    if failure.reason not in known:
        say(f"warning: <{record.url}> is undecided, {failure.reason}: {failure.detail}")


class Tally:
    """Judges pages and counts the verdicts."""

    def __init__(self, detector: NearDupDetector) -> None:
        self._detector = detector
        self._started = perf_counter()
        self._verdicts: Counter[str] = Counter()
        self._undecided: Counter[str] = Counter()

    def judge(self, record: Record, outcome: PageSignature | Failure) -> Verdict:
        """Judge a page, and count its verdict."""
        verdict = self._verdict(record, outcome)
        self._verdicts[verdict.kind] += 1
        if verdict.kind == "undecided":
            self._undecided[verdict.reason] += 1
        return verdict

    @property
    def pages(self) -> int:
        """Number of pages judged."""
        return self._verdicts.total()

    def report(self) -> None:
        """Print the counts."""
        seconds = perf_counter() - self._started
        say(
            f"{counted_pages(self.pages)}: {counted(self._verdicts)}"
            + (f"; undecided for: {counted(self._undecided)}" if self._undecided else "")
            + f"; {seconds:.1f} s, {self.pages / seconds:.0f} pages/s"
        )

    def _verdict(self, record: Record, outcome: PageSignature | Failure) -> Verdict:
        if isinstance(outcome, PageSignature):
            return self._detector.check(outcome)
        say_undecided(record, outcome, self._undecided)
        return Verdict("undecided", record.url, outcome.reason)
