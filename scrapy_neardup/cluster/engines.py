"""Runs the tasks of a stage, one after the other or on the workers of a Dask cluster."""

from __future__ import annotations

import ctypes
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from ..exceptions import EngineFailed
from .folder import Report, WorkFolder


@dataclass(frozen=True)
class Task:
    """A part of a stage, which any process can do, at any time, more than once.

    :ivar function: called with the arguments; a function of a module.
    """

    folder: WorkFolder
    stage: str
    number: int
    function: Callable[..., Report]
    arguments: tuple[Any, ...]

    def run(self) -> Report:
        """Do the task unless it is done, and return its report, with the processor's seconds."""
        if (done := self.folder.report(self.stage, self.number)) is not None:
            return done
        started, began = _processor_seconds(), time.time()
        report = self.function(*self.arguments)
        seconds = _processor_seconds() - started
        report = {**report, "core_seconds": seconds, "seconds": time.time() - began}
        self.folder.set_done(self.stage, self.number, report)
        return report


class Engine(Protocol):
    """Runs tasks somewhere. Another engine needs no more than this."""

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Report]]:
        """Run tasks in any order, and yield number and report of each as it is done.

        :raises EngineFailed: when the engine fails, rather than a task.
        """


class Sequential:
    """Runs tasks in this process, one after the other."""

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Report]]:
        for task in tasks:
            yield task.number, task.run()


class DaskEngine:
    """Runs tasks on the workers of a Dask cluster, which must have this package.

    A task whose worker dies is run by another one.

    :param client: a ``distributed.Client``.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Report]]:
        import distributed

        as_completed: Any = distributed.as_completed
        run = uuid.uuid4().hex
        keys = [f"neardup-{task.stage}-{task.number}-{run}" for task in tasks]
        with self._noticing_loss():
            futures = self._client.map(_run, tasks, key=keys, pure=False)
        numbers = {future.key: task.number for future, task in zip(futures, tasks, strict=True)}
        # Without the loop it would be that of the default client.
        for future in as_completed(futures, loop=self._client.loop):
            yield numbers[future.key], self._report(future)
            future.release()

    def _report(self, future: Any) -> Report:
        """Return the report of a task; what the task raised is raised again."""
        from distributed import KilledWorker

        try:
            with self._noticing_loss():
                report: Report = future.result()
        except KilledWorker as error:
            raise EngineFailed(
                f"several workers have died over the task {error.task}: give them more memory, or "
                "the run more partitions and another work folder"
            ) from error
        return report

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        """Tell errors of a lost connection from those of tasks."""
        from distributed.comm.core import CommClosedError

        try:
            yield
        except Exception as error:
            is_lost = isinstance(error, (CancelledError, CommClosedError))
            if not is_lost and self._client.status == "running":
                raise
            raise EngineFailed("the connection to the scheduler is lost") from error


def _run(task: Task) -> Report:
    try:
        return task.run()
    finally:
        _return_unused_memory()


def _return_unused_memory() -> None:
    """Return the memory that the last task has freed to the operating system.

    Allocators keep much of it for the next task: a worker with thousands of tasks behind it would
    reach the limit at which Dask restarts it, however little the next one needs.
    """
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(AttributeError):  # a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)


def _processor_seconds() -> float:
    """Return the time of this process and of those that it has started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
