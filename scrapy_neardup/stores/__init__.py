"""Where signatures are remembered: one protocol, one module for each backend."""

from .base import Store
from .memory import MemoryStore

__all__ = ["MemoryStore", "Store"]
