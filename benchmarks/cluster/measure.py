"""Runs the search on a local Dask cluster and measures it, stage by stage."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from scrapy_neardup import Rule
from scrapy_neardup.cluster import DaskEngine, Engine, EngineFailed, Found, Options
from scrapy_neardup.cluster.plan import Plan
from scrapy_neardup.cluster.run import Progress, enter, find_pairs
from scrapy_neardup.cluster.stages.signing import SIGNED
from scrapy_neardup.workers import Limits

from ..common.options import say
from .layout import Layout
from .signed_pages import RECIPE, make, write_input
from .truth import check
from .watching import CountedFolder, of_client

#: Figures of a run, as JSON has them.
Figures = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    """The cluster that a run has.

    :ivar memory: of each worker, as Dask reads it; one that holds more is killed.
    """

    workers: int
    memory: str


def measure(layout: Layout, cluster: Cluster, options: Options, parent: str | None) -> Figures:
    """Make pages up, run all stages on them, and return what that took and found.

    :param parent: folder to work in, which has the files of the run until it is over.
    """
    with tempfile.TemporaryDirectory(dir=parent) as folder, _client(cluster) as client:
        engine, watch = DaskEngine(client), of_client(client, say)
        began = perf_counter()
        made = prepare(folder, layout, engine, options)
        say(f"{layout.pages:,} pages made in {perf_counter() - began:.0f} s")
        began = perf_counter()
        figures: Figures = {
            "pages": layout.pages,
            "workers": asdict(cluster),
            "made": made,
            "failed": "",
        }
        try:
            found = find(folder, engine, options=options, progress=watch)
            watch.end_stage()
        except EngineFailed as error:
            figures |= {"failed": f"{watch.stage}: {error}"}
        else:
            figures |= _of_run(found, layout)
        figures["seconds"] = perf_counter() - began
        figures["disk"] = _disk(Path(folder))
        figures["watched"] = watch.as_json()
    return figures


def prepare(folder: str, layout: Layout, engine: Engine, options: Options) -> float:
    """Make the pages of a run in a folder, and return the processor time that it took."""
    write_input(f"{folder}/pages.jsonl", layout)
    plan, _ = enter([f"{folder}/pages.jsonl"], None, _plan(folder), _cut(options))
    return make(plan.folder, layout, engine)


def _cut(options: Options) -> Options:
    """Return the options with which each byte of the input is a split."""
    return replace(options, split_bytes=1)


def find(folder: str, engine: Engine, *, options: Options, progress: Progress) -> Found:
    """Run the stages behind the first one on pages that were made in a folder."""
    pages = [f"{folder}/pages.jsonl"]
    options = _cut(options)
    return find_pairs(pages, None, _plan(folder), engine, options=options, progress=progress)


def _plan(folder: str) -> Plan:
    """Return what is known of a run before its input is."""
    return Plan(
        CountedFolder(f"{folder}/work"),
        Rule(),
        signer={},
        recipe=RECIPE,
        method=None,
        limits=Limits(),
        n_splits=0,
    )


def _of_run(found: Found, layout: Layout) -> Figures:
    names = ("candidates", "pairs", "clusters", "members", "largest", "kept", "replaced")
    stages = {name: asdict(each) for name, each in found.stages.items() if name != SIGNED}
    checked = check(found, layout, found.plan.rule)
    return {
        "splits": found.plan.n_splits,
        "partitions": found.plan.partitions,
        "crowded_keys": found.crowded_keys,
        "crowded_rows": found.crowded_rows,
        **{name: getattr(found, name) for name in names},
        "stages": stages,
        "checked": asdict(checked),
        "is_right": checked.is_right,
    }


@contextmanager
def _client(cluster: Cluster) -> Iterator[Any]:
    """Start workers of one thread each; one that holds too much is killed, which fails the run."""
    import dask
    import distributed

    start_cluster: Any = distributed.LocalCluster
    start_client: Any = distributed.Client
    settings = {
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": 1.0,
        "distributed.scheduler.allowed-failures": 0,
    }
    with (
        dask.config.set(settings),
        start_cluster(
            n_workers=cluster.workers,
            threads_per_worker=1,
            memory_limit=cluster.memory,
            # Any free port: without an address it would be 8787, which another cluster may have.
            dashboard_address="127.0.0.1:0",
        ) as local,
        start_client(local) as client,
    ):
        yield client


def _disk(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
