"""The queue of pages that wait for a worker."""

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

#: How often a page is tried whose worker died, which need not be the page's fault.
_TRIES = 3


@dataclass(eq=False)
class Task(Generic[T]):
    """A submitted page.

    :ivar number: its position among all submitted pages.
    :ivar seconds_left: the time limit for its next try.
    :ivar tries_left: how many more workers may die over it.
    :ivar is_alone: must it be sent to a worker alone, not in a batch?
    """

    number: int
    record: Record
    seconds_left: float
    tries_left: int = _TRIES
    is_alone: bool = False
    future: Future[T | Failure] = field(default_factory=Future)
    _has_begun: bool = False

    def begin(self) -> bool:
        """Start the task, so that it can no longer be cancelled; ``False`` if it was cancelled."""
        if not self._has_begun:
            self._has_begun = self.future.set_running_or_notify_cancel()
        return self._has_begun

    def answer(self, outcome: T | Failure | Exception) -> None:
        """Set the result of the future, unless it is set."""
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)

    def cancel(self) -> None:
        """Cancel the future; if the task has started, its result is a failure."""
        if not self.future.cancel():
            self.answer(Failure(Reason.WORKER_DIED, "the work was stopped"))


class TaskQueue(Generic[T]):
    """Tasks in the order of their submission; retried tasks keep their queue position.

    The queue only accepts tasks while a supervisor serves it, that is, has a worker or has not yet
    failed to start one. The last supervisor that leaves gets all waiting tasks, so that none can
    wait for ever.

    :param supervisors: number of supervisors that serve the queue at first.
    """

    def __init__(self, supervisors: int) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, Task[T]]] = []
        # Wakes a waiting supervisor for each task, and all at the end. A ``queue.PriorityQueue``
        # may keep its lock for good when ``put`` is interrupted.
        self._wakings = SimpleQueue[None]()
        self._serving = supervisors
        self._failure: str | None = None
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, task: Task[T]) -> bool:
        """Add a task; ``False`` if no supervisor serves the queue."""
        with self._lock:
            if self._has_ended or not self._serving:
                return False
            heappush(self._waiting, (task.number, task))
        self._wakings.put(None)
        return True

    def get(self, *, wait: bool = True) -> Task[T] | None:
        """Return the next task, or ``None`` at the end.

        :raises queue.Empty: when there is neither and ``wait`` is false.
        """
        while True:
            self._wakings.get(wait)
            with self._lock:
                if self._waiting:
                    return heappop(self._waiting)[1]
                if self._has_ended:
                    self._wakings.put(None)  # for the next supervisor
                    return None

    def leave(self, failure: str) -> Sequence[Task[T]]:
        """Count out a supervisor; return the tasks that no supervisor serves any more."""
        with self._lock:
            self._serving -= 1
            self._failure = failure
            return () if self._serving else self._take_all()

    def join(self) -> None:
        """Count in a supervisor that had left."""
        with self._lock:
            self._serving += 1

    def end(self) -> Sequence[Task[T]]:
        """End the queue for good; return the waiting tasks."""
        with self._lock:
            self._has_ended = True
            tasks = self._take_all()
        self._wakings.put(None)
        return tasks

    def refuse(self, task: Task[T]) -> None:
        """Complete a task that was not accepted."""
        if self._has_ended:
            task.cancel()
        else:
            # A new error for each task: the traceback of an error grows each time it is raised.
            task.answer(WorkersFailed(self._failure or "no worker is running"))

    def _take_all(self) -> list[Task[T]]:
        tasks = [task for _, task in sorted(self._waiting, key=lambda entry: entry[0])]
        self._waiting.clear()
        return tasks
