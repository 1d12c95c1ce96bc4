"""Titles that contain another title, and signs that distinguish two titles."""

from __future__ import annotations

import pytest

from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.text.titles import (
    MAX_PARTS,
    Title,
    is_other_version,
    is_within,
    may_be_one,
    signs,
    title_of,
    title_parts,
)


def title(text: str) -> Title:
    return title_of(map(str.split, title_parts(text)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Kettle X", "Kettle X | Shop"),
        ("Kettle X", "Shop | Kettle X"),
        ("Kettle X | Shop", "Shop | Kettle X"),
        ("Kettle X | Shop", "Kettle X Shop"),
        ("Kettle X", "Kettle | X | Shop"),
        ("", "Kettle X"),
        ("magics namespace", "Module: magics namespace"),
        ("strdispatch | Lib 0.10", "utils strdispatch | Lib 0.10"),
    ],
)
def test_a_copys_title_has_more_parts_or_other_separators(one, other):
    first, second = title(one), title(other)
    assert is_within(first, second) or is_within(second, first)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Kettle X", "Kettle X Pro"),
        ("Kettle X | Shop", "Kettle X Pro | Shop"),
        ("Season 1 Episode 2", "Season 2 Episode 1"),
        ("Flights from Oslo to Rome", "Flights from Rome to Oslo"),
        ("Kettle X", "Pot X | Kettle Y"),
    ],
)
def test_the_title_of_another_ware_has_more_words_or_another_order(one, other):
    first, second = title(one), title(other)
    assert not is_within(first, second)
    assert not is_within(second, first)


def test_titles_of_very_many_parts_must_be_equal():
    many = tuple((str(n),) for n in range(MAX_PARTS + 1))
    assert is_within(many, many)
    assert not is_within(many[:-1], many)


def test_words_may_be_added_behind_the_name_of_the_page():
    assert may_be_one(title("core.macro | Lib 0.12"), title("core.macro | Lib 0.12 docs"))
    assert not may_be_one(title("Kettle X | Lib 0.12"), title("Kettle X Pro | Lib 0.12"))
    assert not may_be_one(title("core | Part 1 of 2"), title("core | Part 2 of 1"))


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("c++ developer", ["c++"]),
        ("c# developer", ["c#"]),
        ("group a- blood", ["a-"]),
        ("gift card €50", ["€5"]),
        ("sonata in c♯", ["c♯"]),
        ("wi-fi and a+b", []),
        ("kettle® x & co", []),
        ("5 % off ★ today", []),
    ],
)
def test_signs_count_where_they_stand_at_a_word(part, found):
    assert signs(part) == found


def test_signs_are_part_of_the_title_of_a_page():
    signer = Signer(secret=b"s" * 16)
    titles = {signer.sign_text("http://a.example/", "text", t).title for t in ("C++", "C#", "C")}
    assert titles == {(("c", "c++"),), (("c", "c#"),), (("c",),)}


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("handbook 1 2", "handbook 2 0 1", True),
        ("lib v0 12 documentation", "lib 0 13 manual", True),
        ("lib 3 2 an afternoon hack", "lib 2 4", True),
        ("handbook 1 2", "handbook 1 2 documentation", False),
        ("handbook 1 2", "manual 2 0", False),
        # models, years, numbers of chapters, dates
        ("kettle x200", "kettle x300", False),
        ("handbook 1 2", "handbook", False),
        ("report 2023", "report 2024", False),
        ("part 1", "part 2", False),
        ("1 2", "1 3", False),
        ("news 2024 5 3", "news 2024 6 4", False),
        ("news 3 5 2024", "news 4 6 2024", False),
    ],
)
def test_parts_that_name_two_versions_of_one_thing(one, other, is_one):
    first, second = tuple(one.split()), tuple(other.split())
    assert is_other_version(first, second) is is_one
    assert is_other_version(second, first) is is_one
