"""Measures the distributed search for near-duplicates: time, traffic and memory of each stage.

Signed pages are made up as files of the first stage, in the same work folder, by tasks of the same
cluster (layout.py, made_up_texts.py, signed_pages.py): texts of 30 to 8,000 shingles, with the
boilerplate of their sites; a tenth of the pages on one site, the others by Zipf's law; a tenth
copies of others, one text on each hundredth page, and a hundredth at the address of another page.
All other stages then run on a local Dask cluster. Pages are neither read nor signed: that costs the
same for each page, however many there are.

* A worker that holds more than ``--memory-limit`` is killed, and the run fails.
* Memory is the peak of the resident one since the stage began, as the kernel counts it, and is read
  on Linux only.
* The result is compared with what was planted: the exit status is 1 unless 99.9 % of the pairs at
  or above the rule's least similarity are found, as many clusters are as planted, the wall is one
  cluster, and nothing else was found.

Ten million pages take some 60 to 80 GB of disk meanwhile. Each size runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from scrapy_neardup.cluster import Options
from scrapy_neardup.cluster.plan import CROWDED

from ..common.measuring import apart, machine_line
from ..common.options import at_least, command_parser
from .layout import Layout
from .measure import Cluster, Figures, measure
from .report import tables

_SIZES = (100_000, 1_000_000, 10_000_000)
_SPLIT_PAGES = 20_000


def arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.cluster", __doc__)
    parser.add_argument("--sizes", type=at_least(1000), nargs="+", default=_SIZES, metavar="N")
    parser.add_argument("--workers", type=at_least(1), default=2, metavar="N")
    parser.add_argument("--memory-limit", default="1GiB", metavar="SIZE", help="of each worker")
    parser.add_argument("--split-pages", type=at_least(1), default=_SPLIT_PAGES, metavar="N")
    parser.add_argument("--partitions", type=at_least(1), metavar="N")
    parser.add_argument("--passes", type=at_least(1), default=1, metavar="N")
    parser.add_argument("--crowded", type=at_least(32), default=CROWDED, metavar="N")
    parser.add_argument("--folder", help="where to put the files, among the temporary ones if not")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the figures, and print those of other sizes that are in it, too",
    )
    return parser.parse_args()


def known_runs(path: Path | None) -> dict[int, Figures]:
    """Return the figures of a file, by the number of pages."""
    if path is None or not path.exists():
        return {}
    return {run["pages"]: run for run in json.loads(path.read_text("utf-8"))}


def main() -> int:
    given = arguments()
    options = Options(given.partitions, given.passes, given.crowded)
    cluster = Cluster(given.workers, given.memory_limit)
    runs = known_runs(given.json)
    for pages in sorted(set(given.sizes)):
        # A fifth more than crowds a key.
        layout = Layout(pages, given.crowded * 6 // 5, given.split_pages)
        runs[pages] = apart(measure, layout, cluster, options, given.folder)
        if given.json:
            text = json.dumps(list(runs.values()), indent=1)
            given.json.write_text(f"{text}\n", "utf-8")
    print(f"{given.workers} workers of {given.memory_limit}; {machine_line()}\n")
    print("\n\n".join(table.as_markdown() for table in tables(list(runs.values()))))
    return 0 if all(runs[pages].get("is_right") for pages in given.sizes) else 1


if __name__ == "__main__":
    sys.exit(main())
