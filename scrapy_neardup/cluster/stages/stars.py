"""The stages that find the connected components of the accepted pairs.

Each component becomes a star, whose centre is its first page. An operation needs only a page and
its neighbours, which must fit in the memory of one task (Kiveris, Lattanzi, Mirrokni, Rastogi,
Vassilvitskii, *Connected Components in MapReduce and Beyond*, SoCC 2014). A round is a large-star
and a small-star operation; the number of rounds grows with the logarithm of the number of pages.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._util.arrays import run_boundaries
from ...hashing.union_find import Clusters
from ..folder import Report
from ..plan import Plan
from ..shuffle import numbers_in, opened_batches, partition_of, partitioned_file
from .judging import ACCEPTED_OF_RANGE
from .keys import mixed_values
from .proposing import distinct_pairs, stage_of

FORESTS, LARGE_STARS, SMALL_STARS, LABELS = "forests", "large-stars", "small-stars", "labels"
#: Pairs of a range that become a forest together.
_AT_ONCE = 1 << 20

#: An edge between two pages, to be found by the first one.
_EDGE = pa.schema([("page", pa.int64()), ("neighbour", pa.int64())])
#: A page, and the first page of its cluster.
LABEL = pa.schema([("number", pa.int64()), ("root", pa.int64())])
#: Pairs of pages, shape ``(n, 2)``.
_Edges = npt.NDArray[np.int64]


def grow_forests(plan: Plan, range_: int) -> Report:
    """Write pairs of a range that connect the same pages as all of them, fewer than pages."""
    forest = np.empty((0, 2), np.int64)
    waiting: list[_Edges] = []
    rows = 0
    for edges in _accepted(plan, range_):
        waiting.append(edges)
        rows += len(edges)
        if rows > max(_AT_ONCE, len(forest)):
            forest, waiting, rows = _forest([forest, *waiting]), [], 0
    return _write(plan, FORESTS, range_, _both_ways(_forest([forest, *waiting])))


def _accepted(plan: Plan, range_: int) -> Iterator[_Edges]:
    with opened_batches(plan.folder, ACCEPTED_OF_RANGE, range_, ["first", "second"]) as reader:
        for place in range(reader.num_record_batches):
            batch = reader.get_batch(place)
            yield np.stack((numbers_in(batch, "first"), numbers_in(batch, "second")), axis=1)


def _forest(parts: list[_Edges]) -> _Edges:
    """Return an edge from each page to the first one that edges connect it with."""
    edges = np.concatenate(parts)
    pages, places = np.unique(edges, return_inverse=True)
    places = places.reshape(-1, 2)
    clusters = Clusters(pages.size)
    clusters.join(places[:, 0], places[:, 1])
    roots = pages[clusters.smallest()]
    is_edge = pages != roots
    return np.stack((pages[is_edge], roots[is_edge]), axis=1)


def form_large_stars(plan: Plan, partition: int, round_: int) -> Report:
    """Connect the later neighbours of each page with the first one of it and its neighbours."""
    edges = _edges_of(plan, SMALL_STARS, round_ - 1, partition)
    pages, neighbours = edges.T
    is_later = neighbours > pages
    stars = np.stack((neighbours, _first_of_each(edges)), axis=1)[is_later]
    # An edge has its later page first, so that all that are equal come to one task.
    return _write(plan, stage_of(LARGE_STARS, round_), partition, stars)


def form_small_stars(plan: Plan, partition: int, round_: int) -> Report:
    """Connect each page and its earlier neighbours with the first of these.

    :returns: ``edges`` and ``digest`` of what the large-star operation had made of the edges: once
        they are those of the round before, all components are stars.
    """
    edges = _edges_of(plan, LARGE_STARS, round_, partition)
    firsts = _first_of_each(edges)
    pages, neighbours = edges.T
    stars = np.concatenate(
        (np.stack((neighbours, firsts), axis=1), np.stack((pages, firsts), axis=1))
    )
    stars = distinct_pairs([stars[stars[:, 0] != stars[:, 1]]])
    report = _write(plan, stage_of(SMALL_STARS, round_), partition, _both_ways(stars))
    later, earlier = edges.T.view(np.uint64)
    digests = mixed_values(later ^ mixed_values(earlier))
    return {**report, "edges": len(edges), "digest": int(digests.sum(dtype=np.uint64))}


def write_labels(plan: Plan, partition: int, round_: int) -> Report:
    """Write the first page of the cluster of each page that has one, by the page's range."""
    report: Report = {}
    edges = _edges_of(plan, LARGE_STARS, round_, partition)
    roots = np.unique(edges[:, 1])
    labels = np.concatenate((edges, np.stack((roots, roots), axis=1)))
    with partitioned_file(
        plan.folder, LABELS, partition, LABEL, plan.n_ranges, report=report
    ) as file:
        numbers, roots = labels.T
        file.write_by(plan.range_of(numbers), {"number": numbers, "root": roots})
    return report


def _edges_of(plan: Plan, stage: str, round_: int, partition: int) -> _Edges:
    """Return the distinct edges that come to a partition, by page and neighbour."""
    tasks = plan.partitions
    if round_ < 0:
        stage, tasks = FORESTS, plan.n_ranges
    else:
        stage = stage_of(stage, round_)
    parts = [
        np.stack((numbers_in(batch, "page"), numbers_in(batch, "neighbour")), axis=1)
        for batch in partition_of(plan.folder, stage, tasks, partition, plan.partitions)
    ]
    return distinct_pairs([np.empty((0, 2), np.int64), *parts])


def _first_of_each(edges: _Edges) -> npt.NDArray[np.int64]:
    """Return for each edge the first of its page and that page's neighbours; shape ``(n,)``.

    :param edges: by page and neighbour.
    """
    if not len(edges):
        return np.empty(0, np.int64)
    pages, neighbours = edges.T
    borders = run_boundaries(pages)
    firsts = np.minimum(neighbours[borders[:-1]], pages[borders[:-1]])
    return np.repeat(firsts, np.diff(borders))


def _both_ways(edges: _Edges) -> _Edges:
    return np.concatenate((edges, edges[:, ::-1]))


def _write(plan: Plan, stage: str, task: int, edges: _Edges) -> Report:
    """Write edges by their page."""
    report: Report = {}
    with partitioned_file(plan.folder, stage, task, _EDGE, plan.partitions, report=report) as file:
        pages, neighbours = edges.T
        # The numbers within a split are consecutive, so this spreads them evenly.
        file.write_by(pages % plan.partitions, {"page": pages, "neighbour": neighbours})
    return report
