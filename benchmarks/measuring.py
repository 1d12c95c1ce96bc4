"""What several benchmarks measure with."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

_Result = TypeVar("_Result")


def at_least_one(text: str) -> int:
    """A number on the command line, from 1 on."""
    if (number := int(text)) < 1:
        raise ValueError
    return number


def apart(function: Callable[..., _Result], *given: object) -> _Result:
    """What a function returns in a process of its own, whose memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *given).result()


def resident_bytes() -> int:
    """What this process holds now; read from ``/proc``, on Linux only."""
    gc.collect()
    [line] = [
        line
        for line in Path("/proc/self/status").read_text("ascii").splitlines()
        if line.startswith("VmRSS:")
    ]
    return 1024 * int(line.split()[1])
