"""The queue of pages that wait for a worker."""

from __future__ import annotations

import threading
from collections.abc import Iterable
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

    def __lt__(self, other: Task[T]) -> bool:
        return self.number < other.number

    def begin(self) -> bool:
        """Start the task, so that it can no longer be cancelled; ``False`` if it is complete."""
        if self.future.running():
            return True  # it is retried
        return not self.future.done() and self.future.set_running_or_notify_cancel()

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
    failed to start one. Other tasks are completed at once, and so are waiting tasks when the last
    supervisor leaves, so that none can wait for ever.

    :param supervisors: number of supervisors that serve the queue at first.
    """

    def __init__(self, supervisors: int) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Task[T]] = []
        # Wakes a waiting supervisor for each task, and all at the end. A ``queue.PriorityQueue``
        # may keep its lock for good when ``put`` is interrupted.
        self._wakings = SimpleQueue[None]()
        self._supervisors = supervisors
        #: Supervisors that have no worker.
        self._absent: set[object] = set()
        self._failure = "no worker is running"
        self._has_ended = False

    def put(self, task: Task[T]) -> None:
        """Add a task."""
        with self._lock:
            is_served = len(self._absent) < self._supervisors
            if is_accepted := is_served and not self._has_ended:
                heappush(self._waiting, task)
        if is_accepted:
            self._wakings.put(None)
        else:
            self._refuse([task])

    def get(self, most: int, max_bytes: int) -> list[Task[T]]:
        """Wait for the next task; return it and those that fit in a batch, or none at the end.

        Tasks that would be another supervisor's share are left to it.
        """
        while True:
            self._wakings.get()
            with self._lock:
                if self._waiting:
                    return self._next(most, max_bytes)
                if self._has_ended:
                    self._wakings.put(None)  # for the next supervisor
                    return []

    def leave(self, supervisor: object, failure: str) -> None:
        """Count out a supervisor that has no worker, and say why."""
        with self._lock:
            self._absent.add(supervisor)
            self._failure = failure
            refused = self._take_all() if len(self._absent) == self._supervisors else []
        self._refuse(refused)

    def join(self, supervisor: object) -> None:
        """Count in a supervisor that has a worker."""
        with self._lock:
            self._absent.discard(supervisor)

    def end(self) -> None:
        """End the queue for good, and cancel the waiting tasks."""
        with self._lock:
            self._has_ended = True
            refused = self._take_all()
        self._wakings.put(None)
        self._refuse(refused)

    def _next(self, most: int, max_bytes: int) -> list[Task[T]]:
        others = (len(self._waiting) - 1) // self._supervisors
        tasks = [heappop(self._waiting)]
        room = max_bytes - len(tasks[0].record.content)
        for _ in range(min(most - 1, others)):
            if room < 0 or tasks[0].is_alone or self._waiting[0].is_alone:
                break
            # The supervisor that is woken for it may find no task, and waits on.
            tasks.append(heappop(self._waiting))
            room -= len(tasks[-1].record.content)
        return tasks

    def _take_all(self) -> list[Task[T]]:
        tasks, self._waiting = sorted(self._waiting), []
        return tasks

    def _refuse(self, tasks: Iterable[Task[T]]) -> None:
        for task in tasks:
            if self._has_ended:
                task.cancel()
            else:
                # A new error for each: the traceback of an error grows each time it is raised.
                task.answer(WorkersFailed(self._failure))
