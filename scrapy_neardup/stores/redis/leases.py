"""The runs that use a namespace in Redis, each with a lease that shows that it lives.

Each open store is a run. What a run reserved, or stored and did not confirm, counts as long as its
lease is renewed. When the run is gone, whoever comes across it lets go of it. On one machine nobody
waits for that: a run whose process has ended is dead at once.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from ...exceptions import StoreError
from .connection import RedisConnection
from .layout import KeySpace

logger = logging.getLogger("scrapy_neardup")

#: Seconds after which a run that gave no sign of life is dead.
LEASE_SECONDS = 20.0
_RUN_BYTES = 8
#: A lease is renewed so often while it lasts.
_RENEWALS = 3
#: What was found alive is taken to be so for this part of a lease.
_TRUST = 1 / 60


class LeaseRegistry:
    """The runs of a namespace, of which this is one.

    :param namespace: its common part.
    :param lease: seconds.
    """

    def __init__(self, connection: RedisConnection, namespace: KeySpace, lease: float) -> None:
        self.id = secrets.token_bytes(_RUN_BYTES)
        self._connection = connection
        self._namespace = namespace
        self._list = namespace.key("runs")
        self._lease = lease
        self._found_alive: dict[bytes, float] = {}
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None

    def register(self) -> None:
        self._renew()
        self._connection.command("HSET", self._list, self.id, _place())

    def start(self, at_renewal: Callable[[], None], at_loss: Callable[[], None]) -> None:
        """Keep the lease, in a thread of its own.

        :param at_renewal: called there after each renewal.
        :param at_loss: called before that, when the lease was there no more.
        """
        self._thread = threading.Thread(
            target=self._renew_on, args=(at_renewal, at_loss), name="neardup-lease", daemon=True
        )
        self._thread.start()

    def dead(self) -> list[bytes]:
        """Return the runs that ended without closing, or with something not confirmed."""
        known: dict[bytes, bytes] = self._connection.command("HGETALL", self._list)
        here = _place()
        return [
            run
            for run, place in known.items()
            if run != self.id and (_has_ended(place, here) or not self._has_lease(run))
        ]

    def is_alive(self, run: bytes) -> bool:
        """Return whether this run has a lease, or had one a moment ago."""
        now = monotonic()
        if run == self.id or now < self._found_alive.get(run, 0):
            return True
        if self._has_lease(run):
            self._found_alive[run] = now + _TRUST * self._lease
            return True
        return False

    def remove(self, run: bytes) -> None:
        """Remove a dead run, of which no page is left."""
        self._found_alive.pop(run, None)
        self._connection.command("HDEL", self._list, run)
        self._connection.command("DEL", self._lease_of(run), self.sites_of(run))

    def sites_of(self, run: bytes) -> bytes:
        """Return the key of the names of sites of which a run may hold pages."""
        return self._namespace.key(f"run-sites:{run.hex()}")

    def stop(self) -> None:
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join()

    def close(self, *, is_done: bool) -> None:
        """Give the lease up.

        :param is_done: whether there is nothing that the next run has to release.
        """
        self.stop()
        if is_done:
            self.remove(self.id)
        else:
            self._connection.command("DEL", self._lease_of(self.id))

    def _renew_on(self, at_renewal: Callable[[], None], at_loss: Callable[[], None]) -> None:
        while not self._is_closing.wait(self._lease / _RENEWALS):
            # Without an answer there is nothing to do but to try again.
            with contextlib.suppress(StoreError):
                if not self._renew():
                    logger.warning(
                        "Store %s was out of reach for longer than the lease of %s seconds, or "
                        "forgot it: what this crawl has not confirmed may be stored by others too",
                        self._connection.name,
                        self._lease,
                    )
                    self._connection.command("HSET", self._list, self.id, _place())
                    at_loss()
                at_renewal()

    def _renew(self) -> bool:
        """Renew the lease; return whether it was still there."""
        milliseconds = int(1000 * self._lease)
        before = self._connection.command(
            "SET", self._lease_of(self.id), "", "PX", milliseconds, "GET"
        )
        return before is not None

    def _has_lease(self, run: bytes) -> bool:
        return bool(self._connection.command("EXISTS", self._lease_of(run)))

    def _lease_of(self, run: bytes) -> bytes:
        return self._namespace.key(f"run:{run.hex()}")


def _place(pid: int | str = "self") -> bytes:
    """Return the machine since its start, its process table, the process and when that began.

    Empty where the system does not tell; then only the lease does.
    """
    try:
        machine = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        table = Path("/proc/self/ns/pid").readlink()
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return b""
    began = stat.rpartition(")")[2].split()[19]
    return f"{machine} {table} {stat.partition(' ')[0]} {began}".encode()


def _has_ended(place: bytes, here: bytes) -> bool:
    """Return whether this was a process of this machine that has ended."""
    *machine, pid, _ = place.decode().split() if place else [""] * 4
    return bool(pid) and machine == here.decode().split()[:-2] and _place(pid) != place
