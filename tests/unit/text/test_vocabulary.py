from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from math import log

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup import IdfTable
from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.text import vocabulary
from scrapy_neardup.text.tokenization import Spans, shingle_units
from scrapy_neardup.text.vocabulary import FeatureBatch, Vocabulary

SEED = 0x0123456789ABCDEF
TABLE = IdfTable("test", 80, {"the": 1, "ferry": 50, "茶叶": 30})
WORDS = [
    "the",
    "ferry",
    "茶叶",
    "清华大学",
    "的",
    "x200",
    "2024",
    "pier",
    "カタ",
    "",
    "\ud800",
    "Ж",
]
PAGES = st.lists(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=30), max_size=8)


def reading_of(words: Vocabulary, *pages: list[str]) -> FeatureBatch:
    return words.read(*map(Spans.of, pages))


def digest(word: str, seed: int = 0) -> int:
    return xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"), seed)


def weight(word: str, times: int) -> int:
    idf = {"the": 1, "ferry": 50, "茶叶": 30}.get(word, 80)
    return round(16 * (1 + log(times))) * (1 if any(map(str.isdecimal, word)) else idf)


def expected(page: list[str]) -> tuple[dict[int, int], list[int]]:
    weights = {digest(word): weight(word, times) for word, times in Counter(page).items()}
    return weights, [digest(unit, SEED) for unit in shingle_units(page)]


def read(words: Vocabulary, page: list[str]) -> tuple[dict[int, int], list[int]]:
    [read] = read_all(words, page)
    return read


def read_all(words: Vocabulary, *pages: list[str]) -> Iterator[tuple[dict[int, int], list[int]]]:
    readings = reading_of(words, *pages)
    for (hashes, weights), units in zip(readings.features, readings.units(), strict=True):
        assert hashes.dtype == units.dtype == np.uint64
        assert len(set(hashes.tolist())) == hashes.size == weights.size
        yield dict(zip(hashes.tolist(), weights.tolist(), strict=True)), units.tolist()


@given(PAGES)
def test_page_after_page_is_read_as_if_it_were_the_first(pages):
    words = Vocabulary(TABLE, SEED)
    for page in pages:
        assert read(words, page) == expected(page)


@given(PAGES, PAGES)
def test_pages_are_read_at_once_as_one_by_one(first, then):
    words = Vocabulary(TABLE, SEED)
    for pages in filter(None, (first, then)):
        assert list(read_all(words, *pages)) == list(map(expected, pages))


@pytest.mark.parametrize("times", [1, 2, 1023, 1024, 50_000])
def test_a_word_counts_by_the_logarithm_however_often_it_comes(times):
    page = ["ferry"] * times + ["the"]
    assert read(Vocabulary(TABLE, SEED), page) == expected(page)


@given(PAGES, st.integers(0, 5), st.integers(0, 20))
def test_forgetting_changes_nothing(pages, most_tokens, most_characters):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "MAX_TOKENS", most_tokens)
        patch.setattr(vocabulary, "MAX_CHARACTERS", most_characters)
        words = Vocabulary(TABLE, SEED)
        for page in pages:
            assert read(words, page) == expected(page)


@pytest.mark.slow
def test_what_is_remembered_is_bounded():
    words = Vocabulary(TABLE)
    for first in range(0, 4 * vocabulary.MAX_TOKENS, 5000):
        reading_of(words, [f"w{number}" for number in range(first, first + 5000)])
        assert len(words) <= vocabulary.MAX_TOKENS + 5000


def test_long_tokens_are_bounded_too():
    words = Vocabulary(TABLE)
    for number in range(10):
        reading_of(words, [str(number) * (vocabulary.MAX_CHARACTERS + 1)])
        assert len(words) == 1


def test_units_are_those_of_their_page_however_late_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(vocabulary, "MAX_TOKENS", 30)
    words, pages = Vocabulary(TABLE, SEED), [[f"茶{n}", "清华大学", f"w{n}"] for n in range(50)]
    readings = [reading_of(words, page) for page in pages]
    for page, reading in zip(pages, readings, strict=True):
        assert reading.units()[0].tolist() == expected(page)[1]


def test_a_fingerprint_does_not_depend_on_what_was_read_before():
    page = "the ferry to the pier of 2024 has left the pier 清华大学".split()
    fresh, used = Vocabulary(TABLE), Vocabulary(TABLE)
    reading_of(used, [*reversed(page), "other", "words"])
    [one], [other] = reading_of(fresh, page).features, reading_of(used, page).features
    assert simhash(*one) == simhash(*other)


def test_several_threads_can_ask_at_once(monkeypatch):
    monkeypatch.setattr(vocabulary, "MAX_TOKENS", 300)
    words, wrong = Vocabulary(TABLE, SEED), []

    def ask(first: int) -> None:
        for start in range(first, first + 400):
            page = [f"w{number % 997}" for number in range(start, start + 50)]
            if read(words, page) != expected(page):
                wrong.append(page)

    threads = [threading.Thread(target=ask, args=(first,)) for first in (0, 200, 500, 700)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
