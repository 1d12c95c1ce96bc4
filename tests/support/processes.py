"""Finds the processes that the tests start, in /proc."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def workers_of(pid: int) -> list[int]:
    """Processes below the forkserver of a scan."""
    return [worker for server in children_of(pid) for worker in children_of(server)]


def children_of(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "this never comes"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextlib.contextmanager
def nobody_outlives(process: subprocess.Popen[Any], *, least: int) -> Iterator[None]:
    """The processes below this one, now at least so many and it itself, end with it.

    The block ends the process and waits for it; whoever is left behind is killed.
    """
    everyone = [process.pid, *children_of(process.pid), *workers_of(process.pid)]
    try:
        assert len(everyone) >= least
        yield
        wait_for(lambda: not any(map(alive, everyone)))
    finally:
        for survivor in filter(alive, everyone):
            with contextlib.suppress(ProcessLookupError):
                os.kill(survivor, signal.SIGKILL)


def send_signal(process: subprocess.Popen[Any], number: signal.Signals) -> None:
    """Send a signal as its usual sender does: a terminal interrupts all that runs in it.

    The process must have been started in a session of its own.
    """
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)


def shown_on_terminal(*command: object) -> bytes:
    """Return the standard error of a successful command that runs in a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen([*map(str, command)], stderr=its)
    os.close(its)
    shown = b""
    while piece := _read(ours):
        shown += piece
    os.close(ours)
    assert process.wait() == 0
    return shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other side is closed
        return b""
