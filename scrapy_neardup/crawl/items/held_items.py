"""Holds back items of a list until all items of their page are known.

A spider may be corrected between two crawls, or fail within a list. The record of a list that an
earlier crawl stored tells only whether the page yields the same items now. If it does not, nobody
can tell which ones are new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...matching.stored_items import NO_ITEMS, PageItems
from .item_tracker import ItemJudgement, Judgement

#: Items that are held back, at most; those beyond that are kept.
_MAX_HELD = 10_000


class HeldItems:
    """The items of one visit of a page.

    :param page: the judgement on the page.
    :param kept: returns the judgement to keep an item.
    """

    def __init__(
        self, page: Judgement | None, kept: Callable[[ItemJudgement], ItemJudgement]
    ) -> None:
        pending = None if page is None else page.pending
        self._record = NO_ITEMS if page is None else page.items
        self._items = PageItems() if pending is None else pending.items
        self._kept = kept
        #: Items that are only reported need not wait.
        self._holds = page is not None and page.policy.action != "report"
        self._held: list[tuple[Any, ItemJudgement]] = []

    def decide(self, item: Any, decided: ItemJudgement) -> ItemJudgement | None:
        """Return the judgement on an item of the page; ``None`` where it is held back."""
        self._items.add(decided.items, decided.list_digest)
        if not (decided.is_open and self._holds):
            return decided
        if len(self._held) >= _MAX_HELD:
            return self._kept(decided)
        self._held.append((item, decided))
        return None

    def release(self) -> Iterator[tuple[Any, ItemJudgement]]:
        """Yield the items that were held back, once the callback has ended or failed."""
        is_same = self._items.are_those_of(self._record)
        for item, decided in self._held:
            yield item, decided if is_same else self._kept(decided)
