"""Build the shipped IDF table from the word frequencies of ``wordfreq``.

    python tools/build_idf.py

wordfreq (Robyn Speer, 3.1.1) carries word frequencies of 42 languages, drawn from several
kinds of text each; its data may be redistributed under CC BY-SA 4.0, and so may the table
made here. The file that this writes is committed; run it again only to change the table,
which changes fingerprints, so its digest must change with it.

A word of relative frequency ``f`` is on a page of ``TYPICAL_LENGTH`` tokens with probability
``1 - exp(-f * TYPICAL_LENGTH)`` (Poisson); its IDF is minus the logarithm of that. Words are
cut by the package's own tokenizer, and a token of several languages keeps its greatest
frequency: a word that is common in any language says little, and no language need be known.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path

import wordfreq

from scrapy_neardup.text.idf import UNITS_PER_NAT, write_table
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shipped_tokenizer

TARGET = (
    Path(__file__).parent.parent / "scrapy_neardup" / "text" / "data" / "idf-multilingual.txt.gz"
)

#: Tokens on a page, about the median of main texts.
TYPICAL_LENGTH = 500

#: IDF in nats of every token that is not in the table, and the bound of those that are.
BOUND = 5.0

#: wordfreq writes every number of two or more digits as zeros.
_MASKED_NUMBER = re.compile(r"\d\d")


def token_frequencies(language: str) -> dict[str, float]:
    """Relative frequency of each token of a language."""
    tokenizer, _ = shipped_tokenizer("auto")
    frequencies: dict[str, float] = defaultdict(float)
    for word, frequency in wordfreq.get_frequency_dict(language, wordlist="best").items():
        for token in tokenizer(normalize(word)):
            if not _MASKED_NUMBER.search(token):
                frequencies[token] += frequency
    return frequencies


def weights() -> dict[str, int]:
    """Weight of each token that is not rare."""
    greatest: dict[str, float] = {}
    for language in sorted(wordfreq.available_languages("best")):
        for token, frequency in token_frequencies(language).items():
            greatest[token] = max(frequency, greatest.get(token, 0.0))
    idf = {token: -math.log(-math.expm1(-f * TYPICAL_LENGTH)) for token, f in greatest.items()}
    return {
        token: max(1, round(UNITS_PER_NAT * value)) for token, value in idf.items() if value < BOUND
    }


def main() -> None:
    """Write the table and say what is in it."""
    table = weights()
    write_table(TARGET, "multilingual", round(UNITS_PER_NAT * BOUND), table)
    print(f"{TARGET.name}: {len(table)} tokens, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
