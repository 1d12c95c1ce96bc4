"""Worker processes by multiprocessing's ``spawn``, for systems without fork (Windows)."""

from __future__ import annotations

import atexit
import multiprocessing
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import spawn
from typing import Any

from .worker import serve

#: Seconds that the exit of this process waits for a worker that is being started.
_EXIT_SECONDS = 5

#: multiprocessing keeps its children in a set that is not thread-safe.
starting_or_ending = threading.Lock()


class SpawnedProcess:
    """A worker process in a new interpreter, which does not run the main module again.

    :param end: the worker's end of a channel.
    :raises OSError: when it cannot be started.
    """

    def __init__(self, end: socket.socket) -> None:
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(
            target=serve, args=(end,), name="neardup-worker", daemon=True
        )
        with starting_or_ending, _main_module_left_out():
            self._process.start()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def end(self, seconds: float) -> int | None:
        """Return the exit code of the killed process if it is known after so many seconds."""
        # The process is not closed: at exit, multiprocessing may use it in another thread.
        with starting_or_ending:
            self._process.join(seconds)
            return self._process.exitcode


@atexit.register
def _start_no_more() -> None:
    """Keep other threads from starting workers at exit, which would print errors of their own."""
    # Never released: threads that wait for it end with this process.
    starting_or_ending.acquire(timeout=_EXIT_SECONDS)


@contextmanager
def _main_module_left_out() -> Iterator[None]:
    """Keep processes that this thread starts from running the main module again.

    The module itself is left in place, because another thread may be pickling objects of it.
    """
    prepare, thread = spawn.get_preparation_data, threading.get_ident()

    def prepared(name: str) -> dict[str, Any]:
        data = prepare(name)
        if threading.get_ident() == thread:
            data.pop("init_main_from_name", None)
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = prepared
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare
