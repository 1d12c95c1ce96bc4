"""Worker processes forked from a server process that has loaded what they share.

The fork server of :mod:`multiprocessing` needs a temporary folder with a short path, waits without
limit when the server process is stopped, and takes the waiting thread down when it is killed. This
one uses a socket pair, which has no path, and limits every wait. A server process that fails or is
late is killed; the next worker is forked by a new one.
"""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.spawn import get_executable
from time import monotonic
from typing import Any

from .worker import seconds_until, serve

#: Seconds that a server may take to fork a worker, after its first.
_FORK_SECONDS = 10.0
#: Seconds that a killed server may take to end.
_END_SECONDS = 2.0
#: The request to fork a worker. Two sockets are sent with it: the worker's end of its channel, and
#: the server's end of its status socket.
_FORK = b"f"
#: What the server sends on the status socket: the worker's process id, or the negative ``errno`` of
#: a failed fork; and the exit code, after the other side has ended sending.
_NUMBER = struct.Struct("!q")


class ForkedProcess:
    """A worker process, forked by the fork server.

    :param pid: its process id, which stays its own until :meth:`end`.
    :param status: the status socket.
    """

    def __init__(self, pid: int, status: socket.socket) -> None:
        self._pid = pid
        self._status = status

    def kill(self) -> None:
        """Kill the process. Not after :meth:`end`."""
        os.kill(self._pid, signal.SIGKILL)

    def end(self, seconds: float) -> int | None:
        """Return the exit code of the killed process if it is known after so many seconds."""
        with self._status, suppress(OSError, EOFError):
            self._status.shutdown(socket.SHUT_WR)
            return _read_number(self._status, seconds)
        return None


class ForkServer:
    """Forks worker processes, for any thread, from a server process that is replaced on failure."""

    def __init__(self) -> None:
        self._server: _Server | None = None
        self._lock = threading.Lock()
        self._has_ended = False

    def prepare(self) -> None:
        """Start the server process without waiting; the next worker is then ready sooner."""
        if not self._lock.acquire(blocking=False):
            return  # another thread starts it
        try:
            # What fails here fails again when a worker is started, and is reported then.
            with suppress(Exception):
                self._require_server()
        finally:
            self._lock.release()

    def fork(self, end: socket.socket, deadline: float) -> ForkedProcess:
        """Start a worker.

        :param end: the worker's end of a channel; the caller closes its own copy.
        :param deadline: as for a :class:`~scrapy_neardup.workers.worker.Channel`.
        :raises OSError, EOFError: when the worker cannot be started, or not in time.
        """
        if not self._lock.acquire(timeout=seconds_until(deadline)):
            raise TimeoutError("another thread is starting a worker")
        try:
            return self._require_server().fork(end, deadline)
        except BaseException:
            self._discard()
            raise
        finally:
            self._lock.release()

    def end(self) -> None:
        """End the server process for good."""
        self._has_ended = True
        self._discard()

    def start_anew(self) -> None:
        """Leave the server process to the parent; called in a forked child of this process."""
        if self._server is not None:
            self._server.control.close()
            self._server.process.returncode = -1  # not a child of this process
        self._server, self._lock = None, threading.Lock()

    def _require_server(self) -> _Server:
        if self._has_ended:
            raise OSError("this process is exiting")
        if self._server is None or self._server.process.poll() is not None:
            self._discard()
            self._server = _Server()
        return self._server

    def _discard(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.end()


class _Server:
    """A server process, and this end of the socket pair to it."""

    def __init__(self) -> None:
        self._has_forked = False
        self.control, its = socket.socketpair()
        self.control.settimeout(_FORK_SECONDS)
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from {__name__} import main; main({its.fileno()})"
        )
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        try:
            with its, _interrupts_blocked():
                self.process = subprocess.Popen(
                    [get_executable(), *flags, "-c", code],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[its.fileno()],
                )
        except BaseException:
            self.control.close()
            raise

    def fork(self, end: socket.socket, deadline: float) -> ForkedProcess:
        if self._has_forked:  # and so has finished loading
            deadline = min(deadline, monotonic() + _FORK_SECONDS)
        ours, its = socket.socketpair()
        try:
            with its:
                socket.send_fds(self.control, [_FORK], [end.fileno(), its.fileno()])
                # Closed at once, to notice when the server ends. macOS may lose a socket that is
                # only in a message.
                if sys.platform != "darwin":
                    its.close()
                pid = _read_number(ours, seconds_until(deadline))
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid))
        except BaseException:
            ours.close()
            raise
        self._has_forked = True
        return ForkedProcess(pid, ours)

    def end(self) -> None:
        self.control.close()
        with suppress(OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait(_END_SECONDS)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, so that a child process inherits the mask and ignores it from the start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _read_number(status: socket.socket, seconds: float) -> int:
    """Read a number; its few bytes always arrive together.

    :raises EOFError: when the server has ended.
    :raises TimeoutError: when no number came within so many seconds.
    """
    status.settimeout(seconds)
    if len(data := status.recv(_NUMBER.size)) < _NUMBER.size:
        raise EOFError("the fork server has ended")
    number: int
    [number] = _NUMBER.unpack(data)
    return number


#: The fork server of this process, shared by all pools and kept for the next crawl.
fork_server = ForkServer()
atexit.register(fork_server.end)
os.register_at_fork(after_in_child=fork_server.start_anew)


# --- in the server process ------------------------------------------------------------------


def main(control: int) -> None:
    """Fork workers until the process that started this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.set_inheritable(control, False)
    # Libraries may have started threads of their own, which are idle.
    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
    with suppress(Exception):  # fails again in the worker, which reports why
        import_module(f"{__package__}.preload")
    try:
        _fork_on_request(socket.socket(fileno=control))
    except ConnectionError:  # the parent has just ended
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)  # without warnings about open files


def _fork_on_request(control: socket.socket) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                status = key.fileobj
                assert isinstance(status, socket.socket)
                if status is not control:
                    selector.unregister(status)
                    _end_worker(key.data, status)
                    continue
                data, handles, _, _ = socket.recv_fds(control, len(_FORK), 2)
                if not data:
                    os._exit(0)  # a return would warn of open sockets, if asked to
                if len(handles) == 2:
                    _fork(selector, *handles)
                else:  # out of file descriptors; the caller notices the closed socket
                    for handle in handles:
                        os.close(handle)


def _fork(selector: selectors.BaseSelector, channel: int, status_handle: int) -> None:
    """Fork a worker, and answer with its process id."""
    with socket.socket(fileno=channel) as end:
        status = socket.socket(fileno=status_handle)
        for its in (end, status):
            its.set_inheritable(False)
        try:
            pid = os.fork()
        except OSError as error:
            _send_number(status, -(error.errno or 1))
            status.close()
            return
        if pid == 0:
            _become_worker(end, [status, *(key.fileobj for key in selector.get_map().values())])
        selector.register(status, selectors.EVENT_READ, pid)
        _send_number(status, pid)


def _become_worker(end: socket.socket, others: list[Any]) -> None:
    """Run the worker, in the child process; never returns."""
    try:
        for other in others:
            other.close()
        serve(end)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _end_worker(pid: int, status: socket.socket) -> None:
    """Kill a worker that the parent has no more use for, and answer with its exit code."""
    with status:
        os.kill(pid, signal.SIGKILL)
        _, code = os.waitpid(pid, 0)
        _send_number(status, os.waitstatus_to_exitcode(code))


def _send_number(status: socket.socket, number: int) -> None:
    with suppress(OSError):  # the caller has given up
        status.send(_NUMBER.pack(number))
