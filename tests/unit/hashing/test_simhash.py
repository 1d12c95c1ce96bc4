from __future__ import annotations

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.hashing.simhash import from_hex, hamming_distance, simhash, to_hex
from tests.support.reference import charikar

UINT64 = st.integers(0, 2**64 - 1)
#: Up to totals of 2**31 and beyond, at which sums take other ways; always below 2**53.
WEIGHTS = st.integers(0, 2**20) | st.integers(0, 2**31) | st.integers(0, 2**47)
FEATURES = st.dictionaries(UINT64, WEIGHTS, max_size=40)


def fingerprint_of(features: dict[int, int]) -> int:
    return simhash(
        np.array(list(features), np.uint64), np.array(list(features.values()), np.float64)
    )


def test_the_hash_is_xxh3_as_published():
    # Test vectors of the reference implementation (xxHash 0.8, XXH3_64bits, seed 0).
    assert xxhash.xxh3_64_intdigest(b"") == 0x2D06800538D394C2
    assert xxhash.xxh3_64_intdigest(b"a") == 0xE6C632B61E964E1F


@given(FEATURES)
def test_it_is_charikars_sum_over_each_bit(features):
    assert fingerprint_of(features) == charikar(features)


@given(FEATURES, st.randoms())
def test_the_order_of_features_does_not_matter(features, random):
    shuffled = list(features.items())
    random.shuffle(shuffled)
    assert fingerprint_of(dict(shuffled)) == fingerprint_of(features)


@given(UINT64, st.integers(1, 1000))
def test_one_feature_is_its_own_fingerprint(hashed, weight):
    assert fingerprint_of({hashed: weight}) == hashed


@given(UINT64, st.integers(1, 1000))
def test_a_tie_leaves_the_bit_clear(hashed, weight):
    opposite = hashed ^ (2**64 - 1)
    assert fingerprint_of({hashed: weight, opposite: weight}) == 0


def test_without_features_no_bit_is_set():
    assert fingerprint_of({}) == 0


def test_bit_63_is_the_most_significant():
    heavy, light = 1 << 63, 1
    assert fingerprint_of({heavy: 3, light: 2}) == 1 << 63


@given(UINT64, UINT64)
def test_the_distance_counts_differing_bits(a, b):
    expected = sum(x != y for x, y in zip(f"{a:064b}", f"{b:064b}", strict=True))
    assert hamming_distance(a, b) == hamming_distance(b, a) == expected


@given(UINT64)
def test_hex_is_read_back(fingerprint):
    digits = to_hex(fingerprint)
    assert len(digits) == 16
    assert from_hex(digits) == from_hex(digits.upper()) == fingerprint


@pytest.mark.parametrize("number", [-1, 2**64])
def test_hex_takes_only_64_bits(number):
    with pytest.raises(ValueError, match=str(number)):
        to_hex(number)


@pytest.mark.parametrize("digits", ["", "0", "g" * 16, "0x" + "0" * 14, "0" * 17, "+" + "0" * 15])
def test_from_hex_refuses_anything_else(digits):
    with pytest.raises(ValueError, match="sixteen hexadecimal digits"):
        from_hex(digits)
