"""Starts real Redis servers, each with a port and a folder, and can drop their answers."""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import ssl
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import redis

from benchmarks.common import redis_server
from benchmarks.common.redis_server import answers, free_port, started, stop
from tests.support.processes import wait_for

__all__ = [
    "Proxy",
    "RedisCluster",
    "RedisServer",
    "Sentinel",
    "TlsEndpoint",
    "Watched",
    "free_port",
]

_SLOTS = 16384


class RedisServer(redis_server.RedisServer):
    """A server process; the test is skipped where there is no ``redis-server``."""

    def start(self) -> None:
        if self.program is None:
            pytest.skip("there is no redis-server")
        super().start()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


class RedisCluster:
    """Three servers that share the slots."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.servers = [
            RedisServer(
                folder / str(n),
                cluster_enabled="yes",
                cluster_config_file="nodes.conf",
                appendonly="yes",
            )
            for n in range(3)
        ]
        first = self.servers[0]
        for n, server in enumerate(self.servers):
            with server.client as client:
                slots = range(_SLOTS * n // 3, _SLOTS * (n + 1) // 3)
                client.execute_command("CLUSTER ADDSLOTS", *slots)
                client.execute_command("CLUSTER MEET", "127.0.0.1", first.port)
        wait_for(lambda: all(map(self._is_ready, self.servers)))

    @property
    def address(self) -> str:
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.servers)
        return f"redis+cluster://{hosts}"

    def keys(self) -> list[int]:
        """Return the number of keys of each server."""
        counts = []
        for server in self.servers:
            with server.client as client:
                counts.append(int(str(client.dbsize())))
        return counts

    def kill(self) -> None:
        for server in self.servers:
            server.kill()

    @staticmethod
    def _is_ready(server: RedisServer) -> bool:
        with server.client as client:
            info: dict[str, str] = client.execute_command("CLUSTER INFO")
            return info["cluster_state"] == "ok" and info["cluster_known_nodes"] == "3"


class Sentinel:
    """Watches a server under the name ``pages``.

    :param quorum: so many have to miss the server before another one takes its place.
    :param password: for who asks it, other Sentinels included.
    """

    def __init__(
        self, folder: Path, server: RedisServer, quorum: int = 1, password: str = ""
    ) -> None:
        folder.mkdir(parents=True)
        self.port = free_port()
        self._password = password
        lines = [
            f"port {self.port}", "bind 127.0.0.1", f"dir {folder}",
            f"sentinel monitor pages 127.0.0.1 {server.port} {quorum}",
            "sentinel down-after-milliseconds pages 500",
            "sentinel failover-timeout pages 3000",
        ]  # fmt: skip
        if own := server.options.get("requirepass"):
            lines.append(f"sentinel auth-pass pages {own}")
        if password:
            lines += [f"requirepass {password}", f"sentinel sentinel-pass {password}"]
        configuration = folder / "sentinel.conf"
        configuration.write_text("\n".join(lines) + "\n")
        self.process = started(configuration, "--sentinel")
        wait_for(lambda: answers(self.client))

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, password=self._password or None)

    def knows(self, replicas: int, sentinels: int) -> bool:
        """Return whether the Sentinel knows so many synchronized replicas and other Sentinels."""
        with self.client as client:
            [found] = [m for m in client.sentinel_masters().values() if m["name"] == "pages"]
            return (found["num-slaves"], found["num-other-sentinels"]) == (replicas, sentinels)

    def kill(self) -> None:
        stop(self.process)


class Watched:
    """A server, its replica, and three Sentinels of which two have to agree; all ask for passwords.

    :param folder: for their files.
    """

    def __init__(self, folder: Path) -> None:
        login = {"requirepass": "of-servers", "masterauth": "of-servers"}
        self.master = RedisServer(folder / "master", **login)
        self.replica = RedisServer(
            folder / "replica", **login, replicaof=f"127.0.0.1 {self.master.port}"
        )
        self.sentinels = [
            Sentinel(folder / str(n), self.master, quorum=2, password="of-sentinels")
            for n in range(3)
        ]
        wait_for(lambda: all(s.knows(replicas=1, sentinels=2) for s in self.sentinels))
        wait_for(self.is_replicated)

    @property
    def address(self) -> str:
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://:of-servers@{hosts}/pages/0?sentinel_password=of-sentinels"

    def is_replicated(self) -> bool:
        """Return whether the replica has everything that was written so far."""
        with self.master.client as client:
            return int(str(client.wait(1, 100))) == 1

    def kill(self) -> None:
        for server in (self.master, self.replica):
            server.kill()
        for sentinel in self.sentinels:
            sentinel.kill()


class _Relay:
    """Stands between a server and its clients."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._accepting = self._started(self._accept)

    def close(self) -> None:
        # With the listener first, nobody new comes amid the rest.
        self._end([self._listener], [self._accepting])
        self._end(self._sockets, self._threads)

    @staticmethod
    def _end(sockets: list[socket.socket], threads: list[threading.Thread]) -> None:
        """Wake the threads, and close their sockets when these are no longer in use."""
        for each in sockets:
            with contextlib.suppress(OSError):
                # Not SSLSocket.shutdown, which throws away what its thread is just using.
                socket.socket.shutdown(each, socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for each in sockets:
            each.close()

    def _accept(self) -> None:
        while True:
            self._sockets.append(client := self._listener.accept()[0])
            self._sockets.append(server := socket.create_connection(("127.0.0.1", self._target)))
            self._threads.append(self._started(partial(self._serve, client, server)))

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        """A connection's work."""
        raise NotImplementedError

    @staticmethod
    def _started(work: Callable[[], None]) -> threading.Thread:
        def quietly() -> None:
            with contextlib.suppress(OSError):
                work()

        thread = threading.Thread(target=quietly, daemon=True)
        thread.start()
        return thread


class Proxy(_Relay):
    """Hands on what a server and its clients say, except for an answer that is to be lost.

    :param is_silent: whether the connection is held after that, and not closed.
    """

    def __init__(self, port: int, *, is_silent: bool) -> None:
        self.lost = 0
        self._is_silent = is_silent
        self._to_lose: bytes | None = None
        super().__init__(port)

    def lose_answer_to(self, words: bytes) -> None:
        """Lose the answer to the next request in which these words stand."""
        self._to_lose = words

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        """Requests and answers take turns; each is one piece, or a few that follow each other."""
        is_losing = False

        def answer() -> None:
            while data := server.recv(1 << 16):
                if is_losing:
                    self.lost += 1
                    if not self._is_silent:
                        client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)

        self._threads.append(self._started(answer))
        while data := client.recv(1 << 16):
            if self._to_lose is not None and self._to_lose in data:
                is_losing, self._to_lose = True, None
            server.sendall(data)


class TlsEndpoint(_Relay):
    """Speaks TLS before a server that does not.

    :param certificate: PEM file, as is ``key``.
    :param clients: PEM file of the CA whose certificates clients must have, if they must.
    """

    def __init__(
        self, port: int, certificate: Path, key: Path, clients: Path | None = None
    ) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        if clients is not None:
            self._context.load_verify_locations(clients)
            self._context.verify_mode = ssl.CERT_REQUIRED
        super().__init__(port)

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        with (
            server,
            self._context.wrap_socket(
                client, server_side=True, do_handshake_on_connect=False
            ) as told,
        ):
            self._sockets.append(told)
            told.do_handshake()
            while True:
                ready = [told] if told.pending() else select.select([told, server], [], [])[0]
                for one in ready:
                    if not (data := one.recv(1 << 16)):
                        return
                    (server if one is told else told).sendall(data)
