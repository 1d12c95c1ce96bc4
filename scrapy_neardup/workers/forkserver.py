"""Worker processes that are forked from one process, which has loaded what they need.

multiprocessing has such a server too. It needs a temporary folder with a short path, waits without
limit for a server that is stopped, and takes the thread along that waits when the server is killed.
This one is reached by a socket pair, which has no path, and every wait for it has a limit: a server
that fails, or is late, is killed, and the next worker gets a new one.
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

#: Seconds that a server, once it has forked a worker, may take to fork another one.
_FORK_SECONDS = 10.0
#: Seconds that a server that was killed may take to end.
_END_SECONDS = 2.0
#: Forks one worker; two sockets come with it.
_FORK = b"f"
#: The worker's process id, or minus the number of the error that kept it from being forked. Later
#: its exit code.
_NUMBER = struct.Struct("!q")


class ForkedProcess:
    """A worker process, the child of a fork server.

    :param pid: its process id.
    :param status: where the server tells its exit code.
    """

    def __init__(self, pid: int, status: socket.socket) -> None:
        self._pid = pid
        self._status = status
        self._code: int | None = None

    def kill(self) -> None:
        """End it, whatever it is doing."""
        if self.exit_code(0) is None:
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)

    def exit_code(self, seconds: float) -> int | None:
        """Return its exit code, ``None`` when it is not known after so many seconds."""
        if self._code is None and self._status.fileno() >= 0:
            with suppress(OSError, EOFError):
                self._code = _read_number(self._status, seconds)
        return self._code

    def close(self) -> None:
        """Forget it; it must have been killed."""
        self._status.close()


class ForkServer:
    """Starts worker processes from any thread; keeps one server process, replaced when it fails."""

    def __init__(self) -> None:
        self._server: _Server | None = None
        self._lock = threading.Lock()
        self._has_ended = False

    def fork(self, end: socket.socket, deadline: float) -> ForkedProcess:
        """Start a worker.

        :param end: its end of a channel, which stays open here.
        :param deadline: as for a :class:`~scrapy_neardup.workers.channel.Channel`.
        :raises OSError, EOFError: when it cannot be started, or not in time.
        """
        server = self._running(deadline)
        if server.has_forked:
            deadline = min(deadline, monotonic() + _FORK_SECONDS)
        ours, its = socket.socketpair()
        try:
            with its:
                socket.send_fds(server.control, [_FORK], [end.fileno(), its.fileno()])
                if sys.platform != "darwin":  # which may lose a socket that only a message holds
                    its.close()  # so that the server's end is noticed at once
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
        """End the server, and start none any more."""
        self._has_ended = True
        if self._server is not None:
            self._discard(self._server)

    def start_anew(self) -> None:
        """In a child that was forked from this process: leave the server to the parent."""
        if self._server is not None:
            self._server.forget()
        self._server, self._lock = None, threading.Lock()

    def _running(self, deadline: float) -> _Server:
        if not self._lock.acquire(timeout=seconds_until(deadline)):
            raise TimeoutError("another thread is starting the fork server")
        try:
            if self._has_ended:
                raise OSError("this process ends")
            if self._server is None or self._server.process.poll() is not None:
                self._server = None
                self._server = _Server.start()
            return self._server
        finally:
            self._lock.release()

    def _discard(self, server: _Server) -> None:
        if self._server is server:
            self._server = None
        server.end()


class _Server:
    """A server process and this side of the socket pair to it.

    :ivar has_forked: has it forked a worker, so that it has loaded all it loads?
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
    """For a child to inherit: it is deaf to Ctrl-C from the first."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _read_number(status: socket.socket, seconds: float) -> int:
    """Read a number; these few bytes come at once.

    :raises EOFError: when there is none, and will be none.
    :raises TimeoutError: when there is none after so many seconds.
    """
    status.settimeout(max(seconds, 1e-6))
    if len(data := status.recv(_NUMBER.size)) < _NUMBER.size:
        raise EOFError("the process that starts workers has ended")
    number: int
    [number] = _NUMBER.unpack(data)
    return number


#: That of this process, for all its pools: it stays until the end, for the next crawl.
fork_server = ForkServer()
atexit.register(fork_server.end)
os.register_at_fork(after_in_child=fork_server.start_anew)


# --- in the server process ------------------------------------------------------------------


def main(control: int) -> None:
    """Fork workers until the process that started this one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.set_inheritable(control, False)
    # Libraries may have threads of their own by then, which wait for work.
    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
    with suppress(Exception):  # it fails again in the worker, which says why
        import_module(f"{__package__}.preload")
    forking = _Forking(socket.socket(fileno=control))
    try:
        forking.run()
    except ConnectionError:  # the other side has just ended
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)  # nothing is to be said of what is still open


class _Request(NamedTuple):
    end: int
    status: socket.socket


class _Forking:
    """The server's loop: forks on request, and tells how its children ended."""

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
                    self._tell_exits()
                if self._control in ready:
                    data, handles, _, _ = socket.recv_fds(self._control, len(_FORK), 2)
                    if not data:
                        return
                    self._answer(handles)

    def _answer(self, handles: list[int]) -> None:
        if len(handles) < 2:  # this process may open no more; whoever asked is told by the end
            for handle in handles:
                os.close(handle)
            return
        for handle in handles:
            os.set_inheritable(handle, False)
        request = _Request(handles[0], socket.socket(fileno=handles[1]))
        try:
            pid = os.fork()
        except OSError as error:
            _tell(request.status, -(error.errno or 1))
            request.status.close()
        else:
            if pid == 0:
                self._become_worker(request)
            self._children[pid] = request.status
            _tell(request.status, pid)
        os.close(request.end)

    def _become_worker(self, request: _Request) -> None:
        """In the child: work, and never come back."""
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

    def _tell_exits(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if (told := self._children.pop(pid, None)) is not None:
                    _tell(told, os.waitstatus_to_exitcode(status))
                    told.close()


def _tell(status: socket.socket, number: int) -> None:
    with suppress(OSError):  # who asked has given up
        status.send(_NUMBER.pack(number))
