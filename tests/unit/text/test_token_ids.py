from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.text import token_ids as numbering
from scrapy_neardup.text.token_ids import TokenIdTable
from scrapy_neardup.text.tokenization import ScriptTokenizer, Spans, shipped_tokenizer

TOKENS = st.text(st.sampled_from("ab\0茶𠮷\ud800"), max_size=3) | st.text(
    st.sampled_from("ab"), min_size=18, max_size=25
)
PAGES = st.lists(st.lists(TOKENS, max_size=30), max_size=6)


def require_one_number_each(pages: list[list[str]]) -> None:
    """Equal tokens have one number, others have others, and the new ones are named."""
    numbers, named = TokenIdTable(), list[str]()
    for page in pages:
        found, new = numbers.of(Spans.of(page))
        named += new
        assert [named[number] for number in found.tolist()] == page
        assert len(set(named)) == len(named) == len(numbers)


@given(PAGES)
def test_each_token_has_a_number_of_its_own(pages):
    require_one_number_each(pages)


@given(PAGES, st.sampled_from([0, 11, 63]))
def test_tokens_that_want_one_slot_all_get_one(pages, slot):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TokenIdTable, "_slots_of", lambda _, keys: np.full(keys.size, slot))
        require_one_number_each(pages)


@given(PAGES)
def test_a_key_of_zero_is_a_key_like_others(pages):
    keys = TokenIdTable._keys

    def with_zero(self: TokenIdTable, spans: Spans) -> numbering.Keys:
        found = keys(self, spans)
        # Which is the empty token's otherwise.
        found[[token == "" for token in spans]] = 1
        found[[token == "a" for token in spans]] = 0
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TokenIdTable, "_keys", with_zero)
        require_one_number_each(pages)


def test_numbers_stay_when_there_are_many():
    pages = [[f"w{number}" for number in range(0, last, 3)] for last in range(1000, 40_000, 3000)]
    require_one_number_each(pages + pages)


def thue_morse(bits: int) -> tuple[str, str]:
    """Two texts that no cyclic polynomial of 64 bits tells apart from 2**7 characters on."""
    one, other = "a", "b"
    for _ in range(bits):
        one, other = one + other, other + one
    return one, other


@pytest.mark.parametrize("bits", range(12))
def test_tokens_are_told_apart_that_a_polynomial_could_not(bits):
    require_one_number_each([[*thue_morse(bits)]])


@pytest.mark.parametrize("length", [0, 17, 18, 19, 20, 21, 22, 63, 64, 1000])
def test_long_tokens_are_told_apart_by_their_ends(length):
    require_one_number_each([["a" * length + end for end in ("ab", "ba", "aab", "aba", "", "a")]])


@given(st.lists(TOKENS, max_size=30))
def test_a_key_is_the_cyclic_polynomial_of_a_tokens_characters(tokens):
    numbers = TokenIdTable()
    marks, of_planes = numbers._random.tolist(), numbers._random_of_planes.tolist()
    found = numbers._keys(Spans.of(tokens)).tolist()
    for token, key in zip(tokens, found, strict=True):
        if len(token) <= numbering._MAX_ROLLED:
            expected = 0
            for place, character in enumerate(map(ord, token)):
                mark = marks[character % 2**16] ^ of_planes[character // 2**16]
                expected ^= (mark << place | mark >> 64 - place) % 2**64
            assert key == expected


def test_nobody_knows_the_keys():
    spans = Spans.of(["ferry", "pier", "a" * 100])
    one, other = TokenIdTable()._keys(spans), TokenIdTable()._keys(spans)
    assert (one != other).all()


def test_a_token_has_one_key_wherever_it_stands():
    tokenizer, _ = shipped_tokenizer("pairs")
    assert isinstance(tokenizer, ScriptTokenizer)
    numbers = TokenIdTable()
    in_text, _ = numbers.of(tokenizer.spans(["the ferry, the pier", "- pier - ferry 😀 the"])[1])
    alone, new = numbers.of(Spans.of(["pier", "ferry", "the"]))
    assert in_text.tolist() == alone.tolist()
    assert not new


@pytest.mark.parametrize("first", ["", "x", "x" * 63, "😀"])
def test_a_token_has_one_key_in_all_of_a_long_text(first):
    tokens = ["ferry", "pier", "a" * 21, "a" * 22] * 300
    _, *found = TokenIdTable().of(Spans.of([first, *tokens]))[0].tolist()
    assert found == [1, 2, 3, 4] * 300
