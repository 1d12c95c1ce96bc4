"""The program of a worker process, and its messages, each within a time limit."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from ..reasons import Reason
from ..signatures.signer import Signer
from .tasks import Failure, WorkerRecipe, attempt_all

#: From this part of the memory limit on, what was read is not trusted.
_TRUSTED_SHARE = 0.85
_STATUS = Path("/proc/self/status")
_LENGTH = struct.Struct("!Q")
#: A time in C: seconds and microseconds.
_TIMEVAL = struct.Struct("@ll")
_IS_POSIX = os.name == "posix"
#: Other systems refuse this flag for sockets with a timeout of Python's.
_WAIT_FOR_ALL = socket.MSG_WAITALL if _IS_POSIX else 0
_MEMORY_EXHAUSTED = Failure(
    Reason.OUT_OF_MEMORY, f"it took more than {_TRUSTED_SHARE:.0%} of a worker's memory limit"
)


def pack_recipe(recipe: WorkerRecipe) -> tuple[list[str], bytes]:
    """Return the first message to a worker: its module path and its recipe."""
    return sys.path, pickle.dumps(recipe, pickle.HIGHEST_PROTOCOL)


def serve(end: socket.socket) -> None:
    """Do the job on the pages that arrive on a channel, until its other end is closed.

    The first message is that of :func:`pack_recipe`; the answer is ``True``, or a string that says
    why the setup failed. Each further message is a list of pages, and its answer the list of their
    results.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _print_to_stderr()
    channel = Channel(end)
    with suppress(EOFError, OSError):  # the parent has gone
        try:
            inbox = _Inbox(channel)
            sys.path[:], packed = inbox.receive()
            recipe: WorkerRecipe = pickle.loads(packed)
            memory = MemoryGuard(recipe.limits.memory_mb)
            signer = Signer(**recipe.signer)
        except Exception as error:
            channel.send(repr(error))
            return
        channel.send(True)
        while True:
            records = inbox.receive()
            with _alarm(recipe.limits.seconds):
                answers = attempt_all(recipe.job, signer, records)
            if memory.is_exhausted():
                answers = [_MEMORY_EXHAUSTED] * len(records)
            channel.send(answers)


class _Inbox:
    """Messages of the parent; ends this process as soon as the parent has ended."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._messages = SimpleQueue[bytearray]()
        Thread(target=self._read, name="neardup-inbox", daemon=True).start()

    def receive(self) -> Any:
        """Wait for the next message."""
        return pickle.loads(self._messages.get())

    def _read(self) -> None:
        # This thread waits in a system call, and so notices the parent's end while a page is read.
        try:
            while True:
                self._messages.put(self._channel.receive_bytes())
        finally:
            os._exit(1)


def _print_to_stderr() -> None:
    """Redirect what libraries print, to keep it out of a command's results."""
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(nowhere, number)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Have the system kill a worker that hangs in a C library after its parent has ended."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


class MemoryGuard:
    """Limits the memory of this process, and detects when a page came near the limit.

    C libraries do not always report a failed allocation: libxml2 may return a partial tree, and
    lxml only prints a message where it cannot raise. So what was read of a page that came near the
    limit is not trusted.

    :param mebibytes: the limit; 0 for none.
    """

    def __init__(self, mebibytes: int) -> None:
        #: Whether an allocation has been refused.
        self._refused = False
        self._bound = mebibytes * 2**20
        if mebibytes and _set_data_limit(self._bound):
            size = _sizes()
            # The system keeps the peak of the virtual size, but not of the data.
            self._other = size["VmSize"] - size["VmData"] - size["VmStk"]
            # Cython reports an error that it cannot raise through the second hook.
            sys.excepthook, sys.unraisablehook = self._on_error, self._on_unraisable
        else:
            self._bound = 0

    def is_exhausted(self) -> bool:
        """Return whether this process has come near its limit since it was started."""
        if not self._bound:
            return False
        return self._refused or _sizes()["VmPeak"] - self._other > _TRUSTED_SHARE * self._bound

    def _on_error(self, kind: type[BaseException], error: BaseException, trace: Any, /) -> None:
        if isinstance(error, MemoryError):
            self._refused = True
        else:
            sys.__excepthook__(kind, error, trace)

    def _on_unraisable(self, unraisable: Any, /) -> None:
        if isinstance(unraisable.exc_value, MemoryError):
            self._refused = True
        else:
            sys.__unraisablehook__(unraisable)


def _set_data_limit(size: int) -> bool:
    """Limit the data segment; return ``False`` where that is not supported, or cannot be read."""
    try:
        import resource
    except ImportError:
        return False
    try:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
    except (OSError, ValueError):
        return False
    return _STATUS.exists()


def _sizes() -> Counter[str]:
    """Return the sizes that the system names, such as ``VmPeak``, in bytes; others are 0."""
    lines = (line.partition(":") for line in _STATUS.read_text().splitlines())
    return Counter(
        {name: int(text.split()[0]) * 1024 for name, _, text in lines if name.startswith("Vm")}
    )


class Channel:
    """One end of a socket pair, for pickled messages.

    Only one thread may send or receive at a time; any thread may shut the channel down. A
    ``deadline`` is a time of :func:`time.monotonic`, or ``None`` to wait without limit.

    The system limits the time, so that one call sends or receives each part of a message. With
    timeouts of Python's, a thread makes several calls, and needs the interpreter's lock again after
    each; a busy thread gives it away only every five milliseconds.

    :param end: the socket, which the channel takes over.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        end.settimeout(None)
        self._is_limited = False

    def send(self, message: object, deadline: float | None = None) -> None:
        """Send a message.

        :raises OSError: when the channel fails; :exc:`TimeoutError` after the deadline.
        """
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        rest = memoryview(_LENGTH.pack(len(data)) + data)
        while rest:
            with self._limited(deadline):
                rest = rest[self._socket.send(rest) :]

    def receive(self, deadline: float | None = None) -> Any:
        """Return the next message.

        :raises EOFError: when the other side has closed the channel or has ended.
        :raises OSError: when the channel fails; :exc:`TimeoutError` after the deadline.
        """
        return pickle.loads(self.receive_bytes(deadline))

    def receive_bytes(self, deadline: float | None = None) -> bytearray:
        """Return the next message, still pickled; raises the same errors as :meth:`receive`."""
        [length] = _LENGTH.unpack(self._receive_exactly(_LENGTH.size, deadline))
        return self._receive_exactly(length, deadline)

    def shut_down(self) -> None:
        """End sending and receiving on both sides; wakes threads that wait here."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this side."""
        self._socket.close()

    def _receive_exactly(self, size: int, deadline: float | None) -> bytearray:
        data = bytearray(size)
        rest = memoryview(data)
        while rest:
            with self._limited(deadline):
                received = self._socket.recv_into(rest, 0, _WAIT_FOR_ALL)
            if not received:
                raise EOFError("the other side has closed the channel")
            rest = rest[received:]
        return data

    @contextmanager
    def _limited(self, deadline: float | None) -> Iterator[None]:
        """Limit the time of a call of the system.

        :raises TimeoutError: when the deadline has passed before or during the call.
        """
        if deadline is not None:
            self._set_timeout(seconds_until(deadline))
        elif self._is_limited:
            self._set_timeout(None)
        try:
            yield
        except BlockingIOError:
            raise TimeoutError("the deadline has passed") from None

    def _set_timeout(self, seconds: float | None) -> None:
        self._is_limited = seconds is not None
        if not _IS_POSIX:
            self._socket.settimeout(seconds)
            return
        # A timeout of 0 is none.
        microseconds = 0 if seconds is None else max(1, int(seconds * 1e6))
        value = _TIMEVAL.pack(*divmod(microseconds, 10**6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._socket.setsockopt(socket.SOL_SOCKET, option, value)


def seconds_until(deadline: float) -> float:
    """Return the seconds left until a deadline.

    :raises TimeoutError: when it has passed.
    """
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
