"""Texts as sets of words, and short texts as few words in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..exceptions import InvalidOption
from ..text.idf import UNITS_PER_NAT, shipped_table, token_hashes, weights_of
from ..text.weighting import are_numbers
from .words import (
    WORD,
    PackedSetKeys,
    WordMethod,
    jaccard,
    members,
    packed_set,
    share_of_larger,
    shared,
)

#: Weight in nats of a word that the shipped table does not have; no word weighs more.
_MAX_WEIGHT = 5.0
#: Words of a keyword value, and the bytes of each: a hash and a weight.
_MAX_KEYWORDS = 64
_KEYWORD = np.dtype([("word", "<u4"), ("weight", "<u2")])


@dataclass(frozen=True, kw_only=True)
class Words(PackedSetKeys, WordMethod):
    """The set of words.

    By the Jaccard measure, the words in common divided by those of both, near are equal sets, and
    those whose measure is above ``min_similarity``. With ``measure="terms"`` near are sets whose
    words in common are at least ``min_similarity`` of the larger set. So with 0.8 their sizes are
    within 20 % as well.

    Good for: pages that were shuffled or abridged. Bad for: memory, some 4 bytes a distinct word,
    and pages about the same things.

    :ivar measure: the Jaccard measure, or the share of the larger set.
    """

    name: ClassVar[str] = "words"
    min_similarity: float = 0.8
    measure: Literal["jaccard", "terms"] = "jaccard"

    def value(self, content: str | bytes) -> bytes:
        return packed_set(token_hashes(list(dict.fromkeys(self.words(content)))))

    def similarity(self, new: bytes, known: bytes) -> float:
        if self.measure == "jaccard":
            return jaccard(new, known)
        return share_of_larger(new, known)

    def is_near(self, new: bytes, known: bytes) -> bool:
        if self.measure == "terms":
            return super().is_near(new, known)
        return self.similarity(new, known) > self.min_similarity or new == known

    @property
    def requirement(self) -> str:
        if self.measure == "terms":
            return super().requirement
        return f"above {self.min_similarity:g}" if self.min_similarity < 1 else "the same words"

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

    :ivar min_weight: words of a lower IDF, in nats, 0 to 5, do not count, unless all are lower. An
        unknown word has 5.
    """

    name: ClassVar[str] = "keywords"
    short_texts: ClassVar[bool] = True
    min_weight: float = 1.0
    min_similarity: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.min_weight <= _MAX_WEIGHT:
            raise InvalidOption("min_weight", self.min_weight, f"0 to {_MAX_WEIGHT:g}")

    def value(self, content: str | bytes) -> bytes:
        words, table = self.words(content), shipped_table("multilingual")
        hashes = token_hashes(words)
        weights = weights_of(words, hashes, table)
        weights[are_numbers(words)] = table.default
        kept = weights >= self.min_weight * UNITS_PER_NAT
        chosen = np.flatnonzero(kept if kept.any() else np.ones_like(kept))[:_MAX_KEYWORDS]
        value = np.empty(chosen.size, _KEYWORD)
        value["word"], value["weight"] = hashes[chosen].astype(WORD), weights[chosen]
        return value.tobytes()

    def similarity(self, new: bytes, known: bytes) -> float:
        if not (cosine := _cosine(new, known)):
            return 0.0
        ours, theirs = _keywords(new)["word"].tolist(), _keywords(known)["word"].tolist()
        both = set(ours) & set(theirs)
        orders = [[word for word in words if word in both] for words in (ours, theirs)]
        in_order = _common_subsequence(*orders) / max(map(len, orders))
        return min(cosine * in_order, 1.0)

    def is_near(self, new: bytes, known: bytes) -> bool:
        # The order takes most of the time, and can only lower the cosine.
        return _cosine(new, known) >= self.min_similarity and super().is_near(new, known)

    def keys(self, value: bytes) -> Iterable[int]:
        return np.unique(_keywords(value)["word"])

    def keys_in_common(self, value: bytes) -> int:
        # By Cauchy and Schwarz, the common words have the square of the cosine's share, at least,
        # of the squared weights of either text: the heaviest words are the fewest that do.
        found = _keywords(value)
        _, places = np.unique(found["word"], return_inverse=True)
        squares = np.sort(np.square(np.bincount(places, found["weight"])))[::-1].cumsum()
        needed = self.min_similarity**2 * squares[-1] * (1 - 1e-9)
        return int(np.searchsorted(squares, needed)) + 1

    def describe(self, value: bytes) -> str:
        number = len(value) // _KEYWORD.itemsize
        return f"{number} keyword{'s' * (number != 1)}"


def _keywords(value: bytes) -> npt.NDArray[np.void]:
    return np.frombuffer(value, _KEYWORD)


def _cosine(new: bytes, known: bytes) -> float:
    """Return the cosine, 0 to 1, of the weighted words, without their order."""
    a, b = (
        _vector(each["word"].tolist(), each["weight"].tolist())
        for each in (_keywords(new), _keywords(known))
    )
    product = sum(a[word] * b[word] for word in a.keys() & b.keys())
    if not product:
        return 0.0
    return product / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))


def _vector(words: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
    """Return the weights of a text's words, those of repeated words added up."""
    vector: dict[int, int] = {}
    for word, weight in zip(words, weights, strict=True):
        vector[word] = vector.get(word, 0) + weight
    return vector


def _common_subsequence(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the length of a longest common subsequence (Hyyrö, AWOCA 2004).

    A number has a bit for each place of ``b``: a clear one where, row by row of the usual table,
    the length grows.
    """
    places: dict[int, int] = {}
    for place, one in enumerate(b):
        places[one] = places.get(one, 0) | 1 << place
    every = level = (1 << len(b)) - 1
    for one in a:
        here = level & places.get(one, 0)
        level = (level + here | level - here) & every
    return len(b) - level.bit_count()
