"""The stages that join the signatures to proposed pairs, and drop the pairs that are hopeless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

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
from .verdicts import (
    ACCEPTED_ROW,
    PAIR_OF_PAGES,
    BoilerplateNeeded,
    NoBoilerplates,
    accepted_row,
    write_accepted,
)

JOINED, HOPEFUL, SITES_NEEDED = "joined", "hopeful", "sites-needed"
ACCEPTED_AT_ONCE = "accepted-at-once"
#: Pairs whose signatures are read together.
_BATCH = 8192
#: Pairs, many of them proposed by several keys, that are made distinct together.
_PAIRS_AT_ONCE = 1 << 21
#: Hopeful pairs of one site that one task judges, about.
_PAIRS_OF_SLICE = 1 << 16

_JOINED = pa.schema(
    [*PAIR, ("row", pa.binary(ROW.itemsize)), ("page", pa.binary()), ("id", pa.string())]
)
_HOPEFUL = pa.schema([*PAIR_OF_PAGES, ("site", pa.uint32())])
#: A site whose boilerplate is needed to judge the pairs of a partition.
SITE_NEEDED = pa.schema([("site", pa.uint32()), ("partition", pa.int64())])


def join_first(plan: Plan, range_: int) -> Report:
    """Write the proposed pairs whose first page is in a range, with its signature, by second."""
    report: Report = {}
    pairs = _proposed(plan, range_)
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


def _proposed(plan: Plan, range_: int) -> npt.NDArray[np.int64]:
    """Return the distinct pairs whose first page is in a range, in order; shape ``(n, 2)``."""
    pairs = np.empty((0, 2), np.int64)
    waiting: list[npt.NDArray[np.int64]] = []
    rows = 0
    for pass_ in range(plan.passes):
        stage = stage_of(PAIRS, pass_)
        for batch in partition_of(plan.folder, stage, plan.partitions, range_, plan.n_ranges):
            pair = numbers_in(batch, "first"), numbers_in(batch, "second")
            waiting.append(np.stack(pair, axis=1))
            rows += batch.num_rows
            if rows > max(_PAIRS_AT_ONCE, len(pairs)):
                pairs, waiting, rows = distinct_pairs([pairs, *waiting]), [], 0
    return distinct_pairs([pairs, *waiting])


def join_second(plan: Plan, range_: int) -> Report:
    """Judge the pairs whose second page is in a range, as far as that needs no site's boilerplate.

    Those that are accepted are written by first page; those that need a boilerplate, and could be
    accepted, by partitions that judge them, and which sites each partition needs then.
    """
    report: Report = {}
    needed: set[tuple[int, int]] = set()
    slices = Slices(plan)
    partitions, ranges = plan.partitions, plan.n_ranges
    with (
        partitioned_file(
            plan.folder, HOPEFUL, range_, _HOPEFUL, partitions, report=report
        ) as hopeful,
        partitioned_file(
            plan.folder, ACCEPTED_AT_ONCE, range_, ACCEPTED_ROW, ranges, report=report
        ) as accepted,
    ):
        for batch in _joined(plan, range_):
            rows, waiting = _judged_at_once(plan, _possible(plan, batch))
            write_accepted(plan, rows, accepted)
            needed |= _write_waiting(waiting, slices, hopeful)
    with partitioned_file(
        plan.folder, SITES_NEEDED, range_, SITE_NEEDED, partitions, report=report
    ) as file:
        sites, needing = np.array(sorted(needed), np.int64).reshape(-1, 2).T
        columns = {"site": sites.astype(np.uint32), "partition": needing}
        file.write_by(sites % partitions, columns)
    return report


def _joined(plan: Plan, range_: int) -> Iterator[pa.RecordBatch]:
    for batch in partition_of(plan.folder, JOINED, plan.n_ranges, range_, plan.n_ranges):
        for start in range(0, batch.num_rows, _BATCH):
            yield batch.slice(start, _BATCH)


def _possible(plan: Plan, batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return the pairs that are not refused by what the summaries of their pages say.

    :returns: rows of :data:`~.verdicts.PAIR_OF_PAGES`, with the ``sites`` of both.
    """
    others, places = _look_up(plan, numbers_in(batch, "second"))
    rows, other_rows = np.frombuffer(bytes_in(batch["row"]), ROW), others.rows[places]
    other_pages = [others.pages[place] for place in places.tolist()]
    one, other = rows["summary"], other_rows["summary"]
    is_possible = np.ones(rows.size, bool)
    if plan.method is None:
        likeness = likeness_of(one, other, plan.rule)
        floors = similarity_floors(one["title"] == other["title"], plan.rule)
        similarity = resemblances(_sketches(batch["page"].to_pylist()), _sketches(other_pages))
        is_possible = likeness.possible & (likeness.equal | (similarity >= floors))
    kept = np.flatnonzero(is_possible)
    columns = batch.select([*PAIR.names, "page", "id"])
    pairs: list[dict[str, Any]] = columns.take(pa.array(kept)).to_pylist()
    for pair, place in zip(pairs, kept.tolist(), strict=True):
        pair["second_page"] = other_pages[place]
        pair["second_id"] = others.ids[places[place]]
        pair["sites"] = int(one["site"][place]), int(other["site"][place])
    return pairs


def _judged_at_once(
    plan: Plan, pairs: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of those that are accepted, and the pairs that need a boilerplate."""
    accepted, waiting = [], []
    boilerplates = NoBoilerplates()
    for pair in pairs:
        try:
            row = accepted_row(plan, pair, boilerplates)
        except BoilerplateNeeded:
            waiting.append(pair)
        else:
            accepted += [row] if row is not None else []
    return accepted, waiting


def _write_waiting(
    pairs: list[dict[str, Any]], slices: Slices, file: PartitionedFile
) -> set[tuple[int, int]]:
    """Write pairs by partition, and return the sites that each partition needs for them."""
    sites = np.array([pair["sites"] for pair in pairs], np.uint32).reshape(-1, 2)
    partition = slices.partitions(sites[:, 0])
    columns = {name: [pair[name] for pair in pairs] for name in PAIR_OF_PAGES.names}
    file.write_by(partition, {**columns, "site": sites[:, 0]})
    return set(zip(sites.T.ravel().tolist(), 2 * partition.tolist(), strict=True))


class Slices:
    """Chooses the partition that judges each hopeful pair of a range, by its first page's site.

    The pairs of a small site go to one partition, so that its boilerplate is needed there only. All
    ranges begin with the same partition of a site; after its share of :data:`_PAIRS_OF_SLICE`,
    each range goes on to the next partition.
    """

    def __init__(self, plan: Plan) -> None:
        self._partitions = plan.partitions
        self._pairs = max(_PAIRS_OF_SLICE // plan.n_ranges, 1)
        self._dealt: Counter[int] = Counter()

    def partitions(self, sites: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """Return the partition of the next pairs of some sites; shape ``(n,)``."""
        order = np.argsort(sites, kind="stable")
        distinct, starts, counts = np.unique(sites[order], return_index=True, return_counts=True)
        dealt = np.array([self._dealt[site] for site in distinct.tolist()], np.int64)
        self._dealt.update(dict(zip(distinct.tolist(), counts.tolist(), strict=True)))
        places = np.arange(sites.size) + np.repeat(dealt - starts, counts)
        partitions = np.empty(sites.size, np.int64)
        partitions[order] = sites[order] + places // self._pairs
        return partitions % self._partitions


def _look_up(
    plan: Plan, numbers: npt.NDArray[np.int64]
) -> tuple[SignedPages, npt.NDArray[np.intp]]:
    """Return pages, and for each number the place of its page; shape ``(n,)``."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return look_up(plan, distinct), places


def _sketches(pages: list[bytes]) -> npt.NDArray[np.uint8]:
    joined = b"".join(map(sketch_in, pages))
    return np.frombuffer(joined, np.uint8).reshape(-1, SKETCH_BINS)
