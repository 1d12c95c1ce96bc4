from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.hashing.minhash import (
    SHINGLE_UNITS,
    SKETCH_BINS,
    ShingleKey,
    Sketch,
    resemblance,
    resemblances,
    shingle_hashes,
    shingle_hashes_of_each,
    sketches_of,
)
from scrapy_neardup.text.idf import token_hashes
from tests.support.reference import jaccard

KEY = ShingleKey.from_secret(b"a secret of tests")
WORDS = st.lists(st.sampled_from([f"word{i}" for i in range(9)]), min_size=4, max_size=60)


def sketched(units: list[str], key: ShingleKey = KEY) -> Sketch:
    sketch: Sketch = sketches_of([shingle_hashes(token_hashes(units, key.seed), key)])[0]
    return sketch


def numbered(start: int, stop: int) -> list[str]:
    return [f"w{i}" for i in range(start, stop)]


@given(WORDS)
def test_there_is_one_hash_for_each_different_shingle(units):
    shingles = [tuple(units[i : i + 4]) for i in range(len(units) - 3)]
    hashes = shingle_hashes(token_hashes(units, KEY.seed), KEY).tolist()
    hash_of = dict(zip(shingles, hashes, strict=True))
    assert [hash_of[shingle] for shingle in shingles] == hashes
    assert len(set(hash_of.values())) == len(hash_of)
    assert max(hashes) < 2**32


@given(st.lists(st.integers(0, 2**32 - 1), max_size=2000))
@example([0, 2**32 - 1, 2**32 - 1])
def test_each_bin_keeps_a_byte_of_its_least_hash(hashes):
    bins: dict[int, int] = {}
    for value in sorted(hashes, reverse=True):
        bins[value * SKETCH_BINS // 2**32] = value % 255 + 1
    sketch = sketches_of([np.array(hashes, np.uint64)])[0]
    assert sketch.tolist() == [bins.get(number, 0) for number in range(SKETCH_BINS)]


@given(st.lists(WORDS | st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=5))
@example([["a"] * 4, ["b"] * 4])
def test_several_documents_are_sketched_as_one_by_one(documents):
    units = [token_hashes(document, KEY.seed) for document in documents]
    found = sketches_of(shingle_hashes_of_each(units, KEY))
    assert found.tolist() == [sketched(document).tolist() for document in documents]


@pytest.mark.parametrize("length", [30, 200, 2000, 20_000])
@pytest.mark.parametrize("overlap", [0.2, 0.5, 0.75, 0.9])
def test_it_comes_near_the_jaccard_measure(length, overlap):
    shared = round(length * overlap)
    a, b = numbered(0, length), numbered(length - shared, 2 * length - shared)
    exact = jaccard(a, b, SHINGLE_UNITS)
    keys = [ShingleKey.from_secret(bytes([number]) * 16) for number in range(30)]
    estimates = [resemblance(sketched(a, key), sketched(b, key)) for key in keys]
    # The standard error of one estimate is at most 0.023; of a mean of 30 a fifth of that.
    assert np.mean(estimates) == pytest.approx(exact, abs=0.015)
    assert np.std(estimates) < 0.03


def test_unrelated_texts_do_not_agree_by_chance():
    one = sketched(numbered(0, 5000))
    others = [sketched(numbered(start, start + 5000)) for start in range(10**4, 10**5, 2000)]
    # One or two of 384 bins agree by chance, which would be 0.004.
    assert np.mean([resemblance(one, other) for other in others]) < 0.0025


@given(WORDS, WORDS)
def test_it_is_the_same_in_either_order_and_within_bounds(a, b):
    estimate = resemblance(sketched(a), sketched(b))
    assert estimate == resemblance(sketched(b), sketched(a))
    assert 0 <= estimate <= 1
    assert resemblance(sketched(a), sketched(a)) == 1.0


def test_the_order_of_units_counts():
    assert resemblance(sketched(numbered(0, 50)), sketched(numbered(0, 50)[::-1])) < 0.05


def test_fewer_units_than_a_shingle_are_one_shingle():
    for count in (1, 2, 3, 4):
        assert np.count_nonzero(sketched(numbered(0, count))) == 1
    assert np.count_nonzero(sketched([])) == 0
    assert resemblance(sketched([]), sketched([])) == 0.0


def test_without_the_secret_a_sketch_says_nothing():
    other = ShingleKey.from_secret(b"another secret")
    assert resemblance(sketched(numbered(0, 500)), sketched(numbered(0, 500), other)) < 0.05


def test_equal_secrets_give_equal_sketches():
    again = ShingleKey.from_secret(b"a secret of tests")
    assert sketched(numbered(0, 500)).tolist() == sketched(numbered(0, 500), again).tolist()


BINS = st.lists(st.sampled_from([0, 0, 1, 2, 255]), min_size=16, max_size=16)


@given(BINS, st.lists(BINS, max_size=5))
def test_many_at_once_are_estimated_as_the_formula_says(one, others):
    rows = np.array(others, np.uint8).reshape(-1, 16)
    estimates = resemblances(np.array(one, np.uint8), rows)
    for other, estimate in zip(others, estimates, strict=True):
        pairs = list(zip(one, other, strict=True))
        filled = sum(a > 0 or b > 0 for a, b in pairs)
        agreeing = sum(a == b > 0 for a, b in pairs)
        differing = sum(a != b and a > 0 and b > 0 for a, b in pairs)
        expected = (agreeing - differing / 254) / filled if filled else 0.0
        assert estimate == pytest.approx(max(0.0, expected), abs=1e-12)


@given(st.lists(st.tuples(BINS, BINS), max_size=5))
def test_row_by_row_they_are_estimated_as_one_by_one(pairs):
    rows, others = np.array(pairs, np.uint8).reshape(-1, 2, 16).transpose(1, 0, 2).copy()
    one_by_one = [resemblance(a, b) for a, b in zip(rows, others, strict=True)]
    assert resemblances(rows, others).tolist() == one_by_one
