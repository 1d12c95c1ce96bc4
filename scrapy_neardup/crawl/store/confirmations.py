"""Which committed pages are known to be on disk, where several crawls share a store."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ...stores import Store

#: The crawls of this process by their stores: what one says of the disk is not true of others.
_crawls: WeakKeyDictionary[Store, list[Confirmations]] = WeakKeyDictionary()


class Confirmations:
    """Marks of a store (:meth:`~scrapy_neardup.stores.Store.mark`) that can be confirmed.

    :ivar confirmed: the mark up to which what this crawl stored is known to be on disk.
    """

    def __init__(self, store: Store) -> None:
        self.confirmed = 0
        self._store = store
        #: A mark before the oldest page that is not confirmed; ``None`` when all are.
        self._oldest: int | None = None
        self._has_left = False
        _crawls.setdefault(store, []).append(self)

    def leave_open(self) -> None:
        """The page that is committed next is not confirmed."""
        if self._oldest is None:
            self._oldest = self._store.mark()

    def confirmable(self, mark: int, *, is_idle: bool) -> int:
        """Return a mark before which all crawls that share the store have their items on disk.

        :param mark: before which this crawl has.
        :param is_idle: has every commit reached the store?
        """
        is_all = mark == self._store.mark() and is_idle
        self._oldest = None if is_all else mark
        others = (crawl._oldest for crawl in _crawls[self._store] if crawl is not self)
        return min([mark, *(oldest for oldest in others if oldest is not None)])

    def leave(self) -> None:
        """End: what this crawl leaves unconfirmed stays so until the last one has left."""
        self._has_left = True
        if all(crawl._has_left for crawl in _crawls[self._store]):
            del _crawls[self._store]
