from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.idf import token_hashes
from scrapy_neardup.sketch import SKETCH_SIZE, ShingleKey, bottom_k, resemblance, shingle_hashes
from tests.reference import jaccard

KEY = ShingleKey.from_secret(b"a secret of tests")
WORDS = st.lists(st.sampled_from([f"word{i}" for i in range(9)]), min_size=3, max_size=60)


def sketch_of(tokens: list[str], key: ShingleKey = KEY, size: int = SKETCH_SIZE):
    return bottom_k(shingle_hashes(token_hashes(tokens, key.seed), key), size)


def numbered(start: int, stop: int) -> list[str]:
    return [f"w{i}" for i in range(start, stop)]


@given(WORDS, WORDS)
def test_for_short_texts_it_is_the_exact_jaccard_measure(a, b):
    estimate = resemblance(sketch_of(a), sketch_of(b))
    assert estimate == pytest.approx(jaccard(a, b))
    assert estimate == resemblance(sketch_of(b), sketch_of(a))


@pytest.mark.parametrize("overlap", [0.2, 0.5, 0.75, 0.9])
def test_for_long_texts_it_comes_near_the_jaccard_measure(overlap):
    shared = round(2000 * overlap)
    a, b = numbered(0, 2000), numbered(2000 - shared, 4000 - shared)
    exact = jaccard(a, b)
    keys = [ShingleKey.from_secret(bytes([number]) * 16) for number in range(40)]
    estimates = [resemblance(sketch_of(a, key), sketch_of(b, key)) for key in keys]
    # The mean of 40 independent estimates; its standard error is below 0.01.
    assert np.mean(estimates) == pytest.approx(exact, abs=0.04)
    assert np.std(estimates) < 0.09


def test_a_short_text_beside_a_long_one_that_contains_it():
    short, long = numbered(0, 40), numbered(0, 4000)
    assert resemblance(sketch_of(short), sketch_of(long)) == pytest.approx(
        jaccard(short, long), abs=0.05
    )


def test_only_what_both_sketches_know_is_counted():
    # Of the union's 64 smallest values, 1 to 64, the 32 even ones are in both (Broder 1997).
    every, even = np.arange(1, 65, dtype=np.uint32), np.arange(2, 130, 2, dtype=np.uint32)
    assert resemblance(every, even) == resemblance(even, every) == 0.5
    # A sketch that is not full knows its document wholly: nothing beyond 20 is in it.
    assert resemblance(every, even[:10]) == 10 / 64


@given(WORDS)
def test_a_text_resembles_itself(tokens):
    assert resemblance(sketch_of(tokens), sketch_of(tokens)) == 1.0


def test_the_order_of_words_counts():
    assert resemblance(sketch_of(numbered(0, 50)), sketch_of(numbered(0, 50)[::-1])) == 0.0


def test_one_or_two_tokens_are_one_shingle():
    assert sketch_of(["one"]).size == 1
    assert sketch_of(["one", "two"]).size == 1
    assert sketch_of([]).size == 0
    assert resemblance(sketch_of([]), sketch_of([])) == 0.0


def test_a_sketch_is_sorted_distinct_and_bounded():
    sketch = sketch_of(numbered(0, 1000))
    assert sketch.dtype == np.uint32
    assert sketch.size == SKETCH_SIZE
    assert (np.diff(sketch.astype(np.int64)) > 0).all()


def test_it_keeps_the_smallest_of_all_hashes():
    everything = shingle_hashes(token_hashes(numbered(0, 1000), KEY.seed), KEY)
    assert sorted(set(everything.tolist()))[:SKETCH_SIZE] == sketch_of(numbered(0, 1000)).tolist()


def test_without_the_secret_a_sketch_says_nothing():
    other = ShingleKey.from_secret(b"another secret")
    tokens = numbered(0, 500)
    assert resemblance(sketch_of(tokens), sketch_of(tokens, other)) < 0.05


def test_equal_secrets_give_equal_sketches():
    again = ShingleKey.from_secret(b"a secret of tests")
    tokens = numbered(0, 500)
    assert sketch_of(tokens).tolist() == sketch_of(tokens, again).tolist()
