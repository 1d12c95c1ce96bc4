"""From a store's address to the store; within a process, one for each address and namespace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from ..exceptions import InvalidOption
from .base import Store
from .local import LocalStore
from .memory import MemoryStore

_FILE = "sqlite:///"
_DEFAULT = "default"

_opening = threading.Lock()
_open: dict[tuple[str, str], LocalStore] = {}


def require_address(address: str) -> None:
    """Do nothing when this is the address of a store, whether it is there or not.

    :raises InvalidOption: when it is not.
    """
    is_file = address.startswith(_FILE) and address != _FILE
    if address != "memory" and not is_file:
        raise InvalidOption("store", address, "'memory' or 'sqlite:///path'")


def open_store(address: str, namespace: str | None = None, ttl: float | None = None) -> Store:
    """The store at an address; whoever opens it closes it.

    :param address: ``"memory"``, ``"sqlite:///relative/path"`` or ``"sqlite:////absolute/path"``.
    :param namespace: pages of one namespace are compared with each other only. Stores of one
        address and namespace are one store; a memory without a namespace is its opener's alone,
        one with a namespace lives as long as the process.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    :raises InvalidOption: when the address names no store, or the store is open with another ttl.
    :raises StoreError: when the store cannot be used.
    """
    require_address(address)
    if address == "memory":
        if namespace is None:
            return MemoryStore(ttl=ttl)
        return _shared(("memory", namespace), lambda: _lasting(MemoryStore(ttl=ttl)), ttl)
    from .sqlite import SqliteStore

    path = Path(address.removeprefix(_FILE)).resolve()
    name = namespace or _DEFAULT
    return _shared((str(path), name), lambda: SqliteStore(path, name, ttl), ttl)


def _shared(
    place: tuple[str, str], make: Callable[[], LocalStore], ttl: float | None
) -> LocalStore:
    """The store that is open at a place, or a new one."""
    with _opening:
        known = _open.get(place)
        if known is None or (store := known.shared()) is None:
            _open[place] = store = make()
            return store
        if store.ttl != ttl:
            store.close()
            raise InvalidOption(
                "ttl",
                ttl,
                f"{store.ttl}, with which another crawl in this process opened the store",
            )
        return store


def _lasting(store: LocalStore) -> LocalStore:
    """With a user who never closes it."""
    store.shared()
    return store
