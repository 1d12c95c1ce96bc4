"""Verdicts of the rule or a method on pairs, as stages pass them on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ...matching.method_matching import compare_by
from ...matching.site_boilerplate import Boilerplates, SiteBoilerplate
from ...matching.verdict import Match, Mismatch
from ...signatures.signature import PageSignature
from ...stores.codec import unpacked
from ..plan import Plan
from ..shuffle import PartitionedFile
from .proposing import PAIR

#: A pair with the signatures of both pages. Ids and URLs are JSON, and an id that is the URL is
#: empty.
PAIR_OF_PAGES = pa.schema(
    [
        *PAIR,
        ("page", pa.binary()),
        ("id", pa.string()),
        ("second_page", pa.binary()),
        ("second_id", pa.string()),
    ]
)
#: A pair that is accepted.
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


class BoilerplateNeeded(Exception):
    """A pair cannot be judged without the boilerplate of a site."""


class NoBoilerplates(Boilerplates):
    """Says that a pair needs a boilerplate, which few pairs do."""

    def of(self, site: str) -> SiteBoilerplate:
        """Raise an error.

        :raises BoilerplateNeeded: always.
        """
        raise BoilerplateNeeded(site)


def accepted_row(
    plan: Plan, pair: Mapping[str, Any], boilerplates: Boilerplates
) -> dict[str, Any] | None:
    """Return a row of :data:`ACCEPTED_ROW` if the rule, or the method, accepts a pair.

    :param pair: a row of :data:`PAIR_OF_PAGES`.
    :raises BoilerplateNeeded: if there are none, and one is needed.
    """
    page, other = (unpacked(pair[name], plan.recipe) for name in ("page", "second_page"))
    outcome = _compare(plan, page, other, boilerplates)
    if not isinstance(outcome, Match):
        return None
    return {
        "first": pair["first"],
        "second": pair["second"],
        "distance": outcome.distance,
        "similarity": outcome.similarity,
        "reason": str(outcome.reason),
        "id": pair["id"],
        "url": json.dumps(page.url),
        "second_id": pair["second_id"],
        "second_url": json.dumps(other.url),
    }


def _compare(
    plan: Plan, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
) -> Match | Mismatch | None:
    if plan.method is not None:
        return compare_by(plan.method, page, other, plan.rule)
    return plan.rule.compare_either_way(page, other, boilerplates)


def write_accepted(plan: Plan, rows: list[dict[str, Any]], file: PartitionedFile) -> None:
    """Write accepted pairs by their first page."""
    columns = {name: [row[name] for row in rows] for name in ACCEPTED_ROW.names}
    file.write_by(plan.range_of(np.array(columns["first"], np.int64)), columns)
