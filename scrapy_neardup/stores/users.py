"""Counts the users of a store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager


class Users:
    """Counts the crawls of one process that have a store open; each of them closes it.

    :param lock: a store that holds it while it closes makes :meth:`join` wait for that.
    """

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        #: Called when the last user has closed the store.
        self.at_close: Callable[[], None] = lambda: None
        self._lock = lock
        self._count = 1

    @property
    def is_closed(self) -> bool:
        with self._lock:
            return not self._count

    def join(self) -> bool:
        """Add a user; return false when the store is closed."""
        with self._lock:
            if not self._count:
                return False
            self._count += 1
            return True

    def leave(self) -> bool:
        """Remove a user; return whether that was the last one."""
        with self._lock:
            self._count = max(0, self._count - 1)
            return not self._count
