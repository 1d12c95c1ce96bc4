"""Keeps what this process has reserved in Redis, and what it committed without confirmation."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from ...exceptions import StoreError
from ..base import Ticket
from .pages import NewPage, RedisPages

#: Milliseconds that an attempt that was given up may still be on its way to the server.
_ON_ITS_WAY = 3_600_000


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reserved page.

    :ivar token: of the attempt that reserved it.
    :ivar has_body: whether it was read quickly only, so that its body may be kept.
    """

    pages: RedisPages
    number: bytes
    token: bytes
    page: NewPage
    has_body: bool = False
    outcome: Future[None] = field(default_factory=Future)

    @property
    def ticket(self) -> Ticket:
        """Its number, and the site where each has numbers of its own."""
        return self.pages.part.site, self.number


class Reservations(dict[Ticket, Reservation]):
    """The reservations of one run by their tickets, for any thread."""

    def __init__(self) -> None:
        super().__init__()
        #: Calls that remove from the server what could not be removed in time.
        self._overdue: deque[Callable[[], None]] = deque()

    def settle(self, ticket: Ticket) -> Reservation | None:
        """Drop a reservation, notify those who wait for it, and return it."""
        reservation = self.pop(ticket, None)
        if reservation is not None:
            reservation.outcome.set_result(None)
        return reservation

    def settle_key(self, site: str | None, key: bytes) -> None:
        for ticket, held in list(self.items()):
            if (held.pages.part.site, held.page.key) == (site, key):
                self.settle(ticket)

    def release(self, ticket: Ticket) -> None:
        """Remove a reservation from the server, now or when that answers again."""
        if (held := self.settle(ticket)) is None:
            return
        try:
            held.pages.release(held.page.key, held.token)
        except StoreError:
            self.release_later(held.pages, held.page.key, held.token)
            raise

    def release_later(self, pages: RedisPages, key: bytes, token: bytes) -> None:
        """Remove what an attempt may have reserved when the server answers again."""
        self._overdue.append(partial(pages.release, key, token, _ON_ITS_WAY))

    def release_overdue(self) -> None:
        """Remove from the server what could not be removed in time."""
        # Other threads may do the same.
        with contextlib.suppress(IndexError):
            while True:
                release = self._overdue.popleft()
                try:
                    release()
                except StoreError:
                    self._overdue.appendleft(release)
                    raise


class CommitMarks:
    """Counts commits, for the marks up to which they are confirmed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._commits = 0
        self._committing: set[int] = set()
        self._unconfirmed: set[str | None] = set()

    @property
    def sites(self) -> list[str | None]:
        """Sites with pages that may not be confirmed."""
        return list(self._unconfirmed)

    def last(self) -> int:
        """Return a mark behind all commits that have ended, and before all others."""
        with self._lock:
            return min(self._committing, default=self._commits + 1) - 1

    @contextlib.contextmanager
    def next(self, site: str | None, *, confirmed: bool) -> Iterator[int]:
        """Return the mark of a commit, or 0 when it is confirmed."""
        with self._lock:
            self._commits += 1
            mark = self._commits
            self._committing.add(mark)
            if not confirmed:
                self._unconfirmed.add(site)
        try:
            yield 0 if confirmed else mark
        finally:
            with self._lock:
                self._committing.remove(mark)

    def confirm(self, site: str | None, mark: int) -> None:
        """Record that a site's commits up to a mark are confirmed."""
        with self._lock:
            if mark == self._commits and not self._committing:
                self._unconfirmed.discard(site)
