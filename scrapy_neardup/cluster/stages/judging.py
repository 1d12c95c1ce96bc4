"""The stages that judge the hopeful pairs by the rule, and put those that it accepts in order."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain

import numpy as np
import pyarrow as pa

from ...matching.candidates import site_digest
from ...matching.rule import learn
from ...matching.site_boilerplate import Boilerplates, SiteBoilerplate
from ...stores.codec import unpacked
from ..folder import Report
from ..plan import Plan
from ..shuffle import arrow_file, numbers_in, partition_of, partitioned_file, table_of
from .confirming import ACCEPTED_AT_ONCE, HOPEFUL
from .site_pages import SITE_PAGES
from .verdicts import ACCEPTED_ROW, accepted_row, write_accepted

ACCEPTED, ACCEPTED_OF_RANGE = "accepted", "accepted-of-range"
_ROWS_AT_ONCE = 1 << 16


def judge(plan: Plan, partition: int) -> Report:
    """Write the pairs of a partition that the rule accepts by the boilerplate of their sites."""
    report: Report = {}
    taught = _SitePages(plan, partition)
    boilerplates = Boilerplates(taught.teach)
    with partitioned_file(
        plan.folder, ACCEPTED, partition, ACCEPTED_ROW, plan.n_ranges, report=report
    ) as file:
        for batch in partition_of(plan.folder, HOPEFUL, plan.n_ranges, partition, plan.partitions):
            # By site, so that each boilerplate is learned once a batch.
            pairs = batch.sort_by("site").to_pylist()
            rows = (accepted_row(plan, pair, boilerplates) for pair in pairs)
            write_accepted(plan, [row for row in rows if row is not None], file)
    return report


def sort_accepted(plan: Plan, range_: int) -> Report:
    """Write the accepted pairs whose first page is in a range, in order."""
    at_once = partition_of(plan.folder, ACCEPTED_AT_ONCE, plan.n_ranges, range_, plan.n_ranges)
    by_site = partition_of(plan.folder, ACCEPTED, plan.partitions, range_, plan.n_ranges)
    rows = table_of(chain(at_once, by_site), ACCEPTED_ROW)
    order = np.lexsort((numbers_in(rows, "second"), numbers_in(rows, "first")))
    with arrow_file(plan.folder, ACCEPTED_OF_RANGE, range_, ACCEPTED_ROW) as file:
        for start in range(0, order.size, _ROWS_AT_ONCE):
            some = rows.take(pa.array(order[start : start + _ROWS_AT_ONCE])).combine_chunks()
            file.write({name: some[name].combine_chunks() for name in ACCEPTED_ROW.names})
    return {"pairs": rows.num_rows}


class _SitePages:
    """The newest pages of the sites that a partition needs, packed, by the site's digest."""

    def __init__(self, plan: Plan, partition: int) -> None:
        self._recipe = plan.recipe
        found: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for batch in partition_of(
            plan.folder, SITE_PAGES, plan.n_ranges, partition, plan.partitions
        ):
            for row in batch.to_pylist():
                found[row["site"]].append((row["number"], row["page"]))
        self._found = {site: sorted(pages) for site, pages in found.items()}

    def teach(self, site: str, boilerplate: SiteBoilerplate) -> None:
        """Teach a boilerplate its site's newest pages, the oldest of them first."""
        for _, data in self._found.get(site_digest(site), ()):
            page = unpacked(data, self._recipe)
            if page.site == site:
                learn(boilerplate, page)
