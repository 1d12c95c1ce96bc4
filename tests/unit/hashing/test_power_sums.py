"""Collections that differ in a single item."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.hashing.power_sums import SIZE, has_one_more, power_sums

HASHES = st.lists(st.integers(1, 1 << 63), max_size=8)
#: Few different items, so that some occur several times.
FEW = st.lists(st.sampled_from([7**k for k in range(1, 20)]), max_size=8)


def sums(items: list[int]) -> bytes:
    found = power_sums(np.array(items, np.uint64))
    assert len(found) == SIZE == 8
    return found


@given(HASHES, st.integers(1, (1 << 32) - 6), st.randoms())
def test_one_more_item_is_found_in_any_order(items, more, rng):
    longer = [*items, more]
    rng.shuffle(longer)
    assert has_one_more(sums(longer), sums(items))
    assert not has_one_more(sums(items), sums(longer))


@given(FEW, FEW)
def test_nothing_else_is_taken_for_it(items, others):
    more, fewer = Counter(items) - Counter(others), Counter(others) - Counter(items)
    is_one_more = more.total() == 1 and not fewer
    assert has_one_more(sums(items), sums(others)) is is_one_more
