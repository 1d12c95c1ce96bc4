"""Compares crawls with different numbers of worker processes.

Stored pages are served and crawled as by overhead.py, the kinds of crawl in turn. Prints pages a
second and their ratio to the first kind, how long the reactor was held (heartbeat.py), and how long
by the add-on's own code (slices.py).

Exit status: 0 when every page of every crawl is accounted for, else as that of overhead.py.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from ..common.options import at_least, command_parser
from ..common.tables import Table
from .accounts import Crawl, account_for, read_catalogue
from .overhead import Failed, crawl_once, page_server
from .single_crawl import Job

_WITHOUT = "no add-on"


def crawls(options: argparse.Namespace, folder: Path) -> tuple[dict[str, list[Crawl]], list[str]]:
    """Crawl in turn; also what does not add up."""
    catalogue = folder / "catalogue.jsonl"
    done: dict[str, list[Crawl]] = {}
    problems: list[str] = []
    with page_server(options, catalogue) as server:
        proxy = f"http://127.0.0.1:{server.ready['port']}"
        for _ in range(options.repeat):
            for workers in (None, *options.workers):
                name = _WITHOUT if workers is None else f"{workers} workers"
                settings = {} if workers is None else {"NEARDUP_WORKERS": str(workers)}
                settings["TWISTED_REACTOR_ENABLED"] = str(not options.no_reactor)
                result = str(folder / "result.json")
                job = Job(str(catalogue), proxy, workers is not None, settings, result)
                crawl = crawl_once(job, folder)
                crawl.answered = server.answered()
                account = account_for(read_catalogue(catalogue), crawl)
                problems += [f"{name}: {problem}" for problem in account.problems]
                done.setdefault(name, []).append(crawl)
    return done, problems


def report(done: dict[str, list[Crawl]]) -> list[Table]:
    pages = len(next(iter(done.values()))[0].outcomes)
    first = next(name for name in done if name != _WITHOUT)
    speed = {
        name: median(pages / crawl.figures["crawl s"] for crawl in runs)
        for name, runs in done.items()
    }
    gain = Table(
        f"{pages:,} pages, medians of {len(done[first])}",
        ("", "pages/s", f"ratio to {first}", "dropped", "start-up s", "to first request s"),
    )
    for name, runs in done.items():
        dropped = median(_dropped(crawl) for crawl in runs)
        times = (median(c.figures[f] for c in runs) for f in gain.head[-2:])
        gain.add(name, speed[name], speed[name] / speed[first], int(dropped), *times)
    beats = Table("reactor held, ms", ("", *done))
    for share in done[first][0].beats:
        beats.add(share, *(median(crawl.beats[share] for crawl in runs) for runs in done.values()))
    own = Table("the add-on's own code between two turns of the loop, ms", ("", *done))
    for share in done[first][0].slices:
        own.add(share, *(median(c.slices.get(share, 0.0) for c in runs) for runs in done.values()))
    return [gain, beats, own]


def _dropped(crawl: Crawl) -> int:
    return sum(outcome.kind == "dropped" for page in crawl.outcomes for outcome in page)


def main() -> int:
    parser = command_parser("benchmarks.crawl.workers", __doc__)
    add = parser.add_argument
    add("pages", nargs="+", metavar="PAGES.jsonl.gz", help="stored pages, JSON lines, gzip or not")
    add("--workers", nargs="+", type=at_least(0), default=[0, 1, 2])
    add("--repeat", type=at_least(1), default=1, metavar="N")
    add("--limit", type=at_least(1), metavar="N", help="only the first N pages")
    add("--no-reactor", action="store_true", help="crawl without a Twisted reactor")
    parser.set_defaults(ports=False)
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="crawl_workers-") as folder:
            done, problems = crawls(options, Path(folder))
    except Failed as error:
        return error.status
    except KeyboardInterrupt:
        return 130
    for table in report(done):
        print(table.as_text())
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
