from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.methods import tags as module
from scrapy_neardup.methods.tags import _TAGS, Tags, tag_counts


def counted(data: bytes) -> list[int]:
    """Return how often each tag is in the bits, by comparing strings."""
    bits = "".join(f"{byte:08b}" for byte in data)
    windows = [bits[i : i + 8] for i in range(len(bits) - 7)]
    return [windows.count(f"{tag:08b}") for tag in _TAGS]


@given(st.binary(max_size=100) | st.lists(st.sampled_from(_TAGS), max_size=50).map(bytes))
@example(b"")
@example(b"\x17")
@example(b"\x17\x17")
def test_counts_equal_those_in_a_string_of_bits(data):
    assert tag_counts(data).tolist() == counted(data)


@pytest.mark.parametrize("size", range(30))
def test_counts_do_not_depend_on_the_pieces_that_are_read(size, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 7)
    data = bytes(random.Random(size).choices(_TAGS, k=size))
    assert tag_counts(data).tolist() == counted(data)


def test_there_are_sixteen_different_tags():
    assert len(set(_TAGS)) == len(_TAGS) == 16


@given(st.binary(min_size=1, max_size=60), st.binary(min_size=1, max_size=60))
def test_the_similarity_is_one_less_the_differences_by_the_greater_counts(a, b):
    method = Tags()
    values, counts = (method.value(a), method.value(b)), (counted(a), counted(b))
    if all(values):
        differences = sum(abs(x - y) for x, y in zip(*counts, strict=True))
        greater = sum(map(max, zip(*counts, strict=True)))
        assert method.similarity(*values) == pytest.approx(1 - differences / greater)
    else:
        assert not all(map(any, counts))


def test_a_long_file_does_not_overflow():
    # 300,000 tags a file: more than 16 bits hold.
    value = Tags().value(b"\x17" * 300_000)
    assert int(np.frombuffer(value, "<u4").max()) == 300_000
