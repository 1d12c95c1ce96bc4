"""``scrapy neardup scan``: judge stored pages in order, as a crawl would."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..detector import NearDupDetector
from ..judgement import Verdict
from ..page import PageSignature
from ..records import PageReader, Record
from ..simhash import to_hex
from ..workers import Failure, sign_record
from .options import (
    AddGlobalOptions,
    Commands,
    Judge,
    add_pages,
    add_rule,
    add_workers,
    new_command,
)
from .output import lines_to
from .terminal import counted, report_skipped, say, with_progress

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def add_command(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Describe the sub-command."""
    parser = new_command(
        commands,
        "scan",
        "Judge stored pages in order, as a crawl would; one JSON line for each page.",
        run,
        add_global_options,
    )
    add_pages(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT.jsonl", help="file to write, or - for stdout"
    )
    add_rule(parser)
    add_workers(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Judge the pages and write the verdicts."""
    started = perf_counter()
    pages = PageReader(options.pages)
    judge = Judge.from_options(options, settings)
    scan = _Scan(judge.detector)
    with (
        lines_to(options.output, options.pages) as output,
        judge.pool(sign_record, options) as workers,
    ):
        for record, outcome in with_progress(workers.map(pages), pages, "scan"):
            output.write(json.dumps(scan.judge(record, outcome)) + "\n")
    scan.report(perf_counter() - started)
    report_skipped(pages)


class _Scan:
    """The verdicts so far."""

    def __init__(self, detector: NearDupDetector) -> None:
        self._detector = detector
        #: Ids of pages that can be a duplicate's original, where they are not the address.
        self._ids: dict[str, str | int] = {}
        self._verdicts: Counter[str] = Counter()
        self._undecided: Counter[str] = Counter()

    def judge(self, record: Record, outcome: PageSignature | Failure) -> dict[str, Any]:
        """A page's line."""
        verdict = self._verdict(record, outcome)
        self._verdicts[verdict.kind] += 1
        if verdict.kind == "undecided":
            self._undecided[verdict.reason] += 1
        if record.id != record.url and not verdict.is_duplicate and verdict.reason != "unchanged":
            self._ids[record.url] = record.id
        original, similarity = verdict.duplicate_of, verdict.similarity
        return {
            "id": record.id,
            "url": record.url,
            "verdict": verdict.kind,
            "duplicate_of": original,
            "duplicate_of_id": None if original is None else self._ids.get(original, original),
            "distance": verdict.distance,
            "similarity": None if similarity is None else round(similarity, 4),
            "reason": verdict.reason,
            "fingerprint": _fingerprint(outcome),
        }

    def report(self, seconds: float) -> None:
        """Say what became of the pages."""
        number = self._verdicts.total()
        say(
            f"{number} pages: {counted(self._verdicts)}"
            + (f"; undecided for: {counted(self._undecided)}" if self._undecided else "")
            + f"; {seconds:.1f} s, {number / seconds:.0f} pages/s"
        )

    def _verdict(self, record: Record, outcome: PageSignature | Failure) -> Verdict:
        if isinstance(outcome, PageSignature):
            return self._detector.check(outcome)
        if outcome.reason not in self._undecided:
            say(f"warning: <{record.url}> is undecided, {outcome.reason}: {outcome.detail}")
        return Verdict("undecided", record.url, outcome.reason)


def _fingerprint(outcome: PageSignature | Failure) -> str | None:
    """Its digits; ``None`` for a page without a text, whose fingerprint says nothing."""
    if isinstance(outcome, Failure) or not outcome.n_features:
        return None
    return to_hex(outcome.fingerprint)
