"""Starts Python programs in processes that have already imported Scrapy.

A short crawl spends most of its time on importing Scrapy and the text extractor. A server that has
imported both forks a process for each program. The program then runs as with ``python -m``: with
its own arguments, environment, folder, warnings, standard input and exit status.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import re
import runpy
import select
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock
from typing import Any

from scrapy.settings import default_settings

from tests.support.processes import children_of

#: Modules that the programs of the tests import besides what Scrapy's default settings name. No
#: reactor is among them: each program chooses one.
_IMPORTED = (
    *("scrapy.cmdline", "scrapy.crawler", "scrapy.core.engine", "scrapy.core.scraper"),
    *("scrapy.linkextractors", "scrapy.pqueues", "scrapy.squeues", "scrapy.spiders"),
    *("twisted.web.client", "twisted.conch.telnet", "twisted.conch.insults.insults"),
    *("pydantic.fields", "redis.cluster", "redis.sentinel", "scrapy_redis"),
    *("scrapy_neardup.addon", "scrapy_neardup.crawl.judge", "scrapy_neardup.workers.preload"),
    *(
        "scrapy_neardup.stores.redis.store",
        "scrapy_neardup.stores.sqlite.store",
        "scrapy_neardup.workers.pool",
    ),
)


def run(
    arguments: Sequence[object],
    *,
    options: Sequence[str] = (),
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    seconds: float = 120,
    stderr: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[bytes]:
    """Run ``python`` with these arguments: ``-m``, a module's name and its arguments, or a script.

    :param options: of the interpreter: pairs of ``-W`` and a filter.
    :param environment: besides that of this process.
    :param stderr: ``subprocess.STDOUT`` puts both outputs together.
    """
    merged = stderr == subprocess.STDOUT
    with TemporaryDirectory() as folder_of_streams:
        streams = [Path(folder_of_streams, str(number)) for number in range(3)]
        streams[0].write_bytes(stdin or b"")
        program = start(
            arguments, options=options, environment=environment, folder=folder,
            stdin=streams[0], stdout=streams[1], stderr=streams[1] if merged else streams[2],
        )  # fmt: skip
        try:
            status = program.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
            raise
        out, error = streams[1].read_bytes(), b"" if merged else streams[2].read_bytes()
        return subprocess.CompletedProcess(list(map(str, arguments)), status, out, error)


def run_text(
    arguments: Sequence[object], *, stdin: str = "", **more: Any
) -> subprocess.CompletedProcess[str]:
    """The same, with text in UTF-8."""
    done = run(arguments, stdin=stdin.encode(), **more)
    out, error = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return subprocess.CompletedProcess(done.args, done.returncode, out, error)


def start(
    arguments: Sequence[object],
    *,
    options: Sequence[str] = (),
    stdin: Path,
    stdout: Path = Path(os.devnull),
    stderr: Path = Path(os.devnull),
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Program | subprocess.Popen[bytes]:
    """Start the program and do not wait for its end. It has a process group of its own.

    :param stdin: the file that it reads.
    :param stdout: the file that its output is appended to.
    """
    argv = list(map(str, arguments))
    env = {**os.environ, **(environment or {})}
    cwd = str(folder or Path.cwd())
    if not sys.platform.startswith("linux"):
        with stdin.open("rb") as read, stdout.open("ab") as out, stderr.open("ab") as error:
            _COLD.append(subprocess.Popen(
                [sys.executable, *options, *argv], stdin=read, stdout=out, stderr=error,
                cwd=cwd, env=env, start_new_session=True,
            ))  # fmt: skip
            return _COLD[-1]
    streams = list(map(str, (stdin, stdout, stderr)))
    filters = [option for option in options if option != "-W"]
    return Program({"argv": argv, "env": env, "cwd": cwd, "streams": streams, "filters": filters})


class Program:
    """A program that was started, much as ``subprocess.Popen`` has it."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._argv = plan["argv"]
        self._status: int | None = None
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(_server())
        self._server.sendall(json.dumps(plan).encode() + b"\n")
        self._said = self._server.makefile("r")
        self.pid = int(self._said.readline())

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, negative for the signal that ended it."""
        if self._status is None:
            if not select.select([self._server], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self._argv, timeout or 0)
            self._status = int(self._said.readline())
            self._said.close()
            self._server.close()
        return self._status

    def send_signal(self, number: int) -> None:
        if self._status is None:
            os.kill(self.pid, number)


def running() -> list[int]:
    """Programs that were started here and have not ended; no other child of this process."""
    cold = [program.pid for program in _COLD if program.poll() is None]
    return [*cold, *chain.from_iterable(children_of(started.pid) for started in _KEPT)]


def _server() -> str:
    """The address of the server, which ends with this process."""
    with _STARTING:
        return _started()


@cache
def _started() -> str:
    path = str(Path(mkdtemp(prefix="warm-"), "socket"))
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.support.warm", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"ready\n"
    _KEPT.append(started)
    atexit.register(_end, started)
    return path


def _end(server: subprocess.Popen[bytes]) -> None:
    """Close its standard input, which ends it."""
    server.communicate()


_KEPT: list[subprocess.Popen[bytes]] = []
_COLD: list[subprocess.Popen[bytes]] = []
_STARTING = Lock()


class _Server:
    """Forks a process for each program that it is asked for, and says how that ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._asked: dict[int, socket.socket] = {}
        signal.signal(signal.SIGCHLD, self._ended)

    def serve(self) -> dict[str, Any] | None:
        """In the server ``None``, when there is nobody left to ask; in a fork what it is to run."""
        while True:
            ready, _, _ = select.select([self._listener, sys.stdin], [], [])
            if sys.stdin in ready:
                self._path.unlink()
                self._path.parent.rmdir()
                return None
            asking, _ = self._listener.accept()
            with asking.makefile("r") as asked:
                plan = json.loads(asked.readline())
            # Nobody ends unnoticed between being forked and being known.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            pid = os.fork()
            if not pid:
                self._let_go(asking)
                return dict(plan)
            with contextlib.suppress(ProcessLookupError):
                os.setpgid(pid, pid)
            self._asked[pid] = asking
            with contextlib.suppress(OSError):
                asking.sendall(b"%d\n" % pid)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def _let_go(self, asking: socket.socket) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        for held in (asking, self._listener, *self._asked.values()):
            held.close()

    def _ended(self, *_: object) -> None:
        while self._asked:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            with self._asked.pop(pid) as asked, contextlib.suppress(OSError):
                asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _named_by_scrapy() -> Iterator[str]:
    """Modules of the classes in Scrapy's default settings."""
    for setting in vars(default_settings).values():
        named = [*setting, *setting.values()] if isinstance(setting, dict) else [setting]
        for name in named:
            if isinstance(name, str) and name.startswith("scrapy."):
                yield name.rpartition(".")[0]


def _become(plan: dict[str, Any]) -> None:
    for number, path in enumerate(plan["streams"]):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
        file = os.open(path, flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(plan["cwd"])
    os.environ.clear()
    os.environ.update(plan["env"])
    sys.path[0] = plan["cwd"]
    sys.path[1:1] = filter(None, plan["env"].get("PYTHONPATH", "").split(os.pathsep))
    if plan["filters"]:
        sys.warnoptions[:] = plan["filters"]
        warnings.resetwarnings()
        for text in plan["filters"]:
            action, _, message = text.partition(":")
            warnings.filterwarnings(action, re.escape(message))


def _main() -> None:
    for name in (*_named_by_scrapy(), *_IMPORTED):
        with contextlib.suppress(ImportError):
            import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    server = _Server(Path(sys.argv[1]))
    # Collections in the forks need not walk through what all have in common.
    gc.collect()
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    plan = server.serve()
    if plan:
        _become(plan)
        _execute(plan["argv"])


def _execute(argv: list[str]) -> None:
    if argv[0] == "-m":
        sys.argv[:] = argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = argv
        sys.path[0] = str(Path(argv[0]).parent.resolve())
        runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
