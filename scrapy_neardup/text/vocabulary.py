"""Caches the hashes, weights and value codes of tokens, because pages share most of their words.

All but a few of a page's thousand tokens have been seen before, so they are not hashed and weighed
again but looked up, all at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from .._util.arrays import append_values, run_boundaries
from .idf import IdfTable, encoded_tokens, hashes_of, token_hashes
from .token_ids import TokenIdTable
from .tokenization import Spans, are_units, units_of
from .values import Codes, value_codes
from .weighting import NUMBER_WEIGHT, Features, are_numbers, saturated

#: Bounds of the cache: some 30 MB, or 60 MB with a user's own tokenizer. Beyond either of them it
#: is cleared: common words are back within a few pages, and rare ones do not stay for long.
MAX_TOKENS = 1 << 18
MAX_CHARACTERS = 1 << 22

#: Number of new tokens after which all are copied into contiguous memory: at first, and later as a
#: share of all tokens.
_SCATTERED, _SHARE_SCATTERED = 1 << 12, 0.5

#: 32 bits wide, because these sort in half the time of 64.
_ID: np.dtype[np.int32] = np.dtype("<i4")
#: Hash and weight together, so that one memory access gets both.
_WORD = np.dtype([("hash", np.uint64), ("weight", np.float64)])
_CODE: np.dtype[np.uint8] = np.dtype("u1")

Hashes = npt.NDArray[np.uint64]
T = TypeVar("T")
A = TypeVar("A", bound=np.generic)


class FeatureBatch:
    """The features, values and shingle units of several pages.

    :ivar features: weighted distinct tokens of each page.
    :ivar values: for each page the codes of its tokens in reading order, see
        :func:`~scrapy_neardup.text.values.value_codes`; shape ``(n,)``.
    """

    def __init__(
        self,
        features: list[Features],
        values: list[Codes],
        ids: npt.NDArray[np.int32],
        ends: Sequence[int],
        units: tuple[npt.NDArray[np.intp], Hashes],
    ) -> None:
        self.features = features
        self.values = values
        self._ids = ids
        self._ends = ends
        # The vocabulary only appends to these arrays or replaces them, so they stay valid.
        self._first_units, self._unit_hashes = units

    def units(self) -> list[Hashes]:
        """Return, for each page, the seeded hashes of its shingle units in reading order."""
        starts = self._first_units.take(self._ids)
        lengths = self._first_units.take(self._ids + 1)
        lengths -= starts
        ends = np.cumsum(lengths)
        # The units of a token are contiguous.
        starts -= ends - lengths
        places = starts.repeat(lengths)
        places += np.arange(places.size)
        of_pages = [int(ends[end - 1]) if end else 0 for end in self._ends]
        return _parts(self._unit_hashes.take(places), of_pages)


class _Vocabulary(ABC, Generic[T]):
    """Looks up the features of tokens in a cache that never affects the result.

    Safe for use by several threads.

    :param idf: weights of words.
    :param seed: seed for the hashes of shingle units, 64 bits.
    """

    #: Number of characters of all cached tokens.
    _characters: int
    #: Hash and weight of each token, see :data:`_WORD`.
    _words: npt.NDArray[np.void]
    #: Value code of each token.
    _codes: Codes
    #: Hashes of the units of all tokens.
    _units: Hashes
    #: Index of each token's first unit, and the number of all units.
    _first_units: npt.NDArray[np.intp]

    def __init__(self, idf: IdfTable, seed: int = 0) -> None:
        self._idf = idf
        self._seed = seed
        self._lock = Lock()
        self._clear()

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of cached tokens."""

    @abstractmethod
    def _ids_of(self, pages: Sequence[T]) -> tuple[npt.NDArray[np.int32], list[str]]:
        """Return the ids of all tokens, and the tokens that are new in the order of their ids.

        Ids are assigned from 0 on, in the order in which tokens are first seen.
        """

    @abstractmethod
    def _sizes(self, pages: Sequence[T]) -> list[int]:
        """Return the number of tokens of each page."""

    @abstractmethod
    def _clear_ids(self) -> None:
        """Forget all ids."""

    def read(self, *pages: T) -> FeatureBatch:
        """Weigh and hash the tokens of several pages.

        Features are in the order in which this vocabulary has first seen their tokens.
        """
        with self._lock:
            if len(self) > MAX_TOKENS or self._characters > MAX_CHARACTERS:
                self._clear()
            try:
                ids, new = self._ids_of(pages)
                if new:
                    self._learn(new)
            except BaseException:
                # Ids without features would give other pages wrong fingerprints.
                self._clear()
                raise
            ends = list(accumulate(self._sizes(pages)))
            features = self._features(ids, ends)
            values = _parts(self._codes.take(ids), ends)
            return FeatureBatch(features, values, ids, ends, (self._first_units, self._units))

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
        encoded = encoded_tokens(new)
        hashes = hashes_of(encoded)
        if are_units(new):
            ends, unit_hashes = np.arange(1, len(new) + 1), hashes_of(encoded, self._seed)
        else:
            units = list(map(units_of, new))
            ends = np.cumsum(list(map(len, units)))
            unit_hashes = token_hashes(list(chain.from_iterable(units)), self._seed)
        words = np.empty(len(new), _WORD)
        is_number, weights = are_numbers(new), self._idf.weights(hashes)
        words["hash"], words["weight"] = hashes, np.where(is_number, NUMBER_WEIGHT, weights)
        codes = value_codes(hashes, is_number, weights, self._idf)
        self._words = append_values(self._words, known, words)
        self._codes = append_values(self._codes, known, codes)
        self._units = append_values(self._units, n_units, unit_hashes)
        self._first_units = append_values(self._first_units, known + 1, n_units + ends)
        self._characters += sum(map(len, new))

    def _clear(self) -> None:
        self._clear_ids()
        self._characters = 0
        self._words = np.empty(0, _WORD)
        self._codes = np.empty(0, _CODE)
        self._units = np.empty(0, np.uint64)
        self._first_units = np.zeros(1, np.intp)


class SpanVocabulary(_Vocabulary[Spans]):
    """A vocabulary for tokens that are given as spans."""

    _ids: TokenIdTable

    def __len__(self) -> int:
        return len(self._ids)

    def _ids_of(self, pages: Sequence[Spans]) -> tuple[npt.NDArray[np.int32], list[str]]:
        return self._ids.of(Spans.joined(pages))

    def _sizes(self, pages: Sequence[Spans]) -> list[int]:
        return [page.starts.size for page in pages]

    def _clear_ids(self) -> None:
        self._ids = TokenIdTable()


class Vocabulary(_Vocabulary[Sequence[str]]):
    """A vocabulary for tokens that are given as strings."""

    _ids: _TokenIds
    #: Number of tokens at which they are copied into contiguous memory next.
    _compact_at: int

    def __len__(self) -> int:
        return len(self._ids)

    def _ids_of(self, pages: Sequence[Sequence[str]]) -> tuple[npt.NDArray[np.int32], list[str]]:
        if len(self) >= self._compact_at:
            self._ids = self._ids.compacted()
            self._compact_at = int((1 + _SHARE_SCATTERED) * len(self))
        tokens = pages[0] if len(pages) == 1 else chain.from_iterable(pages)
        ids = b"".join(map(self._ids.__getitem__, tokens))
        new, self._ids.new = self._ids.new, []
        return np.frombuffer(ids, _ID), new

    def _sizes(self, pages: Sequence[Sequence[str]]) -> list[int]:
        return list(map(len, pages))

    def _clear_ids(self) -> None:
        self._ids = _TokenIds()
        self._compact_at = _SCATTERED


class _TokenIds(dict[str, bytes]):
    """Ids of tokens as the bytes of array elements, so that those of a page are simply joined.

    :ivar new: tokens that have an id but no features yet.
    """

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, token: str) -> bytes:
        token_id = self[token] = len(self).to_bytes(_ID.itemsize, "little")
        self.new.append(token)
        return token_id

    def compacted(self) -> _TokenIds:
        """Return a copy whose tokens are contiguous in memory.

        Tokens of pages that were read at different times are scattered over the memory, which slows
        lookups down.
        """
        copied = _TokenIds()
        for token in self:
            copied[(token + " ")[:-1]] = len(copied).to_bytes(_ID.itemsize, "little")
        return copied


def _parts(values: npt.NDArray[A], ends: Iterable[int]) -> list[npt.NDArray[A]]:
    """Split an array into consecutive stretches that end at these indices."""
    return [values[start:end] for start, end in pairwise([0, *ends])]


def weigh(tokens: Sequence[str], idf: IdfTable) -> Features:
    """Return the weighted distinct tokens of one page, in order of first appearance."""
    [features] = Vocabulary(idf).read(tokens).features
    return features
