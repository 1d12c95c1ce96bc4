"""Times the search for all pairs: this package, simhash-cpp's ``find_all``, and plain numpy.

All get the same distinct random fingerprints, one in a hundred of which is near another. This
package also computes distances and clusters. ``find_all`` runs with each number of blocks that may
be its fastest; the first round of each size selects the fastest, and the later rounds omit the
others. Candidates that take more than 1.5 times as long at a million are not run at ten million.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from scrapy_neardup.hashing.hamming_pairs import near_pairs
from scrapy_neardup.hashing.union_find import Clusters

from ..common.goals import Goal
from ..common.measuring import Spread, in_turn
from ..common.tables import Table
from . import find_all
from .find_all import Found
from .parts import Check, Part, Plot, Standing, ratio

_ABOUT = __doc__ or ""
_SEED = 13
_DISTANCE = 3
_NEAR = 100
#: Faster than others it has to be from so many on.
_FROM = 10**6
_BLOCKS, _BLOCK_BITS = 4, 16
#: Of ``find_all``.
_BLOCKS_TRIED = (4, 5, 6)
_NEAR_BEST = 1.5
#: From so many fingerprints on, three rounds do: a round takes a minute.
_LARGE, _ROUNDS_OF_LARGE = 10**7, 3
OURS, FIND_ALL, NUMPY = "scrapy-neardup, with clusters", "find_all", "numpy, four 16-bit blocks"

_Words = npt.NDArray[np.uint64]


def made_up(count: int) -> _Words:
    """Fingerprints, one in a hundred within one to three bits of another; distinct."""
    generator = np.random.default_rng(_SEED)
    words = generator.integers(0, 1 << 64, count, np.uint64)
    near = count // _NEAR
    bits = np.uint64(1) << generator.integers(0, 64, (near, _DISTANCE), np.uint64)
    words[:near] = words[count - near :] ^ np.bitwise_or.reduce(bits, axis=1)
    return generator.permutation(np.unique(words))


@dataclass(frozen=True)
class AllPairs(Part):
    """Seconds of processor time, by size and contestant.

    :ivar blocks: the best number of ``find_all``, by size.
    :ivar found: how many pairs each contestant found.
    :ivar trouble: why ``find_all`` took no part; empty when it did.
    """

    seconds: dict[tuple[int, str], Spread]
    blocks: dict[int, int]
    found: dict[tuple[int, str], int]
    version: str
    trouble: str
    name = "pairs"
    heading = "All pairs of a stored set"
    about = _ABOUT

    @property
    def sizes(self) -> list[int]:
        return sorted({size for size, _ in self.seconds})

    def agree(self, size: int) -> bool:
        """Return whether all contestants have found equally many pairs."""
        return len({found for (at, _), found in self.found.items() if at == size}) == 1

    def _times_ours(self, size: int, name: str) -> float | None:
        theirs = self.seconds.get((size, name))
        return ratio(theirs.median if theirs else None, self.seconds[size, OURS].median)

    def _goal(self, name: str, size: int, other: str, bound: float) -> Goal:
        value = self._times_ours(size, other)
        why = self.trouble if other == FIND_ALL else ""
        n = (size, "fingerprints")
        return Goal(name, value, bound, *n, at_most=False, why=why, against=other)

    def ratios(self) -> list[Goal]:
        return [self._goal("all_pairs_vs_find_all", self.sizes[-1], FIND_ALL, 1.5)]

    def goals(self) -> list[Goal]:
        faster = [
            self._goal("all pairs: times as fast as find_all", size, FIND_ALL, 1.5)
            for size in self.sizes
            if size >= _FROM
        ]
        return [
            *faster,
            self._goal("all pairs: times as fast as numpy", self.sizes[-1], NUMPY, 1.0),
        ]

    def tables(self) -> list[Table]:
        table = Table(
            f"all pairs within {_DISTANCE} bits: processor time, s",
            ("by", "fingerprints", "median (quartiles)", "times ours", "pairs found"),
        )
        for (size, name), spread in self.seconds.items():
            table.add(
                self._title(name, size),
                f"{size:,}",
                spread,
                self._times_ours(size, name) or "-",
                self.found[size, name],
            )
        return [table]

    def _title(self, name: str, size: int) -> str:
        if name != FIND_ALL:
            return name
        return f"find_all of {find_all.PACKAGE} {self.version}, {self.blocks[size]} blocks"

    def plots(self) -> list[Plot]:
        lines: dict[str, list[tuple[float, float]]] = {}
        for (size, name), spread in self.seconds.items():
            lines.setdefault(name, []).append((size, spread.median))
        return [Plot("pairs", "All pairs, k = 3", "fingerprints", "s of processor time", lines)]

    def checks(self) -> list[Check]:
        problems = [
            f"of {size:,} fingerprints, not all found as many"
            for size in self.sizes
            if not self.agree(size)
        ]
        return [Check("all searches found as many pairs", problems)]

    def peers(self) -> dict[str, Standing]:
        return {find_all.PACKAGE: Standing(self.version, self.trouble)}

    def as_json(self) -> dict[str, Any]:
        return {
            "processor seconds": [
                {"by": name, "n": size, "pairs": self.found[size, name], **asdict(spread)}
                for (size, name), spread in self.seconds.items()
            ],
            "blocks of find_all": self.blocks,
        }


def measure(sizes: Sequence[int], rounds: int, folder: Path, trouble: str) -> AllPairs:
    """Measure all packages at each size.

    :param folder: where ``find_all`` is.
    :param trouble: why it is not.
    """
    figures = AllPairs({}, {}, {}, find_all.version_in(folder), trouble)
    tried: Sequence[int] = _BLOCKS_TRIED
    with tempfile.TemporaryDirectory() as made:
        for size in sizes:
            words, path = made_up(size), Path(made) / "fingerprints.npy"
            np.save(path, words)
            contestants: dict[str, Callable[[], Found]] = {
                OURS: partial(_timed, ours, words),
                NUMPY: partial(_timed, four_blocks, words),
            }
            first: dict[str, list[Found]] = {}
            if not trouble:
                search = partial(find_all.find_all, folder, path, distance=_DISTANCE)
                first_of = {n: search(n) for n in tried}
                best = min(first_of, key=lambda n: first_of[n].seconds)
                figures.blocks[size] = best
                if size >= _FROM:
                    most = _NEAR_BEST * first_of[best].seconds
                    tried = [n for n in tried if first_of[n].seconds <= most]
                contestants[FIND_ALL] = partial(search, best)
                first[FIND_ALL] = [first_of[best]]
            _measure_at(figures, size, contestants, first, rounds)
    return figures


def _measure_at(
    figures: AllPairs,
    size: int,
    contestants: dict[str, Callable[[], Found]],
    first: dict[str, list[Found]],
    rounds: int,
) -> None:
    rounds = min(rounds, _ROUNDS_OF_LARGE) if size >= _LARGE else rounds
    others = {name: contestant for name, contestant in contestants.items() if name not in first}
    measured = in_turn(others, 1) | first
    for name, more in in_turn(contestants, rounds - 1).items():
        every = measured[name] + more
        figures.seconds[size, name] = Spread.of(found.seconds for found in every)
        figures.found[size, name] = every[0].pairs


def _timed(search: Callable[[_Words], int], words: _Words) -> Found:
    started = process_time()
    pairs = search(words)
    return Found(process_time() - started, pairs)


def ours(words: _Words) -> int:
    """Return the number of pairs; their clusters are computed as well."""
    clusters, pairs = Clusters(words.size), 0
    for batch in near_pairs(words, _DISTANCE):
        clusters.join(batch.first, batch.second)
        pairs += batch.first.size
    clusters.smallest()
    return pairs


def four_blocks(words: _Words) -> int:
    """Return the number of pairs, found by comparing the fingerprints that are equal in a block.

    A pair that is equal in several blocks counts in the first of them.
    """
    return sum(_pairs_of_block(words, block) for block in range(_BLOCKS))


def _pairs_of_block(words: _Words, block: int) -> int:
    values = (words >> np.uint64(block * _BLOCK_BITS)).astype(np.uint16)
    ordered = words[np.argsort(values, kind="stable")]
    counts = np.bincount(values, minlength=1 << _BLOCK_BITS)
    ends = np.cumsum(counts)
    pairs = 0
    for end, count in zip(ends[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True):
        run = ordered[end - count : end]
        differences = run[:, None] ^ run
        near = differences[np.bitwise_count(differences) <= _DISTANCE]
        near = near[near != 0]
        for before in range(block):
            near = near[(near >> np.uint64(before * _BLOCK_BITS)).astype(np.uint16) != 0]
        pairs += near.size // 2
    return pairs
