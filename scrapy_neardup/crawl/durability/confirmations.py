"""Decides up to where the pages that crawls stored in one store can be confirmed."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ...stores import Store

#: The crawls of this process by store: a page is confirmed only if its own crawl has it on disk.
_crawls: WeakKeyDictionary[Store, list[Confirmations]] = WeakKeyDictionary()


class Confirmations:
    """Marks of a store (:meth:`~scrapy_neardup.stores.Store.mark`) that can be confirmed.

    :ivar confirmed: the mark up to which the pages of this crawl are known to be on disk.
    """

    def __init__(self, store: Store) -> None:
        self.confirmed = 0
        self._store = store
        #: A mark before the oldest unconfirmed page; ``None`` when all are confirmed.
        self._oldest: int | None = None
        self._has_left = False
        _crawls.setdefault(store, []).append(self)

    def leave_open(self) -> None:
        """Note that the page that is committed next is not confirmed."""
        if self._oldest is None:
            self._oldest = self._store.mark()

    def confirmable(self, mark: int, *, is_idle: bool) -> int:
        """Return the mark before which all crawls that share the store have their items on disk.

        :param mark: the mark before which this crawl has its items on disk.
        :param is_idle: whether all commits have reached the store.
        """
        is_all = mark == self._store.mark() and is_idle
        self._oldest = None if is_all else mark
        # A claim may be settled after the crawl has left.
        crawls = _crawls.get(self._store, ())
        others = (crawl._oldest for crawl in crawls if crawl is not self)
        return min([mark, *(oldest for oldest in others if oldest is not None)])

    def leave(self) -> None:
        """End the crawl; its unconfirmed pages stay so until the last crawl has left."""
        self._has_left = True
        if all(crawl._has_left for crawl in _crawls[self._store]):
            del _crawls[self._store]
