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

    :param recipe: job, signer and limits of the worker.
    :ivar lost: how many workers died or were killed over a page.
    """

    def __init__(self, recipe: WorkerRecipe) -> None:
        self.lost = 0
        self._recipe = recipe
        self._worker: WorkerProcess | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    @property
    def is_stopping(self) -> bool:
        """Was :meth:`stop` called?"""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Kill the worker, and start no other one."""
        with self._lock:
            self._stopping.set()
            if self._worker is not None:
                self._worker.kill()

    def wait(self, seconds: float) -> bool:
        """Wait so many seconds, or until :meth:`stop`; return whether that was called."""
        return self._stopping.wait(seconds)

    def ready_worker(self, seconds: float) -> WorkerProcess | None:
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
                code = self.discard()
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

    def lose(self) -> int | None:
        """Kill and count a worker that failed over a page; return its exit code."""
        self.lost += not self._stopping.is_set()
        return self.discard()

    def discard(self) -> int | None:
        """Kill the worker and empty the slot; return the exit code if it is known."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            with suppress(Exception):
                return worker.close()
        return None
