"""When is a page stored? What becomes of its items says so, and its claim follows.

A claim is committed when the page's callback has ended, all its items have come to their end, and
at least one of them has been stored. When the callback ended well without any item, the page is
committed for its links alone, and is no original for items: its copy may yield the item. A claim is
released when all items were dropped or failed. Nothing else decides: a page that is remembered
before it is stored takes its copies with it when storing fails.

Which of several items were stored is remembered as well: copies wait until all have come to their
end, and then yield what is missing.
"""

from __future__ import annotations

from collections.abc import Callable

from ...matching.stored_items import NO_ITEMS, OWN_ITEMS, merge


class PendingClaim:
    """Of one claim: counts what becomes of the items that it stands for.

    :param settle: called once, with what was stored, ``None`` for nothing: see
        :mod:`~scrapy_neardup.matching.stored_items`.
    """

    def __init__(self, settle: Callable[[int | None], None]) -> None:
        self._settle: Callable[[int | None], None] | None = settle
        self._sent = 0
        self._ended_items = 0
        self._items: int | None = None
        self._has_ended = False

    def item_sent(self) -> None:
        """An item is on its way to the storage."""
        self._sent += 1

    def item_stored(self, items: int = OWN_ITEMS) -> None:
        """An item has passed all pipelines.

        :param items: what is to be remembered of it, see
            :mod:`~scrapy_neardup.matching.stored_items`.
        """
        self._items = merge(self._items or NO_ITEMS, items)
        self._ended_items += 1
        self._look_for_the_end()

    def item_lost(self) -> None:
        """An item was dropped, or a pipeline failed."""
        self._ended_items += 1
        self._look_for_the_end()

    def ended(self, *, failed: bool) -> None:
        """No more items come; the callback has ended well or failed."""
        self._has_ended = True
        if not self._sent and not failed:
            self._items = NO_ITEMS
        self._look_for_the_end()

    def abandoned(self) -> None:
        """Nothing more will be heard of it: another component took its items away."""
        self._answer()

    @property
    def is_known(self) -> bool:
        """Has it been answered?"""
        return self._settle is None

    @property
    def is_lost(self) -> bool:
        """Has it been answered that nothing was stored?"""
        return self.is_known and not self._items

    def _look_for_the_end(self) -> None:
        if self._has_ended and self._ended_items >= self._sent:
            self._answer()

    def _answer(self) -> None:
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(self._items)


class ItemShare:
    """One item's part in the outcome of the page where the item began.

    Whoever hears of the item's end first says so; what comes later changes nothing.

    :param items: what that page remembers of it, see :mod:`~scrapy_neardup.matching.stored_items`.
    :param on_stored: called when the item was stored.
    """

    def __init__(
        self,
        pending: PendingClaim,
        items: int = OWN_ITEMS,
        on_stored: Callable[[], None] = lambda: None,
    ) -> None:
        self._pending: PendingClaim | None = pending
        self._items = items
        self._on_stored = on_stored
        pending.item_sent()

    def stored(self) -> None:
        """The item has passed all pipelines."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.item_stored(self._items)
            self._on_stored()

    def lost(self) -> None:
        """The item was dropped, a pipeline failed, or nothing more will be heard of it."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.item_lost()
