"""Keeps the pages that were stored while the store of signatures failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from ...exceptions import StoreError
from ...signatures.signature import PageSignature
from ...stores import Store

#: Stored pages that wait for the store to recover; beyond this the oldest are given up.
_MAX_BACKLOG = 100_000


class StoredPage(NamedTuple):
    """A stored page that is to be added once the store recovers.

    :ivar items: see :mod:`~scrapy_neardup.matching.stored_items`, like ``confirmed``.
    :ivar record: has the page recorded by a call of the store.
    """

    signature: PageSignature
    items: int
    confirmed: bool
    record: Callable[[Callable[[], None]], None]


class Backlog:
    """The pages that are to be added to the store once it recovers.

    :param ask: calls the store and returns the answer.
    :param leave_open: called before a page is added that is not confirmed.
    :ivar n_added: number of pages that were added.
    :ivar n_given_up: number of pages that were too many.
    """

    def __init__(
        self,
        store: Store,
        ask: Callable[[Callable[[], None]], Awaitable[None]],
        leave_open: Callable[[], None],
    ) -> None:
        self.n_added = self.n_given_up = 0
        self._store = store
        self._ask = ask
        self._leave_open = leave_open
        self._pages: deque[StoredPage] = deque()

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: StoredPage) -> None:
        """Add a page; of too many the oldest is given up."""
        self._pages.append(page)
        if len(self._pages) > _MAX_BACKLOG:
            self._pages.popleft()
            self.n_given_up += 1

    async def write(self) -> None:
        """Add all pages to the store.

        :raises StoreError: when it fails again; the other pages go on waiting.
        """
        while self._pages:
            page = self._pages.popleft()
            if not page.confirmed:
                self._leave_open()
            add = partial(
                self._store.add, page.signature, confirmed=page.confirmed, items=page.items
            )
            try:
                await self._ask(partial(page.record, add))
            except StoreError:
                self._pages.appendleft(page)
                raise
            self.n_added += 1
