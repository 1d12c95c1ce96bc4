"""Objects and lists that scripts assign."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.embedded.object_literals import assigned_literals


def named(script: str) -> list[list[tuple[str, str]]]:
    return [pairs for pairs in assigned_literals(script) if pairs]


@pytest.mark.parametrize(
    "literal",
    [
        "{wood: 'Alder', legs: 4}",
        "{'wood': 'Alder', \"legs\": 4}",
        "{wood: `Alder`, legs: 4,}",
        "{ /* of a shed */ wood: 'Alder', // no other\n legs:4 }",
        "{wood: 'Alder', price: price, legs: 4}",
        "{wood: 'Alder', legs: 4, go() { return 'Birch' }}",
        "{wood: 'Alder', legs: 4, height: 2 + wide, 'roof': 'flat'}",
    ],
)
def test_names_and_values_are_read_as_far_as_they_are_constant(literal):
    for before in ("var shed = ", "window.shed=", "{wide: 2}; shed\n=\n"):
        assert named(f"go(); {before}{literal};") == [[("wood", "Alder"), ("legs", "4")]]


def test_values_within_lists_and_objects_have_the_nearest_name():
    script = "a = {b: [1, {c: 'd'}, 'e'], f: {g: true}, h: ['i']}"
    pairs = [("b", "1"), ("c", "d"), ("b", "e"), ("g", "true"), ("h", "i")]
    assert named(script) == [pairs]
    assert named("a = ['b', [-1.5]]") == [[("", "b"), ("", "-1.5")]]


@pytest.mark.parametrize(
    "script",
    [
        "go({wood: 'Alder'})",
        "a == ['b']; c === ['d']; e != ['f']; g >= [1]",
        "a = {b: c + 'd'}",
        "a = {b: 'c' + d}",
        "a = {b: c('d')}",
        "a = {b: 2 * c, d: 'e'}",
        "a = {'b",
        "a = ]}",
        "a = {",
    ],
)
def test_what_is_computed_or_not_assigned_is_left_out(script):
    assert named(script) == []


def test_literals_behind_a_broken_one_are_read():
    assert named("a = {b() { c = {d: 'e'} }}; f = {'g; h = {i: 2}") == [[("d", "e")], [("i", "2")]]


@pytest.mark.parametrize(
    "part",
    ["={", "={'", "={`", "={/*", "={//", "=[[{", "={a:'b',", "= ", "={a:'\\", "={" + " " * 98],
)
def test_hostile_scripts_are_read_in_bounded_work(part):
    assert len(list(assigned_literals(part * 50_000))) <= 500
    assert len(list(assigned_literals("={" + part * 50_000))) <= 501
