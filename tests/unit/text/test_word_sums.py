"""Words of one text in place of words of another one."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.signatures.plugins import idf_table
from scrapy_neardup.text.idf import token_hashes
from scrapy_neardup.text.tokenization import Spans
from scrapy_neardup.text.value_differences import Difference, difference
from scrapy_neardup.text.vocabulary import Vocabulary
from scrapy_neardup.text.word_sums import (
    SIZE,
    WordSums,
    choices_differ,
    name_was_replaced,
    sums_of,
    word_marks,
)

IDF = idf_table("multilingual")
NOTHING = difference((), ())
PLAIN = "the at and in young when is".split()
NAMES = "oglethorpe farnsworth zanzibar samarkand".split()
CHOICES = "three four co2 b xl iv march april".split()
WORDS = st.lists(st.sampled_from([*PLAIN, *NAMES, *CHOICES, "17", "category"]), max_size=30)


def sums(*texts: list[str]) -> list[WordSums]:
    batch = Vocabulary(IDF).read(*map(Spans.of, texts))
    assert all(len(each) == SIZE for each in batch.word_sums)
    return list(map(WordSums.from_bytes, batch.word_sums))


def pair(one: str, other: str) -> list[list[WordSums]]:
    """The sums of two texts in both orders."""
    found = sums(one.split(), other.split())
    return [found, found[::-1]]


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_the_words_of_each_text_are_counted_and_its_choices_added_up(texts):
    for text, found in zip(texts, sums(*texts), strict=True):
        known = (NAMES, CHOICES, PLAIN)
        assert found[:3] == tuple(sum(word in kind for word in text) for kind in known)
        alone = [sums([word])[0].chosen for word in text]
        assert found.chosen % 2**16 == sum(alone) % 2**16


@given(WORDS, WORDS)
def test_the_same_choices_do_not_differ_whatever_else_does(text, other):
    chosen = [word for word in text if word in CHOICES]
    others = [word for word in other if word not in CHOICES]
    assert not choices_differ(*sums(text, [*others, *chosen]))


@given(WORDS, st.lists(st.sampled_from(CHOICES), min_size=1, max_size=4), st.data())
def test_as_many_other_choices_differ(text, chosen, data):
    same_size = st.lists(st.sampled_from(CHOICES), min_size=len(chosen), max_size=len(chosen))
    others = data.draw(same_size)
    differs = chosen != others
    assert choices_differ(*sums([*text, *chosen], [*text, *others])) == differs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("has three rooms", "has four rooms"),
        ("pets are allowed", "pets are not allowed"),
        ("允许 养 宠物", "不 允许 养 宠物"),
        ("第三 层", "第十二 层"),
        ("unit a1 of", "unit b7 of"),
        ("article iv of", "article ix of"),
        ("nur für herren", "nur für damen"),
        ("turn left then", "turn right then"),
        ("dreissig gross", "zwanzig klein"),
        ("dreißig groß", "zwanzig klein"),
        ("3 march", "5 april"),
        ("on monday at", "on thursday at"),
        ("in size m it", "in size l it"),
        # in another order
        ("three rooms and two beds", "two rooms and three beds"),
        ("turn left left and right", "turn left right and left"),
        # times and guests that no counter counts
        ("he got two years in", "he got five years in"),
        ("a house for two guests", "a house for six guests"),
        ("garantie von zwei jahren", "garantie von fünf jahren"),
        # a negation in the place of a word, with one beside it, and as a part of one
        ("it is with breakfast", "it is without breakfast"),
        ("it was often taken", "it was never taken"),
        ("le pont est ouvert", "le pont n est pas ouvert"),
        ("il va vite", "il ne va pas vite"),
        ("it is safe", "it isn t safe"),
        ("you can go", "you can t go"),
        ("köprü açık", "köprü açık değil"),
        # another dose
        ("take one tablet twice daily", "take one tablet thrice daily"),
        ("take one tablet daily", "take half a tablet daily"),
        ("eine tablette zweimal täglich", "eine tablette dreimal täglich"),
        ("渡 れま ます", "渡 れま ませ せん"),
        # words of counters that count nothing
        ("they may share it", "they may not share it"),
        ("class b shares", "class c shares"),
        ("at the first visit", "at the second visit"),
        ("a front view", "a rear view"),
        ("dwie godziny", "trzy godziny"),
        ("能 停车", "可以 停车"),
    ],
)
def test_a_choice_in_place_of_another_one_counts(one, other):
    assert all(choices_differ(*each) for each in pair(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the flat is free", "the flat is free from now on"),
        ("the flat is large", "the large flat is"),
        ("a flat is free", "the flat is free"),
        ("he said that", "he was that"),
        ("it has rooms", "it has three rooms"),
        ("1 comment", "2 comments"),
        ("3 hours ago", "2 days ago"),
        ("three hours ago", "four days ago"),
        ("vor drei tagen", "vor vier tagen"),
        ("il y a trois jours", "il y a quatre jours"),
        ("two views", "three views"),
        ("the page was read", "the page was read twice"),
        ("it is not safe", "it is not at all safe when in"),
        ("no comments", "one comment"),
        ("at 9 10 a m", "at 2 40 p m"),
        ("at 9 am", "at 2 pm"),
        ("3 march", "5 mar"),
        ("last updated on thu 12 mar", "last updated on fri 3 apr"),
        ("printed from it on thursday", "printed from it on friday"),
        ("category ferries", "tag ferries"),
    ],
)
def test_more_words_and_other_plain_ones_do_not(one, other):
    assert not any(
        choices_differ(*each) or name_was_replaced(each[0], each[1], added())
        for each in pair(one, other)
    )


def added(n_stretches: int = 1, longest: int = 1) -> Difference:
    return NOTHING._replace(added=n_stretches, longest_added=longest)


@pytest.mark.parametrize(
    ("one", "other", "found", "is_replaced"),
    [
        ("mr oglethorpe is in", "mr young is in", added(), True),
        ("oglethorpe farnsworth is in", "the young is in", added(), True),
        ("mr oglethorpe is in", "mr young is in", added(longest=5), False),
        # two lines, each of which only one page has
        ("zanzibar mr young is in", "mr young is in the", added(2), False),
        ("oglethorpe is in", "the young is in", added(), False),
        ("mr oglethorpe is in", "mr oglethorpe of zanzibar is in", added(), False),
        ("mr oglethorpe is in", "mr farnsworth is in", NOTHING, False),
        # numbers
        ("in room 12 of it", "in room oglethorpe of it", NOTHING, True),
        ("in room 12 of it", "in room young of it", added(), True),
        ("on platform 4 of", "on platform b of", added(), True),
        ("for nine people in", "for 40 people in", added(), True),
        ("12 or 14 of it", "three or four of it", added(longest=2), True),
        ("it is 1 5 long", "it is five long", added(longest=2), True),
        ("it is 1 5 long", "it is five long", added(2), False),
        ("in room 12 of it", "in room young of it", added(2), False),
        ("1 2 3 4 5 of it", "a b c d e of it", added(longest=5), False),
        ("it is 12 of it", "it is of it", added(), False),
        ("on 5 march 2026 at", "on 2026 3 5 at", added(), False),
        ("read 12 times in", "read often times in", added(), False),
        ("updated on 12 it", "updated on young it", added(), False),
        # names that are times and counters as well
        ("ask mrs day for it", "ask mrs oglethorpe for it", added(), True),
        ("ask herr leser for it", "ask herr farnsworth for it", added(), True),
        ("ask the day for it", "ask the oglethorpe for it", added(), False),
    ],
)
def test_a_name_is_replaced_by_as_few_words(one, other, found, is_replaced):
    for each in pair(one, other):
        assert name_was_replaced(each[0], each[1], found) == is_replaced


def test_sums_beyond_16_bits_are_right_in_their_lower_ones():
    tokens = ["three", "four"] * 9
    marks = word_marks(tokens, token_hashes(tokens), np.zeros(18, np.uint32))
    chosen = sum(mark >> 16 for mark in marks.tolist())
    assert chosen > 2**16
    found = WordSums.from_bytes(sums_of(marks, *np.zeros((2, marks.size), bool)))
    assert (*found[:3], found.chosen % 2**16) == (0, 18, 0, chosen % 2**16)


def test_more_names_or_numbers_than_are_counted_are_the_most_that_are():
    marks = word_marks(["12"], token_hashes(["12"]), np.zeros(1, np.uint32)).repeat(2**16)
    found = WordSums.from_bytes(sums_of(marks, *np.zeros((2, marks.size), bool)))
    assert found == WordSums(0, 0, 0, 0, 2**16 - 1)


@pytest.mark.parametrize(
    "words",
    [
        ("två", "tre", "fem"),
        ("két", "három", "öt", "hat"),
        ("to", "tre", "fire"),
        ("doi", "trei", "patru"),
        ("hai", "ba", "năm", "tư"),
        ("دو", "سه", "چهار"),
        ("दो", "तीन", "चार"),
        ("이", "삼", "사"),
        ("thousand", "million"),
        ("ianuarie", "martie", "iulie"),
        ("квітня", "липня", "серпня"),
        ("kovo", "liepos", "spalio"),
    ],
)
def test_frequent_numbers_and_months_of_many_languages_are_choices(words):
    found = sums(*[["in", word, "and", "so"] for word in words])
    assert all(choices_differ(*each) for each in permutations(found, 2))


@pytest.mark.parametrize("word", "男 左 是 可以 允许 周一 はい いいえ 금요일 dwie".split())
def test_listed_words_of_all_scripts_are_choices(word):
    codes = np.zeros(1, np.uint32)
    [mark] = word_marks([word], token_hashes([word]), codes)
    assert mark >= 12


@pytest.mark.parametrize("ago", ["för {} dagar sedan", "{} ngày trước", "πριν {} ημέρες"])
def test_times_that_are_over_have_no_choices(ago):
    one, other = (sums(ago.format(word).split())[0] for word in ("två", "hai"))
    assert not choices_differ(one, other)
