"""Bounds that the figures must keep; they are tightened only, unless an option allows otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Sense = Literal["at least", "at most"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A value and the direction in which it is good."""

    value: float
    sense: Sense

    def worse_than(self, other: Figure) -> bool:
        return self.value < other.value if self.sense == "at least" else self.value > other.value


Figures = Mapping[str, Figure]


@dataclass(frozen=True)
class Floors:
    """Bounds, and the digest of the data on which they were measured."""

    digest: str
    bounds: dict[str, Figure]


class OtherData(Exception):
    """The figures were measured on other data than the bounds."""


def read_floors(path: Path) -> Floors | None:
    """The recorded bounds; ``None`` when there are none yet.

    :raises ValueError: when the file is not what :func:`write_floors` writes.
    """
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        bounds = {
            name: Figure(float(value), sense)
            for sense in ("at least", "at most")
            for name, value in content[sense].items()
        }
        return Floors(str(content["data"]), bounds)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not a file of floors ({error!r})") from error


def write_floors(path: Path, floors: Floors) -> None:
    content: dict[str, object] = {"data": floors.digest}
    for sense in ("at least", "at most"):
        content[sense] = {
            name: round(bound.value, 4)
            for name, bound in sorted(floors.bounds.items())
            if bound.sense == sense
        }
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


def broken(floors: Floors, digest: str, figures: Figures) -> list[str]:
    """Return a line for each figure that is missing or does not keep its bound.

    :raises OtherData: when the digests differ.
    """
    _require_same_data(floors, digest)
    lines = []
    for name, bound in floors.bounds.items():
        figure = figures.get(name)
        if figure is None:
            lines.append(f"{name}: not measured, {bound.sense} {bound.value:g} is recorded")
        elif _rounded(figure).worse_than(bound):
            lines.append(f"{name}: {figure.value:.4g}, {bound.sense} {bound.value:g} is recorded")
    return lines


def tightened(
    floors: Floors | None, digest: str, figures: Figures, *, allow_regression: bool = False
) -> Floors:
    """Bounds as tight as the figures, and nowhere looser than before.

    :param allow_regression: take the figures as they are, on whatever data.
    :raises OtherData: when the digests differ and regressions are not allowed.
    """
    if floors is None or allow_regression:
        return Floors(digest, {name: _rounded(figure) for name, figure in figures.items()})
    _require_same_data(floors, digest)
    bounds = dict(floors.bounds)
    for name, figure in figures.items():
        if name not in bounds or bounds[name].worse_than(_rounded(figure)):
            bounds[name] = _rounded(figure)
    return Floors(digest, bounds)


def _rounded(figure: Figure) -> Figure:
    """As it is written; otherwise a figure could fall below itself."""
    return Figure(round(figure.value, 4), figure.sense)


def _require_same_data(floors: Floors, digest: str) -> None:
    if floors.digest != digest:
        raise OtherData(f"the floors were measured on data {floors.digest}, this is {digest}")
