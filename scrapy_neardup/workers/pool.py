"""The pool: hands pages to worker processes and their results back."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..signatures.signature import Signer
from ..sources.record import Record
from .supervisor import Deliver, Supervisor
from .task_queue import Task, TaskQueue
from .tasks import Failure, Job, Limits, WorkerRecipe, attempt

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

#: Pages that wait or are under way, for each worker, and their bytes for all of them: enough that
#: nobody waits for the reader, few enough that memory stays flat.
_PAGES_PER_WORKER = 16
_BYTES_UNDER_WAY = 64 * 2**20

#: How long the end of a pool waits for its threads; they end with the process at the latest.
_END_SECONDS = 5.0


def usable_cores() -> int:
    """Cores that this process may use, where the system says so."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def call_here(call: Callable[[], None]) -> None:
    """Make a call in the thread that it comes from."""
    call()


class WorkerPool(Generic[T]):
    """Does one job on many pages.

    :param job: what to do with each page.
    :param signer: arguments of the :class:`~scrapy_neardup.signatures.signature.Signer` that each
        worker makes for itself; they must survive pickling.
    :param workers: number of processes; with 0 the work is done in this one, without limits.
    :param limits: what one page may take.
    :param deliver: makes a call that sets the answers of one or several pages, from a thread of the
        pool's; for who waits in a thread of his own, and has those of several at once.
    """

    def __init__(
        self,
        job: Job[T],
        signer: Mapping[str, Any],
        workers: int,
        limits: Limits | None = None,
        *,
        deliver: Deliver = call_here,
    ) -> None:
        self._job = job
        self._inline = None if workers else Signer(**signer)
        self._limits = limits or Limits()
        self._queue = TaskQueue[T](workers)
        self._numbers = count()
        recipe = WorkerRecipe(job, dict(signer), self._limits)
        self._supervisors = [
            Supervisor(recipe, self._queue, workers, deliver) for _ in range(workers)
        ]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        for supervisor in self._supervisors:
            if supervisor.is_alive():
                supervisor.join(_END_SECONDS)

    @property
    def lost(self) -> int:
        """How many workers died or were ended over a page, and were replaced."""
        return sum(supervisor.lost for supervisor in self._supervisors)

    def start(self) -> None:
        """Start the workers, without waiting until they are ready."""
        for supervisor in self._supervisors:
            supervisor.start()

    def stop(self) -> None:
        """End all workers, whatever they are doing, and cancel what still waits.

        Does not wait for the end; at the latest they end with this process.
        """
        for supervisor in self._supervisors:
            supervisor.stop()
        for task in self._queue.end():
            task.cancel()

    def submit(self, record: Record) -> Future[T | Failure]:
        """Hand a page over.

        Its future is always done in the end: with a result, with a failure, with a
        :exc:`WorkersFailed` when no worker can be started, or cancelled when the pool is
        stopped. While no worker can be started it is done at once.
        """
        task: Task[T] = Task(next(self._numbers), record, self._limits.seconds)
        if self._inline is not None:
            task.future.set_result(attempt(self._job, self._inline, record))
        elif not self._queue.put(task):
            self._queue.refuse(task)
        return task.future

    def map(self, records: Iterable[Record]) -> Iterator[tuple[Record, T | Failure]]:
        """Results in the order of the pages, however many work on them.

        Reads ahead only so far that the pages under way stay within bounds.

        :raises WorkersFailed: when no worker can be started.
        """
        ahead = max(1, _PAGES_PER_WORKER * len(self._supervisors))
        waiting: deque[tuple[Record, Future[T | Failure]]] = deque()
        under_way = 0
        for record in records:
            waiting.append((record, self.submit(record)))
            under_way += len(record.content)
            while waiting and (
                len(waiting) >= ahead or under_way > _BYTES_UNDER_WAY or waiting[0][1].done()
            ):
                done, future = waiting.popleft()
                under_way -= len(done.content)
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()
