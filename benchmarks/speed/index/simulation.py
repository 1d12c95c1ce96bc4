"""Simulates lookups in an index that does not fit into memory.

A lookup reads only the buckets that it probes. With *n* random fingerprints, the size of a bucket
has a Poisson distribution with mean *n* / 65,536. The simulation therefore fills only the buckets
that its lookups probe, and empties the processor's caches before each round. At the largest size
of the real index, the simulated index must take the same time, or more if parts of the real one
stay in the caches.

The second part measures the real index at four times its largest size in the other figures, with a
million consecutive lookups (fewer for smaller sizes).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any

import numpy as np

from scrapy_neardup.hashing.simhash_index import SimhashIndex, probes

from ...common.measuring import Spread, own_process, rounded
from ...common.memory import free_as_a_crawl
from ...common.tables import Table
from ..parts import Part, Plot
from .contestants import OURS
from .figures import Lookups
from .random_fingerprints import fingerprints

_ABOUT = __doc__ or ""
_SEED = 11
_BUCKETS = 1 << 16
_BLOCK_BITS = 16
_DISTANCES = (3, 7, 11)
#: Lookups at most, and bytes of the buckets that they probe.
_LOOKUPS, _ROOM = 500, 1 << 30
#: More bytes than the processor's caches hold.
_CACHES = 1 << 28
#: Beyond the largest real size: ten times, and a hundred times as many fingerprints.
_BEYOND = (1, 10, 100)
#: How many times the largest size the index is that is asked many times; and how many lookups of
#: it there are for each fingerprint of the largest size.
_MANY, _SHARE = 4, 1 / 10
_AT_ONCE = 10_000_000
#: Manku, Jain, Das Sarma (WWW 2007, on batch queries): a million queries against eight
#: billion fingerprints, by 200 mappers in 100 seconds; so many comparisons a second and mapper.
MANKU = 1e6 * 8e9 / 100 / 200


@dataclass(frozen=True, slots=True)
class Many:
    """Many lookups, one after the other, on one core."""

    stored: int
    queries: int
    seconds: float
    found: int

    @property
    def comparisons_a_second(self) -> float:
        """Pairs of a query and a stored fingerprint that were decided upon."""
        return self.stored * self.queries / self.seconds


@dataclass(frozen=True)
class Simulation(Part):
    """Microseconds of processor time of a lookup, by size and distance.

    :ivar real: what was measured of the real index.
    :ivar lookups: how many were timed.
    """

    real: Lookups
    micros: dict[tuple[int, int], Spread]
    lookups: dict[tuple[int, int], int]
    many: Many
    name = "simulation"
    heading = "A simulated larger index"
    about = _ABOUT

    def tables(self) -> list[Table]:
        table = Table(
            "an index that is simulated: a lookup of what is new, µs",
            ("fingerprints", "k", "lookups", "simulated: median (quartiles)", "real index", "GB"),
        )
        bytes_each = self.real.growth[OURS.name, self.real.sizes[-1]].bytes_each
        for (size, distance), spread in self.micros.items():
            micros = self.real.micros(OURS.name, size, "new", distance)
            real = "-" if micros is None else rounded(micros)
            room = f"{size * bytes_each / 1e9:.2f}"
            table.add(f"{size:,}", distance, self.lookups[size, distance], spread, real, room)
        table.notes.append("GB: at the bytes a fingerprint of the real index at its largest")
        return [table, self._table_of_many()]

    def _table_of_many(self) -> Table:
        many = self.many
        table = Table(
            "many lookups on one core, k = 3",
            ("", "stored", "queries", "processor s", "comparisons a second and core"),
        )
        table.add(
            "scrapy-neardup",
            f"{many.stored:,}",
            f"{many.queries:,}",
            f"{many.seconds:.1f}",
            f"{many.comparisons_a_second:.1e}",
        )
        table.add("Manku et al., 200 mappers", f"{8 * 10**9:,}", "1,000,000", "-", f"{MANKU:.1e}")
        return table

    def plots(self) -> list[Plot]:
        simulated = {
            f"simulated, k = {distance}": [
                (float(size), spread.median)
                for (size, k), spread in self.micros.items()
                if k == distance
            ]
            for distance in _DISTANCES
        }
        curves = self.real.curves() | simulated
        n, micros = "fingerprints stored", "µs of processor time"
        return [Plot("lookups", "A lookup", n, micros, curves, frozenset(simulated))]

    def as_json(self) -> dict[str, Any]:
        return {
            "processor microseconds": [
                {"n": size, "distance": distance, **asdict(spread)}
                for (size, distance), spread in self.micros.items()
            ],
            "many": asdict(self.many) | {"comparisons a second": self.many.comparisons_a_second},
            "comparisons a second and mapper of Manku et al.": MANKU,
        }


def measure(real: Lookups, rounds: int) -> Simulation:
    """Simulate the real index's largest size and what lies beyond it."""
    largest = real.sizes[-1]
    micros, lookups = {}, {}
    with own_process() as process:
        for times in _BEYOND:
            for distance in _DISTANCES:
                key = largest * times, distance
                found = process.submit(simulated, *key, rounds).result()
                micros[key], lookups[key] = Spread.of(found), lookup_count(*key)
        queries = max(1, round(largest * _SHARE))
        many = process.submit(many_lookups, _MANY * largest, queries).result()
    return Simulation(real, micros, lookups, many)


def lookup_count(size: int, distance: int) -> int:
    """As many as the buckets that they probe leave room for."""
    buckets = sum(map(len, probes(distance)))
    return max(1, min(_LOOKUPS, round(_ROOM / (buckets * (1 + size / _BUCKETS) * 8))))


def simulated(size: int, distance: int, rounds: int) -> list[float]:
    """Microseconds of a lookup in each round."""
    free_as_a_crawl()
    source = random.Random(_SEED)
    queries = [source.getrandbits(64) for _ in range(lookup_count(size, distance))]
    index = SimhashIndex()
    fill_probed(index, queries, size, distance)
    return [_micros(index, queries, distance) for _ in range(rounds)]


def fill_probed(index: SimhashIndex, queries: Sequence[int], size: int, distance: int) -> None:
    """Fill the buckets that the queries probe as so many random fingerprints would.

    They lie in memory in no order, as those of an index do that has grown.
    """
    probed = {
        (block, query >> block * _BLOCK_BITS & (_BUCKETS - 1) ^ flip)
        for query in queries
        for block, flips in enumerate(probes(distance))
        for flip in flips
    }
    generator = np.random.default_rng(_SEED)
    for block, bucket in generator.permutation(sorted(probed)).tolist():
        if count := int(generator.poisson(size / _BUCKETS)):
            shift = block * _BLOCK_BITS
            words = generator.integers(0, 1 << 64, count, np.uint64)
            words &= ~np.uint64((_BUCKETS - 1) << shift)
            words |= np.uint64(bucket << shift)
            index._buckets[block << _BLOCK_BITS | bucket] = words.astype("<u8").tobytes()
            if block == 0:
                index._keys[bucket] = bytes(4 * count)


def _micros(index: SimhashIndex, queries: Sequence[int], distance: int) -> float:
    # A crawl asks for something else each time, so nothing of it is in the processor's caches.
    np.ones(_CACHES, np.uint8).sum()
    started = process_time()
    for query in queries:
        index.near(query, distance)
    return 1e6 * (process_time() - started) / len(queries)


def many_lookups(stored: int, queries: int) -> Many:
    """Ask an index of so many random fingerprints for so many that are like none of them."""
    free_as_a_crawl()
    index = SimhashIndex()
    for first in range(0, stored, _AT_ONCE):
        some = np.concatenate(list(fingerprints(first, min(first + _AT_ONCE, stored))))
        index.extend(some, np.arange(first, first + some.size, dtype=np.uint32))
    source, found = random.Random(_SEED), 0
    asked = [source.getrandbits(64) for _ in range(queries)]
    started = process_time()
    for query in asked:
        found += index.near(query, 3).keys.size
    return Many(stored, queries, process_time() - started, found)
