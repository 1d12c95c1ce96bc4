"""The last stages: the clusters that the accepted pairs form, and the pages that stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ...hashing.representatives import represented
from ...reasons import REASONS_OF_EQUALITY
from ...stores.codec import unpacked
from ..folder import Report
from ..plan import Plan
from ..shuffle import (
    arrow_file,
    numbers_in,
    opened_batches,
    partition_of,
    partitioned_file,
    table_of,
)
from .judging import ACCEPTED_OF_RANGE
from .proposing import PAIR
from .signing import all_pages, look_up, replaced_in
from .stars import LABEL, LABELS

MEMBERS, CLUSTERS, KEPT = "members", "clusters", "kept"
LINKS, REPRESENTED = "links", "represented"
_BATCH = 8192

_MEMBER = pa.schema([*LABEL, ("id", pa.string()), ("url", pa.string())])
_LINK = pa.schema([*PAIR, ("is_equal", pa.bool_())])
_NUMBER = pa.schema([("number", pa.int64())])
_PAGE = pa.schema([("id", pa.string()), ("url", pa.string())])


def name_members(plan: Plan, range_: int) -> Report:
    """Write the members of clusters that are in a range with id and URL, by cluster."""
    report: Report = {}
    numbers, roots = _labels(plan, range_)
    with partitioned_file(
        plan.folder, MEMBERS, range_, _MEMBER, plan.n_ranges, report=report
    ) as file:
        for start in range(0, numbers.size, _BATCH):
            some = slice(start, start + _BATCH)
            pages = look_up(plan, numbers[some])
            urls = [json.dumps(unpacked(page, plan.recipe).url) for page in pages.pages]
            columns = {"number": numbers[some], "root": roots[some], "id": pages.ids, "url": urls}
            file.write_by(plan.range_of(roots[some]), columns)
    return report


def sort_members(plan: Plan, range_: int) -> Report:
    """Write the members of the clusters whose first page is in a range, cluster by cluster."""
    batches = partition_of(plan.folder, MEMBERS, plan.n_ranges, range_, plan.n_ranges)
    rows = table_of(batches, _MEMBER)
    roots = numbers_in(rows, "root")
    order = np.lexsort((numbers_in(rows, "number"), roots))
    with arrow_file(plan.folder, CLUSTERS, range_, _MEMBER) as file:
        sorted_rows = rows.take(pa.array(order))
        for batch in sorted_rows.to_batches(_BATCH):
            file.write({name: batch[name] for name in _MEMBER.names})
    _, sizes = np.unique(roots, return_counts=True)
    return {
        "clusters": int(sizes.size),
        "members": roots.size,
        "largest": int(sizes.max(initial=0)),
    }


def link_pairs(plan: Plan, range_: int) -> Report:
    """Write the accepted pairs whose first page is in a range, by cluster."""
    report: Report = {}
    numbers, roots = _labels(plan, range_)
    columns = ["first", "second", "reason"]
    with (
        opened_batches(plan.folder, ACCEPTED_OF_RANGE, range_, columns) as reader,
        partitioned_file(plan.folder, LINKS, range_, _LINK, plan.n_ranges, report=report) as file,
    ):
        for place in range(reader.num_record_batches):
            batch = reader.get_batch(place)
            first = numbers_in(batch, "first")
            is_equal = [reason in REASONS_OF_EQUALITY for reason in batch["reason"].to_pylist()]
            links = {"first": first, "second": batch["second"], "is_equal": is_equal}
            file.write_by(plan.range_of(roots[np.searchsorted(numbers, first)]), links)
    return report


def find_represented(plan: Plan, range_: int) -> Report:
    """Write the pages that another one of their cluster represents, by range.

    :param range_: of the clusters' first pages.
    """
    report: Report = {}
    rows = table_of(partition_of(plan.folder, LINKS, plan.n_ranges, range_, plan.n_ranges), _LINK)
    numbers = represented(*(numbers_in(rows, name) for name in _LINK.names))
    with partitioned_file(
        plan.folder, REPRESENTED, range_, _NUMBER, plan.n_ranges, report=report
    ) as file:
        file.write_by(plan.range_of(numbers), {"number": numbers})
    return report


def write_kept(plan: Plan, range_: int) -> Report:
    """Write the pages of a range that stay: all that no other one represents."""
    batches = partition_of(plan.folder, REPRESENTED, plan.n_ranges, range_, plan.n_ranges)
    numbers = numbers_in(table_of(batches, _NUMBER), "number")
    gone = np.concatenate((numbers, replaced_in(plan, range_)))
    kept = 0
    with arrow_file(plan.folder, KEPT, range_, _PAGE) as file:
        for split in plan.splits_of(range_):
            for pages in all_pages(plan, split):
                stays = np.flatnonzero(~np.isin(pages.numbers, gone)).tolist()
                urls = [
                    json.dumps(unpacked(pages.pages[place], plan.recipe).url)
                    if pages.pages[place]
                    else pages.urls[place]
                    for place in stays
                ]
                file.write({"id": [pages.ids[place] for place in stays], "url": urls})
                kept += len(stays)
    return {"kept": kept}


def pair_lines(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the accepted pairs in order, as ``scrapy neardup pairs`` writes them."""
    for range_ in range(plan.n_ranges):
        for row in _rows(plan, ACCEPTED_OF_RANGE, range_):
            url, other_url = json.loads(row["url"]), json.loads(row["second_url"])
            yield {
                "id_a": _id(row["id"], url),
                "url_a": url,
                "id_b": _id(row["second_id"], other_url),
                "url_b": other_url,
                "distance": row["distance"],
                "similarity": round(row["similarity"], 4),
                "reason": row["reason"],
            }


def cluster_lines(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the clusters, ordered by their first page, as ``scrapy neardup pairs`` writes them."""
    for range_ in range(plan.n_ranges):
        root, ids, urls = None, list[Any](), list[str]()
        for row in _rows(plan, CLUSTERS, range_):
            if row["root"] != root and ids:
                yield {"pages": len(ids), "ids": ids, "urls": urls}
                ids, urls = [], []
            root, url = row["root"], json.loads(row["url"])
            ids.append(_id(row["id"], url))
            urls.append(url)
        if ids:
            yield {"pages": len(ids), "ids": ids, "urls": urls}


def kept_lines(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield id and URL of each page that stays, in the order of the input."""
    for range_ in range(plan.n_ranges):
        for row in _rows(plan, KEPT, range_):
            url = json.loads(row["url"])
            yield {"id": _id(row["id"], url), "url": url}


def _labels(
    plan: Plan, range_: int
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the members of clusters in a range, by number, and the first page of each's cluster.

    Several tasks have written the first page of a cluster.
    """
    rows = table_of(
        partition_of(plan.folder, LABELS, plan.partitions, range_, plan.n_ranges), LABEL
    )
    numbers, places = np.unique(numbers_in(rows, "number"), return_index=True)
    return numbers, numbers_in(rows, "root")[places]


def _rows(plan: Plan, stage: str, range_: int) -> Iterator[dict[str, Any]]:
    with opened_batches(plan.folder, stage, range_) as reader:
        for place in range(reader.num_record_batches):
            yield from reader.get_batch(place).to_pylist()


def _id(written: str, url: str) -> str | int:
    """Return the id of a page; its URL where it has none."""
    id_: str | int = json.loads(written) if written else url
    return id_
