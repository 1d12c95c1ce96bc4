"""A namespace in Redis: what is known of it, and the parts that hold its pages."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator

from ...exceptions import StoreError
from ...matching.rule import Scope
from ..hints import packed_name, unpacked_name
from .connection import RedisConnection, Script
from .layout import KeySpace
from .leases import LeaseRegistry
from .pages import RedisPages

logger = logging.getLogger("scrapy_neardup")

#: Names of sites that are known to be on the server's lists, at most.
_MOST_LISTED = 100_000
#: Version of the layout; a namespace of another one is refused.
FORMAT = 4

_ADOPT = Script("adopt")


def names_in(connection: RedisConnection, key: bytes) -> list[str]:
    """Return the names of sites in a set, in order."""
    return sorted(map(unpacked_name, connection.command("SMEMBERS", key)))


class RedisNamespace:
    """Its format, layout, secret and recipe, and the parts that hold its pages.

    :ivar whole: the keys of the part of all sites.
    :ivar is_by_site: has each site's pages keys of their own?
    :ivar secret: key of the sketches. Like ``is_by_site`` it is known from :meth:`enter` on.
    """

    def __init__(self, connection: RedisConnection, name: str, leases: LeaseRegistry) -> None:
        self.name = name
        self.whole = KeySpace(name)
        self.is_by_site = False
        self.secret = b""
        self._connection = connection
        self._leases = leases
        self._meta = self.whole.key("meta")
        #: Names of sites that are known to be on the server's lists.
        self._listed: set[str] = set()

    def of(self, site: str | None) -> RedisPages:
        """Return the part in which a site's pages are."""
        is_apart = self.is_by_site and site is not None
        part = KeySpace(self.name, site) if is_apart else self.whole
        return RedisPages(self._connection, part, self._leases.id)

    def for_writing(self, site: str) -> RedisPages:
        """Return a site's part, put on the lists of all sites and of those this run was at."""
        if self.is_by_site and site not in self._listed:
            name = packed_name(site)
            self._connection.commands(
                ("SADD", self.whole.site_names, name),
                ("SADD", self._leases.sites_of(self._leases.id), name),
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
            sites = [*names_in(self._connection, self._leases.sites_of(run))]
        forgotten = sum([self.of(site).reap(run) for site in sites])
        self._leases.remove(run)
        return forgotten

    def is_gone(self, run: bytes) -> bool:
        """Return whether a run is dead; what it held is removed then."""
        if self._leases.is_alive(run):
            return False
        self.reap(run)
        return True

    def adopt(self, recipe: str, parts: str) -> tuple[str, str]:
        """Return recipe and parts; these become the namespace's own where it has no pages."""
        keys = [*self.whole.keys(self._leases.id), self._meta, self.whole.site_names]
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
                f"format {FORMAT}; export it there and import it here"
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
