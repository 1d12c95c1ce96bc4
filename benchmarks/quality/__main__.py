"""Measures the quality of detection on real pages, on invented forms and on disguised copies.

``--data`` names a folder of pages (known_pairs.py); resemblance.py measures their resemblance J;
peers.py has the packages that are compared with (``pip install --group benchmarks``; what cannot be
imported is named and left out).

The detector is asked in two ways, by its public methods alone. *Pairwise*: after one crawl over
all pages in the order of the files has taught it what it learns of sites, every pair that could
be one is compared. *One after the other*: each page is checked as a crawl would, in the order of
the files and in three random ones.

Two corpora are part of the repository: forms, whose pages are all different contents (forms.py),
and disguised copies of articles (copies.py). ``--corpora-only`` measures just these.

``--gate`` compares the figures with quality_floors.json, and those of the corpora with
corpora_floors.json. It ends with 1 and a line for each that is worse, with 2 if the data is not
that of the floors. ``--update`` records better figures and never worse ones, unless
``--allow-regression`` is given. Figures for the gate need no peers; ``--no-peers`` saves half the
time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..common.options import command_parser, say
from ..common.stored_pages import InputError
from ..common.tables import Table
from . import floors
from .known_pairs import digest
from .measurement import examine, measure_written
from .report import Result, content_of, figures_of, listing, tables, write_json, write_markdown
from .written_corpora import CORPORA, CorporaResult

FLOORS = Path(__file__).with_name("quality_floors.json")
CORPORA_FLOORS = Path(__file__).with_name("corpora_floors.json")


def keep_floors(
    options: argparse.Namespace, path: Path, found: str, figures: floors.Figures
) -> int:
    """Hold the figures against the recorded floors and record better ones.

    :returns: 0, or 1 when a figure fell below its floor, or 2 when the floors are of other data
        or cannot be read.
    """
    try:
        recorded = floors.read_floors(path)
        if options.gate and recorded is None:
            raise ValueError(f"{path}: no floors are recorded")
        lines = floors.broken(recorded, found, figures) if options.gate and recorded else []
        if options.update:
            new = floors.tightened(
                recorded, found, figures, allow_regression=options.allow_regression
            )
            floors.write_floors(path, new)
    except (ValueError, floors.OtherData) as error:
        say(str(error))
        return 2
    for line in lines:
        say(line)
    return 1 if lines else 0


def arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.quality", __doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--early-close", type=Path, metavar="FOLDER", help="pages that end early")
    parser.add_argument("--corpora", type=Path, default=CORPORA, metavar="FOLDER")
    parser.add_argument(
        "--corpora-only", action="store_true", help="only forms and disguised copies, no pages"
    )
    parser.add_argument("--no-peers", action="store_true", help="only this package")
    parser.add_argument("--list", action="store_true", help="show what was hit or missed wrongly")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--gate", action="store_true", help="fail below the recorded floors")
    parser.add_argument("--update", action="store_true", help="record better figures as floors")
    parser.add_argument(
        "--allow-regression", action="store_true", help="with --update, record worse ones as well"
    )
    parser.add_argument("--floors", type=Path, default=FLOORS, metavar="FILE")
    parser.add_argument("--corpora-floors", type=Path, default=CORPORA_FLOORS, metavar="FILE")
    options = parser.parse_args()
    if bool(options.data) == options.corpora_only:
        parser.error("give either --data or --corpora-only")
    return options


def main() -> int:
    options = arguments()
    try:
        if options.corpora_only:
            return _finish_corpora(options, measure_written(options.corpora))
        result = examine(
            options.data, options.early_close, options.corpora, with_peers=not options.no_peers
        )
    except InputError as error:
        say(str(error))
        return 2
    return _finish(options, result)


def _finish_corpora(options: argparse.Namespace, corpora: CorporaResult) -> int:
    """Show and hold the figures of the written corpora."""
    _show(options, corpora.tables(), corpora.listing())
    print(f"\ncorpora: {corpora.digest}")
    if options.json:
        write_json(corpora.content(), options.json)
    return keep_floors(options, options.corpora_floors, corpora.digest, corpora.figures())


def _finish(options: argparse.Namespace, result: Result) -> int:
    """Show and hold all figures."""
    found = digest(folder for folder in (options.data, options.early_close) if folder)
    corpora = result.corpora
    _show(options, tables(result), listing(result))
    print(f"\ndata: {found}\ncorpora: {corpora.digest}")
    if options.json:
        write_json(content_of(result, found) | corpora.content(), options.json)
    return max(
        keep_floors(options, options.floors, found, figures_of(result)),
        keep_floors(options, options.corpora_floors, corpora.digest, corpora.figures()),
    )


def _show(options: argparse.Namespace, shown: Sequence[Table], lines: Sequence[str]) -> None:
    for table in shown:
        print(table.as_text())
    if options.list:
        print("\n".join(lines))
    if options.markdown:
        write_markdown(shown, options.markdown)


if __name__ == "__main__":
    sys.exit(main())
