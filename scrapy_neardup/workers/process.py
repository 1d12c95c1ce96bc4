"""A worker process with the channel to it."""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..exceptions import WorkersFailed
from ..sources.record import Record
from .tasks import WorkerRecipe
from .worker import Channel, pack_recipe

if TYPE_CHECKING:
    from .forkserver import ForkedProcess
    from .spawning import SpawnedProcess

#: Seconds that a killed worker may take to end.
_END_SECONDS = 2.0


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
