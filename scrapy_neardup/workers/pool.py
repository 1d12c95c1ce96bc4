"""The pool of worker processes."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..signatures.signer import Signer
from ..sources.record import Record
from .supervisor import Deliver, Supervisor
from .tasks import Failure, Job, Limits, Task, TaskQueue, WorkerRecipe, attempt

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

#: Pages that :meth:`PagePool.map` reads ahead, for each worker, and their bytes for all workers:
#: enough that no worker is idle, few enough that memory stays flat.
_PAGES_PER_WORKER = 16
_MAX_BYTES_AHEAD = 64 * 2**20

#: Seconds that leaving a pool waits for each of its threads, which are daemons.
_END_SECONDS = 5.0


def usable_cores() -> int:
    """Return the number of cores that this process may use, or of all cores if that is unknown."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def call_here(call: Callable[[], None]) -> None:
    """Call a function in the current thread."""
    call()


class PagePool(ABC, Generic[T]):
    """Runs a job on many pages and returns a future for each.

    :param workers: number of processes that read pages.
    """

    def __init__(self, workers: int) -> None:
        self._ahead = max(1, _PAGES_PER_WORKER * workers)

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *error: object) -> None: ...

    @abstractmethod
    def submit(self, record: Record) -> Future[T | Failure]:
        """Submit a page, whose future always completes."""

    def map(self, records: Iterable[Record]) -> Iterator[tuple[Record, T | Failure]]:
        """Yield the pages and their results in the order of the pages.

        Reads a bounded number of pages ahead.

        :raises WorkersFailed: when no worker can be started.
        """
        waiting: deque[tuple[Record, Future[T | Failure]]] = deque()
        bytes_ahead = 0
        for record in records:
            waiting.append((record, self.submit(record)))
            bytes_ahead += len(record.content)
            while waiting and (
                len(waiting) >= self._ahead
                or bytes_ahead > _MAX_BYTES_AHEAD
                or waiting[0][1].done()
            ):
                done, future = waiting.popleft()
                bytes_ahead -= len(done.content)
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()


class WorkerPool(PagePool[T]):
    """Runs one job on many pages.

    :param job: called with each page.
    :param signer: arguments of the :class:`~scrapy_neardup.signatures.signer.Signer` that each
        worker creates; they must be picklable.
    :param workers: number of processes; with 0 the work is done in this one, without limits.
    :param limits: time and memory that one page may take.
    :param deliver: called in a thread of the pool, with a function that sets the results of one or
        several pages; it may call that function in another thread, as an event loop's.
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
        super().__init__(workers)
        self._job = job
        self._inline = None if workers else Signer(**signer)
        self._limits = limits or Limits()
        self._queue = TaskQueue[T](workers)
        self._numbers = count()
        recipe = WorkerRecipe(job, dict(signer), self._limits)
        self._supervisors = [Supervisor(recipe, self._queue, deliver) for _ in range(workers)]
        self._starts_with_first_page = True

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        for supervisor in self._supervisors:
            if supervisor.is_alive():
                supervisor.join(_END_SECONDS)

    @property
    def lost(self) -> int:
        """Number of workers that died or were killed over a page, and were replaced."""
        return sum(supervisor.lost for supervisor in self._supervisors)

    def start(self) -> None:
        """Start the workers without waiting until they are ready."""
        self._starts_with_first_page = False
        for supervisor in self._supervisors:
            supervisor.start()

    def stop(self) -> None:
        """Kill all workers and cancel waiting pages; does not wait until the workers have ended."""
        self._starts_with_first_page = False
        for supervisor in self._supervisors:
            supervisor.stop()
        self._queue.end()

    def submit(self, record: Record) -> Future[T | Failure]:
        """Submit a page; the first one starts the workers, unless :meth:`start` did.

        Its future always completes: with a result, with a failure, with a :exc:`WorkersFailed` when
        no worker can be started, or cancelled when the pool is stopped.
        """
        task: Task[T] = Task(next(self._numbers), record, self._limits.seconds)
        if self._starts_with_first_page:
            self.start()
        if self._inline is not None:
            task.future.set_result(attempt(self._job, self._inline, record))
        else:
            self._queue.put(task)
        return task.future
