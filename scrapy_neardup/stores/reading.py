"""What a tool asks of a store that it only looks at, whichever backend keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..matching.stored_items import OWN_ITEMS
from ..signatures.signature import PageSignature
from .base import Store


@dataclass(frozen=True, slots=True)
class Namespace:
    """Pages that are compared with each other; crawls name it for their spider.

    :ivar name: under which :func:`~scrapy_neardup.stores.open_store` opens it.
    :ivar secret: key of its sketches.
    :ivar recipe: see :attr:`~scrapy_neardup.signatures.signature.Signer.recipe`; empty before the
        first crawl.
    :ivar parts: what the recipe was made of, by name.
    """

    name: str
    secret: bytes = field(repr=False)
    recipe: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Figures:
    """What there is in a namespace.

    :ivar pages: number of pages, unconfirmed ones included.
    :ivar unconfirmed: how many of them nobody knows to be on disk.
    :ivar oldest: when the page was stored that has been there for longest, in seconds since 1970;
        ``None`` where there is no page.
    :ivar newest: the same of the last one.
    :ivar rules: number of rules.
    :ivar known_duplicates: how many addresses are known to lead to a duplicate.
    """

    pages: int = 0
    unconfirmed: int = 0
    oldest: int | None = None
    newest: int | None = None
    rules: int = 0
    known_duplicates: int = 0

    @classmethod
    def of(cls, times: npt.NDArray[np.uint32], unconfirmed: int = 0) -> Figures:
        """Of pages that were stored at these times, in seconds since 1970, shape ``(n,)``."""
        if not times.size:
            return cls(unconfirmed=unconfirmed)
        return cls(len(times), unconfirmed, int(times.min()), int(times.max()))

    def __add__(self, other: Figures) -> Figures:
        """Of these pages and others."""
        oldest = [at for at in (self.oldest, other.oldest) if at is not None]
        newest = [at for at in (self.newest, other.newest) if at is not None]
        return Figures(
            self.pages + other.pages,
            self.unconfirmed + other.unconfirmed,
            min(oldest, default=None),
            max(newest, default=None),
            self.rules + other.rules,
            self.known_duplicates + other.known_duplicates,
        )


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it was found in a store.

    :ivar signature: all that is known of it.
    :ivar stored_at: when it was stored last, in seconds since 1970.
    :ivar is_confirmed: is what was stored known to be on disk?
    :ivar items: what was stored of it, see ``NO_ITEMS`` in ``matching/stored_items.py``.
    """

    signature: PageSignature
    stored_at: int
    is_confirmed: bool = True
    items: int = OWN_ITEMS


class StoreReader(Protocol):
    """Looks at a store, which a crawl may be writing, and changes nothing of it.

    What it was asked for once stays as it was then, where the backend can do that. All calls but
    :meth:`close` raise :exc:`~scrapy_neardup.exceptions.StoreError` when the store cannot be read.
    """

    @property
    def name(self) -> str:
        """What a message calls it: its address without a password."""

    @property
    def is_remote(self) -> bool:
        """Is it on another machine, or may be, so that nothing of it stays as it was?"""

    @property
    def format(self) -> int:
        """Version of the form in which it keeps pages."""

    @property
    def n_bytes(self) -> int | None:
        """How much room it takes; ``None`` where nobody can tell."""

    def namespaces(self) -> list[Namespace]:
        """All of them, by name."""

    def figures(self, namespace: str) -> Figures:
        """What there is in a namespace."""

    def pages(self, namespace: str, site: str | None = None) -> Iterator[StoredPage]:
        """Pages of a namespace, or those of one site, oldest first, read as they are asked for."""

    def rules(self, namespace: str) -> dict[str, bytes]:
        """Rules of a namespace by their names; see :meth:`~scrapy_neardup.stores.Store.rules`."""

    def overlay(self, namespace: str, ttl: float | None = None) -> Store:
        """The namespace as it is, as a store: what is then committed stays in this process.

        Unconfirmed pages are left out. The reader is the store's from then on, which closes it.
        """

    def close(self) -> None:
        """Let go of it."""
