"""Makes system calls fail on demand, in a program and in its worker processes.

As a program, it makes pools of workers while one call after another fails, and writes what came of
their pages as JSON, a line for each round.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from importlib import import_module
from pathlib import Path
from typing import Any

#: Calls of the process that has the pool; each of them fails once, at every place where it is made.
OURS = (
    "socket.socketpair",
    "socket.send_fds",
    "socket.socket.send",
    "socket.socket.setsockopt",
    "socket.socket.recv",
    "socket.socket.recv_into",
    "subprocess.Popen",
    "threading.Thread.start",
    "pickle.dumps",
    "os.kill",
)
#: Those of them that start the process which starts the workers.
_OF_SERVER = ("socket.socketpair", "subprocess.Popen")
#: Calls of the helper processes; each fails all the time, until it is mended.
THEIRS = ("os.fork", "socket.recv_fds", "threading.Thread.start", "os.dup2")
#: The file that says which of them.
_FILE = "NEARDUP_TEST_FAULT"
_SOON = 50


class Fault:
    """A call that fails at one of its places.

    :ivar at: the place, from 1 on; 0 for none.
    :ivar has_failed: whether it has failed.
    """

    def __init__(self, name: str) -> None:
        self.at = 0
        self._made = 0
        self.has_failed = False
        replace(name, self._fails)

    def arm(self, at: int) -> None:
        self.at, self._made, self.has_failed = at, 0, False

    def _fails(self) -> bool:
        self._made += 1
        if is_failing := self._made == self.at:
            self.has_failed = True
        return is_failing


def replace(name: str, fails: Callable[[], bool]) -> None:
    """Let a call raise what it raises where the system has no more of anything."""
    module, _, path = name.partition(".")
    *owners, last = path.split(".")
    owner = functools.reduce(getattr, owners, import_module(module))
    real = getattr(owner, last)

    def call(*given: Any, **options: Any) -> Any:
        if not fails():
            return real(*given, **options)
        if last == "start":
            raise RuntimeError("can't start new thread")
        if last == "dumps":
            raise MemoryError
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    setattr(owner, last, call)


def in_helpers() -> None:
    """In a helper process: let the call fail that the file names."""
    file = Path(os.environ[_FILE])
    for name in THEIRS:
        replace(name, lambda name=name: file.read_text() == name)  # type: ignore[misc]


# --- the program ---


def main() -> None:
    from scrapy_neardup.workers import supervisor

    supervisor._PAUSES = 0.0, 0.02, 0.02
    supervisor._RESTART_PAUSE = supervisor._LONGEST_PAUSE = 0.02
    for fault, place, answers in (*_rounds_of_ours(), *_rounds_of_theirs()):
        sys.stdout.write(json.dumps([fault, place, answers]) + "\n")
    sys.stdout.write('"ended"\n')


def _rounds_of_ours() -> Iterator[tuple[str, int, list[str]]]:
    for name in OURS:
        fault, place = Fault(name), 0
        while place == 0 or fault.has_failed:
            place += 1
            if name in _OF_SERVER:
                _end_server()
            with _pool() as pool:
                fault.arm(place)
                pool.start()
                yield name, place, _answers(pool)
        fault.arm(0)


def _rounds_of_theirs() -> Iterator[tuple[str, int, list[str]]]:
    for name in THEIRS:
        Path(os.environ[_FILE]).write_text(name)
        _end_server()
        with _pool() as pool:
            pool.start()
            yield f"helper: {name}", 1, _answers(pool)
            Path(os.environ[_FILE]).write_text("")
            deadline = time.monotonic() + _SOON
            while (found := _answers(pool)) != [""]:
                assert time.monotonic() < deadline, found
            yield f"helper: {name}", 0, found


def _end_server() -> None:
    from scrapy_neardup.workers import forkserver

    if server := forkserver.fork_server._server:
        server.end()


def _pool() -> Any:
    from scrapy_neardup.workers import WorkerPool, sign_record

    class Pool(WorkerPool[Any]):
        def __enter__(self) -> Pool:
            return self  # started when the fault is armed

    return Pool(sign_record, {"secret": bytes(16)}, 1)


def _answers(pool: Any) -> list[str]:
    from scrapy_neardup.sources.record import Record

    records = [Record(n, f"https://a.example/{n}", "a ferry", "text") for n in range(4)]
    return sorted({answer(future) for future in map(pool.submit, records)})


def answer(future: Future[Any]) -> str:
    """``""`` for a result, else why there is none."""
    from scrapy_neardup.exceptions import WorkersFailed
    from scrapy_neardup.workers import Failure

    try:
        outcome = future.result(_SOON)
    except WorkersFailed:
        return "no_worker"
    return outcome.reason if isinstance(outcome, Failure) else ""


if __name__ == "__main__":
    main()
