"""What is known of a namespace in Redis, beside its pages."""

from __future__ import annotations

import logging
import secrets

from ...exceptions import StoreError
from ...matching.rule import Scope
from .connection import Link
from .layout import KeySpace

logger = logging.getLogger("scrapy_neardup")

#: Version of the layout; a namespace of another one is refused.
FORMAT = 3


class RedisNamespace:
    """Its format, layout, secret and recipe, and the names of its sites.

    :ivar is_by_site: has each site's pages keys of their own?
    :ivar secret: key of the sketches. Like ``is_by_site`` it is known from :meth:`enter` on.
    """

    def __init__(self, link: Link, name: str) -> None:
        self.name = name
        self.whole = KeySpace(name)
        self.site_names = self.whole.key("site-names")
        self.is_by_site = False
        self.secret = b""
        self._link = link
        self._meta = self.whole.key("meta")

    @property
    def keys(self) -> list[bytes]:
        """Keys under which all this stands."""
        return [self._meta, self.site_names]

    def part(self, site: str | None) -> KeySpace:
        """Where a site's pages are."""
        return KeySpace(self.name, site) if self.is_by_site and site is not None else self.whole

    def sites(self) -> list[str | None]:
        """Sites whose parts hold all pages; ``None`` stands for the part of all sites."""
        if not self.is_by_site:
            return [None]
        names = self._link.command("SMEMBERS", self.site_names)
        return [name.decode("utf-8", "surrogatepass") for name in sorted(names)]

    def recipe(self) -> str:
        """The recipe of what is remembered; empty before the first crawl."""
        recipe: bytes | None = self._link.command("HGET", self._meta, "recipe")
        return (recipe or b"").decode()

    def enter(self, scope: Scope | None) -> None:
        """Read what is known of it; it is made unless it is there.

        :param scope: of the rules by which its pages are to be judged.
        :raises StoreError: when it is of another format, or cannot compare what is to be compared.
        """
        meta = self._written(layout=scope or "all", secret=secrets.token_bytes(32))
        version, layout = meta[b"format"].decode(), meta[b"layout"].decode()
        if version != str(FORMAT):
            raise StoreError(
                self._link.name,
                f"namespace {self.name!r} has format {version}, from another scrapy-neardup "
                f"than this one, which reads format {FORMAT}; export it there and import it here",
            )
        if layout == "site" and scope == "all":
            raise StoreError(
                self._link.name,
                f"namespace {self.name!r} keeps each site's pages apart and cannot compare "
                "those of two sites; set the scope to 'site', or give a new namespace",
            )
        if scope == "site" and layout == "all":
            logger.warning(
                "Store %s: namespace %r was made for scope 'all', so all its pages stay in one "
                "slot; a new one would spread over a cluster",
                self._link.name,
                self.name,
            )
        self.is_by_site = layout == "site"
        self.secret = meta[b"secret"]

    def enter_again(self) -> None:
        """Write what was known of it to a server that has forgotten it."""
        self._written(layout="site" if self.is_by_site else "all", secret=self.secret)

    def give_secret(self, secret: bytes) -> None:
        """Another secret, for there are no pages.

        Whoever signs under the old one meanwhile is told by the recipe.
        """
        self._link.command("HSET", self._meta, "secret", secret)
        self.secret = secret

    def _written(self, *, layout: str, secret: bytes) -> dict[bytes, bytes]:
        """All that is known of it, which is this where nothing was."""
        *_, meta = self._link.commands(
            ("HSETNX", self._meta, "format", FORMAT),
            ("HSETNX", self._meta, "layout", layout),
            ("HSETNX", self._meta, "secret", secret),
            ("HGETALL", self._meta),
        )
        found: dict[bytes, bytes] = meta
        return found
