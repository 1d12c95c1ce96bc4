"""Where signatures are remembered: one protocol, one module for each backend."""

from .base import Claim, Entry, Store, Ticket
from .memory import MemoryStore
from .opening import open_reader, open_store, require_address
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
