"""Holds the worker process of a supervisor: starts it, and replaces it when it is lost."""

from __future__ import annotations

import threading
from contextlib import suppress
from time import monotonic

from ..exceptions import WorkersFailed
from .process import WorkerProcess
from .tasks import WorkerRecipe

#: How often a worker is started that dies before it is ready, with pauses of so many seconds, the
#: next one longer by a factor.
_STARTS = 3
_PAUSE, _PAUSE_FACTOR = 0.1, 4


class WorkerSlot:
    """Holds a worker process, or none yet.

    :param recipe: what the worker is made of.
    :ivar lost: how many workers died or were ended over a page.
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
        """End the worker now, and start no other one."""
        with self._lock:
            self._stopping.set()
            if self._worker is not None:
                self._worker.kill()

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until :meth:`stop`; was it called?"""
        return self._stopping.wait(seconds)

    def ready_worker(self, seconds: float) -> WorkerProcess | None:
        """Return the worker, started if need be; ``None`` when the work is being stopped.

        :raises WorkersFailed: when none can be started, or not within so many seconds.
        """
        if self._worker is not None:
            return self._worker
        deadline, pause, problem = monotonic() + seconds, _PAUSE, ""
        for number in range(_STARTS):
            if number and not self._stopping.wait(pause):
                pause *= _PAUSE_FACTOR
            if self._stopping.is_set():
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
                    problem = f"it ended with {code}"
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
        """End a worker over a page; return its exit code."""
        self.lost += not self._stopping.is_set()
        return self.discard()

    def discard(self) -> int | None:
        """End and forget the worker; return its exit code."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            with suppress(Exception):
                return worker.close()
        return None
