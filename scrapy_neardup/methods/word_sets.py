"""Texts as sets of words, and short texts as few words in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from ..text.idf import UNITS_PER_NAT, shipped_table, token_hashes
from ..text.weighting import are_numbers
from .words import WORD, WordMethod, jaccard, members, packed_set, prefix_keys, shared

#: Words of a keyword value, and the bytes of each: a hash and a weight.
_MAX_KEYWORDS = 64
_KEYWORD = np.dtype([("word", "<u4"), ("weight", "<u2")])


@dataclass(frozen=True, kw_only=True)
class Words(WordMethod):
    """The set of words, compared by the Jaccard measure.

    Good for: pages that were shuffled or abridged. Bad for: memory, some 4 bytes a distinct word,
    and pages about the same things.
    """

    name: ClassVar[str] = "words"
    min_similarity: float = 0.8

    def value(self, content: str | bytes) -> bytes:
        return packed_set(token_hashes(list(dict.fromkeys(self.words(content)))))

    def similarity(self, new: bytes, known: bytes) -> float:
        return jaccard(new, known)

    def is_near(self, new: bytes, known: bytes) -> bool:
        return self.similarity(new, known) > self.min_similarity or new == known

    def keys(self, value: bytes) -> Iterable[int]:
        return prefix_keys(value, self.min_similarity)

    def explain(self, new: bytes, known: bytes) -> str:
        both, ours, theirs = shared(new, known), members(new).size, members(known).size
        return f"{both:,} words in common of {ours:,} and {theirs:,}"

    def describe(self, value: bytes) -> str:
        return f"{members(value).size:,} distinct words"


@dataclass(frozen=True, kw_only=True)
class Keywords(WordMethod):
    """Words of a short text in their order, compared by cosine.

    The similarity is the cosine of the weighted words, times the share of the common words that
    stand in the same order: "man bites dog" is not "dog bites man". A number weighs as much as an
    unknown word: version 2.0 is not version 2.4.

    Good for: titles, comments, captions of 5 to 19 words. Bad for: whole pages, of which it keeps
    the first 64 words.

    :ivar min_weight: words of a lower IDF, in natural logarithms, do not count, unless all are.
    """

    name: ClassVar[str] = "keywords"
    short_texts: ClassVar[bool] = True
    min_weight: float = 1.0
    min_similarity: float = 0.9

    def value(self, content: str | bytes) -> bytes:
        words, table = self.words(content), shipped_table("multilingual")
        hashes = token_hashes(words)
        weights = table.weights(hashes)
        weights[are_numbers(words)] = table.default
        kept = weights >= self.min_weight * UNITS_PER_NAT
        chosen = np.flatnonzero(kept if kept.any() else np.ones_like(kept))[:_MAX_KEYWORDS]
        value = np.empty(chosen.size, _KEYWORD)
        value["word"], value["weight"] = hashes[chosen].astype(WORD), weights[chosen]
        return value.tobytes()

    def similarity(self, new: bytes, known: bytes) -> float:
        ours, theirs = (np.frombuffer(value, _KEYWORD) for value in (new, known))
        a, b = (_vector(each["word"].tolist(), each["weight"].tolist()) for each in (ours, theirs))
        both = a.keys() & b.keys()
        if not both:
            return 0.0
        product = sum(a[word] * b[word] for word in both)
        cosine = product / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
        orders = [
            [word for word in each["word"].tolist() if word in both] for each in (ours, theirs)
        ]
        in_order = _common_subsequence(*orders) / max(map(len, orders))
        return min(cosine * in_order, 1.0)

    def keys(self, value: bytes) -> Iterable[int]:
        hashes: list[int] = np.frombuffer(value, _KEYWORD)["word"].tolist()
        return hashes

    def describe(self, value: bytes) -> str:
        return f"{len(value) // _KEYWORD.itemsize} keywords"


def _vector(words: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
    """Return the weights of a text's words, those of repeated words added up."""
    vector: dict[int, int] = {}
    for word, weight in zip(words, weights, strict=True):
        vector[word] = vector.get(word, 0) + weight
    return vector


def _common_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the length of a longest common subsequence."""
    lengths = [0] * (len(b) + 1)
    for one in a:
        before = 0
        for place, other in enumerate(b, start=1):
            kept = lengths[place]
            lengths[place] = before + 1 if one == other else max(kept, lengths[place - 1])
            before = kept
    return lengths[-1]
