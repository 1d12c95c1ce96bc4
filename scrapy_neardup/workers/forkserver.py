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
from typing import NamedTuple

from .channel import seconds_until
from .worker import serve

#: Seconds that a server may take to fork a worker, after its first.
_FORK_SECONDS = 10.0
#: Seconds that a killed server may take to end.
_END_SECONDS = 2.0
#: The request to fork a worker; two sockets are sent with it.
_FORK = b"f"
#: The answer: the worker's process id, or the negative ``errno`` of a failed fork; later the
#: worker's exit code.
_NUMBER = struct.Struct("!q")


class ForkedProcess:
    """A worker process, forked by the fork server.

    :param pid: its process id.
    :param status: the socket on which the server sends its exit code.
    """

    def __init__(self, pid: int, status: socket.socket) -> None:
        self._pid = pid
        self._status = status
        self._code: int | None = None

    def kill(self) -> None:
        """Kill the process."""
        if self.exit_code(0) is None:
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)

    def exit_code(self, seconds: float) -> int | None:
        """Wait for the exit code, so many seconds at most; ``None`` if it is unknown then."""
        if self._code is None and self._status.fileno() >= 0:
            with suppress(OSError, EOFError):
                self._code = _read_number(self._status, seconds)
        return self._code

    def close(self) -> None:
        """Release the socket of a killed process."""
        self._status.close()


class ForkServer:
    """Forks worker processes, for any thread, from a server process that is replaced on failure."""

    def __init__(self) -> None:
        self._server: _Server | None = None
        self._lock = threading.Lock()
        self._has_ended = False

    def fork(self, end: socket.socket, deadline: float) -> ForkedProcess:
        """Start a worker.

        :param end: the worker's end of a channel; the caller closes its own copy.
        :param deadline: as for a :class:`~scrapy_neardup.workers.channel.Channel`.
        :raises OSError, EOFError: when the worker cannot be started, or not in time.
        """
        server = self._running(deadline)
        if server.has_forked:
            deadline = min(deadline, monotonic() + _FORK_SECONDS)
        ours, its = socket.socketpair()
        try:
            with its:
                socket.send_fds(server.control, [_FORK], [end.fileno(), its.fileno()])
                # Closed at once, to notice when the server ends. macOS may lose a socket that is
                # only in a message.
                if sys.platform != "darwin":
                    its.close()
                pid = _read_number(ours, seconds_until(deadline))
        except BaseException:
            ours.close()
            self._discard(server)
            raise
        if pid < 0:
            ours.close()
            raise OSError(-pid, os.strerror(-pid))
        server.has_forked = True
        return ForkedProcess(pid, ours)

    def end(self) -> None:
        """End the server process for good."""
        self._has_ended = True
        if self._server is not None:
            self._discard(self._server)

    def start_anew(self) -> None:
        """Leave the server process to the parent; called in a forked child of this process."""
        if self._server is not None:
            self._server.forget()
        self._server, self._lock = None, threading.Lock()

    def _running(self, deadline: float) -> _Server:
        if not self._lock.acquire(timeout=seconds_until(deadline)):
            raise TimeoutError("another thread is starting the fork server")
        try:
            if self._has_ended:
                raise OSError("this process is exiting")
            if self._server is not None and self._server.process.poll() is not None:
                self._discard(self._server)
            if self._server is None:
                self._server = _Server.start()
            return self._server
        finally:
            self._lock.release()

    def _discard(self, server: _Server) -> None:
        if self._server is server:
            self._server = None
        server.end()


class _Server:
    """A server process and this end of the socket pair.

    :ivar has_forked: has it forked a worker, and thus finished loading?
    """

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.process = process
        self.control = control
        self.has_forked = False

    @classmethod
    def start(cls) -> _Server:
        ours, its = socket.socketpair()
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from {__name__} import main; main({its.fileno()})"
        )
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        try:
            with its, _interrupts_blocked():
                process = subprocess.Popen(
                    [get_executable(), *flags, "-c", code],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[its.fileno()],
                )
        except BaseException:
            ours.close()
            raise
        ours.settimeout(_FORK_SECONDS)
        return cls(process, ours)

    def forget(self) -> None:
        self.control.close()
        self.process.returncode = -1  # not a child of this process

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
    status.settimeout(max(seconds, 1e-6))
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
    forking = _Forking(socket.socket(fileno=control))
    try:
        forking.run()
    except ConnectionError:  # the parent has just ended
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)  # without warnings about open files


class _Request(NamedTuple):
    end: int
    status: socket.socket


class _Forking:
    """The server's loop: forks workers on request, and reports their exit codes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: dict[int, socket.socket] = {}
        self._woken, self._waker = socket.socketpair()
        for end in (self._woken, self._waker):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._woken in ready:
                    self._woken.recv(4096)
                    self._report_exits()
                if self._control in ready:
                    data, handles, _, _ = socket.recv_fds(self._control, len(_FORK), 2)
                    if not data:
                        return
                    self._answer(handles)

    def _answer(self, handles: list[int]) -> None:
        if len(handles) < 2:  # out of file descriptors; the caller notices the closed socket
            for handle in handles:
                os.close(handle)
            return
        for handle in handles:
            os.set_inheritable(handle, False)
        request = _Request(handles[0], socket.socket(fileno=handles[1]))
        try:
            pid = os.fork()
        except OSError as error:
            _send_number(request.status, -(error.errno or 1))
            request.status.close()
        else:
            if pid == 0:
                self._become_worker(request)
            self._children[pid] = request.status
            _send_number(request.status, pid)
        os.close(request.end)

    def _become_worker(self, request: _Request) -> None:
        """Run the worker, in the child process; never returns."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            others = [self._control, self._woken, self._waker, request.status]
            for other in (*others, *self._children.values()):
                other.close()
            serve(socket.socket(fileno=request.end))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def _report_exits(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if (end := self._children.pop(pid, None)) is not None:
                    _send_number(end, os.waitstatus_to_exitcode(status))
                    end.close()


def _send_number(status: socket.socket, number: int) -> None:
    with suppress(OSError):  # the caller has given up
        status.send(_NUMBER.pack(number))
