"""A namespace in Redis: what is known of it, and its parts that hold pages.

Without its secret and its recipe nobody can compare its pages. A server may be emptied at any time,
so no page is written before the server knows both: a part without a recipe takes no page, and is
begun by those who wrote what is known of the namespace.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from ...exceptions import NearDupError, SignatureMismatch, StoreError
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
FORMAT = 8
_MADE_ANEW = (
    "has got another secret since it was opened, because its Redis was emptied and another crawl "
    "came first, or pages were imported; start this crawl again"
)

_ADOPT, _BEGIN, _ENTER, _GIVE_SECRET = map(Script, ("adopt", "begin", "enter", "give_secret"))


def names_in(connection: RedisConnection, key: bytes) -> list[str]:
    """Return the names of sites in a set, in order."""
    return sorted(map(unpacked_name, connection.command("SMEMBERS", key)))


class RedisNamespace:
    """Its format, layout, secret and recipe, and the parts that hold its pages.

    :param lease: see :class:`~scrapy_neardup.stores.redis.leases.LeaseRegistry`.
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
        self._adopting = threading.Lock()
        #: What was adopted, the parts as JSON: empty before that.
        self._recipe = self._parts = ""
        #: Names of sites that are known to be on the server's lists.
        self._listed: set[str] = set()

    def of(self, site: str | None) -> RedisPages:
        """Return the part in which a site's pages are."""
        is_apart = self.is_by_site and site is not None
        part = KeySpace(self.name, site) if is_apart else self.whole
        return RedisPages(self._connection, part, self.leases.id, self)

    def for_writing(self, site: str) -> RedisPages:
        """Return a site's part, put on the lists of all sites and of those this run was at."""
        if self.is_by_site and site not in self._listed:
            self._list(site)
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

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        """Accept signatures of one recipe; it becomes the namespace's own where it has no pages.

        :raises SignatureMismatch: when there are pages that were signed in another way, or this
            process signs in another way.
        :raises StoreError: when the namespace was made anew meanwhile.
        """
        if not self._recipe:
            # Two crawls of this process may start at once.
            with self._adopting:
                if not self._recipe:
                    self._adopt(recipe, json.dumps(dict(parts)))
        if recipe != self._recipe:
            known_parts = json.loads(self._parts) if parts else None
            raise SignatureMismatch(self._recipe, recipe, known_parts, parts)

    def begin(self, part: KeySpace) -> None:
        """Let a part have pages of the adopted recipe; the server knows the namespace then.

        :raises StoreError: when the namespace was made anew meanwhile, with another secret.
        """
        if self._written("", self.secret).get(b"secret") != self.secret:
            raise self._error(_MADE_ANEW)
        if part.site is not None:
            self._list(part.site)
            self._connection.run(_BEGIN, part.keys(self.leases.id), self._recipe)

    def mismatch(self, known: str, recipe: str, parts: str = "") -> NearDupError:
        """Return the error for pages of another recipe than that of signatures.

        :param parts: of the signatures' recipe; those of the adopted one unless given.
        """
        secret, known_parts = self._connection.command(
            "HMGET", self._meta, "secret", f"parts:{known}"
        )
        if secret not in (None, self.secret):
            return self._error(_MADE_ANEW)
        if known_parts is None:
            problem = f"namespace {self.name!r} {self._unknown}"
            return SignatureMismatch(known, recipe, problem=problem)
        return SignatureMismatch(
            known, recipe, json.loads(known_parts), json.loads(parts or self._parts)
        )

    def recipe(self) -> str:
        """Return the recipe of the stored pages; empty before the first crawl."""
        recipe: bytes | None = self._connection.command("HGET", self._meta, "recipe")
        return (recipe or b"").decode()

    def enter(self, scope: Scope | None) -> None:
        """Read what is known of it; it is made unless it is there.

        :param scope: of the rules by which its pages are to be judged.
        :raises StoreError: when it is of another format, cannot compare what is to be compared, or
            has pages of which nothing is known.
        """
        meta = self._written(scope or "all", secrets.token_bytes(32))
        if not meta:
            raise self._error(self._unknown)
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
        self._written("", self.secret)
        self._listed.clear()

    def give_secret(self, secret: bytes) -> None:
        """Set another secret, unless there are pages.

        Whoever signs under the old one meanwhile is told when its first page is to be written.
        """
        self.secret = self._connection.run(_GIVE_SECRET, self._keys, secret)

    @property
    def _keys(self) -> list[bytes]:
        return [*self.whole.keys(self.leases.id), self._meta, self.whole.site_names]

    @property
    def _unknown(self) -> str:
        """What is wrong with pages of which nothing is known, and the remedy."""
        name = self._connection.name
        server = "" if "+" in name.partition(":")[0] else f" -u {name}"
        pattern = self.whole.key("").decode().replace("}:", "[}:]*")
        each = " -n 1 redis-cli -c" if self._connection.is_cluster else f" redis-cli{server}"
        where = ", on each node" if self._connection.is_cluster else ""
        return (
            "does not know how its pages were signed, so nothing can be compared with them: its "
            "Redis was probably emptied during a crawl. If settings were changed since that "
            "crawl, restore them. Otherwise use another namespace, or remove this one and crawl "
            f"again: redis-cli{server} --scan --pattern '{pattern}' | xargs{each} UNLINK{where}"
        )

    def _list(self, site: str) -> None:
        """Put a site on the lists of all sites and of those this run was at."""
        name = packed_name(site)
        self._connection.commands(
            ("SADD", self.whole.site_names, name),
            ("SADD", self.leases.sites_of(self.leases.id), name),
        )
        if len(self._listed) >= _MOST_LISTED:
            self._listed.clear()
        self._listed.add(site)

    def _adopt(self, recipe: str, parts: str) -> None:
        arguments = (recipe, parts, int(self.is_by_site))
        known = self._connection.run(_ADOPT, self._keys, *arguments).decode()
        if known != recipe:
            raise self.mismatch(known, recipe, parts)
        # This last: others read it without the lock.
        self._parts, self._recipe = parts, recipe

    def _error(self, problem: str) -> StoreError:
        return StoreError(self._connection.name, f"namespace {self.name!r} {problem}")

    def _written(self, layout: str, secret: bytes) -> dict[bytes, bytes]:
        """Return all that is known of it; what is missing is set to this.

        Empty, where that would contradict pages that are there.

        :param layout: the present one unless given.
        """
        layout = layout or ("site" if self.is_by_site else "all")
        known: list[Any] = self._connection.run(
            _ENTER, self._keys, FORMAT, layout, secret, self._recipe, self._parts
        )
        return dict(zip(known[::2], known[1::2], strict=True))
