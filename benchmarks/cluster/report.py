"""Prints what runs have taken, and reckons what larger ones would."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log2

from ..common.tables import Table
from .measure import Figures

#: Sizes that the bill is reckoned for, cores that it is divided by, and how many times as large
#: partitions and splits are on larger workers.
_BILLED, _CORES, _LARGER = (10**9, 10**10), 1000, 64
#: Below so many seconds or megabytes of the smaller run, growth is not told; what is above the
#: other bound is told beside the bill.
_LEAST, _MUCH_GROWTH = 0.05, 1.2
#: Of a pass or a round, behind the name of a stage.
_NUMBER = re.compile(r"-\d+$")
_TERABYTE, _HOUR = 1e12, 3600
_ASSUMED = (
    "Assumed: the figures of a page are those of the largest run. A core-hour n log n is the "
    "linear one times the ratio of the logarithms, as if all stages sorted all rows.",
    "Partitions and splits grow with the pages, so a stage that reads a part of each file of the "
    "one before opens a number of files that grows with their square. The number of opens is "
    "fitted to the two largest runs as a n + b n²; the last column has partitions and splits "
    f"{_LARGER} times as large, on workers with {_LARGER} times the memory.",
    "Not in it: reading and signing the pages, which costs far more and is in proportion to them.",
    "Not known: how many false candidates the web has, whose pages share templates, forms and "
    "phrases; how large its largest sites and walls are; the network, the latency of an object "
    "store for each open, stragglers, and tasks that are run twice.",
)


def tables(runs: Sequence[Figures]) -> list[Table]:
    """Return all tables of some runs, from the smallest one on."""
    runs = sorted(map(_summed, runs), key=lambda run: int(run["pages"]))
    finished = [run for run in runs if not run["failed"]]
    if not finished:
        return [_runs(runs), _memory(runs)]
    by_stage = _times(finished), _traffic(finished), _rows(finished)
    return [_runs(runs), *by_stage, _memory(runs), _bill(finished)]


def _summed(run: Figures) -> Figures:
    """Return figures in which a stage of several passes or rounds is one."""
    stages: dict[str, Counter[str]] = {}
    for name, stage in run.get("stages", {}).items():
        stages.setdefault(_NUMBER.sub("", name), Counter()).update(stage)
    watched: dict[str, Figures] = {}
    for name, stage in run["watched"].items():
        name_of_all = _NUMBER.sub("", name)
        before = watched.get(name_of_all)
        watched[name_of_all] = stage if before is None else _both(before, stage)
    return {**run, "stages": stages, "watched": watched}


def _both(one: Figures, other: Figures) -> Figures:
    """Return what was seen of two rounds of a stage."""
    return {
        **{name: one[name] + other[name] for name in ("seconds", "opened")},
        "peaks": [*map(max, one["peaks"], other["peaks"])],
        "driver": max(one["driver"], other["driver"]),
    }


def _runs(runs: Sequence[Figures]) -> Table:
    table = Table(
        "runs",
        (
            *("pages", "wall s", "core-s", "µs a page", "partitions", "disk MB", "worker MB"),
            *("driver MB", "opens", "candidates", "pairs", "recall", "clusters as planted"),
        ),
    )
    for run in runs:
        watched = run["watched"].values()
        worker = max((max(stage["peaks"]) for stage in watched), default=0.0)
        driver = max((stage["driver"] for stage in watched), default=0.0)
        opens = sum(stage["opened"] for stage in watched)
        sizes = round(run["disk"] / 1e6), round(worker), round(driver), opens
        begun = run["pages"], round(run["seconds"])
        if run["failed"]:
            table.add(*begun, "-", "-", "-", *sizes, "-", "-", "-", "-")
            table.notes.append(f"{run['pages']:,}: failed in {run['failed']}")
            continue
        seconds, checked = _seconds(run), run["checked"]
        a_page = _figure(1e6 * seconds / run["pages"])
        table.add(
            *(*begun, _figure(seconds), a_page, run["partitions"], *sizes),
            *(run["candidates"], run["pairs"]),
            f"{checked['found'] / max(checked['planted'], 1):.5f}",
            f"{checked['exact']:,} of {checked['clusters']:,}",
        )
        table.notes += _notes(run)
    return table


def _notes(run: Figures) -> list[str]:
    """Say what a run with a wrong result has got wrong, and what of the wall."""
    checked, size = run["checked"], f"{run['pages']:,}"
    notes = [
        f"{size}: {run['crowded_keys']:,} crowded keys of {run['crowded_rows']:,} rows; "
        f"{checked['walls']:,} pairs of the wall; {checked['below']:,} further pairs of copies"
    ]
    if not run["is_right"]:
        notes.append(f"{size}: not as planted: {checked}")
    return notes


def _times(runs: Sequence[Figures]) -> Table:
    title, heads = "core-seconds of each stage", ("core-s", "µs a page")
    return _grown(title, heads, runs, lambda stage: float(stage["core_seconds"]))


def _traffic(runs: Sequence[Figures]) -> Table:
    title = "compressed bytes that each stage writes for the next one"
    return _grown(title, ("MB", "bytes a page"), runs, lambda stage: stage["bytes"] / 1e6)


def _rows(runs: Sequence[Figures]) -> Table:
    title = "rows that each stage writes for the next one"
    return _grown(title, ("million", "rows a page"), runs, lambda stage: stage["rows"] / 1e6)


def _grown(
    title: str,
    heads: tuple[str, str],
    runs: Sequence[Figures],
    figure: Callable[[Figures], float],
) -> Table:
    """Return a table of a figure of each stage, in millions of what a page has, and its growth."""
    head = ["stage"]
    for place, run in enumerate(runs):
        head += [f"{run['pages']:,}: {heads[0]}", heads[1], *(["growth"] if place else [])]
    table = Table(title, tuple(head))
    totals = {stage: [figure(run["stages"][stage]) for run in runs] for stage in runs[-1]["stages"]}
    totals["all"] = [sum(column) for column in zip(*totals.values(), strict=True)]
    for stage, values in totals.items():
        cells: list[str] = []
        for place, (run, value) in enumerate(zip(runs, values, strict=True)):
            cells += [_figure(value), _figure(1e6 * value / run["pages"])]
            if place:
                grown = _growth(runs[place - 1 : place + 1], values[place - 1 : place + 1])
                cells.append(f"{grown:.2f}" if grown else "-")
        table.add(stage, *cells)
    table.notes.append("growth: of the figure of a page; 1.00 is linear in the number of pages")
    return table


def _growth(runs: Sequence[Figures], values: Sequence[float]) -> float:
    """Return how a page's figure grows from one run to another; 0 if it is too small to tell."""
    (one, other), (less, more) = runs, values
    return more / less * one["pages"] / other["pages"] if less >= _LEAST else 0.0


def _memory(runs: Sequence[Figures]) -> Table:
    """Return a table of the most memory of a worker, and of the files that were opened."""
    head = ["stage"]
    for run in runs:
        head += [f"{run['pages']:,}: MB a worker", "driver MB", "opens", "wall s"]
    table = Table("memory, files opened to read, and time by the clock", tuple(head))
    for stage in max((run["watched"] for run in runs), key=len):
        cells: list[str] = []
        for run in runs:
            if (watched := run["watched"].get(stage)) is None:
                cells += ["-"] * 4
                continue
            cells += [f"{max(watched['peaks']):.0f}", f"{watched['driver']:.0f}"]
            cells += [f"{watched['opened']:,}", f"{watched['seconds']:.1f}"]
        table.add(stage, *cells)
    table.notes.append("peaks of the resident memory, as the kernel counts it")
    return table


def _bill(runs: Sequence[Figures]) -> Table:
    """Reckon what runs of many more pages would take."""
    last = runs[-1]
    table = Table(
        f"reckoned from {last['pages']:,} pages",
        (
            *("pages", "core-hours", "n log n", f"hours on {_CORES:,} cores", "TB shuffled"),
            *("TB on disk", "opens", f"opens, parts x{_LARGER}"),
        ),
    )
    linear, square = _opens(runs)
    for pages in _BILLED:
        times = pages / last["pages"]
        hours = times * _seconds(last) / _HOUR
        slower = hours * log2(pages) / log2(last["pages"])
        written = sum(stage["bytes"] for stage in last["stages"].values())
        opens = linear * pages + square * pages**2
        fewer = linear * pages / _LARGER + square * (pages / _LARGER) ** 2
        table.add(
            *(pages, _figure(hours), _figure(slower), _figure(slower / _CORES)),
            *(_figure(times * each / _TERABYTE) for each in (written, last["disk"])),
            *(f"{number:.1e}" for number in (opens, fewer)),
        )
    if more := _growing(runs[-2:]):
        table.notes.append(f"Too low for what grows faster than the pages: {', '.join(more)}.")
    table.notes += _ASSUMED
    return table


def _growing(runs: Sequence[Figures]) -> list[str]:
    """Name the stages whose time or bytes grow faster than the pages, with the growth."""
    found = []
    for stage in runs[-1]["stages"]:
        for name, unit in (("core_seconds", 1.0), ("bytes", 1e6)):
            values = [run["stages"][stage][name] / unit for run in runs]
            if len(runs) > 1 and (grown := _growth(runs, values)) > _MUCH_GROWTH:
                found.append(f"{name.replace('_', '-')} of {stage} ({grown:.1f})")
    return found


def _opens(runs: Sequence[Figures]) -> tuple[float, float]:
    """Return a and b of the number of opens, a n + b n², neither below 0."""
    points = [
        (run["pages"], sum(stage["opened"] for stage in run["watched"].values()))
        for run in runs[-2:]
    ]
    pages, opened = points[-1]
    if len(points) > 1:
        fewer, opened_of_fewer = points[0]
        square = (opened / pages - opened_of_fewer / fewer) / (pages - fewer)
        square = min(max(square, 0.0), opened / pages**2)
        return opened / pages - square * pages, square
    return 0.0, opened / pages**2


def _seconds(run: Figures) -> float:
    return float(sum(stage["core_seconds"] for stage in run["stages"].values()))


def _figure(value: float) -> str:
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
