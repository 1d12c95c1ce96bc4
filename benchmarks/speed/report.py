"""Formats the results of the speed benchmark, ratios first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from ..common.goals import Goal
from ..common.measuring import machine, machine_line
from ..common.tables import Table
from .parts import Check, Part, Plot, Standing
from .plots import draw

PAGE = "performance.md"
_INTRODUCTION = (
    "Written by `{command}` in one run. The times are medians, with quartiles, over rounds in "
    "which all packages are timed in turn. They are processor time: of the process, or of the "
    "thread for a single add. Other programs affect them only through the processor's caches."
)
_GOAL_HEAD = ("of", "measured", "to reach", "reached")


@dataclass(frozen=True)
class Result:
    """The results of the benchmark.

    :ivar checks: what has to hold.
    """

    parts: Sequence[Part]
    checks: Sequence[Check]

    @property
    def is_exact(self) -> bool:
        return not any(check.problems for check in self.checks)

    @property
    def peers(self) -> dict[str, Standing]:
        return {name: standing for part in self.parts for name, standing in part.peers().items()}


def ratio_table(result: Result) -> Table:
    table = Table("ratios", ("ratio", "against", *_GOAL_HEAD))
    for goal in (goal for part in result.parts for goal in part.ratios()):
        name, *others = goal.row()
        table.add(name, goal.against, *others)
    table.notes.append(
        "A ratio of lookups, fingerprints or all pairs is the speed of this package divided by "
        "that of the other. A ratio of bytes, or a share, is the value of this package divided by "
        "that of the other."
    )
    return table


def goal_table(result: Result) -> Table:
    table = Table("goals", ("figure", *_GOAL_HEAD))
    for goal in (goal for part in result.parts for goal in part.goals()):
        table.add(*goal.row())
    return table


def exactness(result: Result) -> list[str]:
    lines = []
    for claim, problems in result.checks:
        lines += [f"NOT SO: {claim}: {'; '.join(problems)}"] if problems else [f"exact: {claim}"]
    return lines


def peer_lines(result: Result) -> list[str]:
    """Return lines on the packages that were compared, and those that were not."""
    taking = [f"{name} {one.version}" for name, one in result.peers.items() if not one.trouble]
    lines = [f"compared with {', '.join(taking)}"] if taking else []
    return lines + [
        f"left out, because it cannot be used: {name} ({one.trouble})"
        for name, one in result.peers.items()
        if one.trouble
    ]


def as_text(result: Result) -> str:
    tables = [ratio_table(result), goal_table(result)]
    tables += [table for part in result.parts for table in part.tables()]
    first, *others = [table.as_text().lstrip("\n") for table in tables]
    about = ["", *exactness(result), "", *peer_lines(result), machine_line(), ""]
    return "\n".join([first, *about, "\n\n".join(others)])


def write_json(result: Result, path: Path) -> None:
    content = {
        "ratios": {goal.name: _as_json(goal) for part in result.parts for goal in part.ratios()},
        "goals": [_as_json(goal) for part in result.parts for goal in part.goals()],
        "exact": result.is_exact,
        "checks": [check._asdict() for check in result.checks],
        "machine": machine(),
        "peers": {name: standing._asdict() for name, standing in result.peers.items()},
        "figures": {part.name: part.as_json() for part in result.parts},
    }
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _as_json(goal: Goal) -> dict[str, Any]:
    return {
        "name": goal.name,
        "value": goal.value,
        "unit": goal.unit,
        "n": goal.n,
        "of": goal.of,
        "against": goal.against,
        "at most" if goal.at_most else "at least": goal.bound,
        "reached": goal.is_met,
        "why": goal.why,
    }


def write_docs(result: Result, command: str, folder: Path) -> None:
    """Write the page and its drawings."""
    for part in result.parts:
        for plot in part.plots():
            draw(folder / file_of(plot), plot)
    (folder / PAGE).write_text(page(result, command), encoding="utf-8")


def file_of(plot: Plot) -> str:
    return f"speed-{plot.name}.svg"


def page(result: Result, command: str) -> str:
    """The page of the documents."""
    about = (f"* {line}" for line in (*exactness(result), *peer_lines(result)))
    blocks = [
        "# Speed",
        fill(_INTRODUCTION.format(command=command), 100),
        f"{machine_line()}.",
        "\n".join(fill(line, 100, subsequent_indent="  ") for line in about),
        "## Ratios",
        ratio_table(result).markdown_body(),
        "## Goals",
        goal_table(result).markdown_body(),
    ]
    for part in result.parts:
        blocks += [f"## {part.heading}", _paragraphs(part.about)]
        blocks += [t.as_markdown() for t in part.tables()]
        blocks += [f"![{plot.title}: {plot.y}]({file_of(plot)})" for plot in part.plots()]
    return "\n\n".join(blocks) + "\n"


def _paragraphs(about: str) -> str:
    """Return the docstring of a module as paragraphs, its title included."""
    return about.strip().replace("``", "`")
