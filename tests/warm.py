"""Python programs in processes that start warm.

Most of what a short crawl takes is the import of Scrapy and of what extracts texts. A server that
has imported all of it forks a process for each program, which then runs as ``python -m`` runs it:
with arguments, environment, folder, warnings, standard input and exit status of its own.
"""

from __future__ import annotations

import contextlib
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
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock
from typing import Any

from scrapy.settings import default_settings

#: Modules that the programs of the tests import besides what Scrapy's default settings name. No
#: reactor is among them: each program chooses one.
_IMPORTED = (
    *("scrapy.cmdline", "scrapy.crawler", "scrapy.core.engine", "scrapy.core.scraper"),
    *("scrapy.linkextractors", "scrapy.pqueues", "scrapy.squeues", "scrapy.spiders"),
    *("twisted.web.client", "twisted.conch.telnet", "twisted.conch.insults.insults"),
    *("pydantic.fields", "redis.cluster", "redis.sentinel", "scrapy_redis"),
    *("scrapy_neardup.addon", "scrapy_neardup.extensions", "scrapy_neardup.preload"),
    *("scrapy_neardup.stores.redis", "scrapy_neardup.stores.sqlite", "scrapy_neardup.workers.pool"),
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
    argv = list(map(str, arguments))
    env = {**os.environ, **(environment or {})}
    cwd = str(folder or Path.cwd())
    if not sys.platform.startswith("linux"):
        return subprocess.run(
            [sys.executable, *options, *argv], input=stdin or b"", stdout=subprocess.PIPE,
            stderr=stderr, timeout=seconds, check=False, cwd=cwd, env=env,
        )  # fmt: skip
    plan = {"argv": argv, "env": env, "cwd": cwd, "merged": stderr == subprocess.STDOUT}
    plan["filters"] = [option for option in options if option != "-W"]
    with TemporaryDirectory() as streams, socket.socket(socket.AF_UNIX) as server:
        files = [Path(streams, str(number)) for number in range(3)]
        files[0].write_bytes(stdin or b"")
        server.settimeout(seconds)
        server.connect(_server())
        server.sendall(json.dumps({**plan, "streams": streams}).encode() + b"\n")
        with server.makefile("r") as answers:
            pid = int(answers.readline())
            try:
                status = int(answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(argv, seconds) from None
        error = b"" if plan["merged"] else files[2].read_bytes()
        return subprocess.CompletedProcess(argv, status, files[1].read_bytes(), error)


def run_text(
    arguments: Sequence[object], *, stdin: str = "", **more: Any
) -> subprocess.CompletedProcess[str]:
    """The same, with text in UTF-8."""
    done = run(arguments, stdin=stdin.encode(), **more)
    out, error = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return subprocess.CompletedProcess(done.args, done.returncode, out, error)


def _server() -> str:
    """The address of the server, which ends with this process."""
    with _STARTING:
        return _started()


@cache
def _started() -> str:
    path = str(Path(mkdtemp(prefix="warm-"), "socket"))
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.warm", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"ready\n"
    _KEPT.append(started)
    return path


#: Its standard input is closed when this process ends, and then it ends as well.
_KEPT: list[subprocess.Popen[bytes]] = []
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
    for number in range(3):
        if number == 2 and plan["merged"]:
            os.dup2(1, 2)
            break
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
        file = os.open(Path(plan["streams"], str(number)), flags, 0o600)
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
