"""A worker process as its supervisor sees it."""

from __future__ import annotations

import multiprocessing
import socket
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Protocol

from ..exceptions import WorkersFailed
from ..sources.record import Record
from .channel import Channel
from .tasks import WorkerRecipe
from .worker import pack_recipe

#: Seconds that a worker that was killed may take to end.
_END_SECONDS = 2.0


class _Process(Protocol):
    def kill(self) -> None: ...

    def exit_code(self, seconds: float) -> int | None: ...

    def close(self) -> None: ...


class WorkerProcess:
    """One worker process and this side of its channel. No method waits without limit.

    :param recipe: what it is made of.
    :param deadline: until when it must have been started, a reading of :func:`time.monotonic`.
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
        """Wait until it has loaded all it needs.

        :raises OSError, EOFError: when it dies, or is not ready in time.
        :raises WorkersFailed: when it says why it cannot work.
        """
        self._channel.send(pack_recipe(self._recipe), deadline)
        if (answer := self._channel.receive(deadline)) is not True:
            raise WorkersFailed(f"a worker cannot start: {answer}")

    def ask(self, records: Sequence[Record], seconds: float) -> Any:
        """Return its answers, one for each page.

        :raises OSError, EOFError: when it dies over the question.
        :raises TimeoutError: when it has not answered in time.
        """
        deadline = monotonic() + seconds
        self._channel.send(records, deadline)
        return self._channel.receive(deadline)

    def kill(self) -> None:
        """End it, whatever it is doing; whoever waits for it is woken. From any thread."""
        self._channel.shut_down()
        with suppress(OSError):
            self._process.kill()

    def close(self) -> int | None:
        """End and forget it; return its exit code, ``None`` when that is not known."""
        self.kill()
        code = self._process.exit_code(_END_SECONDS)
        self._process.close()
        self._channel.close()
        return code


def _start(end: socket.socket, deadline: float) -> _Process:
    if "forkserver" in multiprocessing.get_all_start_methods():
        from .forkserver import fork_server

        return fork_server.fork(end, deadline)
    from .spawning import SpawnedProcess

    return SpawnedProcess(end)
