"""Finds the known content that holds most of a new one, or that the new one holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .._util.validation import require_number
from ..hashing.postings import Postings
from .manber import Manber
from .words import members

#: Least share that counts, unless another is given.
MIN_SHARE = 0.25
#: Windows that two contents must have in common: a sentence or two of a site's boilerplate has
#: fewer.
MIN_FINGERPRINTS = 4
#: Contents of which one window is recorded; those that come later have it without being found by
#: it. It bounds the time of a look-up.
MAX_HOLDERS = 100
#: Windows of all contents together: some 75 MB, 40,000 pages of 800 words.
MAX_FINGERPRINTS = 4_000_000

_MULTIPLIER = np.uint64(0x9E3779B1)
_TAG_BITS, _BUCKET_BITS = np.uint64(32), np.uint64(17)
_LOWER_HALF = np.uint64(0xFFFF_FFFF)

K = TypeVar("K", bound=Hashable)


class Containment(NamedTuple):
    """The share of one content that is in another.

    :ivar key: of the known content.
    :ivar share: 0 to 1, of the contained one.
    :ivar direction: ``"contained_in"``, the new content is in the known one, or ``"contains"``.
    """

    key: Any
    share: float
    direction: Literal["contained_in", "contains"]


class ContainmentIndex(Generic[K]):
    """Known contents, by their values of Manber's method.

    The shares are those that comparing all values gives, except for windows that more than 100
    contents have, which count for the first 100 of these only.

    :param min_share: least share, above 0 and at most 1.
    :param method: makes the values.
    :param min_fingerprints: windows, 1 or more, that two contents must have in common.
    :param max_fingerprints: windows, 1 or more, of all contents together; beyond it the oldest
        contents are dropped.
    :ivar n_dropped: number of contents that were dropped.
    :raises InvalidOption: when a number is out of range.
    """

    def __init__(
        self,
        min_share: float = MIN_SHARE,
        method: Manber | None = None,
        *,
        min_fingerprints: int = MIN_FINGERPRINTS,
        max_fingerprints: int = MAX_FINGERPRINTS,
    ) -> None:
        require_number("min_share", min_share, float, 0, 1, above=True)
        require_number("min_fingerprints", min_fingerprints, int, 1)
        require_number("max_fingerprints", max_fingerprints, int, 1)
        self.method = method or Manber()
        self.n_dropped = 0
        self._min_share = min_share
        self._min_fingerprints = min_fingerprints
        self._max_fingerprints = max_fingerprints
        self._index = Postings()
        self._next = 0
        self._n_fingerprints = 0
        self._numbers: dict[K, int] = {}
        #: Keys and values by number, oldest first.
        self._known: OrderedDict[int, tuple[K, bytes]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: K, value: bytes) -> None:
        """Add a content, in the place of the one with this key.

        :param value: of ``method``; contents with too few windows are left out.
        """
        self.remove(key)
        hashes = _hashes(value)
        if hashes.size < self._min_fingerprints:
            return
        counts = np.bincount(self._index.sharers(hashes).places, minlength=hashes.size)
        self._index.add(hashes[counts < MAX_HOLDERS], self._next)
        self._numbers[key] = self._next
        self._known[self._next] = key, value
        self._next += 1
        self._n_fingerprints += hashes.size
        while self._n_fingerprints > self._max_fingerprints:
            self.remove(next(iter(self._known.values()))[0])
            self.n_dropped += 1

    def remove(self, key: K) -> None:
        """Remove a content, if it is known."""
        number = self._numbers.pop(key, None)
        if number is not None:
            hashes = _hashes(self._known.pop(number)[1])
            self._index.remove(hashes, number)
            self._n_fingerprints -= hashes.size

    def largest(self, value: bytes, *, but: K | None = None) -> Containment | None:
        """Return the known content with the largest share, or ``None`` if none is large enough.

        Of equal shares, one of the new content comes first, then that of the oldest known one.

        :param value: of the new content.
        :param but: key of a content that is not compared.
        """
        hashes = _hashes(value)
        numbers, shared = np.unique(self._index.sharers(hashes).numbers, return_counts=True)
        kept = shared >= self._min_fingerprints
        if but in self._numbers:
            kept &= numbers != self._numbers[but]
        if not kept.any():
            return None
        numbers, shared = numbers[kept], shared[kept]
        sizes = np.array([members(self._known[number][1]).size for number in numbers.tolist()])
        shares = np.concatenate([shared / hashes.size, shared / sizes])
        # The first of several greatest ones.
        place = int(shares.argmax())
        if shares[place] < self._min_share:
            return None
        key, _ = self._known[int(numbers[place % numbers.size])]
        direction: Literal["contained_in", "contains"] = (
            "contained_in" if place < numbers.size else "contains"
        )
        return Containment(key, float(shares[place]), direction)


def _hashes(value: bytes) -> npt.NDArray[np.uint64]:
    """Return fingerprints as hashes of the index: all of one above, bits for a bucket below."""
    found = members(value).astype(np.uint64)
    buckets = (found * _MULTIPLIER & _LOWER_HALF) >> (_TAG_BITS - _BUCKET_BITS)
    return found << _TAG_BITS | buckets
