"""From a store's address to the store; within a process, one for each address and namespace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol
from weakref import ref

from ..exceptions import InvalidOption
from ..matching.rule import Scope
from .base import Store
from .in_process import InProcessStore
from .memory import MemoryStore
from .reading import StoreReader

_FILE = "sqlite:///"
_REDIS = ("redis:", "rediss:", "redis+", "rediss+")
_DEFAULT = "default"


class _Shared(Store, Protocol):
    """A store of several users."""

    @property
    def ttl(self) -> float | None:
        """Seconds after which a page is forgotten."""

    def shared(self) -> _Shared | None:
        """This store for one user more; ``None`` when it is closed."""


_opening = threading.Lock()
_open: dict[tuple[str, str], _Shared] = {}


def require_address(address: str) -> None:
    """Do nothing when this is the address of a store, whether it is there or not.

    :raises InvalidOption: when it is not, or when the package is missing that it needs.
    """
    if address.startswith(_REDIS):
        from .redis.address import RedisAddress

        RedisAddress.parse(address)
    elif address != "memory" and not (address.startswith(_FILE) and address != _FILE):
        # No other address has a password that could be shown here.
        known = "'memory', 'sqlite:///path' or 'redis://host:port/db'"
        raise InvalidOption("store", address, known)


def open_store(
    address: str,
    namespace: str | None = None,
    ttl: float | None = None,
    scope: Scope | None = None,
    secret: bytes | None = None,
) -> Store:
    """The store at an address; whoever opens it closes it.

    :param address: ``"memory"``, ``"sqlite:///relative/path"``, ``"sqlite:////absolute/path"``,
        or a Redis: ``"redis://[user:password@]host:port/db"``, ``"rediss://…"``,
        ``"redis+sentinel://host:port,host:port/service/db"``, ``"redis+cluster://host:port"``;
        its options are those of :class:`~scrapy_neardup.stores.redis.address.RedisAddress`.
    :param namespace: pages of one namespace are compared with each other only. Stores of one
        address and namespace are one store; a memory without a namespace is its opener's alone,
        one with a namespace lives as long as the process.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    :param scope: of the rules that the pages are to be judged by, where that is known. With
        ``"site"`` a Redis keeps each site's pages apart, for a cluster to spread them.
    :param secret: key of the sketches, 16 to 64 bytes, for a namespace without a page; one that
        has pages, or is open already, keeps its own. Drawn at random unless given.
    :raises InvalidOption: when the address names no store, or the store is open with another ttl.
    :raises StoreError: when the store cannot be used.
    """
    require_address(address)
    if address == "memory":
        if namespace is None:
            return MemoryStore(secret, ttl)
        return _shared(("memory", namespace), lambda: _lasting(MemoryStore(secret, ttl)), ttl)
    name = namespace or _DEFAULT
    if address.startswith(_REDIS):
        from .redis.store import RedisStore

        return _shared(
            (address, name),
            lambda: RedisStore(address, name, ttl, scope=scope, secret=secret),
            ttl,
        )
    from .sqlite.store import SqliteStore

    path = Path(address.removeprefix(_FILE)).resolve()
    return _shared((str(path), name), lambda: SqliteStore(path, name, ttl, secret), ttl)


def open_reader(address: str) -> StoreReader:
    """A look at the store at an address, which a crawl may be writing; whoever opens it closes it.

    :param address: as for :func:`open_store`, of a store that outlives its process.
    :raises InvalidOption: when the address names no such store.
    :raises StoreMissing: when there is nothing at the address.
    :raises StoreError: when the store cannot be read.
    """
    require_address(address)
    if address.startswith(_FILE):
        from .sqlite.reading import SqliteReader

        return SqliteReader(address.removeprefix(_FILE))
    if address.startswith(_REDIS):
        from .redis.reading import RedisReader

        return RedisReader(address)
    raise InvalidOption("store", address, "the address of a store that outlives its process")


def _shared(place: tuple[str, str], make: Callable[[], _Shared], ttl: float | None) -> _Shared:
    """The store that is open at a place, or a new one."""
    with _opening:
        known = _open.get(place)
        if known is None or (store := known.shared()) is None:
            _open[place] = store = make()
            if isinstance(store, InProcessStore):
                store.at_close = partial(_let_go, place, ref(store))
            return store
        if store.ttl != ttl:
            store.close()
            raise InvalidOption(
                "ttl",
                ttl,
                f"{store.ttl}, with which another crawl in this process opened the store",
            )
        return store


def _let_go(place: tuple[str, str], closed: ref[InProcessStore]) -> None:
    """Keep a store no longer that was closed: it has all its pages' rows in memory."""
    if _open.get(place) is closed():
        del _open[place]


def _lasting(store: InProcessStore) -> InProcessStore:
    """With a user who never closes it."""
    store.shared()
    return store
