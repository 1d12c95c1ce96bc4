from __future__ import annotations

from itertools import chain, combinations
from math import comb

import numpy as np
import pytest

from scrapy_neardup.hashing.tables import DESIGNS, block_masks, blocks, table_keys, table_masks
from scrapy_neardup.methods import MethodIndex
from scrapy_neardup.methods.simhash import Simhash

#: All ways to flip one to three of 64 bits.
FLIPS = [
    sum(1 << bit for bit in bits)
    for bits in chain.from_iterable(combinations(range(64), n) for n in (1, 2, 3))
]


def test_43_744_fingerprints_are_near_another_one_41_664_of_them_by_three_bits():
    assert len(FLIPS) == comb(64, 1) + comb(64, 2) + comb(64, 3) == 43_744
    assert sum(flips.bit_count() == 3 for flips in FLIPS) == comb(64, 3) == 41_664


@pytest.mark.parametrize(
    ("design", "widths"), [(4, {16: 4}), (16, {28: 16}), (20, {31: 4, 32: 12, 33: 4})]
)
def test_a_design_has_its_tables_and_bits(design, widths):
    found = [mask.bit_count() for mask in table_masks(design)]
    assert {width: found.count(width) for width in found} == widths
    assert len(set(table_masks(design))) == design


@pytest.mark.parametrize("design", DESIGNS)
def test_fingerprints_within_three_bits_agree_in_a_table(design):
    masks = table_masks(design)
    assert all(any(not flips & mask for mask in masks) for flips in FLIPS)
    # Some four flips touch every table.
    assert not all(any(not flips << 1 & mask for mask in masks) for flips in four_flips())


def four_flips() -> list[int]:
    spread = np.random.default_rng(1).integers(0, 63, (10_000, 4)).tolist()
    return [sum(1 << bit for bit in set(bits)) for bits in spread]


@pytest.mark.parametrize("design", DESIGNS)
def test_near_fingerprints_have_a_key_in_common_and_keys_tell_tables_apart(design):
    centre = 0x0123456789ABCDEF
    keys = set(table_keys(centre, design))
    assert len(keys) == len(set(table_keys(0, design))) == design
    assert all(not keys.isdisjoint(table_keys(centre ^ flips, design)) for flips in FLIPS[::7])


@pytest.mark.parametrize("tables", [0, *DESIGNS])
def test_an_index_finds_what_brute_force_finds(tables):
    rng = np.random.default_rng(tables)
    fingerprints = np.repeat(rng.integers(0, 2**64, 500, np.uint64), 4)
    for _ in range(3):
        flips = np.uint64(1) << rng.integers(0, 64, fingerprints.size, np.uint64)
        fingerprints[::2] ^= flips[::2]
    index = MethodIndex(Simhash(tables=tables))
    values = [int(number).to_bytes(8, "big") for number in fingerprints]
    for number, value in enumerate(values):
        index.add(number, value)
    for place, value in enumerate(values):
        distances = np.bitwise_count(fingerprints ^ fingerprints[place])
        assert {match.number for match in index.near(value)} == set(
            np.flatnonzero(distances <= 3).tolist()
        )


def test_five_blocks_are_of_12_12_12_12_and_16_bits():
    assert [width for _, width in blocks(64, 5)] == [12, 12, 12, 12, 16]


@pytest.mark.parametrize(
    ("bits", "number"), [(64, 1), (64, 4), (64, 5), (32, 4), (128, 13), (60, 7)]
)
def test_blocks_cover_each_bit_once(bits, number):
    masks = block_masks(bits, number)
    assert len(masks) == number
    assert sum(masks) == sum(mask.bit_count() and mask for mask in masks) == (1 << bits) - 1
    assert sum(mask.bit_count() for mask in masks) == bits
