"""The stages that propose pairs: pages that share a key and have near fingerprints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._util.arrays import run_boundaries
from ...hashing.minhash import SKETCH_BINS
from ...matching.method_matching import has_enough
from ...methods import Method
from ...stores.codec import sketch_in, unpacked
from ..folder import Report
from ..plan import Plan
from ..shuffle import numbers_in, partition_of, partitioned_file
from .keys import EXACT_DISTANCE, Keys, band_keys, band_width, block_keys, digest_keys, method_keys
from .signing import SignedPages, living_pages

ROWS, PAIRS = "rows", "proposed"
#: Of a run that is crowded, each page is paired with so many before it.
WINDOW = 32
#: Pairs that are made at once.
_AT_ONCE = 1 << 21
#: Rows from which on those of crowded keys are shed.
_ROWS_AT_ONCE = 1 << 22

ROW = pa.schema([("key", pa.uint64()), ("number", pa.int64()), ("fingerprint", pa.uint64())])
PAIR = pa.schema([("first", pa.int64()), ("second", pa.int64())])
_Numbers = npt.NDArray[np.int64]


def stage_of(name: str, number: int) -> str:
    """Return the name of a stage in one of its passes or rounds."""
    return f"{name}-{number}"


def write_rows(plan: Plan, range_: int, pass_: int) -> Report:
    """Write a row for each key of each page of a range that belongs to a pass, by key."""
    report: Report = {}
    with partitioned_file(
        plan.folder, stage_of(ROWS, pass_), range_, ROW, plan.partitions, report=report
    ) as file:
        for pages in living_pages(plan, range_):
            places, keys = _keys_of(pages, plan)
            is_chosen = keys % np.uint64(plan.passes) == pass_
            places, chosen = places[is_chosen], keys[is_chosen]
            fingerprints = pages.rows["fingerprint"][places]
            if plan.method is not None:
                # All pages are near by their fingerprints.
                fingerprints = np.zeros_like(fingerprints)
            columns = {"key": chosen, "number": pages.numbers[places], "fingerprint": fingerprints}
            # What the passes and the partitions divide by may have a common factor.
            partitions = (chosen // np.uint64(plan.passes)) % np.uint64(plan.partitions)
            file.write_by(partitions, columns)
    return report


def _keys_of(pages: SignedPages, plan: Plan) -> tuple[npt.NDArray[np.intp], Keys]:
    """Return keys of pages, and before them the places of these; both of shape ``(n,)``."""
    if plan.method is None:
        keys = _rule_keys(pages, plan)
        return np.repeat(np.arange(len(keys)), keys.shape[1]), keys.ravel()
    by_page = [_keys_by_method(page, plan, plan.method) for page in pages.pages]
    places = np.repeat(np.arange(len(by_page)), [keys.size for keys in by_page])
    return places, np.concatenate([np.empty(0, np.uint64), *by_page])


def _keys_by_method(packed_page: bytes, plan: Plan, method: Method) -> Keys:
    page = unpacked(packed_page, plan.recipe)
    if not has_enough(page, method, plan.rule):
        return np.empty(0, np.uint64)
    return method_keys(method, page.value)


def _rule_keys(pages: SignedPages, plan: Plan) -> Keys:
    """Return the keys by which the rule's pairs are found, a row for each page."""
    fingerprints = np.ascontiguousarray(pages.rows["fingerprint"])
    if plan.rule.max_distance <= EXACT_DISTANCE:
        return block_keys(fingerprints)
    joined = b"".join(map(sketch_in, pages.pages))
    sketches = np.frombuffer(joined, np.uint8).reshape(-1, SKETCH_BINS)
    summaries = pages.rows["summary"]
    digests = digest_keys(pages.pages, summaries)
    bands = band_keys(sketches, band_width(plan.rule))
    # Texts of too few words are copies only if all is equal.
    is_short = summaries["n_features"] < plan.rule.min_features
    bands[is_short] = digests[is_short, :1]
    return np.concatenate((bands, digests), axis=1)


def propose(plan: Plan, partition: int, pass_: int) -> Report:
    """Write the pairs of pages of a partition that share a key and are near, by first page.

    A pair may be written more than once.
    """
    report: Report = {}
    runs = _Runs(plan.crowded)
    with partitioned_file(
        plan.folder, stage_of(PAIRS, pass_), partition, PAIR, plan.n_ranges, report=report
    ) as file:
        for rows in _proposed_from(plan, runs, partition, pass_):
            for first, second in rows.pairs(plan.rule.max_distance):
                file.write_by(plan.range_of(first), {"first": first, "second": second})
    return {**report, "crowded_keys": runs.crowded_keys, "crowded_rows": runs.crowded_rows}


def _proposed_from(plan: Plan, runs: _Runs, partition: int, pass_: int) -> Iterator[_PairedRows]:
    stage = stage_of(ROWS, pass_)
    for batch in partition_of(plan.folder, stage, plan.n_ranges, partition, plan.partitions):
        runs.add(*(numbers_in(batch, name) for name in ROW.names))
        if runs.is_full:
            yield runs.shed()
    yield runs.rest()


@dataclass
class _PairedRows:
    """Rows sorted by key and page, each of which is paired with some before it.

    :ivar before: with how many; shape ``(n,)`` like the others.
    """

    numbers: _Numbers
    fingerprints: npt.NDArray[np.uint64]
    before: npt.NDArray[np.intp]

    def pairs(self, distance: int) -> Iterator[tuple[_Numbers, _Numbers]]:
        """Yield the pages of near pairs, the lesser number first, some at a time."""
        ends = np.cumsum(self.before)
        start = 0
        while start < self.before.size:
            done = ends[start - 1] if start else 0
            end = max(int(np.searchsorted(ends, done + _AT_ONCE, "right")), start + 1)
            before = self.before[start:end]
            second = np.repeat(np.arange(start, end), before)
            back = np.arange(second.size) - np.repeat(np.cumsum(before) - before, before) + 1
            first = second - back
            distances = np.bitwise_count(self.fingerprints[first] ^ self.fingerprints[second])
            near = np.flatnonzero(distances <= distance)
            found = np.stack((self.numbers[first[near]], self.numbers[second[near]]), axis=1)
            first, second = distinct_pairs([found]).T
            yield first, second
            start = end


class _Runs:
    """Collects the rows of a partition, and finds the runs of rows with one key.

    The rows of a key come by ascending page. Of a crowded run only the last rows are kept, as the
    next row is paired with no others; so the memory depends on the rows of all other runs.

    :ivar crowded_keys: number of runs that are too long to pair all of their pages.
    :ivar crowded_rows: number of rows in them.
    """

    def __init__(self, crowded: int) -> None:
        self.crowded_keys = 0
        self.crowded_rows = 0
        self._crowded = crowded
        #: Keys, pages, fingerprints, and whether :meth:`shed` has returned the row already.
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []
        self._rows = 0
        self._limit = _ROWS_AT_ONCE

    @property
    def is_full(self) -> bool:
        """Whether the rows of crowded runs should be shed."""
        return self._rows >= self._limit

    def add(self, keys: Keys, numbers: _Numbers, fingerprints: npt.NDArray[np.uint64]) -> None:
        """Add rows; shape ``(n,)``. All rows of a page come in one call."""
        self._parts.append((keys, numbers, fingerprints, np.zeros(keys.size, bool)))
        self._rows += keys.size

    def shed(self) -> _PairedRows:
        """Return the rows of crowded runs, and keep of each the last ones only."""
        keys, numbers, fingerprints, was_shed, starts, lengths = self._sorted()
        is_crowded = self._find_crowded(was_shed, starts, lengths)
        places, from_end = _places_in_runs(starts, lengths)
        in_crowded = np.repeat(is_crowded, lengths)
        before = np.where(in_crowded & ~was_shed, np.minimum(places, WINDOW), 0)
        stays = ~in_crowded | (from_end < WINDOW)
        left = keys[stays], numbers[stays], fingerprints[stays], in_crowded[stays]
        self._parts, self._rows = [left], int(stays.sum())
        # So that many rows that stay are not sorted again for each few that come.
        self._limit = max(_ROWS_AT_ONCE, 2 * self._rows)
        return _PairedRows(numbers, fingerprints, before)

    def rest(self) -> _PairedRows:
        """Return the rows that were not shed, of crowded runs and others."""
        if not self._parts:
            self.add(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint64))
        _, numbers, fingerprints, was_shed, starts, lengths = self._sorted()
        in_crowded = np.repeat(self._find_crowded(was_shed, starts, lengths), lengths)
        places, _ = _places_in_runs(starts, lengths)
        before = np.where(in_crowded, np.minimum(places, WINDOW), places)
        before[was_shed] = 0
        return _PairedRows(numbers, fingerprints, before)

    def _sorted(self) -> tuple[npt.NDArray[Any], ...]:
        """Return all rows by key and page, and the runs' starts and lengths."""
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        self._parts = []
        keys, numbers = columns[:2]
        order = np.lexsort((numbers, keys))
        keys, numbers = keys[order], numbers[order]
        # A page may have a key twice.
        is_new = np.ones(keys.size, bool)
        is_new[1:] = (keys[1:] != keys[:-1]) | (numbers[1:] != numbers[:-1])
        order = order[is_new]
        keys = keys[is_new]
        borders = run_boundaries(keys) if keys.size else np.zeros(1, np.intp)
        rest = (column[order] for column in columns[2:])
        return keys, numbers[is_new], *rest, borders[:-1], np.diff(borders)

    def _find_crowded(
        self,
        was_shed: npt.NDArray[np.bool_],
        starts: npt.NDArray[np.intp],
        lengths: npt.NDArray[np.intp],
    ) -> npt.NDArray[np.bool_]:
        """Return which runs are crowded, and count those that were not before."""
        known = was_shed[starts]
        is_crowded = known | (lengths > self._crowded)
        self.crowded_keys += int((is_crowded & ~known).sum())
        self.crowded_rows += int(lengths[is_crowded].sum()) - int(was_shed.sum())
        return is_crowded


def _places_in_runs(
    starts: npt.NDArray[np.intp], lengths: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return how many rows of its run are before each row, and how many behind it."""
    places = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    return places, np.repeat(lengths, lengths) - places - 1


def distinct_pairs(parts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return each pair once, in order; each part of shape ``(n, 2)``."""
    pairs = np.concatenate(parts)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    is_new = np.ones(pairs.shape[0], bool)
    is_new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[is_new]
