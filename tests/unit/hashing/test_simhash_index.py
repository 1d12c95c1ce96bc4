from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scrapy_neardup.hashing.simhash_index import MAX_DISTANCE, SimhashIndex, probes
from tests.support.fingerprints import DISTANCES, NEAR, UINT64

pytestmark = pytest.mark.slow


def brute_force(stored: list[tuple[int, int]], query: int, distance: int) -> list[tuple[int, int]]:
    found = [(key, (query ^ fp).bit_count()) for fp, key in stored]
    return sorted((d, key) for key, d in found if d <= distance)


def looked_up(index: SimhashIndex, query: int, distance: int) -> list[tuple[int, int]]:
    keys, distances = index.near(query, distance)
    return list(zip(distances.tolist(), keys.tolist(), strict=True))


def indexed(stored: list[tuple[int, int]]) -> SimhashIndex:
    index = SimhashIndex()
    for fingerprint, key in stored:
        index.add(fingerprint, key)
    return index


@given(st.lists(NEAR | UINT64, max_size=60), NEAR | UINT64, DISTANCES)
@settings(max_examples=400, deadline=None)
def test_it_finds_what_brute_force_finds(fingerprints, query, distance):
    stored = [(fingerprint, key) for key, fingerprint in enumerate(fingerprints)]
    found = looked_up(indexed(stored), query, distance)
    assert found == brute_force(stored, query, distance)


@pytest.mark.parametrize("distance", range(MAX_DISTANCE + 1))
def test_every_spread_of_flips_over_the_blocks_is_found(distance):
    # The worst case of the pigeonhole: flips dealt to the four blocks in every proportion.
    rng = random.Random(distance)
    centre = rng.getrandbits(64)
    index = indexed([(centre, 7)])
    for first in range(distance + 1):
        for second in range(distance + 1 - first):
            for third in range(distance + 1 - first - second):
                shares = (first, second, third, distance - first - second - third)
                query = centre
                for block, share in enumerate(shares):
                    for bit in rng.sample(range(16), share):
                        query ^= 1 << (16 * block + bit)
                assert looked_up(index, query, distance) == [(distance, 7)], shares
                if distance:
                    assert looked_up(index, query, distance - 1) == []


def test_many_random_fingerprints_agree_with_brute_force():
    rng = random.Random(5)
    centres = [rng.getrandbits(64) for _ in range(30)]
    stored = [
        (rng.choice(centres) ^ sum(1 << rng.randrange(64) for _ in range(rng.randrange(12))), key)
        for key in range(3000)
    ]
    stored = [(fingerprint & (2**64 - 1), key) for fingerprint, key in stored]
    index = indexed(stored)
    for distance in range(MAX_DISTANCE + 1):
        for query in centres[:10]:
            found = looked_up(index, query, distance)
            assert found == brute_force(stored, query, distance)


def test_all_near_fingerprints_of_one_bucket_and_of_many_are_found():
    # The flood: everything within reach of one fingerprint, in one bucket of a block or spread
    # over as many as there are, and stored several times.
    rng = random.Random(7)
    centre = rng.getrandbits(64)
    one_bucket = [centre ^ rng.getrandbits(48) << 16 for _ in range(1500)]
    near = [centre ^ 1 << a ^ 1 << b for a in range(64) for b in range(a)]
    many_buckets = [centre ^ value for value in rng.sample(range(1 << 16), 1500)]
    fingerprints = one_bucket + near + many_buckets + near[:50] + [centre] * 50
    rng.shuffle(fingerprints)
    stored = [(fingerprint, key) for key, fingerprint in enumerate(fingerprints)]
    index = indexed(stored)
    for query in (centre, near[5], many_buckets[5]):
        for distance in (0, 3, 8, 11):
            found = looked_up(index, query, distance)
            assert found == brute_force(stored, query, distance)


def test_the_greatest_key_is_kept_whole():
    index = indexed([(0, 2**32 - 1), (1, 0)])
    assert looked_up(index, 0, 1) == [(0, 2**32 - 1), (1, 0)]


@pytest.mark.parametrize(
    ("distance", "buckets"),
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 20), (7, 68), (8, 188), (11, 548)],
)
def test_no_more_buckets_are_read_than_the_design_says(distance, buckets):
    assert sum(map(len, probes(distance))) == buckets


@pytest.mark.parametrize("distance", [-1, 12])
def test_other_distances_are_refused(distance):
    with pytest.raises(ValueError, match=f"between 0 and 11, got {distance}"):
        SimhashIndex().near(0, distance)


def test_one_fingerprint_under_several_keys():
    index = indexed([(5, 3), (5, 1), (5, 2)])
    assert looked_up(index, 5, 0) == [(0, 1), (0, 2), (0, 3)]
    index.remove(5, 1)
    assert looked_up(index, 5, 0) == [(0, 2), (0, 3)]


def test_what_is_left_is_found_whatever_was_removed():
    rng = random.Random(13)
    stored = [(rng.getrandbits(64), key) for key in range(60)]
    index = indexed(stored)
    rng.shuffle(stored)
    while stored:
        index.remove(*stored.pop())
        for distance in (0, MAX_DISTANCE):
            for fingerprint, key in stored:
                assert looked_up(index, fingerprint, distance) == [(0, key)]


def test_removing_what_is_not_there():
    index = indexed([(5, 3)])
    with pytest.raises(KeyError):
        index.remove(5, 4)
    with pytest.raises(KeyError):
        index.remove(6, 3)
    assert len(index) == 1


class IndexMachine(RuleBasedStateMachine):
    """Any sequence of additions and removals leaves what a plain list would hold."""

    def __init__(self) -> None:
        super().__init__()
        self.index = SimhashIndex()
        self.stored: list[tuple[int, int]] = []

    @rule(fingerprint=NEAR)
    def add(self, fingerprint: int) -> None:
        key = len(self.stored)
        while any(key == used for _, used in self.stored):
            key += 1
        self.index.add(fingerprint, key)
        self.stored.append((fingerprint, key))

    @rule(fingerprints=st.lists(NEAR, max_size=4))
    def extend(self, fingerprints: list[int]) -> None:
        first = max((key for _, key in self.stored), default=-1) + 1
        keys = np.arange(first, first + len(fingerprints), dtype=np.uint32)
        self.index.extend(np.array(fingerprints, np.uint64), keys)
        self.stored += zip(fingerprints, keys.tolist(), strict=True)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.stored:
            entry = data.draw(st.sampled_from(self.stored))
            self.stored.remove(entry)
            self.index.remove(*entry)

    @rule(query=NEAR, distance=DISTANCES)
    def look_up(self, query: int, distance: int) -> None:
        found = looked_up(self.index, query, distance)
        assert found == brute_force(self.stored, query, distance)

    @invariant()
    def entries(self) -> None:
        assert len(self.index) == len(self.stored)
        fingerprints, keys = self.index.entries()
        entries = list(zip(fingerprints.tolist(), keys.tolist(), strict=True))
        assert sorted(entries) == sorted(self.stored)


TestIndexMachine = IndexMachine.TestCase
# Each looks at all that is stored after each step.
TestIndexMachine.settings = settings(max_examples=40)
