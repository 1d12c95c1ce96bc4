from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup.hashing.union_find import Clusters

SIZE = 30
PAIRS = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=40)


def searched(pairs: list[tuple[int, int]]) -> list[int]:
    """The smallest place that can be reached from each, by a plain search."""
    reached = []
    for place in range(SIZE):
        seen, waiting = {place}, [place]
        while waiting:
            at = waiting.pop()
            near = {b for a, b in pairs if a == at} | {a for a, b in pairs if b == at}
            waiting += near - seen
            seen |= near
        reached.append(min(seen))
    return reached


def joined(size: int, *batches: list[tuple[int, int]]) -> Clusters:
    clusters = Clusters(size)
    for batch in batches:
        pairs = np.array(batch, np.intp).reshape(-1, 2)
        clusters.join(pairs[:, 0], pairs[:, 1])
    return clusters


@given(st.lists(PAIRS, max_size=3))
@settings(max_examples=300, deadline=None)
def test_it_finds_what_a_plain_search_finds(batches):
    clusters = joined(SIZE, *batches)
    smallest = searched([pair for batch in batches for pair in batch])
    assert clusters.smallest().tolist() == smallest
    assert [group.tolist() for group in clusters.groups()] == [
        [place for place in range(SIZE) if smallest[place] == root]
        for root in range(SIZE)
        if smallest.count(root) > 1
    ]


def test_a_long_chain_and_a_star():
    size = 100_000
    chain = [(place, place + 1) for place in range(size - 1)]
    assert set(joined(size, chain[::-1]).smallest().tolist()) == {0}
    star = [(size - 1, place) for place in range(size - 1)]
    assert set(joined(size, star).smallest().tolist()) == {0}
    evens = [(place, place + 2) for place in range(size - 2)]
    groups = list(joined(size, evens[: size // 2], evens[size // 2 :]).groups())
    assert [(group[0], group[-1], group.size) for group in groups] == [
        (0, size - 2, size // 2),
        (1, size - 1, size // 2),
    ]


def test_nothing_joined():
    assert list(joined(5).groups()) == []
    assert list(joined(0, []).groups()) == []
    assert joined(3, [(1, 1)]).smallest().tolist() == [0, 1, 2]
