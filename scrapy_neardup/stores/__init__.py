"""Where signatures are remembered: one protocol, one module for each backend."""

from .base import Claim, Entry, Store, Ticket
from .memory import MemoryStore
from .opening import open_store, require_address

__all__ = ["Claim", "Entry", "MemoryStore", "Store", "Ticket", "open_store", "require_address"]
