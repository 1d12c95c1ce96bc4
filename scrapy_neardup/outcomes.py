"""When is a page stored? What becomes of its items says so, and its claim follows.

A claim is committed when one item of its page has been stored. When the page's callback ended well
without any item, the page is committed for its links alone, and is no original for items: its copy
may yield the item. A claim is released when all items were dropped or failed. Nothing else decides:
a page that is remembered before it is stored takes its copies with it when storing fails.

Of several items some may still be on their way when the first one is stored. Then the page counts
for those who wait for it, but is not yet whole: a kill may still lose the rest.
"""

from __future__ import annotations

from collections.abc import Callable

from .search import NO_ITEMS, OWN_ITEMS


class Outcome:
    """Of one claim: counts what becomes of the items that it stands for.

    :param settle: called once, with what was stored, ``None`` for nothing (else see
        :data:`~scrapy_neardup.search.NO_ITEMS`), and whether that is all that is to come.
    :param complete: called once after a page was stored that was not yet whole, when it is.
    """

    def __init__(
        self,
        settle: Callable[[int | None, bool], None],
        complete: Callable[[], None] = lambda: None,
    ) -> None:
        self._settle: Callable[[int | None, bool], None] | None = settle
        self._complete: Callable[[], None] | None = complete
        self._sent = 0
        self._stored = 0
        self._lost = 0
        self._has_ended = False

    def item_sent(self) -> None:
        """An item is on its way to the storage."""
        self._sent += 1

    def item_stored(self, items: int = OWN_ITEMS) -> None:
        """An item has passed all pipelines.

        :param items: what it holds of earlier pages, see :data:`~scrapy_neardup.search.OWN_ITEMS`.
        """
        self._stored += 1
        self._answer(items)
        self._look_for_the_end()

    def item_lost(self) -> None:
        """An item was dropped, or a pipeline failed."""
        self._lost += 1
        self._look_for_the_end()

    def ended(self, *, failed: bool) -> None:
        """No more items come; the callback has ended well or failed."""
        self._has_ended = True
        if not self._sent:
            self._answer(None if failed else NO_ITEMS)
        self._look_for_the_end()

    def abandoned(self) -> None:
        """Nothing more will be heard of it: another component took its items away."""
        self._end()

    @property
    def is_known(self) -> bool:
        """Has it been answered?"""
        return self._settle is None

    @property
    def is_lost(self) -> bool:
        """Has it been answered that nothing was stored?"""
        return self.is_known and not self._stored

    @property
    def _is_whole(self) -> bool:
        return self._has_ended and self._stored + self._lost >= self._sent

    def _look_for_the_end(self) -> None:
        if self._is_whole:
            self._end()

    def _end(self) -> None:
        """All is known: a page of which nothing was stored until now is not stored."""
        self._answer(None)
        complete, self._complete = self._complete, None
        if complete is not None:
            complete()

    def _answer(self, items: int | None) -> None:
        settle, self._settle = self._settle, None
        if settle is None:
            return
        is_whole = self._is_whole or items is None
        if is_whole:
            self._complete = None
        settle(items, is_whole)


class ItemShare:
    """One item's part in the outcome of the page where the item began.

    Whoever hears of the item's end first says so; what comes later changes nothing.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._outcome: Outcome | None = outcome
        outcome.item_sent()

    def stored(self) -> None:
        """The item has passed all pipelines."""
        outcome, self._outcome = self._outcome, None
        if outcome is not None:
            outcome.item_stored()

    def lost(self) -> None:
        """The item was dropped, a pipeline failed, or nothing more will be heard of it."""
        outcome, self._outcome = self._outcome, None
        if outcome is not None:
            outcome.item_lost()
