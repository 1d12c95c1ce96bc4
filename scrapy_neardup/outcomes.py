"""When is a page stored? What becomes of its items says so, and its claim follows.

A claim is committed when one item of its page has been stored, or when the page's callback ended
well without any item: then there was nothing to store but links. It is released when all items
were dropped or failed. Nothing else decides: a page that is remembered before it is stored takes
its copies with it when storing fails.
"""

from __future__ import annotations

from collections.abc import Callable


class Outcome:
    """Of one claim: counts what becomes of the items that it stands for.

    :param settle: called once, with the answer: was it stored?
    """

    def __init__(self, settle: Callable[[bool], None]) -> None:
        self._settle: Callable[[bool], None] | None = settle
        self._sent = 0
        self._lost = 0
        self._has_ended = False

    def item_sent(self) -> None:
        """An item is on its way to the storage."""
        self._sent += 1

    def item_stored(self) -> None:
        """An item has passed all pipelines."""
        self._answer(True)

    def item_lost(self) -> None:
        """An item was dropped, or a pipeline failed."""
        self._lost += 1
        self._answer_if_all_are_lost()

    def ended(self, *, failed: bool) -> None:
        """No more items come; the callback has ended well or failed."""
        self._has_ended = True
        if not self._sent:
            self._answer(not failed)
        self._answer_if_all_are_lost()

    def abandoned(self) -> None:
        """Nothing more will be heard of it: another component took its items away."""
        self._answer(False)

    @property
    def is_known(self) -> bool:
        """Has it been answered?"""
        return self._settle is None

    def _answer_if_all_are_lost(self) -> None:
        if self._has_ended and self._lost >= self._sent:
            self._answer(False)

    def _answer(self, is_stored: bool) -> None:
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(is_stored)
