"""Real Redis servers, each with a port and a folder of its own."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

#: The environment's own, which the test group brings, or the system's.
PROGRAM = shutil.which("redis-server", path=str(Path(sys.executable).parent)) or shutil.which(
    "redis-server"
)


class RedisServer:
    """A server process.

    :param folder: for its files; they stay when it is stopped or killed.
    :param options: of its configuration, without dashes.
    """

    def __init__(self, folder: Path, **options: object) -> None:
        if PROGRAM is None:
            pytest.skip("there is no redis-server")
        self.port = free_port()
        self.folder = folder
        self.options = {"save": "", **options}
        self.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(
            port=self.port, password=str(self.options.get("requirepass") or "") or None
        )

    def start(self) -> None:
        assert PROGRAM is not None
        command = [PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1"]
        for name, value in {"dir": self.folder, **self.options}.items():
            command += [f"--{name.replace('_', '-')}", *str(value).split(" ")]
        with (self.folder / "redis.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            try:
                with self.client as client:
                    client.ping()
            except redis.RedisError:
                log = self.folder / "redis.log"
                assert self.process.poll() is None, log.read_text("utf-8", "replace")
                assert time.monotonic() < deadline
                time.sleep(0.02)
            else:
                return


def free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port
