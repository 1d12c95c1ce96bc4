"""Words of one text in place of words of another one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.signatures.plugins import idf_table
from scrapy_neardup.text.tokenization import Spans
from scrapy_neardup.text.values import FIRST_NUMBER, value_codes
from scrapy_neardup.text.vocabulary import Vocabulary
from scrapy_neardup.text.weighting import are_names, are_numbers
from scrapy_neardup.text.word_sums import (
    SIZE,
    WordSums,
    sums_of,
    word_hashes,
    words_were_replaced,
)

IDF = idf_table("multilingual")
#: Common words, which are no values, and rare ones, which are.
COMMON = "the of and in three four young day is".split()
NAMES = "Oglethorpe Farnsworth Zanzibar Samarkand".lower().split()
WORDS = st.lists(st.sampled_from([*COMMON, *NAMES, "17", "4812", "co2"]), max_size=30)


def sums(*texts: list[str]) -> list[WordSums]:
    batch = Vocabulary(IDF).read(*map(Spans.of, texts))
    assert all(len(each) == SIZE for each in batch.word_sums)
    return list(map(WordSums.from_bytes, batch.word_sums))


def are_replaced(one: str, other: str, *, beside_numbers: bool = False, longest: int = 0) -> bool:
    pair = sums(one.split(), other.split())
    found, back = (
        words_were_replaced(*each, beside_numbers=beside_numbers, longest_added=longest)
        for each in (pair, pair[::-1])
    )
    assert found == back
    return found


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_sums_are_those_of_each_word_of_its_text_alone(texts):
    for text, found in zip(texts, sums(*texts), strict=True):
        counted = [word for word in text if not word[0].isdigit() and word != "day"]
        assert found.names == sum(word in NAMES for word in counted)
        assert found.names + found.others == len(counted)
        alone = [sums([word])[0] for word in counted]
        assert found.whole == sum(each.whole for each in alone) % 2**32
        assert found.stems == sum(each.stems for each in alone) % 2**32


@given(WORDS, st.permutations(COMMON))
def test_order_numbers_and_times_do_not_count(text, words):
    one, other = sums([*text, *words, "12", "days"], [*words, "1999", "4", "ago", *text[::-1]])
    assert one == other


@given(WORDS, WORDS)
def test_texts_of_equally_many_words_are_told_apart_as_their_counts_tell(text, other):
    one, others = (
        Counter(word for word in each if not word[0].isdigit()) for each in (text, other)
    )
    del one["day"], others["day"]
    found = words_were_replaced(*sums(text, other), beside_numbers=False, longest_added=0)
    if one.total() == others.total():
        assert found == (one != others)
    elif one <= others or others <= one:
        assert not found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mr oglethorpe is in", "mr young is in"),
        ("has three rooms", "has four rooms"),
        ("rent in bad zanzibar", "rent in young flat"),
        ("pets are allowed", "pets are not allowed"),
        ("允许 养 宠物", "不 允许 养 宠物"),
        ("unit a1 of", "unit b7 of"),
        ("article iv of", "article ix of"),
    ],
)
def test_a_word_in_place_of_another_one_counts(one, other):
    assert are_replaced(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the flat is free", "the flat is free from now on"),
        ("mr oglethorpe is in", "mr oglethorpe of zanzibar is in"),
        ("3 hours ago", "2 days ago"),
        ("3 march", "5 april"),
        ("category ferries", "tag ferries"),
    ],
)
def test_more_words_and_words_of_times_do_not(one, other):
    assert not are_replaced(one, other)


def test_words_with_another_ending_may_be_a_counters():
    assert not are_replaced("1 comment", "2 comments", beside_numbers=True)
    assert are_replaced("1 comment", "2 letters", beside_numbers=True)
    assert are_replaced("a comment", "a comments")


def test_a_name_is_no_longer_than_a_few_words():
    one, other = "mr oglethorpe is in", "mr young is in"
    assert are_replaced(one, other, longest=4)
    one, other = "oglethorpe farnsworth", "the of and"
    assert are_replaced(one, other, longest=4)
    assert not are_replaced(one, other, longest=5)
    assert not are_replaced(f"{one} {one} {one}", other, longest=4)


def test_sums_beyond_64_bits_are_right_in_their_lower_ones():
    tokens = ["oglethorpe", "young"]
    hashes = np.array([2**64 - 1, 2**64 - 2], np.uint64)
    codes = value_codes(hashes, are_numbers(tokens), are_names(tokens), np.array([99, 0]), IDF)
    counts = np.array([2**40, 3])
    [packed] = sums_of(word_hashes(tokens, hashes), codes, counts, [2])
    found = WordSums.from_bytes(packed)
    assert found.whole == (2**40 * (2**32 - 1) + 3 * (2**32 - 2)) % 2**32
    assert codes.max() < FIRST_NUMBER
