"""The interface by which tools read a store without changing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .base import Entry, Store
from .better_urls import BetterUrl


@dataclass(frozen=True, slots=True)
class Namespace:
    """Pages that are compared with each other; crawls name it for their spider.

    :ivar secret: key of its sketches.
    :ivar recipe: see :attr:`~scrapy_neardup.signatures.signer.Signer.recipe`; empty before the
        first crawl.
    :ivar parts: what the recipe was made of, by name.
    """

    name: str
    secret: bytes = field(repr=False)
    recipe: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Figures:
    """The number of pages, rules and known duplicates in a namespace.

    :ivar pages: number of pages, unconfirmed ones included.
    :ivar unconfirmed: how many of them nobody knows to be on disk.
    :ivar oldest: when the first page was stored, in seconds since 1970; ``None`` without pages.
    :ivar newest: the same of the last one.
    """

    pages: int = 0
    unconfirmed: int = 0
    oldest: int | None = None
    newest: int | None = None
    rules: int = 0
    known_duplicates: int = 0

    @classmethod
    def of(
        cls,
        times: Iterable[npt.NDArray[np.uint32]],
        unconfirmed: int,
        rules: int,
        known_duplicates: int,
    ) -> Figures:
        """Return the figures of pages stored at these times, seconds since 1970, ``(n,)`` each."""
        at = np.concatenate([np.empty(0, np.uint32), *times])
        oldest, newest = (int(at.min()), int(at.max())) if at.size else (None, None)
        return cls(at.size, unconfirmed, oldest, newest, rules, known_duplicates)


@dataclass(frozen=True, slots=True)
class StoredPage(Entry):
    """A page that was read from a store.

    :ivar is_confirmed: whether what was stored is known to be on disk.
    """

    is_confirmed: bool = True


class StoreReader(Protocol):
    """Reads a store, which a crawl may be writing, and changes nothing in it.

    Answers stay as they were when they were first given, where the backend can do that. All but
    :meth:`close` raise :exc:`~scrapy_neardup.exceptions.StoreError` when the store cannot be read.
    """

    @property
    def name(self) -> str:
        """The name of the store in messages: its address without a password."""

    @property
    def is_remote(self) -> bool:
        """Whether it may be on another machine, so that later answers may differ."""

    @property
    def format(self) -> int:
        """Version of the format in which it keeps pages."""

    @property
    def n_bytes(self) -> int | None:
        """Size in bytes; ``None`` where it is unknown."""

    def namespaces(self) -> list[Namespace]:
        """Return all namespaces, by name."""

    def figures(self, namespace: str) -> Figures:
        """Return the figures of a namespace."""

    def pages(self, namespace: str, site: str | None = None) -> Iterator[StoredPage]:
        """Yield pages of a namespace, or those of one site, oldest first."""

    def rules(self, namespace: str) -> dict[str, bytes]:
        """Return the rules of a namespace by their names."""

    def visits(self, namespace: str) -> npt.NDArray[np.void]:
        """Return the histories of the pages of a namespace, see ``HintStore.visits``."""

    def better_urls(self, namespace: str) -> dict[str, BetterUrl]:
        """Return the best URLs of contents of a namespace, see ``HintStore.better_urls``."""

    def overlay(self, namespace: str, ttl: float | None = None) -> Store:
        """Return the namespace as a store: what is then committed stays in this process.

        Unconfirmed pages are left out. The reader is the store's from then on, which closes it.
        """

    def close(self) -> None:
        """Close it."""
