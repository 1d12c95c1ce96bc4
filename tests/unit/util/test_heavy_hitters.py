from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup._util.heavy_hitters import HeavyHitters


@given(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=200), st.integers(1, 6))
def test_a_count_is_too_low_by_the_error_at_most(things, room):
    frequent, exact = HeavyHitters(room), Counter(things)
    for thing in things:
        frequent.add(thing)
    found = dict(frequent.most_common(len(exact)))
    assert len(found) <= 2 * room
    assert frequent.error * room <= len(things)
    for thing, count in exact.items():
        assert count - frequent.error <= found.get(thing, 0) <= count


@given(st.lists(st.sampled_from("abcdefgh"), max_size=100))
def test_counts_are_exact_while_there_is_room(things):
    frequent = HeavyHitters(capacity=4)
    for thing in things:
        frequent.add(thing)
    assert frequent.error == 0
    assert dict(frequent.most_common(8)) == Counter(things)


def test_what_comes_often_outlives_a_flood_of_others():
    frequent = HeavyHitters(capacity=10)
    for number in range(1000):
        frequent.add("often" if number % 4 == 0 else f"once {number}")
    [(name, count)] = frequent.most_common(1)
    assert name == "often"
    assert 250 - frequent.error <= count <= 250
    assert 0 < frequent.error <= 100
