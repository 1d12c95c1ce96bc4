"""Caches the hashes, weights and value codes of tokens, because pages share most of their words.

All but a few of a page's thousand tokens have been seen before, so they are not hashed and weighed
again but looked up, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .._util.arrays import append_values, run_boundaries
from .idf import IdfTable, spelled_hashes, token_hashes, weights_of
from .signs.visits import Neighbours, are_of_visits, neighbours_of, sentence_starts
from .token_ids import TokenIdTable
from .tokenization import Spans, units_of
from .values import CODE, Codes, value_codes, with_visits
from .weighting import NUMBER_WEIGHT, Features, are_names, are_numbers, saturated
from .word_sums import sums_of, word_marks

#: Bounds of the cache: some 30 MB. Beyond either of them it is cleared: common words are back
#: within a few pages, and rare ones do not stay for long.
MAX_TOKENS = 1 << 18
MAX_CHARACTERS = 1 << 22

#: Hash and weight together, so that one memory access gets both.
_WORD = np.dtype([("hash", np.uint64), ("weight", np.float64)])

Hashes = npt.NDArray[np.uint64]
A = TypeVar("A", bound=np.generic)


@dataclass(frozen=True, slots=True)
class FeatureBatch:
    """The features, values and shingle units of several pages.

    :ivar features: weighted distinct tokens of each page.
    :ivar word_sums: 16 bytes of each page, see ``text/word_sums.py``.
    :ivar values: for each page the codes of its tokens in reading order, see
        :func:`~scrapy_neardup.text.values.value_codes`; shape ``(n,)``.
    :ivar ids: ids of the tokens of all pages.
    :ivar ends: index in ``ids`` at which each page ends.
    :ivar first_units: index of the first unit of each token id.
    :ivar unit_hashes: hashes of the units of all tokens of the vocabulary, which only appends to
        this array and the last one or replaces them.
    """

    features: list[Features]
    word_sums: list[bytes]
    values: list[Codes]
    ids: npt.NDArray[np.int32]
    ends: Sequence[int]
    first_units: npt.NDArray[np.intp]
    unit_hashes: Hashes

    def units(self) -> list[Hashes]:
        """Return, for each page, the seeded hashes of its shingle units in reading order."""
        starts = self.first_units.take(self.ids)
        lengths = self.first_units.take(self.ids + 1)
        lengths -= starts
        ends = np.cumsum(lengths)
        # The units of a token are contiguous.
        starts -= ends - lengths
        places = starts.repeat(lengths)
        places += np.arange(places.size)
        of_pages = [int(ends[end - 1]) if end else 0 for end in self.ends]
        return _parts(self.unit_hashes.take(places), of_pages)


class Vocabulary:
    """Looks up the features of tokens in a cache that never affects the result.

    Safe for use by several threads.

    :param idf: weights of words.
    :param seed: seed for the hashes of shingle units, 64 bits.
    """

    #: Number of characters of all cached tokens.
    _characters: int
    #: Of each token: hash and weight (see :data:`_WORD`), value code, mark (see ``word_sums.py``),
    #: what it says of numbers near it (see ``signs/visits.py``), and index of its first unit.
    _words: npt.NDArray[np.void]
    _codes: Codes
    _marks: npt.NDArray[np.uint32]
    _neighbours: Neighbours
    _first_units: npt.NDArray[np.intp]
    #: Hashes of the units of all tokens.
    _units: Hashes

    def __init__(self, idf: IdfTable, seed: int = 0) -> None:
        self._idf = idf
        self._seed = seed
        self._lock = Lock()
        self._clear()

    def __len__(self) -> int:
        """Return the number of cached tokens."""
        return len(self._ids)

    def read(self, *pages: Spans) -> FeatureBatch:
        """Weigh and hash the tokens of several pages.

        Features are in the order in which this vocabulary has first seen their tokens.
        """
        with self._lock:
            if len(self) > MAX_TOKENS or self._characters > MAX_CHARACTERS:
                self._clear()
            try:
                ids, new = self._ids.of(Spans.joined(pages))
                if new:
                    self._learn(new)
            except BaseException:
                # Ids without features would give other pages wrong fingerprints.
                self._clear()
                raise
            ends = list(accumulate(page.starts.size for page in pages))
            features = self._features(ids, ends)
            says = _parts(self._neighbours.take(ids), ends)
            visits = [
                are_of_visits(of_page, _sentence_starts(page, of_page))
                for page, of_page in zip(pages, says, strict=True)
            ]
            marks = zip(_parts(self._marks.take(ids), ends), visits, strict=True)
            sums = [sums_of(of_page, *of_visits) for of_page, of_visits in marks]
            codes = zip(_parts(self._codes.take(ids), ends), visits, strict=True)
            values = [with_visits(of_page, *of_visits) for of_page, of_visits in codes]
            return FeatureBatch(features, sums, values, ids, ends, self._first_units, self._units)

    def _features(self, ids: npt.NDArray[np.int32], ends: Sequence[int]) -> list[Features]:
        ordered = ids.copy()
        for page in _parts(ordered, ends):
            page.sort()
        borders = run_boundaries(ordered, ends)
        words = self._words.take(ordered.take(borders[:-1]))
        weights = saturated(borders[1:] - borders[:-1]) * words["weight"]
        of_pages = borders.searchsorted(ends).tolist()
        return list(map(Features, _parts(words["hash"], of_pages), _parts(weights, of_pages)))

    def _learn(self, new: list[str]) -> None:
        known = len(self) - len(new)
        n_units = int(self._first_units[known])
        hashes = token_hashes(new)
        units = list(map(units_of, new))
        ends = np.cumsum(list(map(len, units)))
        unit_hashes = token_hashes(list(chain.from_iterable(units)), self._seed)
        words = np.empty(len(new), _WORD)
        is_number, weights = are_numbers(new), weights_of(new, hashes, self._idf)
        words["hash"], words["weight"] = hashes, np.where(is_number, NUMBER_WEIGHT, weights)
        # A copy in capitals has SS in place of a sharp s.
        spelled = spelled_hashes(new, hashes)
        codes = value_codes(spelled, is_number, are_names(new), weights, self._idf)
        self._words = append_values(self._words, known, words)
        self._codes = append_values(self._codes, known, codes)
        self._marks = append_values(self._marks, known, word_marks(new, hashes, codes))
        self._neighbours = append_values(self._neighbours, known, neighbours_of(new))
        self._units = append_values(self._units, n_units, unit_hashes)
        self._first_units = append_values(self._first_units, known + 1, n_units + ends)
        self._characters += sum(map(len, new))

    def _clear(self) -> None:
        self._ids = TokenIdTable()
        self._characters = 0
        self._words = np.empty(0, _WORD)
        self._codes = np.empty(0, CODE)
        self._marks = np.empty(0, np.uint32)
        self._neighbours = np.empty(0, np.uint16)
        self._first_units = np.zeros(1, np.intp)
        self._units = np.empty(0, np.uint64)


def _parts(values: npt.NDArray[A], ends: Iterable[int]) -> list[npt.NDArray[A]]:
    """Split an array into consecutive stretches that end at these indices."""
    return [values[start:end] for start, end in pairwise([0, *ends])]


def _sentence_starts(page: Spans, says: Neighbours) -> npt.NDArray[np.bool_]:
    """Return which tokens of a page begin a sentence.

    :param says: what the tokens say of those near them.
    """
    return sentence_starts(page.codes, page.starts, page.starts + page.lengths, says)


def weigh(tokens: Sequence[str], idf: IdfTable) -> Features:
    """Return the weighted distinct tokens of one page, in order of first appearance."""
    [features] = Vocabulary(idf).read(Spans.of(tokens)).features
    return features
