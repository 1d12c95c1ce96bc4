"""All pairs of many fingerprints within a distance: what that takes of time and memory.

    python benchmarks/allpairs.py [--sizes 1000000 10000000] [--distances 3] [--peer FOLDER]

The fingerprints are random, but for a thousand that lie two bits beside another one. Each
measurement runs in a process of its own, on one core; seconds are of processor time, megabytes are
what the process grew by at its peak. The index that a crawl looks fingerprints up in is measured
on a sample of lookups and reckoned up to all of them; its pairs are those of the sample.

The peer is ``find_all`` of seomoz's simhash-cpp, as PyPI's simhash-pybind 0.0.3 has it. That
installs a package ``simhash``, as another distribution does, so it goes into a folder of its own:
``pip install --target FOLDER simhash-pybind``. For K = 3, it is fastest with 4 blocks at a million
and with 5 at ten million fingerprints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from measuring import apart, peak_bytes
from tables import Table

from scrapy_neardup.hashing.hamming_pairs import near_pairs
from scrapy_neardup.hashing.simhash_index import SimhashIndex

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


def peers(count: int, distance: int, folder: str, blocks: int) -> Figures:
    sys.path.insert(0, folder)
    simhash = import_module("simhash")
    words = set(fingerprints(count).tolist())
    return _measured(lambda: len(simhash.find_all(words, blocks, distance)))


def _measured(find: Callable[[], int]) -> Figures:
    before, started = peak_bytes(), process_time()
    pairs = find()
    return Figures(process_time() - started, (peak_bytes() - before) / _MEGABYTE, pairs)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**6, 10**7], metavar="N")
    parser.add_argument("--distances", type=int, nargs="+", default=[3], metavar="K")
    parser.add_argument("--no-index", action="store_true", help="leave the lookups out")
    parser.add_argument("--peer", metavar="FOLDER", help="where simhash-pybind is installed")
    parser.add_argument(
        "--peer-blocks", type=int, nargs="+", metavar="B", help="default: K + 1 and K + 2"
    )
    return parser.parse_args()


def main() -> int:
    options = arguments()
    table = Table("all pairs", ("fingerprints", "k", "by", "seconds", "MB", "pairs"))
    for count in options.sizes:
        for distance in options.distances:
            ways: list[tuple[str, Figures]] = [("near_pairs", apart(ours, count, distance))]
            if not options.no_index:
                ways.append(("index", apart(by_index, count, distance)))
            if options.peer:
                tried = options.peer_blocks or [distance + 1, distance + 2]
                ways += [
                    (f"find_all, {b} blocks", apart(peers, count, distance, options.peer, b))
                    for b in tried
                ]
            for name, figures in ways:
                table.add(f"{count:,}", distance, name, *figures)
    print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
