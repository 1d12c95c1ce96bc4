"""The stages that propose pairs: pages that share a key and have near fingerprints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._util.arrays import run_boundaries
from ...hashing.minhash import SKETCH_BINS
from ...stores.codec import sketch_in
from ..folder import Report
from ..plan import Plan
from ..shuffle import numbers_in, partition_of, partitioned_file, table_of
from .keys import EXACT_DISTANCE, Keys, band_keys, band_width, block_keys, digest_keys
from .signing import SignedPages, living_pages

ROWS, PAIRS = "rows", "proposed"
#: Of a run that is crowded, each page is paired with so many before it.
WINDOW = 32
#: Pairs that are made at once.
_AT_ONCE = 1 << 21

_ROW = pa.schema([("key", pa.uint64()), ("number", pa.int64()), ("fingerprint", pa.uint64())])
PAIR = pa.schema([("first", pa.int64()), ("second", pa.int64())])
_Numbers = npt.NDArray[np.int64]


def stage_of(name: str, pass_: int) -> str:
    """Return the name of a stage in one of its passes."""
    return f"{name}-{pass_}"


def write_rows(plan: Plan, split: int, pass_: int) -> Report:
    """Write a row for each key of each page of a split that belongs to a pass, by key."""
    report: Report = {}
    with partitioned_file(
        plan.folder, stage_of(ROWS, pass_), split, _ROW, plan.partitions, report=report
    ) as file:
        for pages in living_pages(plan, split):
            keys = _keys_of(pages, plan)
            fingerprints = np.ascontiguousarray(pages.rows["fingerprint"])
            rows, places = np.nonzero(keys % np.uint64(plan.passes) == pass_)
            chosen = keys[rows, places]
            columns = {
                "key": chosen,
                "number": pages.numbers[rows],
                "fingerprint": fingerprints[rows],
            }
            # What the passes and the partitions divide by may have a common factor.
            partitions = (chosen // np.uint64(plan.passes)) % np.uint64(plan.partitions)
            file.write_by(partitions, columns)
    return report


def _keys_of(pages: SignedPages, plan: Plan) -> Keys:
    """Return the keys of pages, a row each."""
    fingerprints = np.ascontiguousarray(pages.rows["fingerprint"])
    if plan.rule.max_distance <= EXACT_DISTANCE:
        return block_keys(fingerprints)
    joined = b"".join(map(sketch_in, pages.pages))
    sketches = np.frombuffer(joined, np.uint8).reshape(-1, SKETCH_BINS)
    summaries = pages.rows["summary"]
    digests = digest_keys(pages.pages, summaries)
    bands = band_keys(sketches, band_width(plan.rule))
    # Texts of too few words are copies only if all is equal.
    bands[summaries["n_features"] < plan.rule.min_features] = digests[:, :1][
        summaries["n_features"] < plan.rule.min_features
    ]
    return np.concatenate((bands, digests), axis=1)


def propose(plan: Plan, partition: int, pass_: int) -> Report:
    """Write the pairs of pages of a partition that share a key and are near, by first page."""
    report: Report = {}
    stage = stage_of(ROWS, pass_)
    rows = table_of(
        partition_of(plan.folder, stage, plan.n_splits, partition, plan.partitions), _ROW
    )
    keys, numbers, fingerprints = (numbers_in(rows, name) for name in _ROW.names)
    runs = _Runs(keys, numbers, fingerprints, plan.crowded)
    found = _Found(runs, plan.rule.max_distance)
    with partitioned_file(
        plan.folder, stage_of(PAIRS, pass_), partition, PAIR, plan.n_ranges, report=report
    ) as file:
        first, second = found.all()
        file.write_by(plan.range_of(first), {"first": first, "second": second})
    return {
        **report,
        "pairs": int(first.size),
        "crowded_keys": runs.crowded_keys,
        "crowded_rows": runs.crowded_rows,
    }


class _Runs:
    """Rows sorted by key and page, and the runs of rows with one key.

    :ivar crowded_keys: number of runs that are too long to pair all of their pages.
    :ivar crowded_rows: number of rows in them.
    """

    def __init__(
        self, keys: Keys, numbers: _Numbers, fingerprints: npt.NDArray[np.uint64], crowded: int
    ) -> None:
        order = np.lexsort((numbers, keys))
        keys, numbers, fingerprints = keys[order], numbers[order], fingerprints[order]
        # A page may have a key twice.
        is_new = np.ones(keys.size, bool)
        is_new[1:] = (keys[1:] != keys[:-1]) | (numbers[1:] != numbers[:-1])
        keys = keys[is_new]
        self.numbers, self.fingerprints = numbers[is_new], fingerprints[is_new]
        borders = run_boundaries(keys) if keys.size else np.zeros(1, np.intp)
        starts, lengths = borders[:-1], np.diff(borders)
        is_crowded = lengths > crowded
        self.crowded_keys = int(is_crowded.sum())
        self.crowded_rows = int(lengths[is_crowded].sum())
        places = np.arange(keys.size) - np.repeat(starts, lengths)
        #: With how many rows before it each row is paired.
        self.before = np.where(np.repeat(is_crowded, lengths), np.minimum(places, WINDOW), places)

    def pairs(self) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Yield the places of the rows of pairs, some at a time; the one before comes first."""
        ends = np.cumsum(self.before)
        start = 0
        while start < self.before.size:
            done = ends[start - 1] if start else 0
            end = max(int(np.searchsorted(ends, done + _AT_ONCE, "right")), start + 1)
            before = self.before[start:end]
            second = np.repeat(np.arange(start, end), before)
            back = np.arange(second.size) - np.repeat(np.cumsum(before) - before, before) + 1
            yield second - back, second
            start = end


class _Found:
    """Finds the distinct pairs of runs that are near."""

    def __init__(self, runs: _Runs, distance: int) -> None:
        self._runs = runs
        self._distance = distance

    def all(self) -> tuple[_Numbers, _Numbers]:
        """Return the pages of the pairs, the lesser number first, in order."""
        numbers, fingerprints = self._runs.numbers, self._runs.fingerprints
        found = np.empty((0, 2), np.int64)
        fresh: list[npt.NDArray[np.int64]] = []
        waiting = 0
        for first, second in self._runs.pairs():
            distances = np.bitwise_count(fingerprints[first] ^ fingerprints[second])
            near = distances <= self._distance
            fresh.append(np.stack((numbers[first[near]], numbers[second[near]]), axis=1))
            waiting += fresh[-1].shape[0]
            if waiting > _AT_ONCE:
                found, fresh, waiting = distinct_pairs([found, *fresh]), [], 0
        found = distinct_pairs([found, *fresh])
        return found[:, 0], found[:, 1]


def distinct_pairs(parts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return each pair once, in order; each part of shape ``(n, 2)``."""
    pairs = np.concatenate(parts)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    is_new = np.ones(pairs.shape[0], bool)
    is_new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[is_new]
