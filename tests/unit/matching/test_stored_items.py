"""The record of a page's stored items never includes an item that was not stored."""

from __future__ import annotations

from collections import OrderedDict
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.matching.item_texts import ItemTexts
from scrapy_neardup.matching.stored_items import (
    NO_ITEMS,
    OWN_ITEMS,
    PageItems,
    StoredItems,
    covers,
    digest_of_values,
    item_bits,
    merge,
    texts_differ,
)

SENTENCE = (
    "The harbour of the old town was built of stone that came from the quarries up the river. "
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
    if carried and {tuple(other) for _, _, other in stored} - {()} != {tuple(carried)}:
        assert not is_covered
    if not carried and place in {number for number, _, _ in stored}:
        assert is_covered == (fields <= set().union(*(names for _, names, _ in stored)))


def test_of_what_another_process_stored_only_known_names_are_covered(monkeypatch):
    stored = item_bits(1, ["page", "title", "price"])
    monkeypatch.setattr("scrapy_neardup.matching.stored_items._names", OrderedDict())
    assert not covers(stored, item_bits(1, ["page", "title"]))
    assert covers(stored, item_bits(1, ["page", "title", "price"]))
    # From now on the names behind the digest are known.
    assert covers(stored, item_bits(1, ["page", "title"]))
    assert not covers(stored, item_bits(1, ["page", "title", "weight"]))


def test_names_that_are_not_known_cover_nothing_once_others_were_added(monkeypatch):
    first, second = item_bits(1, ["a"]), item_bits(2, ["b"])
    monkeypatch.setattr("scrapy_neardup.matching.stored_items._names", OrderedDict())
    both = merge(first, second)
    assert not covers(both, item_bits(1, ["a"]))
    assert not covers(both, item_bits(1, ["c"]))
    # Nothing is asked of an item without fields but what it carries.
    assert covers(both, item_bits(0, ()))


def test_an_item_of_another_page_has_no_position():
    built = item_bits(0, ["page", "name"], ["kettle"])
    assert covers(built, item_bits(0, (), ["kettle"]))
    assert covers(built, item_bits(0, ["page"], ["kettle"]))
    assert not covers(built, item_bits(0, (), ["pan"]))
    assert not covers(built, item_bits(1, ["page", "name"]))


def test_of_texts_that_an_earlier_run_stored_only_a_sketch_is_known():
    story, comment = (ItemTexts.of([f"{name} " + SENTENCE * 3]) for name in ("a", "b"))
    other = ItemTexts.of(["another comment, of other words than the first one " * 3])
    stored = item_bits(1, ["page"], texts=story)
    assert not texts_differ(stored, story)
    assert not texts_differ(stored, comment)
    assert texts_differ(stored, other)
    assert not texts_differ(OWN_ITEMS, other)
    assert not texts_differ(merge(stored, item_bits(2, ["page"], texts=other)), other)


def test_carried_values_are_kept_beside_the_texts_of_another_item():
    text = item_bits(1, ["seller"], texts=ItemTexts.of([SENTENCE * 3]))
    built = item_bits(0, ["page"], ["kettle"])
    for both in (merge(text, built), merge(built, text)):
        assert covers(both, built)
        assert not covers(both, item_bits(0, ["page"], ["pan"]))
        assert not covers(merge(both, item_bits(0, ["page"], ["pan"])), built)


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


#: A visit of a page: of each item a number for its texts, and whether it was stored.
VISITS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=20)


def bits_at(position: int) -> int:
    return item_bits(position, ["dict", "text"], is_listed=position > 1)


def visited(yields: list[tuple[int, bool]], known: int = NO_ITEMS) -> PageItems:
    items = PageItems(known)
    for position, (text, _) in enumerate(yields, start=1):
        items.add(bits_at(position), digest_of_values([f"text {text}"]))
    for position, (_, is_stored) in enumerate(yields, start=1):
        if is_stored:
            items.store(bits_at(position))
    return items


@given(VISITS, VISITS)
def test_a_list_is_that_of_a_record_only_if_it_has_the_same_items(first, second):
    record = visited(first).record
    if record is None:
        assert not any(is_stored for _, is_stored in first)
        return
    texts, others = ([text for text, _ in visit] for visit in (first, second))
    if all(is_stored for _, is_stored in first):
        texts, others = sorted(texts), sorted(others)
    # Where some were not stored, the order says which.
    assert visited(second).are_those_of(record) == (texts == others)
    assert visited(first).are_those_of(record)


@given(VISITS, VISITS)
def test_a_position_of_a_list_is_covered_only_if_it_was_stored(first, second):
    record = visited(first).record or NO_ITEMS
    second = [(text, is_stored) for (text, _), (_, is_stored) in zip(first, second, strict=False)]
    second += [(text, False) for text, _ in first[len(second) :]]
    again = visited(second, known=record).record or record
    for kept, visits in ((record, [first]), (again, [first, second])):
        for position in range(1, len(first) + 1):
            # One bit is for all of the last ones, and means that one visit has stored all.
            same = slice(position - 1, position) if position < 15 else slice(14, None)
            was_stored = [all(stored for _, stored in visit[same]) for visit in visits]
            assert covers(kept, bits_at(position)) == (any(was_stored) and bool(kept))


@pytest.mark.parametrize("is_stored", [True, False])
def test_the_order_of_a_list_counts_unless_all_is_stored(is_stored):
    record = visited([(0, True), (1, is_stored), (2, True)]).record
    assert record
    again = visited([(2, False), (1, False), (0, False)])
    assert again.are_those_of(record) == is_stored


def test_items_stored_before_a_loss_are_not_in_the_record():
    known = visited([(0, True), (1, True), (2, True)]).record
    assert known
    items = visited([(0, True), (1, False), (2, False)], known=known)
    items.lose_stored()
    assert not items.record
    items.store(bits_at(2))
    record = items.record or NO_ITEMS
    assert [covers(record, bits_at(position)) for position in (1, 2, 3)] == [
        False,
        True,
        False,
    ]


def test_what_one_item_carries_now_replaces_what_it_carried():
    known = NO_ITEMS
    for value in ("sold", "new", "sold"):
        items = PageItems(known)
        items.add(item_bits(1, ["dict"], [value]), 0)
        items.store(item_bits(1, ["dict"], [value]))
        known = items.record or NO_ITEMS
        assert covers(known, item_bits(1, ["dict"], [value]))
        assert not covers(known, item_bits(1, ["dict"], ["other"]))


def test_items_of_several_classes_that_carry_different_values_are_a_list():
    items = PageItems()
    each = [item_bits(1, ["a"], ["x"]), item_bits(2, ["b"], ["y"])]
    for number, bits in enumerate(each):
        items.add(bits, number)
    for bits in each:
        items.store(bits)
    assert items.record
    assert items.are_those_of(items.record)
    assert all(covers(items.record, bits) for bits in each)


def test_what_is_stored_of_another_list_replaces_the_record():
    before = visited([(0, True), (1, True), (2, False)]).record
    assert before
    again = visited([(0, False), (1, True)], known=before).record
    assert again
    assert (covers(again, bits_at(1)), covers(again, bits_at(2))) == (False, True)
