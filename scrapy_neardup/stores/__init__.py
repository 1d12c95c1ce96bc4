"""Stores signatures: in memory, SQLite or Redis."""

from .base import Claim, Entry, Store, Ticket
from .factory import open_reader, open_store, require_address
from .memory import MemoryStore
from .reading import Figures, Namespace, StoredPage, StoreReader

__all__ = [
    "Claim",
    "Entry",
    "Figures",
    "MemoryStore",
    "Namespace",
    "Store",
    "StoreReader",
    "StoredPage",
    "Ticket",
    "open_reader",
    "open_store",
    "require_address",
]
