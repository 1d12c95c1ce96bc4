"""The stages that bring the newest pages of sites to where the boilerplate of these is needed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...matching.site_boilerplate import MAX_ENTRIES
from ..folder import Report
from ..plan import Plan
from ..shuffle import numbers_in, partition_of, partitioned_file, table_of
from .confirming import SITE_NEEDED, SITES_NEEDED
from .signing import living_pages, look_up

SITES, WANTED, SITE_PAGES = "sites", "wanted", "site-pages"
_Sites = npt.NDArray[np.uint32]
_Numbers = npt.NDArray[np.int64]

_BATCH = 8192
#: Batches of signed pages of which the newest are chosen together.
_AT_ONCE = 256

_SITE = pa.schema([("site", pa.uint32()), ("number", pa.int64())])
_WANTED = pa.schema([("number", pa.int64()), ("partition", pa.int64())])
_SITE_PAGE = pa.schema([("site", pa.uint32()), ("number", pa.int64()), ("page", pa.binary())])


def write_sites(plan: Plan, range_: int) -> Report:
    """Write the numbers of the newest pages of each site in a range, by site."""
    report: Report = {}
    sites, numbers = np.empty(0, np.uint32), np.empty(0, np.int64)
    waiting: list[tuple[_Sites, _Numbers]] = []
    for pages in living_pages(plan, range_):
        waiting.append((pages.rows["summary"]["site"], pages.numbers))
        if len(waiting) == _AT_ONCE:
            sites, numbers = _newest([(sites, numbers), *waiting])
            waiting = []
    sites, numbers = _newest([(sites, numbers), *waiting])
    with partitioned_file(
        plan.folder, SITES, range_, _SITE, plan.partitions, report=report
    ) as file:
        file.write_by(sites % plan.partitions, {"site": sites, "number": numbers})
    return report


def find_newest(plan: Plan, partition: int) -> Report:
    """Write which pages the boilerplates of the needed sites are learned from, by page."""
    report: Report = {}
    rows = table_of(
        partition_of(plan.folder, SITES, plan.n_ranges, partition, plan.partitions), _SITE
    )
    needed = table_of(
        partition_of(plan.folder, SITES_NEEDED, plan.n_ranges, partition, plan.partitions),
        SITE_NEEDED,
    )
    sites, numbers = numbers_in(rows, "site"), numbers_in(rows, "number")
    is_needed = np.isin(sites, numbers_in(needed, "site"))
    sites, numbers = _newest([(sites[is_needed], numbers[is_needed])])
    # Each site's pages to each partition that needs them.
    by_site = needed.group_by("site").aggregate([("partition", "distinct")])
    partitions_of = dict(
        zip(by_site["site"].to_pylist(), by_site["partition_distinct"].to_pylist(), strict=True)
    )
    wanted = [partitions_of[site] for site in sites.tolist()]
    repeated = np.repeat(numbers, list(map(len, wanted)))
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


def _newest(parts: list[tuple[_Sites, _Numbers]]) -> tuple[_Sites, _Numbers]:
    """Return the newest pages of each site, by site and number."""
    sites, numbers = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((numbers, sites))
    sites, numbers = sites[order], numbers[order]
    ends = np.searchsorted(sites, sites, "right")
    is_new = ends - np.arange(sites.size) <= MAX_ENTRIES
    return sites[is_new], numbers[is_new]
