"""A namespace in Redis: what is known of it, its parts that hold pages, and the runs that use it.

Each open store is a run, and shows with a lease that it lives. What a run reserved, or stored and
did not confirm, counts as long as its lease is renewed. When the run is gone, whoever comes across
it lets go of it. On one machine nobody waits for that: a run whose process has ended is dead at
once.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

from ...exceptions import StoreError
from ...matching.rule import Scope
from ..hints import packed_name, unpacked_name
from .connection import RedisConnection, Script
from .layout import KeySpace
from .pages import RedisPages

logger = logging.getLogger("scrapy_neardup")

#: Names of sites that are known to be on the server's lists, at most.
_MOST_LISTED = 100_000
#: Version of the layout; a namespace of another one is refused.
FORMAT = 8
#: Seconds after which a run that gave no sign of life is dead.
LEASE_SECONDS = 20.0
_RUN_BYTES = 8
#: A lease is renewed so often while it lasts.
_RENEWALS = 3
#: What was found alive is taken to be so for this part of a lease.
_TRUST = 1 / 60

_ADOPT = Script("adopt")


def names_in(connection: RedisConnection, key: bytes) -> list[str]:
    """Return the names of sites in a set, in order."""
    return sorted(map(unpacked_name, connection.command("SMEMBERS", key)))


class RedisNamespace:
    """Its format, layout, secret and recipe, and the parts that hold its pages.

    :param lease: see :class:`LeaseRegistry`.
    :ivar whole: the keys of the part of all sites.
    :ivar is_by_site: whether the pages of each site have keys of their own.
    :ivar secret: key of the sketches. Like ``is_by_site`` it is known from :meth:`enter` on.
    """

    def __init__(self, connection: RedisConnection, name: str, lease: float) -> None:
        self.name = name
        self.whole = KeySpace(name)
        self.leases = LeaseRegistry(connection, self.whole, lease)
        self.is_by_site = False
        self.secret = b""
        self._connection = connection
        self._meta = self.whole.key("meta")
        #: Names of sites that are known to be on the server's lists.
        self._listed: set[str] = set()

    def of(self, site: str | None) -> RedisPages:
        """Return the part in which a site's pages are."""
        is_apart = self.is_by_site and site is not None
        part = KeySpace(self.name, site) if is_apart else self.whole
        return RedisPages(self._connection, part, self.leases.id)

    def for_writing(self, site: str) -> RedisPages:
        """Return a site's part, put on the lists of all sites and of those this run was at."""
        if self.is_by_site and site not in self._listed:
            name = packed_name(site)
            self._connection.commands(
                ("SADD", self.whole.site_names, name),
                ("SADD", self.leases.sites_of(self.leases.id), name),
            )
            if len(self._listed) >= _MOST_LISTED:
                self._listed.clear()
            self._listed.add(site)
        return self.of(site)

    def all(self) -> Iterator[RedisPages]:
        if self.is_by_site:
            return map(self.of, names_in(self._connection, self.whole.site_names))
        return iter([self.of(None)])

    def reap(self, run: bytes) -> int:
        """Remove what a dead run held; return how many pages it had committed."""
        sites: list[str | None] = [None]
        if self.is_by_site:
            sites = [*names_in(self._connection, self.leases.sites_of(run))]
        forgotten = sum([self.of(site).reap(run) for site in sites])
        self.leases.remove(run)
        return forgotten

    def is_gone(self, run: bytes) -> bool:
        """Return whether a run is dead; what it held is removed then."""
        if self.leases.is_alive(run):
            return False
        self.reap(run)
        return True

    def adopt(self, recipe: str, parts: str) -> tuple[str, str]:
        """Return recipe and parts; these become the namespace's own where it has no pages."""
        keys = [*self.whole.keys(self.leases.id), self._meta, self.whole.site_names]
        known, known_parts = self._connection.run(_ADOPT, keys, recipe, parts, int(self.is_by_site))
        return known.decode(), known_parts.decode()

    def recipe(self) -> str:
        """Return the recipe of the stored pages; empty before the first crawl."""
        recipe: bytes | None = self._connection.command("HGET", self._meta, "recipe")
        return (recipe or b"").decode()

    def enter(self, scope: Scope | None) -> None:
        """Read what is known of it; it is made unless it is there.

        :param scope: of the rules by which its pages are to be judged.
        :raises StoreError: when it is of another format, or cannot compare what is to be compared.
        """
        meta = self._written(layout=scope or "all", secret=secrets.token_bytes(32))
        version, layout = meta[b"format"].decode(), meta[b"layout"].decode()
        if version != str(FORMAT):
            raise self._error(
                f"has format {version}, from another scrapy-neardup than this one, which reads "
                f"format {FORMAT}; crawl again, into a new store"
            )
        if layout == "site" and scope == "all":
            raise self._error(
                "keeps each site's pages apart and cannot compare those of two sites; set the "
                "scope to 'site', or give a new namespace"
            )
        if scope == "site" and layout == "all":
            logger.warning(
                "Store %s: namespace %r was made for scope 'all', so all its pages stay in one "
                "slot; a new one would spread over a cluster",
                self._connection.name,
                self.name,
            )
        self.is_by_site = layout == "site"
        self.secret = meta[b"secret"]

    def enter_again(self) -> None:
        """Write what was known of it to a server that has lost it."""
        self._written(layout="site" if self.is_by_site else "all", secret=self.secret)
        self._listed.clear()

    def give_secret(self, secret: bytes) -> None:
        """Set another secret, for there are no pages.

        Whoever signs under the old one meanwhile is told by the recipe.
        """
        self._connection.command("HSET", self._meta, "secret", secret)
        self.secret = secret

    def _error(self, problem: str) -> StoreError:
        return StoreError(self._connection.name, f"namespace {self.name!r} {problem}")

    def _written(self, *, layout: str, secret: bytes) -> dict[bytes, bytes]:
        """Return all that is known of it; what is missing is set to this."""
        *_, meta = self._connection.commands(
            ("HSETNX", self._meta, "format", FORMAT),
            ("HSETNX", self._meta, "layout", layout),
            ("HSETNX", self._meta, "secret", secret),
            ("HGETALL", self._meta),
        )
        found: dict[bytes, bytes] = meta
        return found


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
