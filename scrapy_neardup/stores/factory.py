"""Opens the store at an address; a process opens each address and namespace once."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from weakref import ref

from ..exceptions import InvalidOption, MissingPackage
from ..matching.rule import Scope
from .base import Store
from .in_process import InProcessStore
from .memory import MemoryStore
from .reading import StoreReader

if TYPE_CHECKING:
    from .redis.store import RedisStore

    #: A store that several users of one process may have open; the last of them closes it.
    SharedStore: TypeAlias = InProcessStore | RedisStore

SQLITE_SCHEME = "sqlite:///"
#: The first bytes of a SQLite file.
SQLITE_MAGIC = b"SQLite format 3\0"

_opening = threading.Lock()
_open: dict[tuple[str, str], SharedStore] = {}


def require_address(address: str) -> None:
    """Check that this is the address of a store, whether it is there or not.

    :raises InvalidOption: when it is not, or when a package is missing that it needs.
    """
    _canonical(address)


def open_store(
    address: str,
    namespace: str | None = None,
    ttl: float | None = None,
    scope: Scope | None = None,
    secret: bytes | None = None,
) -> Store:
    """Open the store at an address; whoever opens it closes it.

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
    place = _canonical(address), namespace or "default"
    if address == "memory" and namespace is None:
        return MemoryStore(secret, ttl)
    with _opening:
        known = _open.get(place)
        if known is None or not known.users.join():
            _open[place] = store = _new_store(*place, ttl, scope, secret)
            store.users.at_close = partial(_drop, place, ref(store))
            return store
    if known.ttl != ttl:
        known.close()
        opened_with = f"{known.ttl}, with which another crawl in this process opened the store"
        raise InvalidOption("ttl", ttl, opened_with)
    return known


def open_reader(address: str) -> StoreReader:
    """Open the store at an address for reading, also while a crawl writes it.

    Whoever opens it closes it.

    :param address: as for :func:`open_store`, of a store that outlives its process.
    :raises InvalidOption: when the address names no such store.
    :raises StoreError: when there is none, or it cannot be read.
    """
    address = _canonical(address)
    if address == "memory":
        raise InvalidOption("store", address, "the address of a store that outlives its process")
    if address.startswith(SQLITE_SCHEME):
        from .sqlite.reading import SqliteReader

        return SqliteReader(address.removeprefix(SQLITE_SCHEME))
    from .redis.reading import RedisReader

    return RedisReader(address)


def _canonical(address: str) -> str:
    """Return the one address of a store that has several.

    :raises InvalidOption: when it is none.
    """
    scheme = address.partition(":")[0].partition("+")[0]
    # Of addresses, only those of a Redis have a password that could be shown.
    known = "'memory', 'sqlite:///path' or 'redis://host:port/db'"
    if scheme in ("redis", "rediss"):
        try:
            from .redis.address import RedisAddress
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("redis"):
                raise
            installed = 'pip install "scrapy-neardup[redis]"'
            raise MissingPackage("store", f"{scheme}://…", installed) from None
        RedisAddress.parse(address)
        return address
    if scheme == "sqlite":
        if path := address.removeprefix(SQLITE_SCHEME).removeprefix(address):
            return f"{SQLITE_SCHEME}{Path(path).resolve()}"
        known = "'sqlite:///relative/path' or 'sqlite:////absolute/path'"
    elif address == "memory":
        return address
    raise InvalidOption("store", address, known)


def _new_store(
    address: str, namespace: str, ttl: float | None, scope: Scope | None, secret: bytes | None
) -> SharedStore:
    """Open a store at a canonical address, see :func:`open_store`."""
    if address == "memory":
        store = MemoryStore(secret, ttl)
        # A user who never closes it: it lives as long as the process.
        store.users.join()
        return store
    if address.startswith(SQLITE_SCHEME):
        from .sqlite.store import SqliteStore

        return SqliteStore(address.removeprefix(SQLITE_SCHEME), namespace, ttl, secret)
    from .redis.store import RedisStore

    return RedisStore(address, namespace, ttl, scope=scope, secret=secret)


def _drop(place: tuple[str, str], closed: ref[SharedStore]) -> None:
    """Drop a closed store: it has all its pages' rows in memory."""
    if _open.get(place) is closed():
        del _open[place]
