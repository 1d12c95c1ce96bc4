"""Settles the claim of a page once the outcome of its items is known.

A claim is committed when the page's callback has ended, each of its items has been stored or lost,
and at least one has been stored. If the callback ended without error and without any item, the page
is committed for its links alone and is no original for items: its copy may yield the item. A claim
is released when all items were dropped or failed. A page must not be committed earlier: if storing
it failed, its copies would be lost with it.

Which of several items were stored is recorded as well: copies wait until all are stored or lost,
and then yield what is missing.
"""

from __future__ import annotations

from collections.abc import Callable

from ...matching.stored_items import NO_ITEMS, OWN_ITEMS, merge


class PendingClaim:
    """A claim that is settled when all of its items have been stored or lost.

    :param on_settled: called once with the bits of the stored items, see
        :mod:`~scrapy_neardup.matching.stored_items`; with ``None`` if none was stored.
    """

    def __init__(self, on_settled: Callable[[int | None], None]) -> None:
        self._on_settled: Callable[[int | None], None] | None = on_settled
        self._open_items = 0
        self._has_items = False
        self._items: int | None = None
        self._has_ended = False

    def item_sent(self) -> None:
        """Note that the page has yielded an item."""
        self._open_items += 1
        self._has_items = True

    def item_stored(self, items: int = OWN_ITEMS) -> None:
        """Note that an item has passed all pipelines, and its bits."""
        self._items = merge(self._items or NO_ITEMS, items)
        self.item_lost()

    def item_lost(self) -> None:
        """Note that an item was dropped, or a pipeline failed."""
        self._open_items -= 1
        self._settle_if_complete()

    def ended(self, *, failed: bool) -> None:
        """Note that the callback has ended, so that there are no more items."""
        self._has_ended = True
        if not self._has_items and not failed:
            self._items = NO_ITEMS
        self._settle_if_complete()

    def settle(self) -> None:
        """Settle the claim now, whatever becomes of the other items."""
        on_settled, self._on_settled = self._on_settled, None
        if on_settled is not None:
            on_settled(self._items)

    @property
    def is_settled(self) -> bool:
        """Has the claim been settled?"""
        return self._on_settled is None

    @property
    def is_lost(self) -> bool:
        """Has the claim been settled without any stored item?"""
        return self.is_settled and not self._items

    def _settle_if_complete(self) -> None:
        if self._has_ended and self._open_items <= 0:
            self.settle()


class ItemShare:
    """One item's part in the outcome of the page where the item began.

    Only the first call of :meth:`stored` or :meth:`lost` counts.

    :param items: the item's bits for that page.
    """

    def __init__(self, pending: PendingClaim, items: int, on_stored: Callable[[], None]) -> None:
        self._pending: PendingClaim | None = pending
        self._items = items
        self._on_stored = on_stored
        pending.item_sent()

    def stored(self) -> None:
        """Note that the item has passed all pipelines."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.item_stored(self._items)
            self._on_stored()

    def lost(self) -> None:
        """Note that the item was dropped or removed, or that a pipeline failed."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.item_lost()
