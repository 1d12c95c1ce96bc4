"""Prices and symbols of a text, beside a search over the whole of it."""

from __future__ import annotations

from itertools import chain

from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.signs import operators, symbols
from scrapy_neardup.text.tokenization import ScriptTokenizer

TOKENIZER = ScriptTokenizer(None)

#: What prices, signs and symbols are made of, and what keeps them apart.
NAMES = ("usd", "eur ", "rs", "kr", "krona", "zł", "万円")
NUMBERS = ("5", "12", "990", "0 99", "2024", "٣")
parts = st.sampled_from(
    [
        *"$€元円★👍🏽\U000e0067˥✓✗●■-+−.,('=!<*&\ufde1  ",
        *NAMES,
        *NUMBERS,
        "a word",
        " and so it went on" * 4,
    ]
)


@given(st.lists(st.lists(parts, max_size=30).map("".join), min_size=1, max_size=3))
@example(["usd " + "123 " * 20 + "€", "1" * 60 + " usd " + "1" * 60, "★" * 200 + " 5 €"])
@example(["5 kr" + " " * 70 + "5 krona", "a -5" + "," * 60 + "$ 7", "eur5 zł"])
def test_symbols_are_found_where_a_search_over_the_whole_text_finds_them(given_texts):
    texts = [normalize(text) for text in given_texts]
    offset = 0
    for text, spans in zip(texts, TOKENIZER.spans(texts), strict=True):
        if spans.starts.size:
            patterns = symbols._FOUND, operators._OPERATOR
            matches = chain.from_iterable(pattern.finditer(text) for pattern in patterns)
            expected = sorted(match.start() + offset for match in matches)
            found = symbols.symbols_of(spans)
            assert ([] if found is None else found.places.tolist()) == expected
        offset += len(text) + 1
