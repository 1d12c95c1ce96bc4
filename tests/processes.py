"""Processes that the tests start, as /proc shows them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

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
