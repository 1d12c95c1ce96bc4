from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from statistics import fmean, stdev

import datasketch
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.methods.minhash import BottomK, MinHash, _functions, least_hashes
from scrapy_neardup.methods.words import members, packed_set
from scrapy_neardup.text.idf import token_hashes

#: Leskovec, Rajaraman, Ullman, "Mining of massive datasets", section 3.3: sets of the rows a to e.
SETS = [set("ad"), set("c"), set("bde"), set("acd")]
ORDERS = [dict(zip(order, range(5), strict=True)) for order in permutations("abcde")]

Elements = npt.NDArray[np.uint64]


def jaccard(a: set[str], b: set[str]) -> Fraction:
    return Fraction(len(a & b), len(a | b))


def least(elements: set[str], order: dict[str, int], number: int) -> bytes:
    """The value of a set under an order of all elements, which stands for a hash function."""
    ranks = sorted(order[element] for element in elements)[:number]
    return np.array(ranks, "<u4").tobytes()


def overlapping(share: float, seed: int, size: int = 1000) -> tuple[Elements, Elements]:
    """Two sets with this Jaccard measure, whose union has this size."""
    union = np.random.default_rng(seed).integers(0, 2**64, size, np.uint64)
    alone = round(size * (1 - share)) // 2
    return union[alone:], union[: size - alone]


def test_the_order_b_e_a_d_c_gives_the_sets_of_the_textbook_a_c_b_a():
    order = {element: rank for rank, element in enumerate("beadc")}
    found = [members(least(elements, order, 1))[0] for elements in SETS]
    assert ["beadc"[rank] for rank in found] == list("acba")


@pytest.mark.parametrize("a", SETS)
@pytest.mark.parametrize("b", SETS)
def test_over_all_orders_the_least_elements_are_equal_as_often_as_the_sets_resemble(a, b):
    values = [b"".join(least(each, order, 1) for order in ORDERS) for each in (a, b)]
    assert MinHash(hashes=120).similarity(*values) == pytest.approx(float(jaccard(a, b)))


@pytest.mark.parametrize("a", SETS)
@pytest.mark.parametrize("b", SETS)
def test_dividing_by_the_least_elements_of_both_gives_less_than_the_resemblance(a, b):
    # A printed formula, of the sets of (order, least element).
    one, other = ({(n, least(each, o, 1)) for n, o in enumerate(ORDERS)} for each in (a, b))
    measure = jaccard(a, b)
    assert Fraction(len(one & other), len(one | other)) == measure / (2 - measure)


@pytest.mark.parametrize("a", SETS)
@pytest.mark.parametrize("b", SETS)
@pytest.mark.parametrize("number", range(1, 6))
def test_over_all_orders_the_mean_of_bottom_k_is_the_resemblance(a, b, number):
    method = BottomK(hashes=number)
    estimates = [
        method.similarity(least(a, order, number), least(b, order, number)) for order in ORDERS
    ]
    assert fmean(estimates) == pytest.approx(float(jaccard(a, b)))


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30), st.integers(1, 9))
def test_least_hashes_equal_multiply_add_shift(elements, number):
    factors, terms = (column.tolist() for column in _functions(number))
    assert all(factor % 2 for factor in factors)
    expected = [
        min((element * factor + term) % 2**64 >> 32 for element in elements)
        for factor, term in zip(factors, terms, strict=True)
    ]
    assert members(least_hashes(np.array(elements, np.uint64), number)).tolist() == expected


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_estimates_are_unbiased_and_scatter_as_their_standard_error_says(share):
    minhash, bottom_k = MinHash(), BottomK()
    found: dict[str, list[float]] = {"minhash": [], "bottomk": []}
    for seed in range(200):
        a, b = overlapping(share, seed)
        values = [least_hashes(each, 128) for each in (a, b)]
        found["minhash"].append(minhash.similarity(*values))
        packed = [members(packed_set(each))[:128].tobytes() for each in (a, b)]
        found["bottomk"].append(bottom_k.similarity(*packed))
    error = (share * (1 - share) / 128) ** 0.5
    for estimates in found.values():
        assert fmean(estimates) == pytest.approx(share, abs=3 * error / 200**0.5)
        assert stdev(estimates) < 1.15 * error


def test_bottom_k_takes_the_union_of_the_least_hashes_only():
    # All of both samples for the union gives .783 on average where the resemblance is .8.
    whole, right = [], []
    for seed in range(200):
        a, b = (members(packed_set(each))[:128] for each in overlapping(0.8, seed))
        whole.append(np.intersect1d(a, b).size / np.union1d(a, b).size)
        right.append(BottomK().similarity(a.tobytes(), b.tobytes()))
    assert fmean(whole) == pytest.approx(0.783, abs=0.006)
    assert fmean(right) == pytest.approx(0.8, abs=0.006)


def test_errors_are_those_of_datasketch():
    words = [f"w{number}" for number in range(30_000)]
    hashes = token_hashes(words)
    ours, theirs = [], []
    for start in range(0, 30_000, 600):
        a, b = slice(start, start + 500), slice(start + 100, start + 600)
        ours.append(MinHash().similarity(*(least_hashes(hashes[part], 128) for part in (a, b))))
        sketches = [datasketch.MinHash(128) for _ in "ab"]
        for sketch, part in zip(sketches, (a, b), strict=True):
            sketch.update_batch([word.encode() for word in words[part]])
        theirs.append(sketches[0].jaccard(sketches[1]))
    # The resemblance is 2/3, the standard error of an estimate .042.
    assert fmean(ours) == pytest.approx(fmean(theirs), abs=3 * 0.042 * (2 / 50) ** 0.5)
    assert max(abs(estimate - 2 / 3) for estimate in ours) < 4 * 0.042


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(1, 7))
def test_there_is_one_hash_for_each_different_run_of_words(words, width):
    method = MinHash(tokenizer=str.split)
    size = min(width, len(words))
    runs = {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if words else set()
    hashes = method.shingles(" ".join(words), width)
    assert hashes.size == len(runs)
    # Equal in the lower half, which values keep, only by chance.
    assert np.unique(hashes.astype(np.uint32)).size == len(runs)
    parts = [method.shingles(" ".join(run), width) for run in runs]
    assert sorted(hashes) == sorted(part[0] for part in parts)


@pytest.mark.parametrize("kind", [MinHash, BottomK])
def test_values_are_of_runs_of_words(kind):
    method = kind(width=2)
    one, other = method.value("a b c"), method.value("b c d")
    # {a b, b c} and {b c, c d}
    assert method.similarity(one, other) == pytest.approx(1 / 3, abs=0.13)
    assert kind(width=9).value("a b c") == kind(width=3).value("A, B  c.")


def test_bands_miss_one_in_20_million_of_resemblance_80():
    missed = (1 - 0.8**4) ** (128 // 4)
    assert 1 / missed == pytest.approx(20e6, rel=0.1)
    value = least_hashes(overlapping(0.8, 1)[0], 128)
    assert len(set(MinHash().keys(value) or ())) == 32
    # Equal hashes at another place are another band.
    assert len(set(MinHash(hashes=8).keys(value[:16] * 2) or ())) == 2
