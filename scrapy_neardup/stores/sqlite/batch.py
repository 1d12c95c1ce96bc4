"""Gathers what is to be written to a SQLite file in one transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from . import hint_tables
from .format import sealed
from .hint_tables import Noted, RuleKey

_PUT_ROW = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
_PUT_PAGE = "INSERT OR REPLACE INTO pages VALUES (?, ?)"
_PUT_MARK = "INSERT OR REPLACE INTO unconfirmed VALUES (?, ?)"
#: Each takes the first and the last id of what is to go.
REMOVE = tuple(
    f"DELETE FROM {table} WHERE id BETWEEN ? AND ?" for table in ("rows", "pages", "unconfirmed")
)
_CONFIRM = "DELETE FROM unconfirmed WHERE id BETWEEN ? AND ? AND mark <= ?"


class Page(NamedTuple):
    """A page to be written.

    :ivar mark: see :meth:`~scrapy_neardup.stores.archive.PageArchive.put`.
    """

    id: int
    site: int
    row: bytes
    page: bytes
    mark: int


#: First and last id, both included.
Range = tuple[int, int]


@dataclass(slots=True)
class Batch:
    """Pending writes, in any order: no id is put again once it was removed."""

    pages: dict[int, Page] = field(default_factory=dict)
    removed: list[Range] = field(default_factory=list)
    confirmed: dict[Range, int] = field(default_factory=dict)
    rules: dict[RuleKey, bytes] = field(default_factory=dict)
    noted: list[Noted] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.has_pages or self.rules or self.noted)

    @property
    def has_pages(self) -> bool:
        """Whether it is about pages, and not rules and known duplicates alone."""
        return bool(self.pages or self.removed or self.confirmed)

    def __len__(self) -> int:
        return len(self.pages) + len(self.removed)

    def remove(self, first: int, last: int) -> None:
        if first != last or self.pages.pop(first, None) is None:
            self.removed.append((first, last))

    def confirm(self, ids: Range, mark: int) -> None:
        self.confirmed[ids] = max(mark, self.confirmed.get(ids, 0))

    def take(self, most: int) -> Batch:
        """Remove a part of the batch, and return it."""
        taken = Batch({id_: self.pages[id_] for id_ in islice(self.pages, most)})
        for id_ in taken.pages:
            del self.pages[id_]
        taken.removed, self.removed = self.removed[:most], self.removed[most:]
        taken.rules = {name: self.rules.pop(name) for name in list(islice(self.rules, most))}
        taken.noted, self.noted = self.noted[:most], self.noted[most:]
        # Pages that go on waiting may be among those that were confirmed.
        if not self.pages:
            taken.confirmed, self.confirmed = self.confirmed, {}
        return taken

    def take_back(self, taken: Batch) -> None:
        """Put a part back that could not be written; it comes before the rest."""
        since = {first for first, last in self.removed if first == last}
        old = {id_: page for id_, page in taken.pages.items() if id_ not in since}
        self.pages = old | self.pages
        self.removed = taken.removed + self.removed
        for ids, mark in taken.confirmed.items():
            self.confirm(ids, mark)
        self.rules = taken.rules | self.rules
        self.noted = taken.noted + self.noted

    def write(self, connection: sqlite3.Connection) -> None:
        pages = self.pages.values()
        connection.executemany(_PUT_ROW, ((page.id, page.site, page.row) for page in pages))
        connection.executemany(_PUT_PAGE, ((page.id, sealed(page.id, page.page)) for page in pages))
        connection.executemany(_PUT_MARK, ((page.id, page.mark) for page in pages if page.mark))
        for statement in REMOVE:
            connection.executemany(statement, self.removed)
        connection.executemany(_CONFIRM, ((*ids, mark) for ids, mark in self.confirmed.items()))
        if self.rules or self.noted:
            hint_tables.write(connection, self.rules, self.noted)
