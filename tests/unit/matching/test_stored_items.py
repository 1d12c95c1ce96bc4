"""The record of a page's stored items never includes an item that was not stored."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.matching.stored_items import (
    NO_ITEMS,
    OWN_ITEMS,
    StoredItems,
    covers,
    item_bits,
    merge,
)

FIELDS = st.sets(st.sampled_from(["dict", "name", "text", "price", "author"]), min_size=1)
CARRIED = st.sampled_from([[], ["kettle"], ["kettle", "pot"], ["pan"]])
ITEMS = st.lists(st.tuples(st.integers(1, 15), FIELDS, CARRIED), min_size=1, max_size=6)


@given(ITEMS, st.tuples(st.integers(1, 15), FIELDS, CARRIED))
def test_an_item_is_covered_only_by_its_place_its_fields_and_what_it_carries(stored, item):
    place, fields, carried = item
    kept = reduce(merge, (item_bits(*each) for each in stored))
    is_covered = covers(kept, item_bits(*item))
    if place not in {number for number, _, _ in stored}:
        assert not is_covered
    if carried and any(other != carried for _, _, other in stored):
        assert not is_covered
    if not carried and place in {number for number, _, _ in stored}:
        # A filter may say yes of a field that it does not have, but never no of one that it has.
        assert is_covered or fields - set().union(*(names for _, names, _ in stored))


def test_nothing_covers_but_what_was_stored():
    first, second = item_bits(1, ["dict", "name"]), item_bits(2, ["dict", "name"])
    assert not covers(NO_ITEMS, first)
    assert covers(OWN_ITEMS, first)
    assert not covers(OWN_ITEMS, item_bits(1, ["name"], ["kettle"]))
    assert covers(first, first)
    assert not covers(first, second)
    assert covers(merge(first, second), second)
    assert merge(NO_ITEMS, first) == first


def test_of_too_many_pages_the_oldest_are_let_go(monkeypatch):
    monkeypatch.setattr("scrapy_neardup.matching.stored_items._MAX_DIGESTS", 3)
    items = StoredItems()
    for number in range(5):
        items.note(f"u{number}", number)
    assert [items.has(f"u{number}", number) for number in range(5)] == [False] * 2 + [True] * 3
