"""Supervisors: threads each of which keeps one worker process, whatever becomes of it.

Whatever fails, at any moment, every task that a supervisor took is answered or put back, and no
wait for a process is without limit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import Empty
from time import monotonic
from typing import Any, Generic, TypeVar

from ..reasons import Reason
from .process import WorkerProcess
from .task_queue import Task, TaskQueue
from .tasks import Failure, WorkerRecipe, lacks_memory
from .worker_slot import WorkerSlot

T = TypeVar("T")

#: Makes a call that sets the answers of one or several pages.
Deliver = Callable[[Callable[[], None]], None]

#: So many pages, of so many bytes, are given to a worker at once where they wait. It has some
#: seconds for all of them, and they are given to it only where it would take a part of that by what
#: it took before.
_AT_ONCE = 8
_BYTES_AT_ONCE = 2 * 2**20
_SECONDS_AT_ONCE = 3.0
_PART_EXPECTED = 0.25
#: By this factor what a page took counts less, each time that pages take less.
_FADING = 0.75

#: How long pages wait for a worker to start, in seconds.
_START_SECONDS = 60.0
#: When that failed, pages wait no more. A worker that starts meanwhile has longer: the parts of a
#: user may take their time. The pauses between such starts grow up to a limit.
_RESTART_SECONDS = 120.0
_RESTART_PAUSE, _LONGEST_PAUSE = 1.0, 60.0

#: However long the first try took, a page's next one has this many seconds.
_LEAST_SECONDS = 0.5


class Supervisor(threading.Thread, Generic[T]):
    """Brings pages to a worker, waits for its answers, and replaces it when it is lost.

    :param recipe: what the worker is made of.
    :param queue: where the pages come from.
    :param supervisors: how many share the queue.
    :param deliver: makes a call that sets answers.
    """

    def __init__(
        self, recipe: WorkerRecipe, queue: TaskQueue[T], supervisors: int, deliver: Deliver
    ) -> None:
        super().__init__(name="neardup-supervisor", daemon=True)
        self._recipe = recipe
        self._queue = queue
        self._supervisors = supervisors
        self._deliver = deliver
        self._seconds_at_once = min(_SECONDS_AT_ONCE, recipe.limits.seconds)
        #: Seconds that a page takes, by the slowest of late.
        self._pace = _SECONDS_AT_ONCE
        #: Tasks that nobody else answers.
        self._in_hand: list[Task[T]] = []
        self._is_serving = True
        self._slot = WorkerSlot(recipe)

    @property
    def lost(self) -> int:
        """How many workers died or were ended over a page."""
        return self._slot.lost

    def start(self) -> None:
        """Start the thread; where that cannot be, its share of the work is left to the others."""
        try:
            super().start()
        except Exception as error:
            self._leave(f"no thread can be started for a worker: {error}")

    def run(self) -> None:
        """Serve tasks until the end."""
        try:
            self._supervise()
        finally:
            self._slot.discard()
            if self._is_serving:
                self._leave("the thread of a worker has ended")

    def _supervise(self) -> None:
        seconds, pause = _START_SECONDS, _RESTART_PAUSE
        while not self._slot.is_stopping:
            try:
                worker = self._slot.ready_worker(seconds)
            except BaseException as error:
                self._slot.discard()
                self._leave(str(error))
                self._slot.wait(pause)
                seconds, pause = _RESTART_SECONDS, min(2 * pause, _LONGEST_PAUSE)
                continue
            if worker is not None:
                self._join()
                self._serve(worker)
                seconds, pause = _START_SECONDS, _RESTART_PAUSE

    def stop(self) -> None:
        """End the worker now; :meth:`run` then ends by itself."""
        self._slot.stop()

    def _serve(self, worker: WorkerProcess) -> None:
        """Serve the next task, and those that can be done with it."""
        if (task := self._queue.get()) is None:
            return
        self._in_hand = [task]
        try:
            self._take_more(task)
            self._do(worker)
        except BaseException as error:
            self._slot.discard()
            failure = Failure(Reason.FAILED, f"its worker could not be asked: {error!r}")
            self._answer(self._in_hand, *[failure] * len(self._in_hand))

    def _take_more(self, task: Task[T]) -> None:
        """Take what waits and can be done with it; other supervisors are left their share."""
        expected = _PART_EXPECTED * self._seconds_at_once
        most = _AT_ONCE if _AT_ONCE * self._pace <= expected else int(expected / self._pace)
        room = _BYTES_AT_ONCE - len(task.record.content)
        for _ in range(min(most - 1, len(self._queue) // self._supervisors)):
            if room < 0 or task.is_alone:
                return
            try:
                another = self._queue.get(wait=False)
            except Empty:
                return
            if another is None:
                return
            self._in_hand.append(another)
            if another.is_alone:
                self._put_back([another])
                return
            room -= len(another.record.content)

    def _do(self, worker: WorkerProcess) -> None:
        """Ask the worker about the tasks in hand, and answer them or put them back."""
        if self._slot.is_stopping:
            for task in self._in_hand:
                task.cancel()
        # From here on nobody else can set or cancel them.
        self._in_hand = tasks = [task for task in self._in_hand if task.begin()]
        if len(tasks) > 1:
            self._do_together(worker, tasks)
        elif tasks:
            self._do_alone(worker, tasks[0])

    def _do_together(self, worker: WorkerProcess, tasks: Sequence[Task[T]]) -> None:
        """Ask about several pages; where that fails, each is asked about by itself.

        A worker that does not answer, or lacks memory, is not yet counted as lost: which page is to
        blame is found out then.
        """
        try:
            answers = self._ask(worker, tasks, self._seconds_at_once)
        except Exception:
            answers = None
        if answers is None or any(map(lacks_memory, answers)):
            self._slot.discard()
            self._put_back(tasks)
        else:
            self._answer(tasks, *answers)

    def _do_alone(self, worker: WorkerProcess, task: Task[T]) -> None:
        """Ask about one page; when the worker dies, another one is asked, within one time limit."""
        started = monotonic()
        try:
            [answer] = self._ask(worker, [task], task.seconds_left)
        except TimeoutError:
            self._slot.lose()
            limit = self._recipe.limits.seconds
            self._answer([task], Failure(Reason.TIMEOUT, f"it took more than {limit:g} s"))
        except Exception as error:
            code = self._slot.lose()
            task.tries_left -= 1
            task.seconds_left = max(_LEAST_SECONDS, task.seconds_left - (monotonic() - started))
            if task.tries_left:
                self._put_back([task])
            else:
                how = repr(error) if code is None else f"its process ended with {code}"
                self._answer([task], Failure(Reason.WORKER_DIED, how))
        else:
            if lacks_memory(answer):
                self._slot.lose()
            self._answer([task], answer)

    def _ask(self, worker: WorkerProcess, tasks: Sequence[Task[T]], seconds: float) -> Any:
        """The worker's answers; how long they take sets the pace."""
        started = monotonic()
        try:
            answers = worker.ask([task.record for task in tasks], seconds)
        finally:
            took = (monotonic() - started) / len(tasks)
            self._pace = max(took, _FADING * self._pace)
        if len(answers) != len(tasks):
            raise ValueError(f"{len(answers)} answers to {len(tasks)} pages")
        return answers

    def _put_back(self, tasks: Iterable[Task[T]]) -> None:
        """Leave each by itself to whichever worker is free.

        They go before those that came later: of a page and its copy, the first is the original.
        """
        for task in tasks:
            self._let_go([task])
            task.is_alone = True
            if not self._queue.put(task):
                self._queue.refuse(task)

    def _answer(self, tasks: Sequence[Task[T]], *answers: T | Failure) -> None:
        self._let_go(tasks)
        self._hand_over(partial(_answer_all, tasks, answers))

    def _let_go(self, tasks: Sequence[Task[T]]) -> None:
        """From here on they are somebody else's to answer."""
        self._in_hand = [task for task in self._in_hand if task not in tasks]

    def _hand_over(self, call: Callable[[], None]) -> None:
        try:
            self._deliver(call)
        except Exception:
            # The event loop has gone; whoever still waits is not in it.
            call()

    def _leave(self, failure: str) -> None:
        """Serve no tasks for now; nobody is to wait for what nobody serves."""
        if self._is_serving:
            self._is_serving = False
            if tasks := self._queue.leave(failure):
                self._hand_over(partial(_refuse_all, self._queue, tasks))

    def _join(self) -> None:
        """Serve tasks again."""
        if not self._is_serving:
            self._queue.join()
            self._is_serving = True


def _answer_all(tasks: Sequence[Task[T]], answers: Sequence[T | Failure]) -> None:
    for task, answer in zip(tasks, answers, strict=True):
        task.answer(answer)


def _refuse_all(queue: TaskQueue[T], tasks: Sequence[Task[T]]) -> None:
    for task in tasks:
        queue.refuse(task)
