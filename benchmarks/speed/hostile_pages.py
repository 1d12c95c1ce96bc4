"""Measures the time and memory that a worker needs for hostile pages.

Each page is read twice by one worker process under the default limits. Prints the slower time, the
outcome, and the most memory that the worker had held by then.
"""

from __future__ import annotations

import sys
from time import perf_counter

from scrapy_neardup.sources.record import Record
from scrapy_neardup.workers import Failure, Limits, WorkerPool

from ..common.options import command_parser
from ..common.tables import Table
from ..corpora.hostile_pages import PAGES
from .worker_memory import sign_and_measure


def main() -> int:
    parser = command_parser("benchmarks.speed.hostile_pages", __doc__)
    parser.add_argument("--only", action="append", choices=PAGES, metavar="NAME")
    parser.add_argument("--slowest", type=int, metavar="N", help="print only the N slowest")
    options = parser.parse_args()
    limits = Limits()
    table = Table(
        f"hostile pages, one worker, {limits.seconds:g} s and {limits.memory_mb} MiB at most",
        ("page", "bytes", "seconds", "outcome", "peak MiB"),
    )
    rows = []
    differing = []
    with WorkerPool(sign_and_measure, {"secret": bytes(16)}, 1, limits) as workers:
        for name in options.only or PAGES:
            page = PAGES[name]
            record = Record(
                name, f"https://{name}.example/", page.make(), "html", "", page.content_type
            )
            seconds, outcomes = 0.0, []
            for _ in range(2):
                started = perf_counter()
                outcomes.append(workers.submit(record).result())
                seconds = max(seconds, perf_counter() - started)
            told, other = (o.reason if isinstance(o, Failure) else o[0] for o in outcomes)
            if told != other:
                differing.append(name)
            peak = 0.0 if isinstance(outcomes[0], Failure) else outcomes[0][1]
            outcome = told if isinstance(told, str) else f"signed, {told.n_features} features"
            rows.append((name, len(record.content), seconds, outcome, round(peak)))
        lost = workers.lost
    if options.slowest:
        rows = sorted(rows, key=lambda row: -row[2])[: options.slowest]
    for row in rows:
        table.add(*row)
    table.notes.append(f"workers lost: {lost}")
    print(table.as_text())
    for name in differing:
        print(f"error: {name} has two outcomes", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
