"""Tells which callbacks download something themselves, as with ``engine.download_async``.

What such a callback yields may hold values of a page that is never judged, such as a price from an
API.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any


class CallbackRun:
    """A run of a callback.

    :ivar has_downloaded: whether it has requested anything itself so far.
    """

    def __init__(self) -> None:
        self.has_downloaded = False
        self._is_running = False

    def start(self) -> None:
        """Note that the callback runs from here on, in this context."""
        self._is_running = True
        _running.set(self)

    def stop(self) -> None:
        """Note that other code runs from here on."""
        self._is_running = False
        _running.set(None)

    async def outputs_of(self, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield what the callback yields."""
        iterator = aiter(result)
        while True:
            self.start()
            try:
                output = await anext(iterator)
            except StopAsyncIteration:
                return
            finally:
                self.stop()
            yield output

    def note_request(self) -> None:
        """Note a request in the context of the callback."""
        # The engine may send others later, in a copy of that context.
        if self._is_running:
            self.has_downloaded = True


#: Scrapy has a context for each response.
_running: ContextVar[CallbackRun | None] = ContextVar("running", default=None)


def note_request() -> None:
    """Note that a request is about to be sent, by a callback or by the engine."""
    run = _running.get()
    if run is not None:
        run.note_request()
