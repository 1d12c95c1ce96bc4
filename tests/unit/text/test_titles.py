"""Titles that contain another title, and signs that distinguish two titles."""

from __future__ import annotations

from itertools import permutations
from time import monotonic

import pytest

from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.text.titles import (
    MAX_KEPT_CHARS,
    MAX_KEPT_PARTS,
    MAX_PARTS,
    Title,
    is_other_version,
    is_within,
    may_be_one,
    name_other_versions,
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2.5 kg bag", "5 kg bag"),
        ("1,500-piece puzzle", "500-piece puzzle"),
        ("Shop | 3/4 inch pipe", "Shop | 4 inch pipe"),
        ("10-12 years", "12 years"),
        ("十 二号楼", "二号楼"),
        ("Non-smoking room", "Smoking room"),
        ("Kein Raucherzimmer", "Raucherzimmer"),
        ("غير صالح للشرب", "صالح للشرب"),
        ("לא מותר לעשן", "מותר לעשן"),
        ("Tidak boleh merokok", "boleh merokok"),
        ("Icke-rökare", "rökare"),
        ("बिना अनुमति", "अनुमति"),
        ("Germany - France", "France - Germany"),
    ],
)
def test_what_stands_in_front_may_alter_a_number_or_deny_the_rest(one, other):
    assert not may_be_one(title(one), title(other))
    assert not may_be_one(title(other), title(one))


@pytest.mark.parametrize("label", ["Print: ", "13.1 ", "Chapter 4 — "])
def test_other_labels_may_stand_in_front(label):
    assert may_be_one(title(f"{label}Smoking rooms"), title("Smoking rooms"))


def test_titles_of_very_many_parts_must_be_equal():
    many = tuple((str(n),) for n in range(MAX_PARTS + 1))
    assert is_within(many, many)
    assert not is_within(many[:-1], many)
    # To compare each part with each would take minutes.
    very_many = tuple((str(n), "kg") for n in range(20_000))
    assert not may_be_one(very_many, very_many[::-1])


def test_parameters_in_brackets_within_brackets_are_no_parts_of_a_title():
    signer = Signer(secret=bytes(16))
    one, other = (
        signer.sign_text(
            "https://a.example/", "", f"Move (Pair(Key, Pair(Key, Value)), {rest})"
        ).title
        for rest in ("Exact", "Exact, Lock")
    )
    assert not may_be_one(one, other)


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
        ("lenses -2.00", ["-2"]),
        ("lenses −2.00", ["-2"]),
        ("lenses –2.00", ["-2"]),
        ("lenses +2.00", ["+2"]),
        ("lenses + 2.00", ["+2"]),
        ("game (-3)", ["-3"]),
        ("utc+3", ["+3"]),
        ("operator ==", ["=="]),
        ("operator !==", ["!=="]),
        ("operator ->", ["->"]),
        ("operator <", ["<"]),
        ("operator /", ["/"]),
        ("a && b", ["&&"]),
        ("☀ monday", ["☀"]),
        ("the symbol ∑", ["∑"]),
        ("3 × 4", ["×"]),
        ("€ in yen", ["€"]),
        ("hotel ★★★", ["★★★"]),
        ("thumb 👍🏽", ["👍🏽"]),
        ("tone ˥˩", ["˥˩"]),
        # Ranges, words in two parts, shouting, separators and bullets.
        ("2010-2020", []),
        ("2010 -2020", []),
        ("2010–2020", []),
        ("covid-19 and x-200", []),
        ("sale !!!", []),
        ("foo > bar", []),
        ("salt & pepper", []),
        ("home → bar", []),
        ("► news ✦ ● ➔ more ■", []),
        ("kettle ™ ©", []),
    ],
)
def test_signs_count_where_they_stand_at_a_word(part, found):
    assert signs(part) == found


def test_signs_are_part_of_the_title_of_a_page():
    signer = Signer(secret=b"s" * 16)
    titles = {signer.sign_text("http://a.example/", "text", t).title for t in ("C++", "C#", "C")}
    assert titles == {(("c", "c++"),), (("c", "c#"),), (("c",),)}


#: Titles of one template each.
TOLD_APART_BY_SIGNS = [
    ["Lens -2.00 | Optics", "Lens +2.00 | Optics", "Lens 2.00 | Optics"],
    ["Lens - 2.00", "Lens + 2.00"],
    ["Zone UTC+3", "Zone UTC-3"],
    [f"Operator {o} - Manual" for o in "== != < > <= >= && || + * - / % -> ** <<".split()],
    [f"Operator {o} | Manual" for o in "== != < > <= >= && || + * / % -> ** <<".split()],
    [f"Operator {o}" for o in "== != < > <= >= && || + * / % -> ** <<".split()],
    ["☀ Monday", "☂ Monday", "☃ Monday"],
    ["Symbol ∑", "Symbol ∏", "Symbol ∞"],
    ["€ in £", "€ in ₽", "$ in £"],
    ["Hotel ★★★", "Hotel ★★★★"],
]


@pytest.mark.parametrize("texts", TOLD_APART_BY_SIGNS)
def test_signs_tell_titles_apart(texts):
    signer = Signer(secret=b"s" * 16)
    titles = [signer.sign_text("http://a.example/", "text", each).title for each in texts]
    for one, other in permutations(titles, 2):
        assert not may_be_one(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Foo - Site", "Foo | Site"),
        ("Foo » Site", "Foo – Site"),
        ("Foo -- Site", "Foo — Site"),
        ("Foo || Site", "Foo | Site"),
        ("Foo", "Foo - "),
        ("Foo", "Foo |"),
        ("► Foo", "Foo"),
        ("Foo® • Site", "Foo · Site"),
        ("Lens −2 | Site", "Lens -2 - Site"),
    ],
)
def test_separators_and_bullets_do_not(one, other):
    signer = Signer(secret=b"s" * 16)
    first, second = (
        signer.sign_text("http://a.example/", "t", each).title for each in (one, other)
    )
    assert first == second


@pytest.mark.parametrize(
    "sign", ["!", "=", "-", " -", "- ", "+ ", "★", "★ ", "∑ ", "|", "1+ ", "a-"]
)
def test_signs_are_found_in_time_that_grows_with_the_title(sign):
    start = monotonic()
    for part in title_parts(sign * 50_000):
        signs(part)
    assert monotonic() - start < 5


@pytest.mark.parametrize("name", ["Lens -2.00", "Operator ==", "Symbol ∑", "Language C++"])
def test_a_heading_with_signs_is_the_texts_heading(name):
    signer = Signer(secret=b"s" * 16)
    text = f"{name}\n\n" + "A Kettle from Bremen weighs 3 kg. " * 9
    assert signer.sign_text("http://a.example/", text, name).n_heading


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("handbook 1 2", "handbook 2 0 1", True),
        ("lib v0 12 documentation", "lib 0 13 manual", True),
        ("lib 3 2 an afternoon hack", "lib 2 4", True),
        ("handbook 3 6 4 documentation", "handbook 3 15 0a1 documentation", True),
        ("handbook 2 0rc1", "handbook 2 0", True),
        ("handbook 1 2", "handbook 1 2 documentation", False),
        ("handbook 1 2", "manual 2 0", False),
        # models, years, numbers of chapters, dates
        ("kettle x200", "kettle x300", False),
        ("handbook 1 2", "handbook", False),
        ("report 2023", "report 2024", False),
        ("part 1", "part 2", False),
        ("1 2", "1 3", False),
        ("3 11 1 documentation", "3 12 3 documentation", True),
        ("2 5 mg", "7 5 mg", False),
        ("tablets 2 5 mg", "tablets 7 5 mg", False),
        ("1 6 tdi", "2 0 tdi", False),
        ("news 2024 5 3", "news 2024 6 4", False),
        ("news 3 5 2024", "news 4 6 2024", False),
    ],
)
def test_parts_that_name_two_versions_of_one_thing(one, other, is_one):
    first, second = tuple(one.split()), tuple(other.split())
    assert is_other_version(first, second) is is_one
    assert is_other_version(second, first) is is_one


#: Titles that are too long: of many parts, of many words, and of one word.
LONG = [" | ".join(f"part {n}" for n in range(40_000)), "a kettle " * 60_000, "a" * 500_000]


@pytest.mark.parametrize("text", [*LONG, "茶叶" * 250_000, "a+ #b " * 80_000])
def test_little_is_kept_of_a_long_title(text):
    for each in (
        title(text),
        Signer(secret=b"s" * 16).sign_text("http://a.example/", "t", text).title,
    ):
        assert len(each) <= MAX_KEPT_PARTS + 1
        assert sum(len(word) for part in each for word in part) < 2 * MAX_KEPT_CHARS


@pytest.mark.parametrize("text", LONG)
def test_long_titles_that_differ_only_in_what_is_cut_off_differ(text):
    assert title(text) == title(text)
    others = title(f"{text} blue"), title(f"{text} | blue"), title(f"{text} 7")
    assert len({title(text), *others}) == 4
    for other in others:
        assert not may_be_one(title(text), other)
        assert not name_other_versions(title(text), other)


def test_a_title_that_is_not_too_long_is_kept():
    parts = [f"part {n}" for n in range(MAX_KEPT_PARTS)]
    assert list(map(str.strip, title_parts(" | ".join(parts)))) == parts
    assert title_parts("a" * MAX_KEPT_CHARS) == ["a" * MAX_KEPT_CHARS]


@pytest.mark.parametrize("part", ["w{0} 1 {1}", "w{2} 1 7", "w{0} part"])
def test_versions_are_compared_in_time_that_grows_with_the_titles(part):
    one, other = (
        tuple(tuple(part.format(n, n % 99, even).split()) for n in range(even, 6000, 2))
        for even in (0, 1)
    )
    start = monotonic()
    name_other_versions(one, other)
    assert monotonic() - start < 5


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Ferries | Guide 1 2", "Ferries | Guide 2 0 1", True),
        ("Guide 1 2 | Ferries", "Ferries | Guide 2 0 1", True),
        ("Ferries | Guide 1 2", "Ferries | Guide 1 2", False),
        ("Ferries | Guide 1 2", "Ferries | Manual 2 0 1", False),
        ("Ferries | Guide 1 2", "Ferries | Guide", False),
        ("Guide 1 2 | Guide 1 3", "Guide 1 2", True),
        ("", "", False),
    ],
)
def test_titles_that_name_other_versions(one, other, expected):
    assert name_other_versions(title(one), title(other)) is expected
    assert name_other_versions(title(other), title(one)) is expected
