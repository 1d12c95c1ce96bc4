"""Measures the alternatives to the decisions in docs/design.md, all on the same pages.

One function answers a question. Times are processor time in a worker process, so that they hardly
depend on what else the machine does. Pairs are counted as in the benchmark of quality.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from ..common.options import command_parser, say
from ..common.stored_pages import InputError
from ..common.tables import Table
from ..quality.known_pairs import Corpus, read_corpus
from .first_pages import first_pages
from .held_out import thresholds_held_out
from .lazy import lazy_extraction
from .masking import masking
from .reading import (
    decoding,
    extraction_on_scrapys_tree,
    fast_extraction,
    jieba_against_rjieba,
)
from .rule import sketch_size, title_rule, weights_and_distances
from .short_pages import short_pages
from .soft_404 import soft_404s
from .store_secrets import secrets_drawn

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
    "lazy": lazy_extraction,
    "soft404": soft_404s,
}


def main() -> int:
    parser = command_parser("benchmarks.decisions", __doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", action="append", choices=QUESTIONS, metavar="QUESTION")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    options = parser.parse_args()
    try:
        corpus = read_corpus(options.data)
    except InputError as error:
        say(str(error))
        return 2
    for name in options.only or QUESTIONS:
        for table in QUESTIONS[name](corpus):
            print(f"\n{table.as_markdown()}" if options.markdown else table.as_text(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
