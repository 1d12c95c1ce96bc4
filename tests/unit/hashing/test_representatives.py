from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.hashing.representatives import represented

EDGES = st.dictionaries(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: pair[0] < pair[1]),
    st.booleans(),
    max_size=40,
)


def _represented(edges: dict[tuple[int, int], bool]) -> set[int]:
    rows = np.array([(*pair, equal) for pair, equal in edges.items()], np.int64).reshape(-1, 3)
    return set(represented(rows[:, 0], rows[:, 1], rows[:, 2] == 1).tolist())


@given(EDGES)
def test_each_element_has_an_edge_to_one_that_stays_or_equals_one_that_has(
    edges: dict[tuple[int, int], bool],
) -> None:
    gone = _represented(edges)
    has_edge = {other for (one, other) in edges if one not in gone}
    has_edge |= {one for (one, other) in edges if other not in gone}
    while more := {b for (a, b), equal in edges.items() if equal and a in has_edge} - has_edge:
        has_edge |= more
    assert gone <= has_edge
    # Of those that stay, no two have an edge.
    assert not [pair for pair in edges if not gone & set(pair)]


def test_a_chain_is_not_one() -> None:
    assert _represented({(1, 2): False, (2, 3): False, (3, 4): False}) == {2, 4}


def test_what_equals_a_represented_element_is_represented() -> None:
    assert _represented({(1, 2): False, (2, 3): True, (3, 4): False}) == {2, 3}
