"""Watches the processes of a cluster: memory of each in each stage, and files that were opened."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from scrapy_neardup.cluster.folder import WorkFolder

_MEGABYTE = 2**20
#: Written to ``clear_refs``: what a process has at most held is from now on what it holds now.
_FORGET_PEAK = "5"
_opened = 0


class CountedFolder(WorkFolder):
    """A work folder that counts how often this process opens a file of it to read."""

    def open(self, name: str) -> BinaryIO:
        global _opened  # noqa: PLW0603
        _opened += 1
        return super().open(name)


def opened_files() -> int:
    """Return how often this process has opened a file of a work folder to read."""
    return _opened


@dataclass
class StageWatched:
    """Measurements of a stage.

    :ivar seconds: by the clock.
    :ivar opened: files that its tasks opened to read.
    :ivar peaks: most megabytes that each worker held.
    :ivar driver: and that the driver did, with the scheduler.
    """

    seconds: float
    opened: int
    peaks: list[float]
    driver: float


class Watch:
    """Called by a run as it goes on; the stages that have ended are in ``stages``.

    :param pids: returns the process of each worker.
    :param opened: returns how many files they have opened so far.
    """

    def __init__(
        self,
        pids: Callable[[], list[int]],
        opened: Callable[[], int],
        say: Callable[[str], None],
    ) -> None:
        self.stages: dict[str, StageWatched] = {}
        self.stage = ""
        self._pids, self._count, self._say = pids, opened, say
        self._began, self._opened, self._processes = 0.0, 0, list[int]()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note where the run is."""
        if stage != self.stage:
            self.end_stage()
            self.stage = stage
            self._processes = self._pids()
            for process in (os.getpid(), *self._processes):
                Path(f"/proc/{process}/clear_refs").write_text(_FORGET_PEAK, "ascii")
            self._opened, self._began = self._count(), perf_counter()

    def end_stage(self) -> None:
        """Note what the stage has taken that has just ended, if there is one."""
        if not self.stage:
            return
        seconds = perf_counter() - self._began
        peaks = [_peak(process) for process in self._processes]
        opened = self._count() - self._opened
        watched = StageWatched(seconds, opened, peaks, _peak(os.getpid()))
        self.stages[self.stage] = watched
        self._say(f"{self.stage}: {seconds:.1f} s, {opened:,} files, {max(peaks):.0f} MB")
        self.stage = ""

    def as_json(self) -> dict[str, Any]:
        return {name: asdict(watched) for name, watched in self.stages.items()}


def of_client(client: Any, say: Callable[[str], None]) -> Watch:
    """Watch the workers of a ``distributed.Client`` on this machine."""
    run: Callable[[Callable[[], int]], dict[str, int]] = partial(client.run)
    return Watch(
        lambda: list(run(os.getpid).values()), lambda: sum(run(opened_files).values()), say
    )


def _peak(process: int) -> float:
    """Return the most megabytes that a process held; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii")
    except OSError:
        return 0.0
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024 / _MEGABYTE
