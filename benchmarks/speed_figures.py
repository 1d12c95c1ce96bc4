"""What each part of speed.py hands on: figures against bounds, tables and curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from measuring import rounded
from tables import Table


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, and what it has to be.

    :ivar value: ``None`` where it was not measured; ``why`` says the reason.
    :ivar n: of how many of what (``of``) it was taken.
    """

    name: str
    value: float | None
    bound: float
    n: int
    of: str
    unit: str = ""
    at_most: bool = True
    why: str = ""

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


class Part(Protocol):
    """One part of the benchmark, measured."""

    name: str

    def ratios(self) -> list[Goal]: ...
    def goals(self) -> list[Goal]: ...
    def tables(self) -> list[Table]: ...
    def plots(self) -> list[Plot]: ...
    def troubles(self) -> dict[str, str]:
        """Who could not take part, and why."""

    def as_json(self) -> dict[str, Any]: ...
