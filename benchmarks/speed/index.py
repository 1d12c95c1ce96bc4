"""Times lookups in a growing index of fingerprints: this package's and others'.

Each index is in a process of its own, which holds nothing else, so that its memory can be
measured. All are filled with the same random fingerprints up to one size, queried in turn, and
filled further. The queries are fingerprints unlike all stored ones, and stored ones with up to
three changed bits. Each process first allocates and frees eight megabytes, as a crawl does with
its pages; otherwise glibc requests large blocks from the system at every lookup.

A package that takes no fingerprints gets the cheapest input that yields one: gaoya a text of one
word, pyLSHash the bits as a vector. The bits of a word cannot be changed, so the queries of gaoya
are stored words. All inputs are prepared before the time is measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from time import perf_counter, process_time, thread_time
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from scrapy_neardup.hashing.simhash_index import SimhashIndex

from ..common.goals import Goal
from ..common.measuring import Spread, in_turn, own_process
from ..common.memory import free_as_a_crawl, resident_bytes
from ..common.packages import Package
from ..common.tables import Table
from .parts import Part, Plot, Standing, ratio, standings

_ABOUT = __doc__ or ""
_SEED = 7
_CHUNK = 10_000
#: Milliseconds that no step may take while the index grows.
_PAUSE = 10
#: The distance that all of them can be asked for.
_DISTANCE = 3
#: Distances of ours, with how many lookups a round.
_OURS = {3: 1000, 7: 500, 11: 50}
_THEIRS = 200
#: Microseconds of a check with the add that follows, at most, at the largest size.
_BOUNDS = {3: 10, 7: 60, 11: 1500}
_BYTES = 48


def fingerprints(first: int, last: int) -> Iterator[npt.NDArray[np.uint64]]:
    """The random fingerprints from one number to another, some at a time; always the same."""
    for start in range(first - first % _CHUNK, last, _CHUNK):
        some = np.random.default_rng((_SEED, start)).integers(0, 1 << 64, _CHUNK, np.uint64)
        yield some[max(first - start, 0) : last - start]


class _Index(Protocol):
    #: May a stored fingerprint be asked for with other bits?
    takes_bits: bool

    def item(self, fingerprint: int) -> Any:
        """Return the form in which the index takes a fingerprint."""

    def add(self, item: Any, key: int) -> None: ...
    def find(self, item: Any, distance: int) -> bool: ...


class _Ours:
    takes_bits = True

    def __init__(self) -> None:
        self._index = SimhashIndex()
        self.add: Callable[[int, int], None] = self._index.add

    def item(self, fingerprint: int) -> int:
        return fingerprint

    def find(self, item: int, distance: int) -> bool:
        return bool(self._index.near(item, distance).keys.size)


class _Gaoya:
    """gaoya's index, which finds fingerprints below the given distance, not at it.

    To find all within three bits it is given four, and needs five blocks at least.
    """

    takes_bits = False

    def __init__(self, blocks: int) -> None:
        module: Any = import_module("gaoya.simhash")
        index = module.SimHashStringIndex(64, blocks, _DISTANCE + 1, ngram_range=(1, 1)).index
        self._insert, self._query = index.insert_document, index.query

    def item(self, fingerprint: int) -> str:
        return f"{fingerprint:x}"

    def add(self, item: str, key: int) -> None:
        self._insert(key, item)

    def find(self, item: str, _: int) -> bool:
        return bool(self._query(item))


class _Simhash:
    takes_bits = True

    def __init__(self) -> None:
        module: Any = import_module("simhash")
        self._print = module.Simhash
        self._index = module.SimhashIndex([], k=_DISTANCE)

    def item(self, fingerprint: int) -> Any:
        return self._print(fingerprint)

    def add(self, item: Any, key: int) -> None:
        self._index.add(str(key), item)

    def find(self, item: Any, _: int) -> bool:
        return bool(self._index.get_near_dups(item))


class _PyLSHash:
    """Random projections to 16 bits, in four tables: what is near is found by chance.

    Between vectors of ones and minus ones the square of the distance is four times Hamming's.
    """

    takes_bits = True

    def __init__(self) -> None:
        module: Any = import_module("pyLSHash")
        storage: Any = import_module("pyLSHash.storage")
        np.random.seed(_SEED)  # where it takes its planes from
        self._index = module.LSHash(16, 64, 4, storage.InMemoryStorage(""))

    def item(self, fingerprint: int) -> list[int]:
        return [1 if fingerprint >> bit & 1 else -1 for bit in range(64)]

    def add(self, item: list[int], key: int) -> None:
        self._index.index(item, key)

    def find(self, item: list[int], distance: int) -> bool:
        return any(square <= 4 * distance for _, square in self._index.query(item))


@dataclass(frozen=True)
class Contestant(Package):
    """An index.

    :ivar make: what makes an empty one.
    :ivar most: fingerprints, up to which it fits into a few gigabytes and minutes.
    """

    make: Callable[[], _Index]
    most: int


OURS = Contestant("scrapy-neardup", "scrapy-neardup", "scrapy_neardup", _Ours, 10**9)
_GAOYA = "gaoya.simhash"
CONTESTANTS = (
    OURS,
    Contestant("gaoya, 5 blocks", "gaoya", _GAOYA, partial(_Gaoya, 5), 10**7),
    Contestant("gaoya, 6 blocks", "gaoya", _GAOYA, partial(_Gaoya, 6), 10**6),
    Contestant("simhash SimhashIndex", "simhash", "simhash", _Simhash, 10**6),
    Contestant("pyLSHash, by chance", "pyLSHash", "pyLSHash", _PyLSHash, 10**5),
)


_WORDS = {"new": "look up, new", "near": "look up, near", "add": "add", "check": "check, then add"}


@dataclass(frozen=True, slots=True)
class Work:
    """The kind of operations in a round: ``"new"``, ``"near"``, ``"add"`` or ``"check"``.

    A check is a lookup of what is new, and then its add.
    """

    kind: str
    distance: int
    times: int


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of an index to its size.

    :ivar longest_ms: the longest add, by the clock: other programs had their part in it.
    :ivar longest_processor_ms: the add that took the most processor time.
    """

    bytes_each: float
    longest_ms: float
    longest_processor_ms: float


@dataclass(frozen=True, slots=True)
class Timed:
    """Microseconds of processor time of one, and the share of those that were found."""

    micros: Spread
    found: float


# --- in the process of an index ---


class _Process:
    """The one index that a process holds."""

    index: _Index
    empty_bytes: int
    asked: random.Random


def _open(make: Callable[[], _Index]) -> None:
    free_as_a_crawl()
    _Process.index = make()
    _Process.empty_bytes = resident_bytes()
    _Process.asked = random.Random(_SEED)


def _grow(first: int, last: int) -> Growth:
    index, key = _Process.index, first
    longest = longest_processor = 0.0
    for some in fingerprints(first, last):
        items = [index.item(fingerprint) for fingerprint in some.tolist()]
        clock, worked = perf_counter(), thread_time()
        for item in items:
            index.add(item, key)
            key += 1
            # The end of one is the beginning of the next: there are millions of them.
            clock_now, worked_now = perf_counter(), thread_time()
            longest = max(longest, clock_now - clock)
            longest_processor = max(longest_processor, worked_now - worked)
            clock, worked = clock_now, worked_now
    grown = resident_bytes() - _Process.empty_bytes
    return Growth(grown / last, 1000 * longest, 1000 * longest_processor)


def _do(work: Work, size: int) -> tuple[float, int]:
    """Microseconds of each, and how many were found."""
    index, asked = _Process.index, _Process.asked
    if work.kind == "near":
        prints = [_stored(size) for _ in range(work.times)]
    else:
        prints = [asked.getrandbits(64) for _ in range(work.times)]
    items = [index.item(fingerprint) for fingerprint in prints]
    found = 0
    started = process_time()
    for item in items:
        if work.kind != "add":
            found += index.find(item, work.distance)
        if work.kind in ("add", "check"):
            index.add(item, size)
    return 1e6 * (process_time() - started) / work.times, found


def _stored(size: int) -> int:
    """Return a stored fingerprint, with up to three bits changed if possible."""
    asked = _Process.asked
    number = asked.randrange(size)
    [one] = next(fingerprints(number, number + 1)).tolist()
    bits = asked.sample(range(64), asked.randint(0, _DISTANCE))
    return int(one) ^ (sum(1 << bit for bit in bits) if _Process.index.takes_bits else 0)


# --- in the process of the benchmark ---


@dataclass(frozen=True)
class Lookups(Part):
    """The measured times, by contestant and size."""

    growth: dict[tuple[str, int], Growth]
    timed: dict[tuple[str, int, Work], Timed]
    name = "index"
    heading = "A growing index"
    about = _ABOUT

    def micros(self, name: str, size: int, kind: str, distance: int) -> float | None:
        for (contestant, at, work), timed in self.timed.items():
            if (contestant, at, work.kind, work.distance) == (name, size, kind, distance):
                return timed.micros.median
        return None

    @property
    def sizes(self) -> list[int]:
        return sorted({size for _, size in self.growth})

    def _largest(self, package: str) -> tuple[Contestant, int] | None:
        """The package's fastest contestant at the largest size that it came to."""
        sizes = {
            (contestant, size)
            for contestant in CONTESTANTS
            for name, size in self.growth
            if contestant.package == package and contestant.name == name
        }
        if not sizes:
            return None
        most = max(size for _, size in sizes)
        return min(
            (pair for pair in sizes if pair[1] == most),
            key=lambda pair: self.micros(pair[0].name, most, "new", _DISTANCE) or 0,
        )

    def ratios(self) -> list[Goal]:
        return [
            self._ratio_of_lookups("index_lookup_vs_gaoya", "gaoya", 8),
            self._ratio_of_lookups("index_lookup_vs_simhashindex", "simhash", 40),
            self._ratio_of_bytes("index_bytes_vs_gaoya", "gaoya", 0.5),
        ]

    def _ratio_of_lookups(self, name: str, package: str, bound: float) -> Goal:
        found = self._largest(package)
        if found is None:
            return self._unmeasured(name, package, bound, at_most=False)
        contestant, n = found
        value = ratio(
            self.micros(contestant.name, n, "new", _DISTANCE),
            self.micros(OURS.name, n, "new", _DISTANCE),
        )
        return Goal(name, value, bound, n, "fingerprints", at_most=False, against=contestant.name)

    def _ratio_of_bytes(self, name: str, package: str, bound: float) -> Goal:
        found = self._largest(package)
        if found is None:
            return self._unmeasured(name, package, bound, at_most=True)
        contestant, n = found
        value = ratio(
            self.growth[OURS.name, n].bytes_each, self.growth[contestant.name, n].bytes_each
        )
        return Goal(name, value, bound, n, "fingerprints", against=contestant.name)

    def _unmeasured(self, name: str, package: str, bound: float, *, at_most: bool) -> Goal:
        n, why = (self.sizes[-1], "fingerprints"), self.peers()[package].trouble
        return Goal(name, None, bound, *n, at_most=at_most, why=why, against=package)

    def goals(self) -> list[Goal]:
        n = self.sizes[-1]
        goals = [
            Goal(
                f"check, then add, k = {distance}",
                self.micros(OURS.name, n, "check", distance),
                bound,
                n,
                "fingerprints",
                "µs",
            )
            for distance, bound in _BOUNDS.items()
        ]
        longest = max(self.growth[OURS.name, size].longest_processor_ms for size in self.sizes)
        bytes_each = self.growth[OURS.name, n].bytes_each
        goals += [
            Goal("bytes a fingerprint", bytes_each, _BYTES, n, "fingerprints"),
            Goal("the longest add", longest, _PAUSE, n, "fingerprints", "ms"),
        ]
        return goals

    def tables(self) -> list[Table]:
        return [self._lookup_table(), self._growth_table()]

    def _lookup_table(self) -> Table:
        sizes = [f"{size:,}" for size in self.sizes]
        table = Table(
            "an index of so many fingerprints: processor time of one step, µs",
            ("index", "k", "step", *sizes, "found"),
        )
        titles = {
            contestant.name: contestant.title
            for contestant in CONTESTANTS
            if not contestant.trouble
        }
        steps = {(name, work): None for name, _, work in self.timed}
        for name, work in steps:
            timed = [self.timed.get((name, size, work)) for size in self.sizes]
            found = min(one.found for one in timed if one)
            table.add(
                titles[name],
                work.distance,
                _WORDS[work.kind],
                *(one.micros if one else "-" for one in timed),
                "-" if work.kind == "add" else f"{found:.2f}",
            )
        table.notes.append("found: of those that were asked for, at the size with the fewest")
        return table

    def _growth_table(self) -> Table:
        head = ("index", "fingerprints", "bytes each", "longest add ms", "by the clock ms")
        table = Table("an index: how it grows", head)
        for contestant in CONTESTANTS:
            for (name, size), growth in self.growth.items():
                if name == contestant.name:
                    table.add(
                        contestant.title,
                        f"{size:,}",
                        f"{growth.bytes_each:.1f}",
                        f"{growth.longest_processor_ms:.2f}",
                        f"{growth.longest_ms:.2f}",
                    )
        return table

    def plots(self) -> list[Plot]:
        room: dict[str, list[tuple[float, float]]] = {}
        for (name, size), growth in self.growth.items():
            room.setdefault(name, []).append((size, growth.bytes_each))
        return [Plot("bytes", "Memory", "fingerprints stored", "bytes a fingerprint", room)]

    def curves(self) -> dict[str, list[tuple[float, float]]]:
        """Return the time of a lookup of a new fingerprint, by size."""
        curves: dict[str, list[tuple[float, float]]] = {}
        for (name, size, work), timed in self.timed.items():
            if work.kind == "new":
                curve = curves.setdefault(f"{name}, k = {work.distance}", [])
                curve.append((size, timed.micros.median))
        return curves

    def peers(self) -> dict[str, Standing]:
        return standings(CONTESTANTS)

    def as_json(self) -> dict[str, Any]:
        return {
            "growth": [
                {"index": name, "n": size, **asdict(growth)}
                for (name, size), growth in self.growth.items()
            ],
            "processor microseconds": [
                {"index": name, "n": size, **asdict(work), **asdict(timed)}
                for (name, size, work), timed in self.timed.items()
            ],
        }


def works(contestant: Contestant) -> list[Work]:
    if contestant is not OURS:
        return [Work(kind, _DISTANCE, _THEIRS) for kind in ("new", "near", "add")]
    lookups = [Work(kind, k, n) for k, n in _OURS.items() for kind in ("new", "near", "check")]
    return [*lookups, Work("add", _DISTANCE, _OURS[_DISTANCE])]


def measure(sizes: Sequence[int], rounds: int) -> Lookups:
    """Measure all packages at each size that they can reach."""
    figures = Lookups({}, {})
    with ExitStack() as stack:
        processes = {}
        for contestant in CONTESTANTS:
            if not contestant.trouble:
                processes[contestant] = stack.enter_context(own_process())
                processes[contestant].submit(_open, contestant.make).result()
        for before, size in zip([0, *sizes], sizes, strict=False):
            for contestant in [c for c in processes if c.most < size]:
                processes.pop(contestant).shutdown()
            for contestant, process in processes.items():
                grown = process.submit(_grow, before, size).result()
                figures.growth[contestant.name, size] = grown
            _ask_all(figures, processes, size, rounds)
    return figures


def _ask_all(
    figures: Lookups, processes: dict[Contestant, ProcessPoolExecutor], size: int, rounds: int
) -> None:
    def turn(process: ProcessPoolExecutor, work: Work) -> tuple[float, int]:
        return process.submit(_do, work, size).result()

    turns = {
        (contestant.name, size, work): partial(turn, process, work)
        for contestant, process in processes.items()
        for work in works(contestant)
    }
    for key, found in in_turn(turns, rounds).items():
        micros, shares = zip(*found, strict=True)
        figures.timed[key] = Timed(Spread.of(micros), sum(shares) / (rounds * key[2].times))
