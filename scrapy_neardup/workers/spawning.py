"""Worker processes by multiprocessing's ``spawn``, where no process can be forked (Windows)."""

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

#: Seconds that the end of this process waits for a worker that is just being started.
_EXIT_SECONDS = 5

#: multiprocessing keeps its children in one set, which is not made for several threads.
starting_or_ending = threading.Lock()


class SpawnedProcess:
    """A worker process, a new interpreter that does not run the main module again.

    :param end: its end of a channel.
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
        """End it, whatever it is doing."""
        self._process.kill()

    def exit_code(self, seconds: float) -> int | None:
        """Return its exit code, ``None`` when it is not known after so many seconds."""
        with starting_or_ending:
            self._process.join(seconds)
            return self._process.exitcode

    def close(self) -> None:
        """Not closed: at exit multiprocessing may be asking it at this very moment."""


@atexit.register
def _start_no_more() -> None:
    """A worker whose parent ends while it is being started would complain of it on the terminal."""
    # For good: whoever still wants to start one ends with this process.
    starting_or_ending.acquire(timeout=_EXIT_SECONDS)


@contextmanager
def _main_module_left_out() -> Iterator[None]:
    """A new process runs its parent's main module again; those that this thread starts do not.

    The module itself stays in its place: another thread may be pickling something of it.
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
