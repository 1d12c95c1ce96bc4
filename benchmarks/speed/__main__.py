"""Measures the speed of fingerprints, lookups, all pairs and whole pages, beside other packages.

Measured in one run are fingerprints, an index that grows to ``--max-size`` (and, simulated, to a
hundred times as much), all pairs of a stored set, and what a page takes. Ratios come first, then
the goals, then the figures. Packages that cannot take part are named (``pip install --group
benchmarks``); ``find_all`` of simhash-cpp is installed into a folder of its own, unless
``--no-install``.

Without stored pages, texts and pages are made up. Ten million fingerprints take some ten minutes
and 4 GB of memory; 100,000 take a minute.

The exit status is 1 if something is not exact, 2 if the input or an option cannot be used.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from ..common.options import at_least, command_parser, say
from ..common.programs import ROOT
from ..common.stored_pages import InputError, Page, read_pages
from ..corpora import made_up_pages
from . import all_pairs, exactness, find_all, fingerprints, page_processing
from .index import measurement, simulation
from .parts import Part
from .report import Result, as_text, write_docs, write_json

_NAME = "benchmarks.speed"
_SIZES = (100_000, 1_000_000, 10_000_000)
_ROUNDS = 5
#: Rounds of fingerprints and lookups are over before a machine's bad moment is: so many for one.
_SHORT_FOR_ONE = 3
_MADE_UP_PAGES = 480
PARTS = ("fingerprints", "index", "pairs", "pages")


def sizes(largest: int) -> list[int]:
    """The sizes up to the largest; the largest alone where it is smaller than all of them."""
    return [size for size in _SIZES if size <= largest] or [largest]


def examine(
    given: Sequence[str], largest: int, rounds: int, only: Sequence[str], find_all_trouble: str
) -> Result:
    """Measure everything, and say on the standard error how far it is."""
    pages = list(read_pages(given, Counter()))
    measures: dict[str, Callable[[], list[Part]]] = {
        "fingerprints": lambda: [_fingerprints(pages, _SHORT_FOR_ONE * rounds)],
        "index": lambda: _index(sizes(largest), rounds),
        "pairs": lambda: [
            all_pairs.measure(sizes(largest), rounds, find_all.FOLDER, find_all_trouble)
        ],
        "pages": lambda: [_pages(pages, rounds)],
    }
    parts: list[Part] = []
    for name in only:
        say(name)
        parts += measures[name]()
    say("exactness")
    checks = [exactness.check(), *(check for part in parts for check in part.checks())]
    return Result(parts, checks)


def _fingerprints(pages: Sequence[Page], rounds: int) -> Part:
    if pages:
        samples = fingerprints.samples_of(pages, rounds)
        if len(samples) >= 2 * rounds:
            return fingerprints.measure(samples, "of the pages given", rounds)
    made_up = fingerprints.made_up_samples(rounds)
    return fingerprints.measure(made_up, "made up", rounds)


def _index(sizes: Sequence[int], rounds: int) -> list[Part]:
    lookups = measurement.measure(sizes, _SHORT_FOR_ONE * rounds)
    return [lookups, simulation.measure(lookups, rounds)]


def _pages(pages: Sequence[Page], rounds: int) -> Part:
    if pages:
        return page_processing.measure(pages, "those given", rounds)
    return page_processing.measure(made_up_pages.pages(_MADE_UP_PAGES), "made up", rounds)


def arguments() -> argparse.Namespace:
    parser = command_parser(_NAME, __doc__)
    parser.add_argument(
        "pages", nargs="*", metavar="PAGES", help="stored pages, JSON lines, gzip or not"
    )
    parser.add_argument("--max-size", type=at_least(1), default=_SIZES[-1], metavar="N")
    parser.add_argument("--rounds", type=at_least(1), default=_ROUNDS, metavar="N")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="some parts")
    parser.add_argument("--no-install", action="store_true", help="install nothing")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help="where to write the page")
    options = parser.parse_args()
    if options.docs and set(options.only) != set(PARTS):
        parser.error("argument --docs: the page shows all parts, so --only cannot be given")
    return options


def command(options: argparse.Namespace) -> str:
    """Return the command line of this run, without the folder of the pages."""
    words = ["python", "-m", _NAME, *(["PAGES.jsonl.gz"] if options.pages else [])]
    words += ["--max-size", str(options.max_size), "--rounds", str(options.rounds)]
    return shlex.join(words)


def main() -> int:
    options = arguments()
    trouble = ""
    if "pairs" in options.only:
        look = find_all.trouble_in if options.no_install else find_all.install
        say(f"find_all stands in {find_all.FOLDER.relative_to(ROOT)}")
        trouble = look(find_all.FOLDER)
    try:
        result = examine(options.pages, options.max_size, options.rounds, options.only, trouble)
    except InputError as error:
        say(str(error))
        return 2
    print(as_text(result))
    if options.json:
        write_json(result, options.json)
    if options.docs:
        write_docs(result, command(options), options.docs)
    return 0 if result.is_exact else 1


if __name__ == "__main__":
    sys.exit(main())
