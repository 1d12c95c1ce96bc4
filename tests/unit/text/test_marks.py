"""Marks behind numbers with raised digits, and behind codes of mixed case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.text import marks
from scrapy_neardup.text.marks import (
    marked,
    marked_and_folded,
    marked_and_folded_line,
    without_marks,
)
from scrapy_neardup.text.normalization import folded
from scrapy_neardup.text.tokenization import ScriptTokenizer

TOKENIZER = ScriptTokenizer(None)
PIECES = st.sampled_from(
    [
        "10",
        "²",
        "⁻³",
        "½",
        "①",
        "aBcDeF",
        "xY",
        "Zz",
        "7",
        " ",
        "-",
        "\xad",
        "中",
        "か",
        "é",
        "\u0301",
        "😀",
    ]
)
TEXTS = st.lists(PIECES, max_size=20).map("".join)


@given(TEXTS)
def test_marks_change_no_token(text):
    assert TOKENIZER(marked_and_folded(text).text) == TOKENIZER(folded(text).text)


@given(TEXTS)
def test_marks_change_nothing_else(text):
    found = marked_and_folded(text)
    assert without_marks(marked(text)) == text
    assert (without_marks(found.text), found.length) == folded(text)


@given(TEXTS | st.text(max_size=200))
def test_a_line_becomes_what_a_text_becomes(line):
    assert marked_and_folded_line(line) == marked_and_folded(line).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10²", "102"),
        ("10⁻³", "10-3"),
        ("101₂", "1012"),
        ("1½ of it", "11⁄2 of it"),
        ("5①", "51"),
        ("5❶", "51"),
        ("2ⁿ", "2n"),
        ("10²m", "102m"),
        ("aBcDeF", "AbCdEf"),
        ("aBcDeF", "abcdef"),
        ("dQw4w9WgXcQ", "dqW4w9wGxCq"),
        ("是aBcDeF的", "是AbCdEf的"),
    ],
)
def test_a_mark_tells_texts_apart(one, other):
    assert folded(one).text.replace("\u2212", "-") == folded(other).text.replace("\u2212", "-")
    assert marked_and_folded(one).text != marked_and_folded(other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m²", "m2"),
        ("H₂O", "H2O"),
        ("word¹", "word1"),
        ("NEW IPHONE AND EBAY", "New iPhone and eBay"),
        ("getElementById", "getElementByID"),
        ("SetMapMode", "setmapmode"),
        ("10 ²", "10 2"),
        ("aBcDeF", "aBcDeF\u200b"),
    ],
)
def test_other_texts_are_one_as_before(one, other):
    assert marked_and_folded(one).text == marked_and_folded(other).text


@pytest.mark.parametrize("piece", ["1²", "1₂", "1⅓", "a1²"])
def test_the_rest_of_a_word_is_searched_only_once(monkeypatch, piece):
    searched = []

    def end_of_word(text: str, place: int) -> int:
        searched.append(end := found(text, place))
        return end

    found = marks._end_of_word
    monkeypatch.setattr(marks, "_end_of_word", end_of_word)
    word = piece * 1000
    assert marked(f"{word} {word}") == f"{word}\ufdd0 {word}\ufdd0"
    assert searched == [len(word), 2 * len(word) + 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1²1²⁻³", "1²1²|⁻³|"),
        ("1²1⁻³x 5", "1²1|⁻³x| 5"),
        ("1²-1²", "1²|-1²|"),
        ("5①1²b", "5①1²b|"),
    ],
)
def test_marks_stand_behind_words(text, expected):
    assert marked(text).replace("\ufdd0", "|") == expected


def test_long_codes_take_linear_time():
    text = "aB" * 100_000
    assert len(marked(text)) == len(text) + 4
    assert marked("aBcD-" * 3)[4:8] == marked("aBcD")[4:]


def test_the_tokenizer_of_a_user_sees_no_marks():
    seen = []

    def tokenizer(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    signer = Signer(secret=bytes(32), tokenizer=tokenizer)
    pages = [signer.sign_text("https://a.example/", text) for text in ("10² aBcDeF", "102 abcdef")]
    assert seen.count("102 abcdef") == 2
    assert pages[0].text_digest != pages[1].text_digest
    assert pages[0].n_text == pages[1].n_text
