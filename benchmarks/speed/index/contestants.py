"""The indexes that are compared: this package's and others', all to be used in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from scrapy_neardup.hashing.simhash_index import SimhashIndex

from ...common.packages import Package

#: The distance that all of them can be asked for.
DISTANCE = 3
_SEED = 7


class Index(Protocol):
    """The interface of every index, by which all are timed in the same way."""

    #: Whether a stored fingerprint can be looked up with other bits.
    takes_bits: bool

    def item(self, fingerprint: int) -> Any:
        """Return the form in which the index takes a fingerprint."""

    def add(self, item: Any, key: int) -> None: ...
    def find(self, item: Any, distance: int) -> bool: ...


class _Ours:
    takes_bits = True

    def __init__(self) -> None:
        self._index = SimhashIndex()
        self.add: Callable[[int, int], None] = self._index.add

    def item(self, fingerprint: int) -> int:
        return fingerprint

    def find(self, item: int, distance: int) -> bool:
        return bool(self._index.near(item, distance).keys.size)


class _Gaoya:
    """gaoya's index, which finds fingerprints below the given distance, not at it.

    To find all within three bits it is given four, and needs five blocks at least.
    """

    takes_bits = False

    def __init__(self, blocks: int) -> None:
        module: Any = import_module("gaoya.simhash")
        index = module.SimHashStringIndex(64, blocks, DISTANCE + 1, ngram_range=(1, 1)).index
        self._insert, self._query = index.insert_document, index.query

    def item(self, fingerprint: int) -> str:
        return f"{fingerprint:x}"

    def add(self, item: str, key: int) -> None:
        self._insert(key, item)

    def find(self, item: str, _: int) -> bool:
        return bool(self._query(item))


class _Simhash:
    takes_bits = True

    def __init__(self) -> None:
        module: Any = import_module("simhash")
        self._print = module.Simhash
        self._index = module.SimhashIndex([], k=DISTANCE)

    def item(self, fingerprint: int) -> Any:
        return self._print(fingerprint)

    def add(self, item: Any, key: int) -> None:
        self._index.add(str(key), item)

    def find(self, item: Any, _: int) -> bool:
        return bool(self._index.get_near_dups(item))


class _PyLSHash:
    """Random projections to 16 bits, in four tables: what is near is found by chance.

    Between vectors of ones and minus ones the square of the distance is four times Hamming's.
    """

    takes_bits = True

    def __init__(self) -> None:
        module: Any = import_module("pyLSHash")
        storage: Any = import_module("pyLSHash.storage")
        np.random.seed(_SEED)  # where it takes its planes from
        self._index = module.LSHash(16, 64, 4, storage.InMemoryStorage(""))

    def item(self, fingerprint: int) -> list[int]:
        return [1 if fingerprint >> bit & 1 else -1 for bit in range(64)]

    def add(self, item: list[int], key: int) -> None:
        self._index.index(item, key)

    def find(self, item: list[int], distance: int) -> bool:
        return any(square <= 4 * distance for _, square in self._index.query(item))


@dataclass(frozen=True)
class Contestant(Package):
    """An index.

    :ivar make: what makes an empty one.
    :ivar most: fingerprints, up to which it fits into a few gigabytes and minutes.
    """

    make: Callable[[], Index]
    most: int


OURS = Contestant("scrapy-neardup", "scrapy-neardup", "scrapy_neardup", _Ours, 10**9)
_GAOYA = "gaoya.simhash"
CONTESTANTS = (
    OURS,
    Contestant("gaoya, 5 blocks", "gaoya", _GAOYA, partial(_Gaoya, 5), 10**7),
    Contestant("gaoya, 6 blocks", "gaoya", _GAOYA, partial(_Gaoya, 6), 10**6),
    Contestant("simhash SimhashIndex", "simhash", "simhash", _Simhash, 10**6),
    Contestant("pyLSHash, by chance", "pyLSHash", "pyLSHash", _PyLSHash, 10**5),
)
