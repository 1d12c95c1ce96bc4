"""The slot for a supervisor's worker process."""

from __future__ import annotations

import threading
from contextlib import suppress
from time import monotonic

from ..exceptions import WorkersFailed
from .process import WorkerProcess
from .tasks import WorkerRecipe

#: Seconds of pause before each try to start a worker.
_PAUSES = 0.0, 0.1, 0.4


class WorkerSlot:
    """Starts a worker process when it is needed, and another one when the first is lost.

    :ivar lost: how many workers died or were killed over a page.
    :ivar stopping: is set by :meth:`stop`.
    """

    def __init__(self, recipe: WorkerRecipe) -> None:
        self.lost = 0
        self.stopping = threading.Event()
        self._recipe = recipe
        self._worker: WorkerProcess | None = None
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Kill the worker, and start no other one."""
        with self._lock:
            self.stopping.set()
            if self._worker is not None:
                self._worker.kill()

    def ready_worker(self, seconds: float) -> WorkerProcess | None:
        """Return the worker, starting it if needed; ``None`` after :meth:`stop`.

        :raises WorkersFailed: when none can be started, or not within so many seconds.
        """
        if self._worker is not None:
            return self._worker
        deadline, problem = monotonic() + seconds, ""
        for pause in _PAUSES:
            if self.stopping.wait(pause):
                return None
            if monotonic() > deadline:
                break
            try:
                return self._started_worker(deadline)
            except WorkersFailed:
                raise
            except Exception as error:
                code = self.discard()
                problem = str(error) or repr(error)
                if code is not None and not isinstance(error, TimeoutError):
                    problem = f"it ended with exit code {code}"
        raise WorkersFailed(f"a worker process cannot be started: {problem}")

    def _started_worker(self, deadline: float) -> WorkerProcess:
        worker = WorkerProcess(self._recipe, deadline)
        with self._lock:
            self._worker = worker
            if self.stopping.is_set():
                worker.kill()
        worker.wait_until_ready(deadline)
        return worker

    def lose(self) -> int | None:
        """Kill and count a worker that failed over a page; return its exit code."""
        self.lost += not self.stopping.is_set()
        return self.discard()

    def discard(self) -> int | None:
        """Kill the worker and empty the slot; return the exit code if it is known."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            with suppress(Exception):
                return worker.close()
        return None
