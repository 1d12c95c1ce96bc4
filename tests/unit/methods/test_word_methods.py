from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.methods import word_sets
from scrapy_neardup.methods.exact import Exact, Sentences
from scrapy_neardup.methods.word_sets import Keywords, Words
from scrapy_neardup.methods.words import jaccard, least_common, packed_set, shared
from scrapy_neardup.text.idf import UNITS_PER_NAT, shipped_table, token_hashes

SETS = st.sets(st.integers(0, 30), min_size=1, max_size=30)
SHARES = st.sampled_from([0.01, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]) | st.floats(0.01, 1)


def packed(numbers: set[int]) -> bytes:
    return packed_set(token_hashes([f"word{number}" for number in numbers]))


@given(SETS, SETS)
def test_packed_sets_are_counted_as_sets_are(a, b):
    assert shared(packed(a), packed(b)) == len(a & b)
    assert jaccard(packed(a), packed(b)) == len(a & b) / len(a | b)


@given(SETS, st.data(), SHARES)
def test_sets_that_resemble_by_the_bound_have_enough_in_common(a, data, bound):
    # A set near the first one: some members left out, others put in.
    kept = data.draw(st.sets(st.sampled_from(sorted(a))))
    b = kept | data.draw(st.sets(st.integers(0, 30), min_size=not kept, max_size=4))
    if len(a & b) / len(a | b) >= bound:
        assert len(a & b) >= least_common(max(len(a), len(b)), bound)


@pytest.mark.parametrize(
    ("bound", "number"), [(1.0, 100), (0.8, 80), (0.29, 29), (0.501, 51), (0.001, 1)]
)
def test_sets_need_no_less_in_common_than_the_bound_says(bound, number):
    assert least_common(100, bound) == number


@pytest.mark.parametrize(
    ("a", "b", "is_near"),
    [
        ("one two three four", "one two three four five", False),  # exactly .8
        ("one two three four five", "one two three four five six", True),
        ("one two three four five", "five FOUR three, two one; one", True),
        ("one", "two", False),
    ],
)
def test_word_sets_are_near_above_80_percent(a, b, is_near):
    method = Words()
    assert method.is_near(method.value(a), method.value(b)) is is_near


@pytest.mark.parametrize(
    ("a", "b", "is_near"),
    [
        ("one two three four", "one two three four five", True),  # exactly 80 %
        ("one two three four five", "one two three four six", True),
        ("one two three four five six", "one two three four five seven eight", False),
        # All words of the one, but the other has 33 % more.
        ("one two three", "one two three four", False),
    ],
)
def test_by_their_terms_word_sets_are_near_from_80_percent_of_the_larger(a, b, is_near):
    method = Words(measure="terms")
    values = method.value(a), method.value(b)
    assert method.is_near(*values) is method.is_near(*reversed(values)) is is_near
    assert method.requirement == "at least 0.8"


@given(SETS, SETS, SHARES, st.sampled_from(["jaccard", "terms"]))
def test_word_sets_that_are_near_have_enough_keys_in_common(a, b, bound, measure):
    method = Words(min_similarity=bound, measure=measure)
    if method.is_near(packed(a), packed(b)):
        assert len(a & b) >= max(method.keys_in_common(packed(each)) for each in (a, b))


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_words_in_the_same_order_are_counted_as_by_trying_all(a, b):
    def tried(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + tried(i + 1, j + 1)
        return max(tried(i + 1, j), tried(i, j + 1))

    tried = cache(tried)
    assert word_sets._common_subsequence(a, b) == tried(0, 0)


def test_what_word_sets_require_is_what_makes_them_near():
    assert Words().requirement == "above 0.8"
    assert Words(min_similarity=1).requirement == "the same words"


def test_with_a_bound_of_1_equal_word_sets_are_near():
    method = Words(min_similarity=1)
    assert method.is_near(*[method.value("one two")] * 2)
    assert not method.is_near(method.value("one two"), method.value("one"))


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [
        ("a sentence. Another sentence.", "Another sentence! A sentence?", 1),
        ("一个句子。另外一个句子！", "前言：\n一个句子；另外一个句子", 2 / 3),
        ("one\ntwo\nthree", "one\ntwo\nfour", 2 / 3),
        ("one. two.", "three", 0),
    ],
)
def test_sentences_are_compared_without_case_and_marks_at_their_ends(a, b, similarity):
    method = Sentences(number=3)
    assert method.similarity(method.value(a), method.value(b)) == pytest.approx(similarity)


def test_only_the_longest_sentences_count():
    method = Sentences(number=2)
    value = method.value("One of the longest sentences. Short. The other of the long ones.")
    assert value == method.value(
        "The other of the long ones. New here. One of the longest sentences"
    )
    assert method.explain(value, method.value("One of the longest sentences.")) == (
        "1 of the 2 longest sentences equal"
    )


@pytest.mark.parametrize(
    ("a", "b", "is_near"),
    [
        ("Man bites dog", "Dog bites man", False),
        ("Man bites dog", "Man bites dog!", True),
        ("The man bites the dog", "A man bites a dog", True),
        ("Man bites dog in Ohio park", "Man bites cat in Ohio bar", False),
        ("狗咬人", "人咬狗", False),
        ("What's new in version 2.0", "What’s new in version 2.0?", True),
        ("What's new in version 2.0", "What's new in version 2.4", False),
    ],
)
def test_keywords_are_near_in_the_same_order(a, b, is_near):
    method = Keywords()
    values = method.value(a), method.value(b)
    assert method.is_near(*values) is method.is_near(*reversed(values)) is is_near


def test_keywords_without_a_rare_one_are_all_kept():
    assert Keywords().describe(Keywords().value("the of and")) == "3 keywords"
    assert Keywords().describe(Keywords().value("the of and Ferry")) == "1 keyword"
    assert Keywords().describe(Keywords().value("ferry harbour " * 500)) == "64 keywords"


def test_unknown_words_are_keywords_with_the_greatest_min_weight():
    table = shipped_table("multilingual")
    assert table.default / UNITS_PER_NAT == word_sets._MAX_WEIGHT
    method = Keywords(min_weight=word_sets._MAX_WEIGHT)
    assert method.describe(method.value("of the year Qzxwv")) == "1 keyword"


@given(st.text(max_size=20), st.text(max_size=20))
def test_exact_values_are_equal_for_equal_contents(a, b):
    method = Exact()
    one, other = method.value(a), method.value(b)
    assert bool(one) == bool(a.strip())
    if one and other:
        assert method.is_near(one, other) == (a == b)


def test_exact_takes_a_text_for_its_bytes():
    assert Exact().value("Straße") == Exact().value("Straße".encode()) != Exact().value("strasse")
