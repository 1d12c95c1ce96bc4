"""When is a page stored? What becomes of its items says so, and its claim follows.

A claim is committed when one item of its page has been stored, or when the page's callback ended
well without any item: then there was nothing to store but links. It is released when all items
were dropped or failed. Nothing else decides: a page that is remembered before it is stored takes
its copies with it when storing fails.

Of several items some may still be on their way when the first one is stored. Then the page counts
for those who wait for it, but is not yet whole: a kill may still lose the rest.
"""

from __future__ import annotations

from collections.abc import Callable


class Outcome:
    """Of one claim: counts what becomes of the items that it stands for.

    :param settle: called once, with the answer: was it stored? And is that all that is to come?
    :param complete: called once after a page was stored that was not yet whole, when it is.
    """

    def __init__(
        self, settle: Callable[[bool, bool], None], complete: Callable[[], None] = lambda: None
    ) -> None:
        self._settle: Callable[[bool, bool], None] | None = settle
        self._complete: Callable[[], None] | None = complete
        self._sent = 0
        self._stored = 0
        self._lost = 0
        self._has_ended = False

    def item_sent(self) -> None:
        """An item is on its way to the storage."""
        self._sent += 1

    def item_stored(self) -> None:
        """An item has passed all pipelines."""
        self._stored += 1
        self._answer(True)
        self._look_for_the_end()

    def item_lost(self) -> None:
        """An item was dropped, or a pipeline failed."""
        self._lost += 1
        self._look_for_the_end()

    def ended(self, *, failed: bool) -> None:
        """No more items come; the callback has ended well or failed."""
        self._has_ended = True
        if not self._sent:
            self._answer(not failed)
        self._look_for_the_end()

    def abandoned(self) -> None:
        """Nothing more will be heard of it: another component took its items away."""
        self._end()

    @property
    def is_known(self) -> bool:
        """Has it been answered?"""
        return self._settle is None

    @property
    def _is_whole(self) -> bool:
        return self._has_ended and self._stored + self._lost >= self._sent

    def _look_for_the_end(self) -> None:
        if self._is_whole:
            self._end()

    def _end(self) -> None:
        """All is known: a page of which nothing was stored until now is not stored."""
        self._answer(False)
        complete, self._complete = self._complete, None
        if complete is not None:
            complete()

    def _answer(self, is_stored: bool) -> None:
        settle, self._settle = self._settle, None
        if settle is None:
            return
        is_whole = self._is_whole or not is_stored
        if is_whole:
            self._complete = None
        settle(is_stored, is_whole)
