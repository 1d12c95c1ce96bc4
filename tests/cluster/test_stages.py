"""The stages whose results depend on how much they hold in memory, against brute force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import fsspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup import Rule
from scrapy_neardup.cluster.folder import WorkFolder
from scrapy_neardup.cluster.plan import Plan, page_numbers
from scrapy_neardup.cluster.shuffle import (
    arrow_file,
    partition_of,
    partitioned_file,
)
from scrapy_neardup.cluster.stages import confirming, judging, proposing, stars, verdicts
from scrapy_neardup.workers import Limits

FOLDERS = count()


def _plan(splits: int, partitions: int, **others: Any) -> Plan:
    folder = WorkFolder(f"memory://stages/{next(FOLDERS)}")
    return Plan(folder, Rule(), {}, "", None, Limits(), splits, partitions, **others)


@pytest.fixture(autouse=True, scope="module")
def _empty_memory() -> Any:
    yield
    fsspec.filesystem("memory").store.clear()


@given(
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_stars_are_the_connected_components(
    pairs: list[tuple[int, int]], splits: int, partitions: int
) -> None:
    plan = _plan(splits, partitions)
    pages = np.concatenate([page_numbers(split, 0, 40 // splits + 1) for split in range(splits)])
    edges = {(int(pages[min(pair)]), int(pages[max(pair)])) for pair in pairs if len(set(pair)) > 1}
    _write_accepted(plan, edges)
    assert _labels(plan) == _components(edges)


def test_a_long_path_takes_few_rounds() -> None:
    plan = _plan(3, 4)
    pages = np.concatenate([page_numbers(split, 0, 400) for split in range(3)])
    np.random.default_rng(1).shuffle(pages)
    path = {(min(pair), max(pair)) for pair in pairwise(pages.tolist())}
    _write_accepted(plan, path)
    assert set(_labels(plan).values()) == {int(pages.min())}


def _write_accepted(plan: Plan, edges: set[tuple[int, int]]) -> None:
    """Write accepted pairs as the stage before would."""
    for range_ in range(plan.n_ranges):
        chosen = np.array(sorted(edges), np.int64).reshape(-1, 2)
        chosen = chosen[plan.range_of(chosen[:, 0]) == range_]
        size = len(chosen)
        with arrow_file(
            plan.folder, judging.ACCEPTED_OF_RANGE, range_, verdicts.ACCEPTED_ROW
        ) as file:
            file.write(
                {
                    "first": chosen[:, 0],
                    "second": chosen[:, 1],
                    "distance": np.zeros(size, np.int64),
                    "similarity": np.zeros(size),
                    **dict.fromkeys(
                        ("reason", "id", "url", "second_id", "second_url"), [""] * size
                    ),
                }
            )


def _labels(plan: Plan) -> dict[int, int]:
    for range_ in range(plan.n_ranges):
        stars.grow_forests(plan, range_)
    before = None
    for round_ in range(12):
        for partition in range(plan.partitions):
            stars.form_large_stars(plan, partition, round_)
        reports = [
            stars.form_small_stars(plan, partition, round_) for partition in range(plan.partitions)
        ]
        state = tuple(sum(report[name] for report in reports) for name in ("edges", "digest"))
        if state == before:
            break
        before = state
    else:
        raise AssertionError("too many rounds")
    found: dict[int, int] = {}
    for partition in range(plan.partitions):
        stars.write_labels(plan, partition, round_)
    for range_ in range(plan.n_ranges):
        for batch in partition_of(
            plan.folder, stars.LABELS, plan.partitions, range_, plan.n_ranges
        ):
            for number, root in _tuples(batch):
                assert found.setdefault(number, root) == root
    return found


def _tuples(batch: Any) -> Iterator[tuple[int, int]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _components(edges: set[tuple[int, int]]) -> dict[int, int]:
    """Return the least page that each page is connected with, by going from page to page."""
    neighbours = defaultdict(set)
    for first, second in edges:
        neighbours[first].add(second)
        neighbours[second].add(first)
    found: dict[int, int] = {}
    for start in sorted(neighbours):
        waiting = [start]
        while waiting:
            page = waiting.pop()
            if page not in found:
                found[page] = start
                waiting += neighbours[page]
    return found


@pytest.mark.parametrize("at_once", [1, 300, 1 << 20])
def test_crowded_keys_pair_each_page_with_those_before_it(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposing, "_ROWS_AT_ONCE", at_once)
    monkeypatch.setattr(proposing, "_AT_ONCE", 100)
    chance = np.random.default_rng(2)
    plan = _plan(5, 1, crowded=40)
    # Keys of one page to those of hundreds; some pages have a key twice.
    keys_of = {
        number: (chance.zipf(1.3, 4) % 50).tolist()
        for split in range(5)
        for number in page_numbers(split, 0, 100).tolist()
    }
    fingerprints = dict(zip(keys_of, chance.integers(0, 2**24, len(keys_of)).tolist(), strict=True))
    _write_rows(plan, keys_of, fingerprints)
    report = proposing.propose(plan, 0, 0)

    expected, crowded, distance = set(), [], plan.rule.max_distance
    for key in range(50):
        pages = [number for number, keys in keys_of.items() if key in keys]
        window = proposing.WINDOW if len(pages) > plan.crowded else len(pages)
        crowded += [len(pages)] if len(pages) > plan.crowded else []
        for place, second in enumerate(pages):
            for first in pages[max(place - window, 0) : place]:
                if (fingerprints[first] ^ fingerprints[second]).bit_count() <= distance:
                    expected.add((first, second))
    plan_stage = proposing.stage_of(proposing.PAIRS, 0)
    found = {
        pair
        for range_ in range(plan.n_ranges)
        for batch in partition_of(plan.folder, plan_stage, 1, range_, plan.n_ranges)
        for pair in _tuples(batch)
    }
    assert found == expected
    assert len(crowded) > 3
    assert report["crowded_keys"] == len(crowded)
    assert report["crowded_rows"] == sum(crowded)


def _write_rows(plan: Plan, keys_of: dict[int, list[int]], fingerprints: dict[int, int]) -> None:
    """Write rows as the stage before would, in batches of hundred pages."""
    stage = proposing.stage_of(proposing.ROWS, 0)
    with partitioned_file(plan.folder, stage, 0, proposing.ROW, 1, report={}) as file:
        for start in range(0, 500, 100):
            pages = list(keys_of)[start : start + 100]
            rows = [(key, page, fingerprints[page]) for page in pages for key in keys_of[page]]
            columns = dict(zip(proposing.ROW.names, zip(*rows, strict=True), strict=True))
            file.write_by(np.zeros(len(rows), np.int64), columns)
            file.flush()


def test_the_pairs_of_a_large_site_go_to_all_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirming, "_PAIRS_OF_SLICE", 40)
    slices = confirming.Slices(_plan(4, 8))
    small, large = np.full(5, 3, np.uint32), np.full(200, 17, np.uint32)
    given_to = [slices.partitions(np.concatenate((large[:50], small))) for _ in range(4)]
    places = np.concatenate([each[:50] for each in given_to])
    counts = np.bincount(places, minlength=8)
    assert counts.max() - counts.min() <= 10
    # So few pairs need their site's boilerplate once.
    assert set(given_to[0][50:].tolist()) == {3}
