"""Measures functions: in processes of their own, repeatedly, and with the spread of the results."""

from __future__ import annotations

import platform
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from time import process_time
from typing import TypeVar

import numpy as np

from scrapy_neardup.workers import usable_cores

_Result = TypeVar("_Result")
_Key = TypeVar("_Key", bound=Hashable)


def apart(function: Callable[..., _Result], *given: object) -> _Result:
    """Return the result of a function that runs in a process of its own."""
    with own_process() as pool:
        return pool.submit(function, *given).result()


def own_process() -> ProcessPoolExecutor:
    """Return an executor of one process, which inherits no memory."""
    return ProcessPoolExecutor(1, get_context("spawn"))


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the rounds: its median and its quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        low, median, high = np.quantile(list(values), (0.25, 0.5, 0.75)).tolist()
        return cls(median, low, high)

    def __str__(self) -> str:
        return f"{rounded(self.median)} ({rounded(self.low)}-{rounded(self.high)})"


def rounded(value: float) -> str:
    """Three digits that count, without an exponent."""
    if value == 0:
        return "0"
    digits = 2 - int(np.floor(np.log10(abs(value))))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def processor_seconds(work: Callable[[], object]) -> float:
    """Processor time of this process for a piece of work."""
    started = process_time()
    work()
    return process_time() - started


def in_turn(
    contestants: Mapping[_Key, Callable[[], _Result]], rounds: int
) -> dict[_Key, list[_Result]]:
    """Return the result of each contestant in each round.

    All take their turn in every round, each time from another one on: what the machine does
    meanwhile, or has in its caches, is nobody's advantage.
    """
    names = list(contestants)
    found: dict[_Key, list[_Result]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % max(len(names), 1)
        for name in names[first:] + names[:first]:
            found[name].append(contestants[name]())
    return found


def machine() -> dict[str, str]:
    """Return the properties of the machine and the software that affect the figures."""
    return {
        "processor": f"{usable_cores()} cores, {platform.machine()}",
        "system": platform.system(),
        "Python": platform.python_version(),
        "numpy": version("numpy"),
    }


def machine_line() -> str:
    """Return the same in one line."""
    return ", ".join(f"{name} {value}" for name, value in machine().items())
