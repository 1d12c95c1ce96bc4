"""The stages that bring the newest pages of sites to where the boilerplate of these is needed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...matching.site_boilerplate import MAX_ENTRIES
from ..folder import Report
from ..plan import Plan
from ..shuffle import numbers_in, partition_of, partitioned_file, table_of
from .confirming import SITE_NEEDED, SITES_NEEDED
from .signing import living_pages, look_up

SITES, WANTED, SITE_PAGES = "sites", "wanted", "site-pages"
_BATCH = 8192

_SITE = pa.schema([("site", pa.uint32()), ("number", pa.int64())])
_WANTED = pa.schema([("number", pa.int64()), ("partition", pa.int64())])
_SITE_PAGE = pa.schema([("site", pa.uint32()), ("number", pa.int64()), ("page", pa.binary())])


def write_sites(plan: Plan, split: int) -> Report:
    """Write the numbers of the newest pages of each site in a split, by site."""
    report: Report = {}
    parts = [(pages.rows["summary"]["site"], pages.numbers) for pages in living_pages(plan, split)]
    sites = np.concatenate([np.empty(0, np.uint32), *(site for site, _ in parts)])
    numbers = np.concatenate([np.empty(0, np.int64), *(number for _, number in parts)])
    chosen = _newest(sites, numbers)
    with partitioned_file(plan.folder, SITES, split, _SITE, plan.partitions, report=report) as file:
        columns = {"site": sites[chosen], "number": numbers[chosen]}
        file.write_by(sites[chosen] % plan.partitions, columns)
    return report


def find_newest(plan: Plan, partition: int) -> Report:
    """Write which pages the boilerplates of the needed sites are learned from, by page."""
    report: Report = {}
    rows = table_of(
        partition_of(plan.folder, SITES, plan.n_splits, partition, plan.partitions), _SITE
    )
    needed = table_of(
        partition_of(plan.folder, SITES_NEEDED, plan.n_ranges, partition, plan.partitions),
        SITE_NEEDED,
    )
    sites, numbers = numbers_in(rows, "site"), numbers_in(rows, "number")
    chosen = np.flatnonzero(np.isin(sites, numbers_in(needed, "site")))
    chosen = chosen[_newest(sites[chosen], numbers[chosen])]
    # Each site's pages to each partition that needs them.
    by_site = needed.group_by("site").aggregate([("partition", "distinct")])
    partitions_of = dict(
        zip(by_site["site"].to_pylist(), by_site["partition_distinct"].to_pylist(), strict=True)
    )
    wanted = [partitions_of[site] for site in sites[chosen].tolist()]
    repeated = np.repeat(numbers[chosen], list(map(len, wanted)))
    partitions = np.array([each for some in wanted for each in some], np.int64)
    with partitioned_file(
        plan.folder, WANTED, partition, _WANTED, plan.n_ranges, report=report
    ) as file:
        columns = {"number": repeated, "partition": partitions}
        file.write_by(plan.range_of(repeated), columns)
    return report


def fetch(plan: Plan, range_: int) -> Report:
    """Write the wanted pages of a range, by the partition that wants them."""
    report: Report = {}
    wanted = table_of(
        partition_of(plan.folder, WANTED, plan.partitions, range_, plan.n_ranges), _WANTED
    )
    numbers, partitions = numbers_in(wanted, "number"), numbers_in(wanted, "partition")
    order = np.argsort(numbers, kind="stable")
    with partitioned_file(
        plan.folder, SITE_PAGES, range_, _SITE_PAGE, plan.partitions, report=report
    ) as file:
        for start in range(0, order.size, _BATCH):
            some = order[start : start + _BATCH]
            distinct, places = np.unique(numbers[some], return_inverse=True)
            pages = look_up(plan, distinct)
            columns = {
                "site": pages.rows["summary"]["site"][places],
                "number": numbers[some],
                "page": [pages.pages[place] for place in places.tolist()],
            }
            file.write_by(partitions[some], columns)
    return report


def _newest(
    sites: np.ndarray[tuple[int], np.dtype[np.uint32]],
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the places of the newest pages of each site, by site and number."""
    order = np.lexsort((numbers, sites))
    if not order.size:
        return order
    by_site = sites[order]
    ends = np.searchsorted(by_site, by_site, "right")
    return order[ends - np.arange(order.size) <= MAX_ENTRIES]
