"""A worker process with the channel to it, and the slot of a supervisor for it."""

from __future__ import annotations

import multiprocessing
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..exceptions import WorkersFailed
from ..sources.record import Record
from .channel import Channel
from .tasks import WorkerRecipe
from .worker import pack_recipe

if TYPE_CHECKING:
    from .forkserver import ForkedProcess
    from .spawning import SpawnedProcess

#: Seconds that a killed worker may take to end.
_END_SECONDS = 2.0
#: Seconds of pause before each try to start a worker.
_PAUSES = 0.0, 0.1, 0.4


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

    def ask(self, records: Sequence[Record], seconds: float) -> Any:
        """Have the worker do its job on these pages, and return its results, one for each.

        :raises OSError, EOFError: when it dies meanwhile.
        :raises TimeoutError: when it takes longer than so many seconds.
        """
        deadline = monotonic() + seconds
        self._channel.send(records, deadline)
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


def _start(end: socket.socket, deadline: float) -> ForkedProcess | SpawnedProcess:
    if "forkserver" in multiprocessing.get_all_start_methods():
        from .forkserver import fork_server

        return fork_server.fork(end, deadline)
    from .spawning import SpawnedProcess

    return SpawnedProcess(end)


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
