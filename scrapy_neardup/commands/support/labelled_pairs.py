"""Reads the pairs of pages that are known to be duplicates, or not, from a CSV file."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..._util.escaping import on_one_line, original_cell
from ...exceptions import InputError
from ...sources.compression import decompressed, error_text, naming_errors
from ...sources.fields import listed

_LABELS = {"duplicate": True, "distinct": False, "unclear": None}

#: Unusable rows that are described, and characters of a value in a description.
_MAX_DESCRIBED, _MAX_VALUE = 3, 40


class Pair(NamedTuple):
    """Ids of two pages, and whether these are duplicates."""

    a: str
    b: str
    same: bool


class SkippedPairs(Counter[str]):
    """Numbers of pairs that are left out, by reason."""

    def __init__(self) -> None:
        super().__init__()
        self._described: list[str] = []

    def note_unusable(self, line: int, problem: ValueError) -> None:
        """Count a row that is no pair."""
        self["unusable"] += 1
        if len(self._described) < _MAX_DESCRIBED:
            self._described.append(f"line {line}: {problem}")

    def unusable_rows(self) -> str:
        """Describe the first rows that are no pairs, on one line; ``""`` if there are none."""
        more = self["unusable"] - len(self._described)
        return "; ".join([*self._described, *([f"and {more} more"] if more else [])])


def read_pairs(path: str, least_jaccard: float, skipped: SkippedPairs) -> list[Pair]:
    """Read the pairs of a CSV file; count unusable and unclear rows in ``skipped``.

    :raises InputError: when the file cannot be read or has other columns, or no row is usable.
    """
    try:
        with (
            naming_errors(path),
            Path(path).open("rb") as file,
            io.TextIOWrapper(decompressed(file, path), encoding="utf-8-sig", newline="") as text,
        ):
            rows = csv.DictReader(text)
            columns = rows.fieldnames or []
            if not {"id_a", "id_b"} <= set(columns) or not {"label", "jaccard"} & set(columns):
                raise InputError(path, _not_pairs(columns))
            pairs = list(_pairs(rows, least_jaccard, skipped))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(path, error_text(error)) from error
    if not pairs and skipped["unusable"]:
        raise InputError(path, f"no usable pair: {skipped.unusable_rows()}")
    return pairs


def _not_pairs(columns: Sequence[str]) -> str:
    """Return why a file with these columns has no pairs, and what to give instead."""
    found = f"its first line has {listed(columns)}" if columns else "it is empty"
    hint = ""
    if columns and columns[0].startswith("{"):
        found = "it looks like JSON Lines"
        hint = "; scrapy neardup pairs writes such a CSV with -o pairs.csv, without the labels"
    wanted = "the columns must be id_a, id_b, and label or jaccard or both, separated by commas"
    return f"{wanted}, but {found}{hint}"


def _pairs(
    rows: csv.DictReader[str], least_jaccard: float, skipped: SkippedPairs
) -> Iterator[Pair]:
    for row in rows:
        try:
            same = _truth(row, least_jaccard)
        except ValueError as problem:
            skipped.note_unusable(rows.line_num, problem)
            continue
        if same is None:
            skipped["unclear"] += 1
        else:
            yield Pair(original_cell(row["id_a"]), original_cell(row["id_b"]), same)


def _truth(row: dict[str, str], least_jaccard: float) -> bool | None:
    """Return whether a row is a pair of duplicates; ``None`` for unclear.

    :raises ValueError: when an id, or both label and resemblance are missing, or one is invalid.
    """
    for name in ("id_a", "id_b"):
        if not row[name]:
            raise ValueError(f"{name} is missing")
    if label := (row.get("label") or "").strip():
        if label.lower() not in _LABELS:
            raise ValueError(f"label {_shown(label)} must be duplicate, distinct or unclear")
        return _LABELS[label.lower()]
    if not (jaccard := (row.get("jaccard") or "").strip()):
        raise ValueError("label is missing")
    if not 0 <= (value := _number(jaccard)) <= 1:
        raise ValueError(f"jaccard {_shown(jaccard)} must be a number from 0 to 1")
    return value >= least_jaccard


def _number(text: str) -> float:
    """Return a number; NaN for anything else."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _shown(value: str) -> str:
    return repr(on_one_line(value, _MAX_VALUE))
