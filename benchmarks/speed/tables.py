"""Compares the table designs of Manku, Jain and Das Sarma with the index of the rule.

The fingerprints are random, except a thousand at a distance of two bits from another one; each is
looked up at a distance of three bits. Each measurement runs in a process of its own. Bytes are the
growth of the process at its peak, microseconds the processor time of a lookup.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import numpy as np

from scrapy_neardup.hashing.simhash_index import SimhashIndex
from scrapy_neardup.hashing.tables import DESIGNS, TABLE_DISTANCE, table_masks
from scrapy_neardup.methods import MethodIndex
from scrapy_neardup.methods.simhash import Simhash

from ..common.measuring import apart
from ..common.memory import peak_bytes
from ..common.options import at_least, command_parser
from ..common.tables import Table
from .near_pairs import fingerprints

_LOOKUPS = 2000


class Figures(NamedTuple):
    bytes_each: int
    microseconds: str
    found: int


def by_tables(count: int, design: int) -> Figures:
    index = MethodIndex(Simhash(tables=design))

    def fill() -> None:
        for number, word in enumerate(fingerprints(count).tolist()):
            index.add(number, word.to_bytes(8, "big"))

    return _measured(count, fill, lambda word: len(index.near(word.to_bytes(8, "big"))))


def by_rule(count: int) -> Figures:
    index = SimhashIndex()

    def fill() -> None:
        index.extend(fingerprints(count), np.arange(count, dtype=np.uint32))

    return _measured(count, fill, lambda word: index.near(word, TABLE_DISTANCE).keys.size)


def _measured(count: int, fill: Callable[[], None], look_up: Callable[[int], int]) -> Figures:
    before = peak_bytes()
    fill()
    grown, words = peak_bytes() - before, fingerprints(count)[:_LOOKUPS].tolist()
    started = process_time()
    found = sum(map(look_up, words))
    seconds = process_time() - started
    return Figures(round(grown / count), f"{seconds / len(words) * 1e6:.1f}", found - len(words))


def candidates(count: int, design: int) -> float:
    """Return how many of random fingerprints agree by chance with one in a table."""
    return sum(count / 2.0 ** mask.bit_count() for mask in table_masks(design))


def main() -> int:
    parser = command_parser("benchmarks.speed.tables", __doc__)
    parser.add_argument(
        "--sizes", type=at_least(2 * _LOOKUPS), nargs="+", default=[10**4, 10**5], metavar="N"
    )
    options = parser.parse_args()
    head = ("fingerprints", "index", "candidates", "bytes each", "lookup µs", "found")
    table = Table("lookups at a distance of 3 bits", head)
    for count in options.sizes:
        table.add(f"{count:,}", "rule", f"{candidates(count, 4):.3f}", *apart(by_rule, count))
        for design in DESIGNS:
            expected = f"{candidates(count, design):.3f}"
            table.add(f"{count:,}", f"tables={design}", expected, *apart(by_tables, count, design))
    print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
