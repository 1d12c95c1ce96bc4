"""Notices items without the field by which items are judged; see ``NEARDUP_ITEM_FIELD``."""

from __future__ import annotations

from typing import Any

from itemadapter.adapter import ItemAdapter

from ..._util.escaping import on_one_line
from ..monitoring.crawl_log import CrawlStats

#: First items that must all lack the field before a warning is logged: some kinds of items may.
MIN_ITEMS = 10
#: Names of fields in the warning, and characters of each.
_MAX_NAMES, _MAX_NAME = 20, 40


class JudgedField:
    """The field by which items are judged.

    A misspelt name would otherwise switch the add-on off without a sign: all items are kept.

    :ivar name: of the field.
    """

    def __init__(self, name: str, stats: CrawlStats) -> None:
        self.name = name
        self._stats = stats
        self._n_missing = 0
        self._was_seen = False
        #: Fields that the first items have, in the order in which they were met.
        self._others: dict[str, None] = {}

    def is_missing(self, item: Any) -> bool:
        """Return whether an item lacks the field; warn once if all of the first ones do."""
        adapter = ItemAdapter(item)
        if self.name in adapter:
            self._was_seen = True
            return False
        if not self._was_seen and self._n_missing < MIN_ITEMS:
            self._n_missing += 1
            self._others.update(dict.fromkeys(map(str, adapter)))
            if self._n_missing == MIN_ITEMS:
                self._warn()
        return True

    def _warn(self) -> None:
        names = [on_one_line(name, _MAX_NAME) for name in self._others]
        more = ", …" if len(names) > _MAX_NAMES else ""
        self._stats.warn_once(
            "missing field",
            "None of the first %d items has the field %r (NEARDUP_ITEM_FIELD), so they are kept "
            "and not compared; they have %s (counted in neardup/undecided/no_field)",
            MIN_ITEMS,
            self.name,
            (", ".join(names[:_MAX_NAMES]) or "no fields") + more,
        )
