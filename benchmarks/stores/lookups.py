"""Measures the time of a claim, ordinary or during a flood, and the memory of a page.

Pages are made up: random fingerprints and sketches, sites of 50 pages, titles of six words. A
flood is pages that one lookup has to look at:

* *one block*: all fingerprints have one 16-bit block in common and are far from each other;
* *same words*: a page's words shuffled, so fingerprints within 3 bits and nothing else alike;
* *spread*: the same, at distance 8 in one block, so that its values are all different;
* *one shop*: near-identical pages of one site, fingerprints within 3 bits, other titles;
* *thin*: one text, little of what the pages show, on many sites.

The times are processor time of this thread, in milliseconds: other programs of the machine do not
count, but what they take of its caches does. Memory is the growth of the process; each store has a
process of its own.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import thread_time
from typing import Any

import numpy as np

from scrapy_neardup import Rule, Verdict
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore

from ..common.measuring import apart
from ..common.memory import peak_bytes
from ..common.options import at_least, command_parser
from ..common.tables import Table
from .made_up_signatures import Maker, ordinary

_PAGES = (10_000, 100_000, 1_000_000)
_FLOOD = 20_000
_CLAIMS = 500
_DISTANCES = (3, 8, 11)
_BLOCK_BITS = 16
_SEED = 7
#: Remembers everything, at the price of one bucket a lookup.
_FILLING = Rule(max_distance=0, min_similarity=1, scope="site")


def one_block(maker: Maker) -> PageSignature:
    fingerprint = maker.any_fingerprint() >> _BLOCK_BITS << _BLOCK_BITS
    return maker.page(fingerprint, maker.any_sketch())


def same_words(maker: Maker) -> PageSignature:
    return maker.page(maker.near(3), maker.any_sketch())


def spread(maker: Maker) -> PageSignature:
    return maker.page(maker.near(8, within=_BLOCK_BITS), maker.any_sketch())


def one_shop(maker: Maker) -> PageSignature:
    return maker.page(maker.near(3), maker.alike(), "shop.example")


def thin(maker: Maker) -> PageSignature:
    parts: dict[str, Any] = {"n_features": 60, "n_text": 300, "text_digest": b"one notice, once"}
    return maker.page(maker.fingerprint, maker.sketch, **parts)


FLOODS: dict[str, Callable[[Maker], PageSignature]] = {
    "one block": one_block,
    "same words": same_words,
    "spread": spread,
    "one shop": one_shop,
    "thin": thin,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds of each claim, by Hamming distance, and what the claims said."""

    remembered: int
    bytes_a_page: float
    times: dict[int, Sequence[float]]
    said: Counter[str]


def pages(kind: Callable[[Maker], PageSignature]) -> Iterator[PageSignature]:
    maker = Maker(_SEED)
    while True:
        yield kind(maker)


def measure(
    kind: Callable[[Maker], PageSignature], count: int, claims: int, distances: Sequence[int]
) -> Figures:
    """Fill a store with pages of one kind and claim more of them."""
    source = pages(kind)
    store = MemoryStore(b"a benchmark has nothing to hide.")
    _claim(store, next(source), _FILLING)
    before = peak_bytes()
    for page in islice(source, count - 1):
        _claim(store, page, _FILLING)
    grown = peak_bytes() - before
    times: dict[int, Sequence[float]] = {}
    said: Counter[str] = Counter()
    for distance in distances:
        rule = Rule(max_distance=distance)
        times[distance] = [_timed(store, page, rule, said) for page in islice(source, claims)]
    return Figures(len(store), grown / max(count - 1, 1), times, said)


def _claim(store: MemoryStore, page: PageSignature, rule: Rule) -> Verdict:
    claim = store.claim(page, rule)
    if claim.ticket is not None:
        store.commit(claim.ticket)
    return claim.verdict


def _timed(store: MemoryStore, page: PageSignature, rule: Rule, said: Counter[str]) -> float:
    started = thread_time()
    verdict = _claim(store, page, rule)
    spent = thread_time() - started
    said[f"{verdict.kind} ({verdict.reason})"] += 1
    return 1000 * spent


def _row(times: Sequence[float]) -> tuple[float, float, float]:
    return float(np.median(times)), float(np.quantile(times, 0.99)), max(times)


def ordinary_table(found: dict[int, Figures]) -> Table:
    table = Table(
        "a claim in an ordinary store, ms",
        ("pages", "k", "claims", "median", "99 %", "max", "bytes a page"),
    )
    for count, figures in found.items():
        for distance, times in figures.times.items():
            table.add(f"{count:,}", distance, len(times), *_row(times), round(figures.bytes_a_page))
    return table


def flood_table(found: dict[str, Figures], usual: float) -> Table:
    table = Table(
        f"a claim amid a flood, k = {_DISTANCES[-1]}, ms",
        ("flood", "remembered", "claims", "median", "99 %", "max", "times ordinary"),
    )
    for name, figures in found.items():
        [times] = figures.times.values()
        row = _row(times)
        table.add(name, figures.remembered, len(times), *row, row[0] / usual)
        said = ", ".join(f"{count:,} {what}" for what, count in figures.said.most_common())
        table.notes.append(f"{name}: {said}")
    return table


def arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.stores.lookups", __doc__)
    parser.add_argument("--pages", type=at_least(1), action="append", metavar="N")
    parser.add_argument("--flood", type=at_least(1), default=_FLOOD, metavar="N")
    parser.add_argument("--claims", type=at_least(1), default=_CLAIMS, metavar="N")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    sizes = sorted(set(options.pages or _PAGES))
    usual: dict[int, Figures] = {}
    for count in sizes:
        usual[count] = apart(measure, ordinary, count, options.claims, _DISTANCES)
    print(ordinary_table(usual).as_text(), flush=True)
    of_size = apart(measure, ordinary, options.flood, options.claims, _DISTANCES[-1:])
    floods = {
        name: apart(measure, kind, options.flood, options.claims, _DISTANCES[-1:])
        for name, kind in FLOODS.items()
    }
    table = flood_table(
        {"none": of_size, **floods}, float(np.median(of_size.times[_DISTANCES[-1]]))
    )
    print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
