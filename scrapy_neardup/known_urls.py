"""URLs that led to a duplicate, in this crawl and in earlier ones, by their digests.

A URL of which an earlier crawl knows that it led to a duplicate is passed over only once its
content was met in this one, at whatever address: the copy may be the only way to its original,
and to all that this links to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Literal

import numpy as np
import numpy.typing as npt

from .stores.advice import COPY, MAX_KNOWN
from .urls import page_key

Standing = Literal["unknown", "copy", "superfluous"]


class KnownUrls:
    """Digests of canonical URLs, with the time when each led to a duplicate last.

    :param ttl: seconds for which that is believed; with 0 nothing is.
    :param now: the time in seconds since 1970.
    """

    def __init__(self, ttl: float, now: Callable[[], float]) -> None:
        self._ttl = ttl
        self._now = now
        self._hasher = _hasher(b"")
        #: Of earlier crawls, sorted by digest; of each the place of its original.
        self._loaded: Sequence[int] = ()
        self._loaded_at: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        self._original: npt.NDArray[np.intp] = np.empty(0, np.intp)
        #: Originals, sorted by digest, and whether this crawl met their contents.
        self._originals: Sequence[int] = ()
        self._met: npt.NDArray[np.bool_] = np.empty(0, np.bool_)
        self._own: OrderedDict[int, float] = OrderedDict()
        self._unsaved: deque[tuple[int, tuple[int, int]]] = deque(maxlen=MAX_KNOWN)

    def open(self, secret: bytes, known: npt.NDArray[np.void]) -> None:
        """Begin with what earlier crawls knew.

        :param secret: of the store.
        :param known: see :meth:`~scrapy_neardup.stores.base.Store.known_duplicates`.
        """
        self._hasher = _hasher(blake2b(key=secret, person=b"neardup-known").digest())
        order = np.argsort(known["digest"], kind="stable")
        self._loaded = _ints(known["digest"][order])
        self._loaded_at = np.ascontiguousarray(known["seen_at"][order])
        originals, self._original = np.unique(known["original"][order], return_inverse=True)
        self._originals = _ints(originals)
        self._met = np.zeros(len(originals), np.bool_)

    @property
    def since(self) -> int:
        """What was seen before, in seconds since 1970, is believed no more."""
        return max(0, int(self._now() - self._ttl))

    def meet(self, original: str) -> None:
        """The content of this address came just now, from there or from a copy."""
        if self._originals:
            at = _place(self._originals, self._digest(original))
            if at is not None:
                self._met[at] = True

    def add(self, url: str, original: str, mark: int = 0) -> None:
        """It led to a duplicate just now.

        :param original: address of the page that it is a duplicate of.
        :param mark: of the store, behind the original: see :meth:`take_unsaved`.
        """
        if not self._ttl:
            return
        digest = self._digest(url)
        self._own[digest] = self._now()
        self._own.move_to_end(digest)
        self._unsaved.append((mark, (digest, self._digest(original))))
        if len(self._own) > MAX_KNOWN:
            self._own.popitem(last=False)

    def __contains__(self, url: str) -> bool:
        """Did it lead to a duplicate, not too long ago, of a content that this crawl has met?"""
        return self.standing(url) == "superfluous"

    def standing(self, url: str) -> Standing:
        """``"superfluous"`` if it is contained, and ``"copy"`` if it only may be before long."""
        if not self._own and not self._loaded:
            return "unknown"
        digest = self._digest(url)
        if (led_at := self._own.get(digest)) is not None:
            return "superfluous" if led_at >= self.since else "unknown"
        at = _place(self._loaded, digest)
        if at is None or int(self._loaded_at[at]) < self.since:
            return "unknown"
        return "superfluous" if self._met[self._original[at]] else "copy"

    def take_unsaved(self, confirmed: int) -> npt.NDArray[np.void]:
        """Copies that the store does not have yet, and may have.

        A copy must not be passed over for the sake of an original that a kill can still lose.

        :param confirmed: the mark up to which what was stored is known to be on disk.
        :returns: array of type :data:`~scrapy_neardup.stores.advice.COPY`, shape ``(n,)``.
        """
        taken = []
        while self._unsaved and self._unsaved[0][0] <= confirmed:
            taken.append(self._unsaved.popleft()[1])
        return np.array(taken, COPY)

    def put_back(self, copies: npt.NDArray[np.void]) -> None:
        """They could not be saved."""
        room = MAX_KNOWN - len(self._unsaved)
        self._unsaved.extendleft((0, copy) for copy in copies[::-1][:room].tolist())

    def _digest(self, url: str) -> int:
        hasher = self._hasher.copy()
        hasher.update(page_key(url).encode("utf-8", "surrogatepass"))
        return int.from_bytes(hasher.digest(), "little")


def _hasher(key: bytes) -> blake2b:
    return blake2b(digest_size=8, key=key)


def _ints(digests: npt.NDArray[np.uint64]) -> Sequence[int]:
    """The same memory: among all else that a crawl does, numpy takes long to find one number."""
    return np.ascontiguousarray(digests, np.uint64).data


def _place(sorted_digests: Sequence[int], digest: int) -> int | None:
    """Where a digest stands, if it does."""
    at = bisect_left(sorted_digests, digest)
    return at if at < len(sorted_digests) and sorted_digests[at] == digest else None
