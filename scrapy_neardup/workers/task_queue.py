"""Pages that wait for a worker, in their order."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from heapq import heappop, heappush
from queue import SimpleQueue
from typing import Generic, TypeVar

from ..exceptions import WorkersFailed
from ..reasons import Reason
from ..sources.record import Record
from .tasks import Failure

T = TypeVar("T")

#: How often a page is tried whose worker died: the page may not have been to blame.
_TRIES = 3


@dataclass(eq=False)
class Task(Generic[T]):
    """A page that was handed over.

    :ivar number: its place among all that were handed over.
    :ivar seconds_left: what it may still take of a worker.
    :ivar tries_left: how many more workers may die over it.
    :ivar is_alone: must it be given to a worker by itself?
    """

    number: int
    record: Record
    seconds_left: float
    tries_left: int = _TRIES
    is_alone: bool = False
    future: Future[T | Failure] = field(default_factory=Future)
    _has_begun: bool = False

    def begin(self) -> bool:
        """Take it on, so that it cannot be cancelled any more; ``False`` when it was cancelled."""
        if not self._has_begun:
            self._has_begun = self.future.set_running_or_notify_cancel()
        return self._has_begun

    def answer(self, outcome: T | Failure | Exception) -> None:
        """Set the future, unless that was done."""
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)

    def cancel(self) -> None:
        """Cancel the future; a page that a worker was asked about is given a failure."""
        if not self.future.cancel():
            self.answer(Failure(Reason.WORKER_DIED, "the work was stopped"))


class TaskQueue(Generic[T]):
    """Tasks in the order in which they were handed over; retried tasks keep their place.

    A task is only accepted while somebody may serve it: while a supervisor has a worker, or has not
    yet failed to start one. When the last one fails, all tasks that wait come back to it, so that
    none can wait for ever.

    :param supervisors: number of those who serve the tasks.
    """

    def __init__(self, supervisors: int) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, Task[T]]] = []
        # Wakes one who waits, for each task and for the end. An interrupt amid ``put`` of a
        # ``queue.PriorityQueue`` may leave its lock taken.
        self._wakings = SimpleQueue[None]()
        self._serving = supervisors
        self._failure: str | None = None
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, task: Task[T]) -> bool:
        """Add a task; ``False`` when nobody serves tasks any more, or for now."""
        with self._lock:
            if self._has_ended or not self._serving:
                return False
            heappush(self._waiting, (task.number, task))
        self._wakings.put(None)
        return True

    def get(self, *, wait: bool = True) -> Task[T] | None:
        """Return the next task, or ``None`` at the end.

        :raises queue.Empty: when there is neither, and it is not to be waited for.
        """
        while True:
            self._wakings.get(wait)
            with self._lock:
                if self._waiting:
                    return heappop(self._waiting)[1]
                if self._has_ended:
                    self._wakings.put(None)  # for the next who waits
                    return None

    def leave(self, failure: str) -> Sequence[Task[T]]:
        """One supervisor serves no tasks for now; returns the tasks that nobody will serve."""
        with self._lock:
            self._serving -= 1
            self._failure = failure
            return () if self._serving else self._take_all()

    def join(self) -> None:
        """One supervisor that had left serves tasks again."""
        with self._lock:
            self._serving += 1

    def end(self) -> Sequence[Task[T]]:
        """No more tasks are served; returns those that wait."""
        with self._lock:
            self._has_ended = True
            tasks = self._take_all()
        self._wakings.put(None)
        return tasks

    def refuse(self, task: Task[T]) -> None:
        """Answer a task that was not accepted."""
        if self._has_ended:
            task.cancel()
        else:
            # A new one for each: an exception that is raised again and again grows.
            task.answer(WorkersFailed(self._failure or "no worker serves"))

    def _take_all(self) -> list[Task[T]]:
        tasks = [task for _, task in sorted(self._waiting, key=lambda entry: entry[0])]
        self._waiting.clear()
        return tasks
