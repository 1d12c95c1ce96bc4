"""What is made of a token, remembered for the tokens met last: pages use the same words.

Of a page's thousand tokens all but a few have been met before, so they are not hashed and weighed
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

#: Bounds of what is remembered: some 30 MB, and 60 of what a tokenizer of one's own makes. Beyond
#: either of them all is forgotten and begun anew: common words are back within a few pages, and
#: what comes once takes nobody's place for long.
MAX_TOKENS = 1 << 18
MAX_CHARACTERS = 1 << 22

#: With so many tokens more than at the last time, they are laid side by side again: at first, and
#: as a part of all.
_SCATTERED, _PART_SCATTERED = 1 << 12, 0.5

#: Half as wide as usual, numbers are put in order in half the time.
_NUMBER: np.dtype[np.int32] = np.dtype("<i4")
#: Side by side, so that both come from memory at once.
_WORD = np.dtype([("hash", np.uint64), ("weight", np.float64)])
_CODE: np.dtype[np.uint8] = np.dtype("u1")

Hashes = npt.NDArray[np.uint64]
T = TypeVar("T")
A = TypeVar("A", bound=np.generic)


class FeatureBatch:
    """What fingerprints and sketches of some pages are made of.

    :ivar features: distinct tokens of each page, weighed.
    :ivar values: of each page the code of each token in reading order, see
        :func:`~scrapy_neardup.text.values.value_codes`; shape ``(n,)``.
    """

    def __init__(
        self,
        features: list[Features],
        values: list[Codes],
        numbers: npt.NDArray[np.int32],
        ends: Sequence[int],
        units: tuple[npt.NDArray[np.intp], Hashes],
    ) -> None:
        self.features = features
        self.values = values
        self._numbers = numbers
        self._ends = ends
        # Of the vocabulary as it was: what it learns later stands behind that, or in other arrays.
        self._first_units, self._unit_hashes = units

    def units(self) -> list[Hashes]:
        """Of each page the seeded hash of each shingle unit in reading order; shape ``(n,)``."""
        starts = self._first_units.take(self._numbers)
        lengths = self._first_units.take(self._numbers + 1)
        lengths -= starts
        ends = np.cumsum(lengths)
        # Of one token after the other: its units lie side by side.
        starts -= ends - lengths
        places = starts.repeat(lengths)
        places += np.arange(places.size)
        of_pages = [int(ends[end - 1]) if end else 0 for end in self._ends]
        return _parts(self._unit_hashes.take(places), of_pages)


class _Vocabulary(ABC, Generic[T]):
    """Reads tokens. What it remembers makes it fast and changes nothing of what it returns.

    It may be asked by several threads at once.

    :param idf: weights of words.
    :param seed: for the hashes of shingle units, 64 bits.
    """

    #: Characters of all tokens.
    _characters: int
    #: Hash and weight of each token, see :data:`_WORD`.
    _words: npt.NDArray[np.void]
    #: Of each token its code as a value.
    _codes: Codes
    _units: Hashes
    #: Where each token's units begin, and behind the last token where they end.
    _first_units: npt.NDArray[np.intp]

    def __init__(self, idf: IdfTable, seed: int = 0) -> None:
        self._idf = idf
        self._seed = seed
        self._lock = Lock()
        self._forget()

    @abstractmethod
    def __len__(self) -> int:
        """Number of tokens remembered."""

    @abstractmethod
    def _number(self, pages: Sequence[T]) -> tuple[npt.NDArray[np.int32], list[str]]:
        """The numbers of all tokens, which count from 0 on as they are first met.

        And the tokens of which nothing is known yet, in the order of their numbers.
        """

    @abstractmethod
    def _sizes(self, pages: Sequence[T]) -> list[int]:
        """How many tokens each page has."""

    @abstractmethod
    def _forget_numbers(self) -> None:
        """Begin from 0."""

    def read(self, *pages: T) -> FeatureBatch:
        """Weigh and hash the tokens of some pages.

        Features come in the order in which their tokens were first met by this vocabulary.
        """
        with self._lock:
            if len(self) > MAX_TOKENS or self._characters > MAX_CHARACTERS:
                self._forget()
            try:
                numbers, new = self._number(pages)
                if new:
                    self._learn(new)
            except BaseException:
                # Numbers without what belongs there would be another page's wrong fingerprint.
                self._forget()
                raise
            ends = list(accumulate(self._sizes(pages)))
            features = self._features(numbers, ends)
            values = _parts(self._codes.take(numbers), ends)
            return FeatureBatch(features, values, numbers, ends, (self._first_units, self._units))

    def _features(self, numbers: npt.NDArray[np.int32], ends: Sequence[int]) -> list[Features]:
        ordered = numbers.copy()
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

    def _forget(self) -> None:
        self._forget_numbers()
        self._characters = 0
        self._words = np.empty(0, _WORD)
        self._codes = np.empty(0, _CODE)
        self._units = np.empty(0, np.uint64)
        self._first_units = np.zeros(1, np.intp)


class SpanVocabulary(_Vocabulary[Spans]):
    """Reads tokens by the places where they stand."""

    _numbers: TokenIdTable

    def __len__(self) -> int:
        return len(self._numbers)

    def _number(self, pages: Sequence[Spans]) -> tuple[npt.NDArray[np.int32], list[str]]:
        return self._numbers.of(Spans.joined(pages))

    def _sizes(self, pages: Sequence[Spans]) -> list[int]:
        return [page.starts.size for page in pages]

    def _forget_numbers(self) -> None:
        self._numbers = TokenIdTable()


class Vocabulary(_Vocabulary[Sequence[str]]):
    """Reads tokens that a tokenizer made."""

    _numbers: _Numbers
    #: How many tokens are to be laid side by side anew.
    _side_by_side_at: int

    def __len__(self) -> int:
        return len(self._numbers)

    def _number(self, pages: Sequence[Sequence[str]]) -> tuple[npt.NDArray[np.int32], list[str]]:
        if len(self) >= self._side_by_side_at:
            self._numbers = self._numbers.side_by_side()
            self._side_by_side_at = int((1 + _PART_SCATTERED) * len(self))
        tokens = pages[0] if len(pages) == 1 else chain.from_iterable(pages)
        numbers = b"".join(map(self._numbers.__getitem__, tokens))
        new, self._numbers.new = self._numbers.new, []
        return np.frombuffer(numbers, _NUMBER), new

    def _sizes(self, pages: Sequence[Sequence[str]]) -> list[int]:
        return list(map(len, pages))

    def _forget_numbers(self) -> None:
        self._numbers = _Numbers()
        self._side_by_side_at = _SCATTERED


class _Numbers(dict[str, bytes]):
    """Numbers tokens as they come, in the bytes of an array: so those of a page are just joined.

    :ivar new: those that were numbered and are still to be learned.
    """

    def __init__(self) -> None:
        self.new: list[str] = []

    def __missing__(self, token: str) -> bytes:
        number = self[token] = len(self).to_bytes(_NUMBER.itemsize, "little")
        self.new.append(token)
        return number

    def side_by_side(self) -> _Numbers:
        """The same, in one stretch of memory.

        Tokens come from pages met long apart, and lie among what was left of those, where a page's
        tokens take longer to be looked up.
        """
        copied = _Numbers()
        for token in self:
            copied[(token + " ")[:-1]] = len(copied).to_bytes(_NUMBER.itemsize, "little")
        return copied


def _parts(values: npt.NDArray[A], ends: Iterable[int]) -> list[npt.NDArray[A]]:
    """Stretches of an array, one behind the other, up to each of these places."""
    return [values[start:end] for start, end in pairwise([0, *ends])]


def weigh(tokens: Sequence[str], idf: IdfTable) -> Features:
    """Weigh the distinct tokens of one page, in order of first appearance."""
    [features] = Vocabulary(idf).read(tokens).features
    return features
