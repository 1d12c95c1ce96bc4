"""Measures the classic methods, each alone, on the pages and labels of the quality benchmark.

``--data`` names a folder of pages (known_pairs.py). Methods that read texts get the one that the
resemblance J was measured on; methods that read files get the bodies of the pages. The row of the
rule is that of ``python -m benchmarks.quality``, found pair by pair.

A pair is found if the later page, in the order of the files, is near the earlier one. The time is
processor time for the value of one page, without extraction and without the words, which methods
share; ``bytes`` is the mean size of a value.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import Pool
from pathlib import Path
from time import process_time

import numpy as np

from scrapy_neardup.methods import Method, MethodIndex, open_method
from scrapy_neardup.methods.words import WordMethod
from scrapy_neardup.signatures.signature import PageSignature

from ..common.options import command_parser, say
from ..common.stored_pages import Page, html_of
from ..common.tables import Table
from .detection import compare_all, crawl, new_detector, sign
from .figures import Yardstick
from .known_pairs import Pair, read_corpus
from .report import show
from .resemblance import Shingles, Truth, shingles, tokens, true_text

METHODS = (
    *("exact", "simhash:32", "simhash:64", "simhash:128", "nilsimsa", "minhash", "bottomk"),
    *("words", "sentences", "manber", "tags", "keywords"),
)
_RULE = "the rule"


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one page.

    :ivar values: by method.
    :ivar seconds: processor time of each value.
    """

    signature: PageSignature | None
    n_tokens: int
    shingles: Shingles
    values: Mapping[str, bytes]
    seconds: Mapping[str, float]


@cache
def _opened(name: str) -> Method:
    method = open_method(name)
    # The tables that a first value reads are not that value's time.
    method.value("one two three")
    return method


def measure(page: Page, names: Sequence[str]) -> Measured:
    html = html_of(page)
    text = true_text(html)
    found = tokens(text)
    values: dict[str, bytes] = {}
    seconds: dict[str, float] = {}
    for name in names:
        method, content = _opened(name), page.body if _opened(name).reads == "bytes" else text
        if isinstance(method, WordMethod):
            words = method.words(text)
            method, content = open_method(name, lambda _, words=words: words), ""
        start = process_time()
        values[name] = method.value(content)
        seconds[name] = process_time() - start
    return Measured(sign(page, html), len(found), shingles(found), values, seconds)


def found_pairs(name: str, values: Sequence[bytes]) -> set[Pair]:
    """Return the pairs of which the later value is near the earlier one, found on all cores."""
    parts = os.cpu_count() or 1
    with Pool(parts) as pool:
        found = pool.map(partial(_found_pairs, name, values, parts), range(parts), 1)
    return set().union(*found)


def _found_pairs(name: str, values: Sequence[bytes], parts: int, part: int) -> set[Pair]:
    index, found = MethodIndex(open_method(name)), set()
    for place, value in enumerate(values):
        if place % parts == part:
            found |= {(match.number, place) for match in index.near(value)}
        if value:
            index.add(place, value)
    return found


def methods_table(data: Path, names: Sequence[str]) -> Table:
    """Measure the rule and the methods."""
    corpus = read_corpus(data)
    say(f"{len(corpus.ids):,} pages: texts, signatures, values")
    measured = corpus.map(partial(measure, names=names))
    truth = Truth(corpus, np.array([m.n_tokens for m in measured]), [m.shingles for m in measured])
    yardstick = Yardstick(truth)
    table = Table(
        "classic methods, each alone",
        (
            *("method", "finds J>=0.8", "finds J>=0.9", "hits J<0.5", "duplicates found"),
            *("distinct hit", "ms", "bytes"),
        ),
    )
    say(_RULE)
    detector, signatures = new_detector(), [m.signature for m in measured]
    crawl(detector, signatures, range(len(signatures)))
    table.add(_RULE, *_figures(yardstick, set(compare_all(detector, signatures))), "", "")
    for name in names:
        say(name)
        values = [m.values[name] for m in measured]
        milliseconds = 1000 * float(np.mean([m.seconds[name] for m in measured]))
        size = round(np.mean([len(value) for value in values]))
        found = _figures(yardstick, found_pairs(name, values))
        table.add(name, *found, f"{milliseconds:.2f}", size)
    return table


def _figures(yardstick: Yardstick, hits: set[Pair]) -> tuple[object, ...]:
    pairs, labels = yardstick.of_pairs(hits), yardstick.of_labels(hits)
    return pairs.found_80, pairs.found_90, pairs.below_50, labels.duplicates, labels.distinct


def main() -> int:
    parser = command_parser("benchmarks.quality.methods", __doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--method", action="append", metavar="NAME", help="instead of all (repeatable)"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options: argparse.Namespace = parser.parse_args()
    measured = partial(methods_table, options.data, options.method or METHODS)
    return show(measured, options.markdown)


if __name__ == "__main__":
    sys.exit(main())
