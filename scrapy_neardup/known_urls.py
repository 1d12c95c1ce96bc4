"""URLs that led to a duplicate, in this crawl and in earlier ones, by their digests."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from .stores.advice import MAX_KNOWN
from .urls import page_key


class KnownUrls:
    """Digests of canonical URLs, with the time when each led to a duplicate last.

    :param ttl: seconds for which that is believed; with 0 nothing is.
    :param now: the time in seconds since 1970.
    """

    def __init__(self, ttl: float, now: Callable[[], float]) -> None:
        self._ttl = ttl
        self._now = now
        self._key = b""
        #: Of earlier crawls, sorted by digest.
        self._loaded: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
        self._loaded_at: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        self._own: OrderedDict[int, float] = OrderedDict()
        self._unsaved: deque[tuple[int, int]] = deque(maxlen=MAX_KNOWN)

    def open(self, secret: bytes, known: npt.NDArray[np.void]) -> None:
        """Begin with what earlier crawls knew.

        :param secret: of the store.
        :param known: see :meth:`~scrapy_neardup.stores.base.Store.known_duplicates`.
        """
        self._key = blake2b(key=secret, person=b"neardup-known").digest()
        order = np.argsort(known["digest"], kind="stable")
        self._loaded = np.ascontiguousarray(known["digest"][order])
        self._loaded_at = np.ascontiguousarray(known["seen_at"][order])

    @property
    def since(self) -> int:
        """What was seen before, in seconds since 1970, is believed no more."""
        return max(0, int(self._now() - self._ttl))

    def add(self, url: str, mark: int = 0) -> None:
        """It led to a duplicate just now.

        :param mark: of the store, behind the original: see :meth:`take_unsaved`.
        """
        if not self._ttl:
            return
        digest = self._digest(url)
        self._own[digest] = self._now()
        self._own.move_to_end(digest)
        self._unsaved.append((mark, digest))
        if len(self._own) > MAX_KNOWN:
            self._own.popitem(last=False)

    def __contains__(self, url: str) -> bool:
        """Did it lead to a duplicate, not too long ago?"""
        if not self._own and not len(self._loaded):
            return False
        digest = self._digest(url)
        if digest in self._own:
            return self._own[digest] >= self.since
        if not len(self._loaded):
            return False
        at = int(self._loaded.searchsorted(np.uint64(digest)))
        is_loaded = at < len(self._loaded) and int(self._loaded[at]) == digest
        return is_loaded and int(self._loaded_at[at]) >= self.since

    def take_unsaved(self, confirmed: int) -> npt.NDArray[np.uint64]:
        """Digests that the store does not have yet, and may have.

        A copy must not be passed over for the sake of an original that a kill can still lose.

        :param confirmed: the mark up to which what was stored is known to be on disk.
        """
        taken = []
        while self._unsaved and self._unsaved[0][0] <= confirmed:
            taken.append(self._unsaved.popleft()[1])
        return np.array(taken, np.uint64)

    def put_back(self, digests: npt.NDArray[np.uint64]) -> None:
        """They could not be saved."""
        room = MAX_KNOWN - len(self._unsaved)
        self._unsaved.extendleft((0, digest) for digest in digests[::-1][:room].tolist())

    def _digest(self, url: str) -> int:
        text = page_key(url).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(text, digest_size=8, key=self._key).digest(), "little")
