"""Measures what holds the event loop: steps of the add-on's code, and full garbage collections."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Coroutine, Generator
from functools import wraps
from time import thread_time
from typing import Any

from .heartbeat import distribution


class Slices:
    """Processor time of each step of coroutines, from one ``await`` that waits to the next."""

    def __init__(self) -> None:
        self.seconds = array("d")

    def measured(
        self, function: Callable[..., Coroutine[Any, Any, Any]]
    ) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The same coroutine function, its steps measured."""

        @wraps(function)
        async def stepped(*args: Any, **kwargs: Any) -> Any:
            return await _Steps(function(*args, **kwargs), self.seconds)

        return stepped

    def figures(self) -> dict[str, float]:
        """Milliseconds at median, 99 %, 99.9 % and maximum of all steps."""
        return distribution("", self.seconds)


class _Steps:
    def __init__(self, coroutine: Coroutine[Any, Any, Any], seconds: array[float]) -> None:
        self._coroutine = coroutine
        self._seconds = seconds

    def __await__(self) -> Generator[Any, Any, Any]:
        value = None
        while True:
            started = thread_time()
            try:
                awaited = self._coroutine.send(value)
            except StopIteration as stop:
                return stop.value
            finally:
                self._seconds.append(thread_time() - started)
            try:
                value = yield awaited
            except BaseException as error:
                return self._coroutine.throw(error)


class Collections:
    """Durations of full garbage collections, which walk through all objects."""

    def __init__(self) -> None:
        self.seconds = array("d")
        self._started = 0.0

    def start(self) -> None:
        gc.callbacks.append(self._note)

    def stop(self) -> None:
        gc.callbacks.remove(self._note)

    def figures(self) -> dict[str, float]:
        """Their number, and milliseconds in all and of the longest."""
        return {
            "full collections": len(self.seconds),
            "full collections, ms in all": 1000 * sum(self.seconds),
            "full collections, longest ms": 1000 * max(self.seconds, default=0.0),
        }

    def _note(self, phase: str, details: dict[str, int]) -> None:
        if details["generation"] < 2:
            return
        if phase == "start":
            self._started = thread_time()
        else:
            self.seconds.append(thread_time() - self._started)
