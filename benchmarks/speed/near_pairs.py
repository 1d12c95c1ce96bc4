"""Compares the search for all pairs with one index lookup per fingerprint.

The fingerprints are random, except a thousand at a distance of two bits from another one. Each
measurement runs in a process of its own, on one core. Seconds are processor time; megabytes are the
growth of the process at its peak. The lookups are a sample: their time is scaled up to all
fingerprints, their pairs are those of the sample. The speed benchmark compares with other packages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scrapy_neardup.hashing.hamming_pairs import near_pairs
from scrapy_neardup.hashing.simhash_index import SimhashIndex

from ..common.measuring import apart
from ..common.memory import peak_bytes
from ..common.options import command_parser
from ..common.tables import Table

_SEED = 1
_PLANTED = 1000
_LOOKUPS = 20_000
_MEGABYTE = 2**20


class Figures(NamedTuple):
    seconds: float
    megabytes: float
    pairs: int


def fingerprints(count: int) -> npt.NDArray[np.uint64]:
    rng = np.random.default_rng(_SEED)
    words = rng.integers(0, 2**64, count, np.uint64)
    bits = np.argsort(rng.random((_PLANTED, 64)), axis=1)[:, :2].astype(np.uint64)
    words[1 : 2 * _PLANTED : 2] = words[: 2 * _PLANTED : 2] ^ np.bitwise_or.reduce(
        np.uint64(1) << bits, axis=1
    )
    return words


def ours(count: int, distance: int) -> Figures:
    words = fingerprints(count)
    return _measured(lambda: sum(found.first.size for found in near_pairs(words, distance)))


def by_index(count: int, distance: int) -> Figures:
    """As many lookups as there are fingerprints, and the making of the index."""
    words = fingerprints(count)
    index = SimhashIndex()

    def make() -> int:
        index.extend(words, np.arange(count, dtype=np.uint32))
        return 0

    def look_up() -> int:
        return sum(index.near(word, distance).keys.size - 1 for word in words[:sample].tolist())

    sample = min(count, _LOOKUPS)
    made, looked_up = _measured(make), _measured(look_up)
    # Each of the planted pairs is found from both sides, and all of them are in the sample.
    seconds = made.seconds + looked_up.seconds * count / sample
    return Figures(seconds, made.megabytes + looked_up.megabytes, looked_up.pairs // 2)


def _measured(find: Callable[[], int]) -> Figures:
    before, started = peak_bytes(), process_time()
    pairs = find()
    return Figures(process_time() - started, (peak_bytes() - before) / _MEGABYTE, pairs)


def arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.speed.near_pairs", __doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**6, 10**7], metavar="N")
    parser.add_argument("--distances", type=int, nargs="+", default=[3], metavar="K")
    parser.add_argument("--no-index", action="store_true", help="leave the lookups out")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    table = Table("all pairs", ("fingerprints", "k", "by", "seconds", "MB", "pairs"))
    for count in options.sizes:
        for distance in options.distances:
            ways: list[tuple[str, Figures]] = [("near_pairs", apart(ours, count, distance))]
            if not options.no_index:
                ways.append(("index", apart(by_index, count, distance)))
            for name, figures in ways:
                table.add(f"{count:,}", distance, name, *figures)
    print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
