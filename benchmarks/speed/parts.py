"""The result of a part of the speed benchmark: goals, tables and curves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NamedTuple

from ..common.goals import Goal
from ..common.packages import Package
from ..common.tables import Table


def ratio(ours: float | None, theirs: float | None) -> float | None:
    """Return ours divided by theirs; ``None`` if one of them was not measured."""
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


class Part:
    """The results of one part of the benchmark.

    :ivar about: how it was measured: a line that is its title, and paragraphs.
    """

    name: str
    heading: str
    about: str

    def ratios(self) -> list[Goal]:
        return []

    def goals(self) -> list[Goal]:
        return []

    def tables(self) -> list[Table]:
        raise NotImplementedError

    def plots(self) -> list[Plot]:
        return []

    def checks(self) -> list[Check]:
        return []

    def peers(self) -> dict[str, Standing]:
        return {}

    def as_json(self) -> dict[str, Any]:
        raise NotImplementedError
