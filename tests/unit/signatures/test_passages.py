from __future__ import annotations

import math

import xxhash
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.signatures.passages import SAMPLE_SIZE, passages_in, sample

SEED = 0x5EED
PASSAGES = st.lists(st.text(min_size=1, max_size=8), max_size=150)


def hash_of(passage: str) -> int:
    return xxhash.xxh3_64_intdigest(passage.encode("utf-8", "surrogatepass"), SEED)


def by_brute_force(passages: list[str]) -> list[int]:
    """The passages of the lowest ranks, -log(uniform) / weight, one after another."""
    ranks = {}
    for passage in passages:
        weight = len(passage.encode("utf-8", "surrogatepass"))
        ranks[hash_of(passage)] = -math.log((hash_of(passage) + 1) / 2**64) / weight
    return sorted(ranks, key=lambda number: ranks[number])[:SAMPLE_SIZE]


@given(PASSAGES)
def test_the_sample_has_the_passages_of_the_lowest_ranks_in_order(passages):
    assert passages_in(sample(passages, SEED)).tolist() == by_brute_force(passages)


@given(PASSAGES, PASSAGES)
def test_samples_are_coordinated(passages, more):
    """A passage in the sample of a longer page is in that of every page within it that has it."""
    whole = set(passages_in(sample([*passages, *more], SEED)).tolist())
    part = set(passages_in(sample(passages, SEED)).tolist())
    assert whole & set(map(hash_of, passages)) <= part


def test_long_passages_are_taken_before_short_ones():
    short, long = [f"s{i:03}" for i in range(500)], [f"l{i:02}" + 200 * "x" for i in range(32)]
    taken = set(passages_in(sample([*short, *long], SEED)).tolist())
    assert len(taken & set(map(hash_of, long))) >= 30


def test_another_key_gives_another_sample():
    passages = [f"passage {i}" for i in range(100)]
    assert sample(passages, 1) != sample(passages, 2)
