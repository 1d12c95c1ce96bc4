"""The stages that join the signatures to proposed pairs, and drop the pairs that are hopeless."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...hashing.minhash import SKETCH_BINS, resemblances
from ...matching.candidates import likeness_of, similarity_floors
from ...stores.codec import ROW, sketch_in
from ..folder import Report
from ..plan import Plan
from ..shuffle import (
    PartitionedFile,
    bytes_in,
    numbers_in,
    of_width,
    partition_of,
    partitioned_file,
)
from .proposing import PAIR, PAIRS, distinct_pairs, stage_of
from .signing import SignedPages, look_up

JOINED, HOPEFUL, SITES_NEEDED = "joined", "hopeful", "sites-needed"
#: Pairs whose signatures are read together.
_BATCH = 8192

_JOINED = pa.schema(
    [*PAIR, ("row", pa.binary(ROW.itemsize)), ("page", pa.binary()), ("id", pa.string())]
)
_HOPEFUL = pa.schema(
    [
        *PAIR,
        ("site", pa.uint32()),
        ("page", pa.binary()),
        ("id", pa.string()),
        ("second_page", pa.binary()),
        ("second_id", pa.string()),
    ]
)
#: A site whose boilerplate is needed to judge the pairs of a partition.
SITE_NEEDED = pa.schema([("site", pa.uint32()), ("partition", pa.int64())])


def join_first(plan: Plan, range_: int) -> Report:
    """Write the proposed pairs whose first page is in a range, with its signature, by second."""
    report: Report = {}
    parts = [
        np.stack((numbers_in(batch, "first"), numbers_in(batch, "second")), axis=1)
        for pass_ in range(plan.passes)
        for batch in partition_of(
            plan.folder, stage_of(PAIRS, pass_), plan.partitions, range_, plan.n_ranges
        )
    ]
    pairs = distinct_pairs(parts) if parts else np.empty((0, 2), np.int64)
    with partitioned_file(
        plan.folder, JOINED, range_, _JOINED, plan.n_ranges, report=report
    ) as file:
        for start in range(0, len(pairs), _BATCH):
            first, second = pairs[start : start + _BATCH].T
            pages, places = _look_up(plan, first)
            columns = {
                "first": first,
                "second": second,
                "row": of_width(pages.rows[places].tobytes(), ROW.itemsize),
                "page": [pages.pages[place] for place in places.tolist()],
                "id": [pages.ids[place] for place in places.tolist()],
            }
            file.write_by(plan.range_of(second), columns)
    return {**report, "candidates": len(pairs)}


def join_second(plan: Plan, range_: int) -> Report:
    """Write the pairs whose second page is in a range that the rule could accept, by first site.

    The sites whose boilerplate it then needs are written as well.
    """
    report: Report = {}
    needed: set[tuple[int, int]] = set()
    with partitioned_file(
        plan.folder, HOPEFUL, range_, _HOPEFUL, plan.partitions, report=report
    ) as file:
        for batch in _joined(plan, range_):
            needed |= _write_hopeful(plan, batch, file)
    with partitioned_file(
        plan.folder, SITES_NEEDED, range_, SITE_NEEDED, plan.partitions, report=report
    ) as file:
        sites, partitions = np.array(sorted(needed), np.int64).reshape(-1, 2).T
        columns = {"site": sites.astype(np.uint32), "partition": partitions}
        file.write_by(sites % plan.partitions, columns)
    return report


def _joined(plan: Plan, range_: int) -> Iterator[pa.RecordBatch]:
    for batch in partition_of(plan.folder, JOINED, plan.n_ranges, range_, plan.n_ranges):
        for start in range(0, batch.num_rows, _BATCH):
            yield batch.slice(start, _BATCH)


def _write_hopeful(
    plan: Plan, batch: pa.RecordBatch, file: PartitionedFile
) -> set[tuple[int, int]]:
    """Write those pairs of a batch, and return the sites that each partition needs for them."""
    others, places = _look_up(plan, numbers_in(batch, "second"))
    rows, other_rows = np.frombuffer(bytes_in(batch["row"]), ROW), others.rows[places]
    pages = batch["page"].to_pylist()
    other_pages = [others.pages[place] for place in places.tolist()]
    one, other = rows["summary"], other_rows["summary"]
    likeness = likeness_of(one, other, plan.rule)
    floors = similarity_floors(one["title"] == other["title"], plan.rule)
    similarity = resemblances(_sketches(pages), _sketches(other_pages))
    is_hopeful = likeness.possible & (likeness.equal | (similarity >= floors))
    kept = np.flatnonzero(is_hopeful)
    partition = one["site"][kept].astype(np.int64) % plan.partitions
    columns = {name: batch[name].take(pa.array(kept)) for name in ("first", "second", "page", "id")}
    columns |= {
        "site": one["site"][kept],
        "second_page": [other_pages[place] for place in kept.tolist()],
        "second_id": [others.ids[places[place]] for place in kept.tolist()],
    }
    file.write_by(partition, columns)
    sites = one["site"][kept].tolist() + other["site"][kept].tolist()
    return set(zip(sites, 2 * partition.tolist(), strict=True))


def _look_up(
    plan: Plan, numbers: npt.NDArray[np.int64]
) -> tuple[SignedPages, npt.NDArray[np.intp]]:
    """Return pages, and for each number the place of its page; shape ``(n,)``."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return look_up(plan, distinct), places


def _sketches(pages: list[bytes]) -> npt.NDArray[np.uint8]:
    joined = b"".join(map(sketch_in, pages))
    return np.frombuffer(joined, np.uint8).reshape(-1, SKETCH_BINS)
