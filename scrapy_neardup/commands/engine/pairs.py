"""Finds the pairs among stored pages on a cluster, and writes them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal
from rich.table import Table
from scrapy.settings import BaseSettings

from ..._util.wording import quantity
from ...exceptions import EngineFailed, InputError, InvalidOption, WorkFolderDamaged
from ..support.options import FLAGS, Judge, print_undecided
from ..support.output import print_message, print_table, report_skipped, table
from ..support.pair_output import Figures, open_outputs
from ..support.progress import stage_bars
from .client import open_client, require_dask
from .targets import check_targets, open_rows_at

if TYPE_CHECKING:
    from ...cluster import Found, Options

_AGAIN = "the same command goes on from where it was"


def run_on_cluster(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Find the pairs, write them, and say what it took."""
    require_dask()
    started = perf_counter()
    judge = Judge.from_options(options, settings)
    cut = _cut(options)
    _check_work(options.work)
    names = ("output", "clusters", "keep")
    check_targets({name: getattr(options, name) for name in names}, options.work)
    with _going_on(), open_outputs(options, open_rows_at) as outputs:
        found = _find(options, judge, cut)
        lines_of = (found.pair_lines, found.cluster_lines, found.kept_lines)
        for name, lines in zip(names, lines_of, strict=True):
            if outputs.wants(name):
                outputs.write(name, _of_work(lines(), options.work))
    _report(found, perf_counter() - started)


def _of_work(lines: Iterator[dict[str, Any]], work: str) -> Iterator[dict[str, Any]]:
    """Yield lines that are read from the work folder; its errors are not those of an output."""
    try:
        yield from lines
    except OSError as error:
        raise EngineFailed(f"--work {work}: {error}") from error


def _cut(options: argparse.Namespace) -> Options:
    """Return how the run is cut into tasks."""
    from ...cluster import Options

    given = {name: getattr(options, name) for name in ("partitions", "passes", "crowded")}
    try:
        return Options(**{name: value for name, value in given.items() if value is not None})
    except InvalidOption as error:
        raise error.renamed(f"--{error.option}") from None


def _find(options: argparse.Namespace, judge: Judge, cut: Options) -> Found:
    from ... import cluster

    with (
        open_client(options.scheduler, judge.workers, judge.limits) as client,
        stage_bars() as progress,
    ):
        try:
            return cluster.pairs(
                options.pages,
                options.work,
                client=client,
                rule=judge.detector.rule,
                signer=judge.signer,
                limits=judge.limits,
                columns=options.columns,
                options=cut,
                progress=progress,
            )
        except InvalidOption as error:
            flags = {**FLAGS, "method": "--method"}
            raise error.renamed(flags.get(error.option, error.option)) from None
        except OSError as error:
            # Of the work folder, mostly; an output file would be named in its stead.
            raise EngineFailed(f"--work {options.work}: {error}") from error


def _check_work(work: str) -> None:
    """Refuse a work folder that cannot be read; a file system has errors of its own."""
    from ...cluster.folder import WorkFolder

    if work.startswith("memory://"):
        raise InvalidOption("--work", work, "a folder that all workers can write")
    try:
        WorkFolder(work).read_json("run.json")
    except WorkFolderDamaged:
        raise
    except InputError as error:
        raise InvalidOption("--work", work, f"a folder: {error}") from error
    except Exception as error:
        raise InvalidOption("--work", work, f"a folder that can be read: {error}") from error


@contextmanager
def _going_on() -> Iterator[None]:
    """Say of a run that is ended how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        print_message(f"interrupted; {_AGAIN}")
        raise
    except EngineFailed as error:
        raise EngineFailed(f"{error}; {_AGAIN}") from error


def _report(found: Found, seconds: float) -> None:
    """Print what was found and what it took."""
    figures = Figures(
        pages=found.pages,
        pairs=found.pairs,
        clusters=found.clusters,
        members=found.members,
        largest=found.largest,
        replaced=found.replaced,
        undecided=found.undecided,
        candidates=found.candidates,
        kept=found.kept,
    )
    for reason, (url, detail) in found.first_undecided.items():
        print_undecided(url, reason, detail)
    print_table(_stages(found))
    if found.crowded_keys:
        print_message(_crowded(found))
    print_message(f"{figures}; {seconds:.1f} s")
    report_skipped(found)


def _stages(found: Found) -> Table:
    """Return what each stage took, those of runs before it included."""
    stages = found.stages.values()
    rows = [
        (name, each.tasks, f"{each.rows:,}", decimal(each.bytes), f"{each.core_seconds:.1f}")
        for name, each in found.stages.items()
    ]
    total = (
        "all",
        sum(each.tasks for each in stages),
        "",
        decimal(sum(each.bytes for each in stages)),
        f"{sum(each.core_seconds for each in stages):.1f}",
    )
    heads = ("stage", "tasks", "rows", "bytes shuffled", "core-seconds")
    return table(*heads, rows=[*rows, total])


def _crowded(found: Found) -> str:
    most = found.plan.crowded
    keys = f"{quantity(found.crowded_keys, 'key')} of more than {most} pages each"
    return (
        f"warning: {keys}, {found.crowded_rows} in all: only pages near each other in the input "
        f"were compared, so pairs may be missing; for more, --crowded above {most} and another "
        "--work"
    )
