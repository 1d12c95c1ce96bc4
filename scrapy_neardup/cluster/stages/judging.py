"""The stages that judge the hopeful pairs by the rule, and put those that it accepts in order."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from ...matching.candidates import site_digest
from ...matching.method_matching import compare_by
from ...matching.rule import learn
from ...matching.site_boilerplate import Boilerplates, SiteBoilerplate
from ...matching.verdict import Match, Mismatch
from ...signatures.signature import PageSignature
from ...stores.codec import unpacked
from ..folder import Report
from ..plan import Plan
from ..shuffle import arrow_file, numbers_in, partition_of, partitioned_file, table_of
from .confirming import HOPEFUL
from .proposing import PAIR
from .site_pages import SITE_PAGES

ACCEPTED, ACCEPTED_OF_RANGE = "accepted", "accepted-of-range"
_ROWS_AT_ONCE = 1 << 16

#: Ids and URLs are JSON, and an id that is the URL is empty.
ACCEPTED_ROW = pa.schema(
    [
        *PAIR,
        ("distance", pa.int64()),
        ("similarity", pa.float64()),
        ("reason", pa.string()),
        ("id", pa.string()),
        ("url", pa.string()),
        ("second_id", pa.string()),
        ("second_url", pa.string()),
    ]
)


def judge(plan: Plan, partition: int) -> Report:
    """Write the pairs of a partition that the rule accepts, by first page."""
    report: Report = {}
    taught = _SitePages(plan, partition)
    boilerplates = Boilerplates(taught.teach)
    with partitioned_file(
        plan.folder, ACCEPTED, partition, ACCEPTED_ROW, plan.n_ranges, report=report
    ) as file:
        for batch in partition_of(plan.folder, HOPEFUL, plan.n_ranges, partition, plan.partitions):
            accepted = [
                line
                # By site, so that each boilerplate is learned once a batch.
                for row in batch.sort_by("site").to_pylist()
                if (line := _accepted(plan, row, boilerplates)) is not None
            ]
            columns = {name: [line[name] for line in accepted] for name in ACCEPTED_ROW.names}
            firsts = np.array(columns["first"], np.int64)
            file.write_by(plan.range_of(firsts), columns)
    return report


def sort_accepted(plan: Plan, range_: int) -> Report:
    """Write the accepted pairs whose first page is in a range, in order."""
    batches = partition_of(plan.folder, ACCEPTED, plan.partitions, range_, plan.n_ranges)
    rows = table_of(batches, ACCEPTED_ROW)
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


def _accepted(plan: Plan, row: dict[str, Any], boilerplates: Boilerplates) -> dict[str, Any] | None:
    """Return a row of :data:`ACCEPTED_ROW`, if the rule accepts the pair."""
    page, other = (unpacked(row[name], plan.recipe) for name in ("page", "second_page"))
    outcome = _compare(plan, page, other, boilerplates)
    if not isinstance(outcome, Match):
        return None
    return {
        "first": row["first"],
        "second": row["second"],
        "distance": outcome.distance,
        "similarity": outcome.similarity,
        "reason": str(outcome.reason),
        "id": row["id"],
        "url": json.dumps(page.url),
        "second_id": row["second_id"],
        "second_url": json.dumps(other.url),
    }


def _compare(
    plan: Plan, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
) -> Match | Mismatch | None:
    if plan.method is not None:
        return compare_by(plan.method, page, other, plan.rule)
    return plan.rule.compare_either_way(page, other, boilerplates)
