"""Supervisors: threads that each run one worker process, and replace it when it is lost.

Whatever fails, every task that a supervisor took is completed or put back, and no wait for a
process is unlimited.
"""

from __future__ import annotations

import multiprocessing
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..exceptions import WorkersFailed
from ..reasons import Reason
from ..sources.record import Record
from .tasks import Failure, Task, TaskQueue, WorkerRecipe, lacks_memory
from .worker import Channel, pack_recipe

if TYPE_CHECKING:
    from .forkserver import ForkedProcess
    from .spawning import SpawnedProcess

T = TypeVar("T")

#: Calls a function that sets the results of one or several pages.
Deliver = Callable[[Callable[[], None]], None]

#: Limits of a batch: pages, bytes, and seconds that a worker may take for all of its pages. A batch
#: is made only as large as should take the given part of that time, by the pace of earlier pages.
_BATCH_PAGES = 8
_BATCH_BYTES = 2 * 2**20
_BATCH_SECONDS = 3.0
_PART_EXPECTED = 0.25
#: The pace of the slowest page decays by this factor with each faster batch.
_DECAY = 0.75

#: Seconds that a killed worker may take to end.
_END_SECONDS = 2.0
#: Seconds of pause before each try to start a worker.
_PAUSES = 0.0, 0.1, 0.4
#: Seconds that pages wait for a worker to start.
_START_SECONDS = 60.0
#: After a failed start, pages no longer wait. Further starts may take longer, as a user's tokenizer
#: or extractor may need. The pauses between them double up to a limit.
_RESTART_SECONDS = 120.0
_RESTART_PAUSE, _LONGEST_PAUSE = 1.0, 60.0

#: The least time limit of a retried page, in seconds.
_LEAST_SECONDS = 0.5


class Supervisor(threading.Thread, Generic[T]):
    """Sends pages to a worker, waits for its results, and replaces it when it is lost.

    :ivar lost: how many workers died or were killed over a page.
    """

    def __init__(self, recipe: WorkerRecipe, queue: TaskQueue[T], deliver: Deliver) -> None:
        super().__init__(name="neardup-supervisor", daemon=True)
        self._limit = recipe.limits.seconds
        self._queue = queue
        self._deliver = deliver
        self._batch_seconds = min(_BATCH_SECONDS, self._limit)
        #: Seconds that the slowest of the recent pages took.
        self._pace = _BATCH_SECONDS
        self.lost = 0
        self._stopping = threading.Event()
        self._recipe = recipe
        self._worker: WorkerProcess | None = None
        #: Tasks and their results that have yet to be delivered. They are once the worker has its
        #: next tasks: the code that results wake holds the interpreter's lock, which sending needs.
        self._undelivered: tuple[Sequence[Task[T]], Sequence[T | Failure]] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the thread; if that fails, the other supervisors do its share of the work."""
        try:
            super().start()
        except Exception as error:
            self._queue.leave(self, f"no thread can be started for a worker: {error}")

    def run(self) -> None:
        """Serve the queue until :meth:`stop`."""
        try:
            self._supervise()
        finally:
            self._discard()
            self._deliver_last()
            self._queue.leave(self, "the thread of a worker has ended")

    def stop(self) -> None:
        """Kill the worker, and start no other one."""
        with self._lock:
            self._stopping.set()
            if self._worker is not None:
                self._worker.kill()

    def _supervise(self) -> None:
        seconds, pause = _START_SECONDS, _RESTART_PAUSE
        while not self._stopping.is_set():
            try:
                worker = self._ready_worker(seconds)
            except BaseException as error:
                self._discard()
                self._queue.leave(self, str(error))
                self._stopping.wait(pause)
                seconds, pause = _RESTART_SECONDS, min(2 * pause, _LONGEST_PAUSE)
                continue
            if worker is not None:
                self._queue.join(self)
                self._serve(worker)
                seconds, pause = _START_SECONDS, _RESTART_PAUSE

    def _ready_worker(self, seconds: float) -> WorkerProcess | None:
        """Return the worker, starting it if needed; ``None`` after :meth:`stop`.

        :raises WorkersFailed: when none can be started, or not within so many seconds.
        """
        if self._worker is not None:
            return self._worker
        deadline, problem = monotonic() + seconds, ""
        for pause in _PAUSES:
            if self._stopping.wait(pause):
                return None
            if monotonic() > deadline:
                break
            try:
                return self._started_worker(deadline)
            except WorkersFailed:
                raise
            except Exception as error:
                code = self._discard()
                problem = str(error) or repr(error)
                if code is not None and not isinstance(error, TimeoutError):
                    problem = f"it ended with exit code {code}"
        raise WorkersFailed(f"a worker process cannot be started: {problem}")

    def _started_worker(self, deadline: float) -> WorkerProcess:
        worker = WorkerProcess(self._recipe, deadline)
        with self._lock:
            self._worker = worker
            if self._stopping.is_set():
                worker.kill()
        worker.wait_until_ready(deadline)
        return worker

    def _lose(self) -> int | None:
        """Kill and count a worker that failed over a page; return its exit code."""
        self.lost += not self._stopping.is_set()
        return self._discard()

    def _discard(self) -> int | None:
        """Kill the worker, if there is one; return its exit code if it is known."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            with suppress(Exception):
                return worker.close()
        return None

    def _serve(self, worker: WorkerProcess) -> None:
        """Send the next tasks to the worker, and complete them or put them back."""
        expected = _PART_EXPECTED * self._batch_seconds
        most = _BATCH_PAGES if _BATCH_PAGES * self._pace <= expected else int(expected / self._pace)
        tasks = self._queue.get(most, _BATCH_BYTES, waits=self._undelivered is None)
        try:
            if self._stopping.is_set():
                for task in tasks:
                    task.cancel()
            # Tasks that have begun can no longer be cancelled.
            tasks = [task for task in tasks if task.begin()]
            if len(tasks) > 1:
                self._do_together(worker, tasks)
            elif tasks:
                self._do_alone(worker, tasks[0])
            else:
                self._deliver_last()
        except BaseException as error:
            self._discard()
            self._deliver_last()
            failure = Failure(Reason.FAILED, f"its supervisor failed: {error!r}")
            self._answer(tasks, [failure] * len(tasks))

    def _do_together(self, worker: WorkerProcess, tasks: Sequence[Task[T]]) -> None:
        """Send a batch of pages; if that fails, each of them is retried alone.

        A worker that fails over a batch is not counted as lost, because the retries show which page
        is the cause.
        """
        try:
            answers = self._ask(worker, tasks, self._batch_seconds)
        except Exception:
            answers = None
        if answers is None or any(map(lacks_memory, answers)):
            self._discard()
            self._put_back(tasks)
        else:
            self._undelivered = tasks, answers

    def _do_alone(self, worker: WorkerProcess, task: Task[T]) -> None:
        """Send one page; if the worker dies, it is retried within the rest of its time limit."""
        started = monotonic()
        try:
            [answer] = self._ask(worker, [task], task.seconds_left)
        except TimeoutError:
            self._lose()
            answer = Failure(Reason.TIMEOUT, f"it took more than {self._limit:g} s")
        except Exception as error:
            code = self._lose()
            task.tries_left -= 1
            task.seconds_left = max(_LEAST_SECONDS, task.seconds_left - (monotonic() - started))
            if task.tries_left:
                self._put_back([task])
                return
            how = repr(error) if code is None else f"its process ended with {code}"
            answer = Failure(Reason.WORKER_DIED, how)
        else:
            if not lacks_memory(answer):
                self._undelivered = [task], [answer]
                return
            self._lose()
        self._answer([task], [answer])

    def _ask(self, worker: WorkerProcess, tasks: Sequence[Task[T]], seconds: float) -> Any:
        """Return the worker's results, and update the pace."""
        started = monotonic()
        deadline = started + seconds
        try:
            self._send(worker, tasks, deadline)
            answers = worker.receive(deadline)
        finally:
            took = (monotonic() - started) / len(tasks)
            self._pace = max(took, _DECAY * self._pace)
        if len(answers) != len(tasks):
            raise ValueError(f"{len(answers)} results for {len(tasks)} pages")
        return answers

    def _send(self, worker: WorkerProcess, tasks: Sequence[Task[T]], deadline: float) -> None:
        """Send pages to the worker, then deliver its last results, even if it cannot be reached."""
        try:
            worker.send([task.record for task in tasks], deadline)
        finally:
            self._deliver_last()

    def _put_back(self, tasks: Sequence[Task[T]]) -> None:
        """Put tasks back into the queue, to be retried alone.

        They keep their queue position, because of a page and its copy the first is the original.
        """
        for task in tasks:
            task.is_alone = True
            self._queue.put(task)

    def _deliver_last(self) -> None:
        """Complete the tasks whose results have yet to be delivered, if there are any."""
        if (last := self._undelivered) is not None:
            self._undelivered = None
            self._answer(*last)

    def _answer(self, tasks: Sequence[Task[T]], answers: Sequence[T | Failure]) -> None:
        """Complete tasks, except those that are complete."""

        def answer_all() -> None:
            for task, answer in zip(tasks, answers, strict=True):
                task.answer(answer)

        try:
            self._deliver(answer_all)
        except Exception:
            # The event loop is closed, so any waiting code runs in another thread.
            answer_all()


class WorkerProcess:
    """A worker process and this end of its channel; no method waits without limit.

    :param deadline: time of :func:`time.monotonic` by which it must have been started.
    :raises OSError, EOFError: when it cannot be started, or not in time.
    """

    def __init__(self, recipe: WorkerRecipe, deadline: float) -> None:
        ours, its = socket.socketpair()
        self._channel = Channel(ours)
        try:
            with its:
                self._process = _start(its, deadline)
        except BaseException:
            self._channel.close()
            raise
        self._recipe = recipe

    def wait_until_ready(self, deadline: float) -> None:
        """Wait until the worker has been set up.

        :raises OSError, EOFError: when it dies, or is not ready in time.
        :raises WorkersFailed: when its setup failed.
        """
        self._channel.send(pack_recipe(self._recipe), deadline)
        if (answer := self._channel.receive(deadline)) is not True:
            raise WorkersFailed(f"the setup of a worker failed: {answer}")

    def send(self, records: Sequence[Record], deadline: float) -> None:
        """Send pages to the worker, whose results :meth:`receive` returns.

        :raises OSError, EOFError: when it dies meanwhile.
        :raises TimeoutError: when it has not taken them by the deadline.
        """
        self._channel.send(records, deadline)

    def receive(self, deadline: float) -> Any:
        """Return the results of the pages that were sent, one for each.

        :raises OSError, EOFError: when the worker dies meanwhile.
        :raises TimeoutError: when it has not answered by the deadline.
        """
        return self._channel.receive(deadline)

    def kill(self) -> None:
        """Kill the worker and wake the thread that waits for it; from any thread."""
        self._channel.shut_down()
        with suppress(OSError):
            self._process.kill()

    def close(self) -> int | None:
        """Kill the worker and release its resources; return its exit code if it is known."""
        self.kill()
        self._channel.close()
        return self._process.end(_END_SECONDS)


def prepare_workers() -> None:
    """Begin to load what workers need, where they are forked; the first is then ready sooner."""
    if _can_fork():
        from .forkserver import fork_server

        fork_server.prepare()


def _can_fork() -> bool:
    """Return whether the system has a fork server, which workers are forked from."""
    return "forkserver" in multiprocessing.get_all_start_methods()


def _start(end: socket.socket, deadline: float) -> ForkedProcess | SpawnedProcess:
    if _can_fork():
        from .forkserver import fork_server

        return fork_server.fork(end, deadline)
    from .spawning import SpawnedProcess

    return SpawnedProcess(end)
