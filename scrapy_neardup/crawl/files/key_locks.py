"""Locks of a crawl by name."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from concurrent.futures import Future
from time import monotonic

from ..async_bridge import wait_for


class KeyLocks:
    """Gives each key to one coroutine at a time; for one event loop.

    :ivar waits: how many had to wait.
    """

    def __init__(self) -> None:
        self.waits = 0
        self._held: dict[object, Future[None]] = {}

    @contextlib.asynccontextmanager
    async def hold(self, key: object, seconds: float | None = None) -> AsyncIterator[None]:
        """Hold a key within the block, after whoever has it.

        :param seconds: the longest wait; the block is then entered without the key.
        """
        until = None if seconds is None else monotonic() + seconds
        self.waits += key in self._held
        while (held := self._held.get(key)) is not None:
            left = None if until is None else until - monotonic()
            if left is not None and left <= 0:
                yield
                return
            await wait_for(held, left)
        own = self._held[key] = Future()
        try:
            yield
        finally:
            del self._held[key]
            own.set_result(None)
