from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.methods import METHODS, Method, MethodIndex, open_method

#: Each method with parameters that suit texts of few words.
SMALL = [
    *("exact", "simhash:32,max_distance=9", "simhash:64,max_distance=0", "simhash:64,tables=4"),
    *("simhash:64,tables=16", "simhash:64,tables=20", "simhash:128,max_distance=40"),
    *("nilsimsa:40", "sentences:2,min_similarity=0.5", "manber:2,one_in=1,min_similarity=0.3"),
    *("minhash:16,width=2,rows=0,min_similarity=0.4", "bottomk:8,width=2,min_similarity=0.4"),
    *("words:min_similarity=0.5", "tags:min_similarity=0.5", "keywords:min_similarity=0.4"),
]
TEXTS = st.lists(
    st.sampled_from(["the", "ferry", "ferries", "harbour", "dredged.", "2026", "港口", "Spring"]),
    max_size=9,
).map(" ".join)
#: Numbers are added with a text, those that are there already removed.
STEPS = st.lists(st.tuples(st.integers(0, 9), TEXTS), max_size=25)


def test_every_method_is_tried():
    assert {written.partition(":")[0] for written in SMALL} == set(METHODS)


def filled(method: Method, steps: list[tuple[int, str]]) -> tuple[MethodIndex, dict[int, bytes]]:
    index = MethodIndex(method)
    kept: dict[int, bytes] = {}
    for number, text in steps:
        if number in kept:
            index.remove(number)
            del kept[number]
        elif value := method.value(text):
            index.add(number, value)
            kept[number] = value
    return index, kept


@pytest.mark.parametrize("written", SMALL)
@given(steps=STEPS, text=TEXTS)
def test_an_index_finds_what_brute_force_finds(written, steps, text):
    method = open_method(written)
    index, kept = filled(method, steps)
    value = method.value(text)
    expected = [
        (-method.similarity(value, known), number)
        for number, known in kept.items()
        if value and method.is_near(value, known)
    ]
    assert [(-found.similarity, found.number) for found in index.near(value)] == sorted(expected)
    assert len(index) == len(kept)
    assert all(index[number] == known for number, known in kept.items())


@given(STEPS, TEXTS)
def test_bands_find_nothing_that_is_not_near(steps, text):
    method = open_method("minhash:16,width=1,rows=2,min_similarity=0.4")
    index, kept = filled(method, steps)
    value = method.value(text)
    found = {match.number for match in index.near(value)}
    near = {number for number, known in kept.items() if value and method.is_near(value, known)}
    equal = {number for number, known in kept.items() if value == known}
    assert equal <= found <= near


@pytest.mark.parametrize("written", SMALL)
@given(steps=STEPS)
def test_removing_undoes_adding(written, steps):
    index, kept = filled(open_method(written), steps)
    for number in kept:
        index.remove(number)
    assert not len(index)
    assert not index._numbers
    with pytest.raises(KeyError):
        index.remove(0)


@given(TEXTS, TEXTS)
@pytest.mark.parametrize("written", SMALL)
def test_similarities_are_0_to_1_and_a_value_is_near_itself(written, a, b):
    method = open_method(written)
    values = method.value(a), method.value(b)
    if all(values):
        assert 0 <= method.similarity(*values) <= 1
        assert method.similarity(values[0], values[0]) == pytest.approx(1)
        assert method.is_near(values[0], values[0])
        assert method.explain(*values)
        assert method.describe(values[0])
        if not written.startswith("manber"):
            assert method.similarity(*values) == pytest.approx(method.similarity(*values[::-1]))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "content",
    [
        *(
            "",
            " \n\t\u3000",
            "a",
            "ab",
            "abc",
            "abcd",
            ".",
            "。\n！",
            "\0",
            "\ud800",
            "\udfff a \ud83d",
        ),
        *("word " * 20_000, "港" * 20_000, "a" * 100_000, "\u0301" * 5_000, "…" * 9, "1 2 3"),
        *(b"", b" ", b"\x00", b"ab", b"\xff\xfe\xfd", b"abcd", b"\x00" * 100_000),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_any_content_has_a_value(name, content):
    method = open_method(name)
    value = method.value(content)
    assert isinstance(value, bytes)
    assert value == method.value(content)
    if not content.strip():
        assert value == b""
    if value:
        assert method.is_near(value, value)
        index = MethodIndex(method)
        index.add(1, value)
        assert [match.number for match in index.near(value)] == [1]
    assert MethodIndex(method).near(value) == []


@pytest.mark.parametrize(
    ("written", "most"),
    [
        *(("bottomk", 0.28), ("manber:one_in=1", 0.31), ("words", 0.21), ("keywords", 0.21)),
        ("sentences", 0.34),
    ],
)
def test_a_value_has_no_more_keys_than_its_bound_needs(written, most):
    method = open_method(written)
    value = method.value(". ".join(f"word{number}" for number in range(400)))
    # The bytes of a member: a hash, with keywords a weight as well.
    members = len(value) // (6 if method.name == "keywords" else 4)
    assert 1 <= len(list(method.keys(value) or ())) <= most * members
