"""Counts how many known pairs a rule finds at each distance and similarity."""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...exceptions import InputError
from ...hashing.simhash_index import MAX_DISTANCE
from ...matching.rule import Rule
from ...matching.site_boilerplate import Boilerplates
from ...matching.verdict import Match
from ...signatures.signature import PageSignature
from ...sources.compression import reason_of

DISTANCES = range(MAX_DISTANCE + 1)
SIMILARITIES = tuple(round(0.05 * step, 2) for step in range(21))

_Grid = npt.NDArray[np.int64]

_LABELS = {"duplicate": True, "distinct": False, "unclear": None}

#: Apostrophe that report.js puts before text that a spreadsheet would run as a formula.
_HARMLESS = re.compile(r"^'(?='*[=+\-@\t\r\n])")


class Pair(NamedTuple):
    """Ids of two pages, and whether these are duplicates."""

    a: str
    b: str
    same: bool


def read_pairs(path: str, least_jaccard: float, skipped: Counter[str]) -> list[Pair]:
    """Read the pairs of a CSV file; count bad and unclear rows in ``skipped``.

    :raises InputError: when the file cannot be read or has other columns.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            columns = rows.fieldnames or []
            if not {"id_a", "id_b"} <= set(columns) or not {"label", "jaccard"} & set(columns):
                raise InputError(path, "the columns are id_a, id_b, and label or jaccard or both")
            return list(_pairs(rows, least_jaccard, skipped))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, reason_of(error)) from error


def _pairs(
    rows: csv.DictReader[str], least_jaccard: float, skipped: Counter[str]
) -> Iterator[Pair]:
    for row in rows:
        try:
            same = _truth(row, least_jaccard)
        except (KeyError, ValueError):
            skipped["bad row"] += 1
            continue
        if same is None:
            skipped["unclear"] += 1
        else:
            yield Pair(_HARMLESS.sub("", row["id_a"], 1), _HARMLESS.sub("", row["id_b"], 1), same)


def _truth(row: dict[str, str], least_jaccard: float) -> bool | None:
    """Return whether a row is a pair of duplicates; ``None`` for unclear.

    :raises KeyError: when the label is unknown.
    :raises ValueError: when an id or the resemblance is missing.
    """
    if not (row["id_a"] and row["id_b"]):
        raise ValueError
    if label := (row.get("label") or "").strip().lower():
        return _LABELS[label]
    return float(row.get("jaccard") or "") >= least_jaccard


@dataclass(frozen=True)
class Figures:
    """Numbers of pairs that a rule finds at each distance (rows) and similarity (columns).

    :ivar hits: shape ``(12, 21)``, pairs of duplicates that are found.
    :ivar wrong: shape ``(12, 21)``, pairs of distinct pages that are found.
    :ivar duplicates: number of pairs of duplicates.
    :ivar distinct: number of pairs of distinct pages.
    """

    hits: _Grid
    wrong: _Grid
    duplicates: int
    distinct: int

    @classmethod
    def count(
        cls,
        pairs: list[Pair],
        signatures: Mapping[str, PageSignature],
        rule: Rule,
        boilerplates: Boilerplates,
        skipped: Counter[str],
    ) -> Figures:
        """Compare each pair by the rule with all combinations of thresholds.

        :param signatures: signatures by the ids of pages, as strings.
        :param boilerplates: the boilerplate learned of the sites.
        :param skipped: counts the pairs without signatures.
        """
        found = {True: _empty_grid(), False: _empty_grid()}
        number: Counter[bool] = Counter()
        for pair in pairs:
            if pair.a not in signatures or pair.b not in signatures:
                skipped["page not there"] += 1
                continue
            number[pair.same] += 1
            found[pair.same] += _found(rule, boilerplates, signatures[pair.a], signatures[pair.b])
        return cls(found[True], found[False], number[True], number[False])

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """Share of the duplicates that are found."""
        return self.hits / self.duplicates

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """Share of the found pairs that are duplicates; NaN where none is found."""
        with np.errstate(invalid="ignore"):
            return self.hits / (self.hits + self.wrong)

    def recommended(self, precision: float) -> tuple[int, int] | None:
        """Return row and column of the best thresholds; ``None`` if none reach the precision.

        The best have the greatest recall; of equals, the highest similarity, then the smallest
        distance.
        """
        # A comparison with NaN is false.
        fit = self.precision >= precision
        if not fit.any():
            return None
        recall = np.where(fit, self.hits, -1)
        places = np.argwhere(recall == recall.max())
        row, column = max(places.tolist(), key=lambda place: (place[1], -place[0]))
        return row, column

    def sentence(self) -> str:
        return f"{self.duplicates} pairs of duplicates, {self.distinct} of distinct pages"


def _empty_grid() -> _Grid:
    return np.zeros((len(DISTANCES), len(SIMILARITIES)), np.int64)


def _found(rule: Rule, boilerplates: Boilerplates, a: PageSignature, b: PageSignature) -> _Grid:
    """Return an array, shape ``(12, 21)``, of 1 where the rule finds the pair and 0 elsewhere.

    A stricter similarity never finds more, so a binary search for each distance is enough.
    """

    def refuses(distance: int, similarity: float) -> bool:
        asked = replace(rule, max_distance=distance, min_similarity=similarity)
        return not isinstance(asked.compare_either_way(a, b, boilerplates), Match)

    found = _empty_grid()
    if a.n_features and b.n_features:
        for row, distance in enumerate(DISTANCES):
            found[row, : bisect_right(SIMILARITIES, False, key=partial(refuses, distance))] = 1
    return found
