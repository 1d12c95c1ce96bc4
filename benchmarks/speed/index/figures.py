"""The times and sizes of indexes, and the goals, tables and curves that they make."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ...common.goals import Goal
from ...common.measuring import Spread
from ...common.tables import Table
from ..parts import Part, Plot, Standing, ratio, standings
from . import __doc__ as how_measured
from . import contestants
from .contestants import DISTANCE, OURS, Contestant

#: Milliseconds that no step may take while the index grows.
_PAUSE = 10
#: Microseconds of a check with the add that follows, at most, at the largest size.
_BOUNDS = {3: 10, 7: 60, 11: 1500}
_BYTES = 48
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


@dataclass(frozen=True)
class Lookups(Part):
    """The measured times, by contestant and size."""

    growth: dict[tuple[str, int], Growth]
    timed: dict[tuple[str, int, Work], Timed]
    name = "index"
    heading = "A growing index"
    about = how_measured or ""

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
            for contestant in contestants.CONTESTANTS
            for name, size in self.growth
            if contestant.package == package and contestant.name == name
        }
        if not sizes:
            return None
        most = max(size for _, size in sizes)
        return min(
            (pair for pair in sizes if pair[1] == most),
            key=lambda pair: self.micros(pair[0].name, most, "new", DISTANCE) or 0,
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
            self.micros(contestant.name, n, "new", DISTANCE),
            self.micros(OURS.name, n, "new", DISTANCE),
        )
        return Goal(name, value, bound, n, "fingerprints", at_most=False, against=contestant.name)

    def _ratio_of_bytes(self, name: str, package: str, bound: float) -> Goal:
        found = self._largest(package)
        if found is None:
            return self._unmeasured(name, package, bound, at_most=True)
        contestant, n = found
        value = ratio(
            self.growth[OURS.name, n].bytes_each,
            self.growth[contestant.name, n].bytes_each,
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
            for contestant in contestants.CONTESTANTS
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
        for contestant in contestants.CONTESTANTS:
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
        return standings(contestants.CONTESTANTS)

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
