"""Tells which callbacks download something themselves, as with ``engine.download_async``.

What such a callback yields may hold values of a page that is never judged, such as a price from an
API.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK


class CallbackRun:
    """A run of a callback.

    :ivar has_downloaded: whether it has requested anything itself so far.
    """

    def __init__(self) -> None:
        self.has_downloaded = False

    def start(self) -> None:
        """Note that the callback runs from here on, in this context."""
        _running.set(self)

    def stop(self) -> None:
        """Note that other code runs from here on."""
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


#: Scrapy has a context for each response, and the tasks of a callback have copies of it.
_running: ContextVar[CallbackRun | None] = ContextVar("running", default=None)


class InlineDownloads:
    """Tells the requests of callbacks from those that the engine sends."""

    def __init__(self) -> None:
        self._scheduled: WeakSet[Request] = WeakSet()

    def scheduled(self, request: Request) -> None:
        """Note a request that was scheduled: the engine sends it, in whatever context."""
        self._scheduled.add(request)

    def sent(self, request: Request) -> None:
        """Note a request that is about to be sent, and whose it is.

        A queue on disk returns another object than the one that was scheduled.
        """
        run = _running.get()
        is_inline = request.callback in (None, NO_CALLBACK) and request not in self._scheduled
        if run is not None and is_inline:
            run.has_downloaded = True
