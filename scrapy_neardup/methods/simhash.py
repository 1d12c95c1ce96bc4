"""Charikar's simhash at several widths, with the tables of Manku, Jain and Das Sarma."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import xxhash

from .._util.encoding import utf8
from ..exceptions import InvalidOption
from ..hashing.simhash import distance_of_bytes
from ..hashing.tables import DESIGNS, TABLE_BITS, TABLE_DISTANCE, block_keys, table_keys
from ..text.idf import shipped_table, token_hashes, weights_of
from ..text.weighting import NUMBER_WEIGHT, are_numbers, saturated
from .words import WordMethod

#: For widths without ``max_distance``: bits in which copies may differ.
_DISTANCES = {32: 3, 64: 3, 128: 12}


@dataclass(frozen=True, kw_only=True)
class Simhash(WordMethod):
    """Fingerprint of weighted words (Charikar, STOC 2002, section 3), without a second look.

    Good for: long texts in great numbers, at a few bytes each. Bad for: short texts, and for forms,
    whose pages differ in few words.

    :ivar bits: width of the fingerprint, 32, 64 or 128.
    :ivar max_distance: bits in which near-duplicates may differ; by default 3, of 128 bits 12.
    :ivar ties: whether a bit whose sum is exactly zero is set.
    :ivar weights: of words: ``(1 + ln tf) * idf``, the number of their occurrences, or 1.
    :ivar hash: xxh3, or bits 32 to 95 of MD5 (for 64 bits; the lowest of these for 32, and all of
        MD5 for 128).
    :ivar tables: of Manku, Jain and Das Sarma (WWW 2007, section 3), for 64 bits and distance 3:
        4, 16 or 20; 0 for one table for each of ``max_distance + 1`` blocks, at any distance.
    """

    name: ClassVar[str] = "simhash"
    bits: int = 64
    max_distance: int = -1
    ties: Literal["clear", "set"] = "clear"
    weights: Literal["idf", "tf", "none"] = "idf"
    hash: Literal["xxh3", "md5"] = "xxh3"
    tables: int = 0

    def __post_init__(self) -> None:
        if self.bits not in _DISTANCES:
            raise InvalidOption("bits", self.bits, "32, 64 or 128")
        if self.max_distance == -1:
            object.__setattr__(self, "max_distance", _DISTANCES[self.bits])
        if not 0 <= self.max_distance < self.bits:
            raise InvalidOption("max_distance", self.max_distance, f"0 to {self.bits - 1}")
        if self.tables not in (0, *DESIGNS):
            raise InvalidOption("tables", self.tables, "0, 4, 16 or 20")
        if self.tables and (self.bits != TABLE_BITS or self.max_distance > TABLE_DISTANCE):
            wanted = "0, unless bits is 64 and max_distance is at most 3"
            raise InvalidOption("tables", self.tables, wanted)

    @property
    def min_similarity(self) -> float:  # type: ignore[override]
        return 1 - self.max_distance / self.bits

    def value(self, content: str | bytes) -> bytes:
        words = self.words(content)
        if not words:
            return b""
        distinct, weights = self._weighted(words)
        hashes = b"".join(self._hash(utf8(word)) for word in distinct)
        return fingerprint(hashes, weights, set_ties=self.ties == "set")

    def _weighted(self, words: Sequence[str]) -> tuple[list[str], npt.NDArray[np.float64]]:
        counts = Counter(words)
        distinct, frequencies = list(counts), np.fromiter(counts.values(), np.intp, len(counts))
        if self.weights == "idf":
            table = shipped_table("multilingual")
            idf = weights_of(distinct, token_hashes(distinct), table)
            idf[are_numbers(distinct)] = NUMBER_WEIGHT
            return distinct, saturated(frequencies) * idf
        return distinct, frequencies.astype(float) if self.weights == "tf" else np.ones(len(counts))

    def _hash(self, word: bytes) -> bytes:
        if self.hash == "md5":
            digest = md5(word, usedforsecurity=False).digest()
            return {32: digest[8:12], 64: digest[4:12], 128: digest}[self.bits]
        if self.bits == 128:
            return xxhash.xxh3_128_digest(word)
        return xxhash.xxh3_64_digest(word)[-self.bits // 8 :]

    def similarity(self, new: bytes, known: bytes) -> float:
        return 1 - distance_of_bytes(new, known) / self.bits

    def is_near(self, new: bytes, known: bytes) -> bool:
        return distance_of_bytes(new, known) <= self.max_distance

    def keys(self, value: bytes) -> Iterable[int]:
        number = int.from_bytes(value, "big")
        if self.tables:
            return table_keys(number, self.tables)
        return block_keys(number, self.bits, self.max_distance + 1)

    def explain(self, new: bytes, known: bytes) -> str:
        return f"{distance_of_bytes(new, known)} of {self.bits} bits differ"

    @property
    def requirement(self) -> str:
        return f"at most {self.max_distance} bits"


def fingerprint(
    hashes: bytes, weights: npt.NDArray[np.float64], *, set_ties: bool = False
) -> bytes:
    """Return the fingerprint of weighted features.

    :param hashes: one hash a feature, all of one length, which is that of the fingerprint.
    :param weights: shape ``(n,)``.
    """
    is_set = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(weights.size, -1), axis=1)
    sums = weights @ (2.0 * is_set - 1)
    return np.packbits(sums >= 0 if set_ties else sums > 0).tobytes()
