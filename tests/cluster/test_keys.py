from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup import Rule
from scrapy_neardup.cluster.stages.keys import band_keys, band_width, block_keys, densified
from scrapy_neardup.hashing.minhash import SKETCH_BINS

FINGERPRINTS = st.integers(0, 2**64 - 1)


@given(FINGERPRINTS, st.sets(st.integers(0, 63), max_size=3))
def test_fingerprints_within_three_bits_share_a_block_key(
    fingerprint: int, flipped: set[int]
) -> None:
    other = fingerprint ^ sum(1 << bit for bit in flipped)
    keys = block_keys(np.array([fingerprint, other], np.uint64))
    assert set(keys[0].tolist()) & set(keys[1].tolist())


@pytest.mark.parametrize("n_filled", [30, 120, SKETCH_BINS])
def test_sketches_at_the_threshold_share_a_band(n_filled: int) -> None:
    rule = Rule()
    generator = np.random.default_rng(3)
    sketches = np.zeros((2000, SKETCH_BINS), np.uint8)
    for sketch in sketches:
        places = generator.choice(SKETCH_BINS, n_filled, replace=False)
        sketch[places] = generator.integers(1, 256, n_filled)
    # Of the filled bins, just so many agree that the rule could accept the pair.
    ranks = (
        np.where(sketches != 0, generator.random(sketches.shape), 2).argsort(axis=1).argsort(axis=1)
    )
    differs = ranks >= np.ceil(rule.min_similarity * n_filled)
    drawn = generator.integers(1, 256, sketches.shape)
    others = np.where(differs & (sketches != 0), drawn, sketches).astype(np.uint8)
    width = band_width(rule)
    agree = (band_keys(sketches, width) == band_keys(others, width)).any(axis=1)
    assert agree.mean() >= 0.999
    unrelated = band_keys(sketches, width) == band_keys(np.roll(sketches, 1, axis=0), width)
    assert unrelated.any(axis=1).mean() <= 0.001


def test_empty_bins_are_filled_with_values_of_the_sketch() -> None:
    sketches = np.zeros((2, SKETCH_BINS), np.uint8)
    sketches[0, [7, 200]] = 5, 9
    filled = densified(sketches)
    assert set(filled[0].tolist()) == {5, 9}
    assert filled[0, 7] == 5
    assert filled[0, 200] == 9
    assert not filled[1].any()
