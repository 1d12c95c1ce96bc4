from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup.hashing.hamming_pairs import MAX_BATCH, near_pairs
from scrapy_neardup.hashing.simhash_index import SimhashIndex
from tests.support.fingerprints import DISTANCES, NEAR, UINT64

pytestmark = pytest.mark.slow

Found = list[tuple[int, int, int]]


def found(fingerprints: Sequence[int], distance: int, blocks: int | None = None) -> Found:
    """First, second place and distance of each pair."""
    pairs: Found = []
    for batch in near_pairs(np.array(fingerprints, np.uint64), distance, blocks):
        assert 0 < batch.first.size <= MAX_BATCH
        pairs += zip(*(column.tolist() for column in batch), strict=True)
    return sorted(pairs)


def brute_force(fingerprints: Sequence[int], distance: int) -> Found:
    return [
        (i, j, bits)
        for i, one in enumerate(fingerprints)
        for j, other in enumerate(fingerprints[i + 1 :], i + 1)
        if (bits := (one ^ other).bit_count()) <= distance
    ]


@given(st.lists(NEAR | UINT64, max_size=60), DISTANCES)
@settings(max_examples=300, deadline=None)
def test_it_finds_what_brute_force_finds(fingerprints, distance):
    assert found(fingerprints, distance) == brute_force(fingerprints, distance)


@given(st.lists(NEAR | UINT64, max_size=40), DISTANCES, st.integers(0, 4))
@settings(max_examples=100, deadline=None)
def test_any_number_of_blocks_finds_the_same(fingerprints, distance, chosen):
    assert found(fingerprints, distance, distance + chosen) == brute_force(fingerprints, distance)


@pytest.mark.parametrize("blocks", range(3, 9))
def test_every_spread_of_three_flips_is_found_once(blocks):
    centre = random.Random(3).getrandbits(64)
    for a in range(0, 64, 9):
        for b in range(1, 64, 11):
            for c in range(2, 64, 10):
                other = centre ^ (1 << a | 1 << b | 1 << c)
                bits = len({a, b, c})
                assert found([centre, other], 3, blocks) == [(0, 1, bits)]
                assert found([other, centre], bits - 1, blocks) == []


@pytest.mark.parametrize(
    ("fingerprints", "expected"),
    [
        ([], []),
        ([7], []),
        ([7, 7], [(0, 1, 0)]),
        ([2**64 - 1, 0, 2**64 - 1, 1], [(0, 2, 0), (1, 3, 1)]),
        ([5, 4, 5, 5], [(0, 1, 1), (0, 2, 0), (0, 3, 0), (1, 2, 1), (1, 3, 1), (2, 3, 0)]),
    ],
)
def test_few_fingerprints(fingerprints, expected):
    assert found(fingerprints, 3) == expected


@pytest.mark.parametrize(
    ("distance", "blocks"), [(3, 4), (3, 5), (3, 6), (7, 9), (11, 13), (3, None), (11, None)]
)
def test_many_fingerprints_agree_with_the_index(distance, blocks):
    # More than are looked at together, in clusters, with equal ones and in no order.
    rng = np.random.default_rng(distance)
    centres = rng.integers(0, 2**64, 8_000, np.uint64)
    fingerprints = np.repeat(centres, 5)
    for _ in range(4):
        flips = np.uint64(1) << rng.integers(0, 64, fingerprints.size, np.uint64)
        fingerprints[::2] ^= flips[::2]
    rng.shuffle(fingerprints)
    index = SimhashIndex()
    index.extend(fingerprints, np.arange(fingerprints.size, dtype=np.uint32))
    expected: Found = []
    for place in rng.choice(fingerprints.size, 2000, replace=False).tolist():
        near = index.near(int(fingerprints[place]), distance)
        others = zip(near.keys.tolist(), near.distances.tolist(), strict=True)
        expected += [(place, other, bits) for other, bits in others if other != place]
    asked = {place for place, _, _ in expected}
    both = [
        pair
        for i, j, bits in found(fingerprints.tolist(), distance, blocks)
        for pair in ((i, j, bits), (j, i, bits))
        if pair[0] in asked
    ]
    assert sorted(both) == sorted(expected)
    assert len(expected) > 2000


def test_a_flood_of_equal_fingerprints_comes_in_bounded_batches():
    batches = list(near_pairs(np.full(1000, 9, np.uint64), 3))
    assert max(batch.first.size for batch in batches) <= MAX_BATCH
    pairs = np.concatenate([batch.first * 1000 + batch.second for batch in batches])
    assert pairs.size == 499_500
    assert np.unique(pairs).size == pairs.size
    assert all((batch.first < batch.second).all() for batch in batches)


def test_two_floods_near_each_other():
    fingerprints = np.array([8] * 700 + [9] * 700, np.uint64)
    batches = list(near_pairs(fingerprints, 1))
    assert max(batch.first.size for batch in batches) <= MAX_BATCH
    pairs = np.concatenate([batch.first * 1400 + batch.second for batch in batches])
    assert np.unique(pairs).size == pairs.size == 1400 * 1399 // 2
    assert sum(int(batch.distances.sum()) for batch in batches) == 700 * 700


@pytest.mark.parametrize("blocks", [None, 12, 13])
def test_a_flood_of_near_fingerprints(blocks):
    # All within four bits of each other, amid others, in one run of every block's words or nearly.
    rng = np.random.default_rng(5)
    bits = np.uint64(1) << np.arange(40, dtype=np.uint64)
    flood = np.uint64(77) ^ np.unique(bits[:, None] | bits)
    others = rng.integers(0, 2**63, 5000, np.uint64) | np.uint64(2**63)
    fingerprints = np.append(others, flood)
    pairs = np.concatenate(
        [b.first * fingerprints.size + b.second for b in near_pairs(fingerprints, 11, blocks)]
    )
    assert np.unique(pairs).size == pairs.size
    assert np.count_nonzero(pairs // fingerprints.size >= others.size) == 820 * 819 // 2


def test_the_same_fingerprints_give_the_same_batches():
    fingerprints = np.random.default_rng(2).integers(0, 2**20, 3000, np.uint64)
    given_first = fingerprints.copy()
    runs = [list(near_pairs(fingerprints, 4)) for _ in range(2)]
    for one, other in zip(*runs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert np.array_equal(fingerprints, given_first)


@pytest.mark.parametrize("distance", [-1, 12])
def test_other_distances_are_refused(distance):
    with pytest.raises(ValueError, match=f"between 0 and 11, got {distance}"):
        near_pairs(np.zeros(2, np.uint64), distance)


@pytest.mark.parametrize("blocks", [2, 65])
def test_other_numbers_of_blocks_are_refused(blocks):
    with pytest.raises(ValueError, match=f"between 3 and 64, got {blocks}"):
        near_pairs(np.zeros(2, np.uint64), 3, blocks)
