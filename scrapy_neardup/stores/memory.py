"""Pages in memory, for as long as the process lives."""

from __future__ import annotations

import secrets

from .archive import Archive
from .in_process import InProcessStore


class MemoryStore(InProcessStore):
    """Keeps signatures in a dictionary, and an index of them.

    :param secret: key of the sketches, 16 to 64 bytes; drawn at random unless given.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    """

    holds_values = True
    reads_facts_late = True

    def __init__(self, secret: bytes | None = None, ttl: float | None = None) -> None:
        super().__init__("memory", Archive(), secret or secrets.token_bytes(32), ttl)
