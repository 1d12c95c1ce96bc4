"""Keeps the pages whose items a feed may still lose, and makes the store forget those it lost.

A copy of a page is dropped as soon as the page is committed, but a feed that is uploaded batch by
batch may fail long after that. The pages whose items were in the batch must not count any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial

from ...stores import Store
from ..async_bridge import result_of

#: Pages that the store forgets in one call, so that the crawl goes on in between.
_AT_ONCE = 256


class UnconfirmedPages:
    """The pages that a crawl stored and that are not confirmed, numbered as they were stored."""

    def __init__(self) -> None:
        #: Keys by number, from the first page on that is not settled; empty where it was lost.
        self._keys: list[str] = []
        self._first = 0

    @property
    def next(self) -> int:
        """The number of the next page."""
        return self._first + len(self._keys)

    def note(self, key: str) -> int:
        """Note a page that is about to be committed, and return its number."""
        self._keys.append(key)
        return self.next - 1

    def settle_before(self, number: int) -> None:
        """Note that pages with lower numbers cannot be lost any more during this crawl."""
        n_settled = max(0, min(number, self.next) - self._first)
        del self._keys[:n_settled]
        self._first += n_settled

    def lose(self, since: int) -> list[str]:
        """Return the keys of the pages from a number on: their items may be lost."""
        place = max(0, since - self._first)
        lost = [key for key in self._keys[place:] if key]
        self._keys[place:] = [""] * len(self._keys[place:])
        return lost


class LostPages:
    """The pages that the store has to forget.

    :param ask: calls the store and returns the answer.
    """

    def __init__(self, store: Store, ask: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        self._store = store
        self._ask = ask
        self._keys: deque[str] = deque()
        #: Number behind all pages that had been stored when pages were last lost.
        self._before = 0
        self._forgetting: Future[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._keys) or self._forgetting is not None

    def add(self, keys: list[str], before: int) -> None:
        """Add pages.

        :param before: number behind all pages that have been stored until now.
        """
        self._keys.extend(keys)
        self._before = before

    def record(self, record: Callable[[], None], key: str, number: int) -> None:
        """Record a page in the store, from any thread, and forget it if it was lost meanwhile."""
        record()
        # Such a call began before the feed failed: the store may have had nothing to forget then.
        if number < self._before:
            self._store.forget(key)

    async def forget(self) -> None:
        """Have the store forget all; who comes meanwhile waits for that.

        :raises StoreError: when the store fails; the rest is still to be forgotten.
        """
        while self:
            if self._forgetting is not None:
                await result_of(self._forgetting)
                continue
            self._forgetting = done = Future[None]()
            try:
                await self._forget_some()
            finally:
                self._forgetting = None
                done.set_result(None)

    async def _forget_some(self) -> None:
        keys = [self._keys.popleft() for _ in range(min(len(self._keys), _AT_ONCE))]
        try:
            await self._ask(partial(self._forget, keys))
        except Exception:
            self._keys.extend(keys)
            raise

    def _forget(self, keys: list[str]) -> None:
        for key in keys:
            self._store.forget(key)
