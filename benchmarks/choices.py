"""What the package's decisions rest on, measured in one run.

    python benchmarks/choices.py --data FOLDER [--only QUESTION]…

One function a question, in the modules choices_*.py. Times are processor time in a
worker process, so that they hardly depend on what else the machine does. Pairs are counted as in
quality.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from choices_first import first_pages
from choices_heldout import thresholds_held_out
from choices_masking import masking
from choices_rule import sketch_size, title_rule, weights_and_distances
from choices_secrets import secrets_drawn
from choices_short import short_pages
from choices_text import (
    decoding,
    extraction_on_scrapys_tree,
    fast_extraction,
    jieba_against_rjieba,
)
from corpus import Corpus, read_corpus
from pages import InputError
from tables import Table

QUESTIONS: dict[str, Callable[[Corpus], list[Table]]] = {
    "tree": extraction_on_scrapys_tree,
    "fast": fast_extraction,
    "encodings": decoding,
    "words": jieba_against_rjieba,
    "weights": weights_and_distances,
    "titles": title_rule,
    "sketch": sketch_size,
    "secrets": secrets_drawn,
    "first": first_pages,
    "heldout": thresholds_held_out,
    "masking": masking,
    "short": short_pages,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", action="append", choices=QUESTIONS, metavar="QUESTION")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    options = parser.parse_args()
    try:
        corpus = read_corpus(options.data)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    for name in options.only or QUESTIONS:
        for table in QUESTIONS[name](corpus):
            print(table.as_markdown() if options.markdown else table.as_text(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
