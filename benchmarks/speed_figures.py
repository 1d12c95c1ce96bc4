"""What each part of speed.py hands on: figures against bounds, tables and curves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol

from measuring import rounded
from peers import Package
from tables import Table


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, and what it has to be.

    :ivar value: ``None`` where it was not measured; ``why`` says the reason.
    :ivar n: of how many of what (``of``) it was taken.
    :ivar against: whom a ratio compares with.
    """

    name: str
    value: float | None
    bound: float
    n: int
    of: str
    unit: str = ""
    at_most: bool = True
    why: str = ""
    against: str = ""

    @property
    def is_met(self) -> bool | None:
        if self.value is None:
            return None
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def row(self) -> tuple[str, ...]:
        unit = f" {self.unit}" if self.unit else ""
        measured = self.why or "-" if self.value is None else f"{rounded(self.value)}{unit}"
        bound = f"{'<=' if self.at_most else '>='} {self.bound:g}{unit}"
        met = {True: "yes", False: "no", None: "-"}[self.is_met]
        return self.name, f"{self.n:,} {self.of}", measured, bound, met


def ratio(ours: float | None, theirs: float | None) -> float | None:
    """How many times theirs ours is; ``None`` where one of them was not measured."""
    return ours / theirs if ours is not None and theirs else None


@dataclass(frozen=True)
class Plot:
    """Curves over a logarithmic scale on both sides.

    :ivar lines: the points of each curve, by its name.
    :ivar dashed: names of those that are simulated.
    """

    name: str
    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    dashed: frozenset[str] = field(default=frozenset())


class Standing(NamedTuple):
    """A package to compare with: its version, or why it could not take part."""

    version: str
    trouble: str


def standings(packages: Iterable[Package]) -> dict[str, Standing]:
    return {
        one.package: Standing("" if one.trouble else version(one.package), one.trouble)
        for one in packages
    }


class Check(NamedTuple):
    """Something that has to hold, in words, and where it does not: a line each."""

    claim: str
    problems: list[str]


class Part(Protocol):
    """One part of the benchmark, measured.

    :ivar about: how it was measured: a line that is its title, and paragraphs.
    """

    name: str
    heading: str
    about: str

    def ratios(self) -> list[Goal]: ...
    def goals(self) -> list[Goal]: ...
    def tables(self) -> list[Table]: ...
    def plots(self) -> list[Plot]: ...
    def checks(self) -> list[Check]: ...
    def peers(self) -> dict[str, Standing]: ...
    def as_json(self) -> dict[str, Any]: ...
