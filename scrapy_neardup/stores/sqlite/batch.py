"""What is to be written to a SQLite file in one transaction, gathered page by page."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from . import hints as sqlite_advice
from .format import sealed
from .hints import Name, Note

_PUT_ROW = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
_PUT_PAGE = "INSERT OR REPLACE INTO pages VALUES (?, ?)"
_PUT_MARK = "INSERT OR REPLACE INTO unconfirmed VALUES (?, ?)"
#: Each takes the first and the last id of what is to go.
REMOVE = tuple(
    f"DELETE FROM {table} WHERE id BETWEEN ? AND ?" for table in ("rows", "pages", "unconfirmed")
)
_CONFIRM = "DELETE FROM unconfirmed WHERE id BETWEEN ? AND ? AND mark <= ?"


class Put(NamedTuple):
    """A page to be written.

    :ivar mark: see :meth:`~scrapy_neardup.stores.archive.Archive.put`.
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
    """What is to be written, in whatever order: no id is put again once it was removed."""

    puts: dict[int, Put] = field(default_factory=dict)
    removed: list[Range] = field(default_factory=list)
    confirmed: dict[Range, int] = field(default_factory=dict)
    rules: dict[Name, bytes] = field(default_factory=dict)
    noted: list[Note] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.has_pages or self.rules or self.noted)

    @property
    def has_pages(self) -> bool:
        """Is it about pages, and not rules and known duplicates alone?"""
        return bool(self.puts or self.removed or self.confirmed)

    def __len__(self) -> int:
        return len(self.puts) + len(self.removed)

    def remove(self, first: int, last: int) -> None:
        if first != last or self.puts.pop(first, None) is None:
            self.removed.append((first, last))

    def confirm(self, ids: Range, mark: int) -> None:
        self.confirmed[ids] = max(mark, self.confirmed.get(ids, 0))

    def take(self, most: int) -> Batch:
        """A part of it, which it has no more."""
        taken = Batch({id_: self.puts[id_] for id_ in islice(self.puts, most)})
        for id_ in taken.puts:
            del self.puts[id_]
        taken.removed, self.removed = self.removed[:most], self.removed[most:]
        taken.rules = {name: self.rules.pop(name) for name in list(islice(self.rules, most))}
        taken.noted, self.noted = self.noted[:most], self.noted[most:]
        # Pages that go on waiting may be among those that were confirmed.
        if not self.puts:
            taken.confirmed, self.confirmed = self.confirmed, {}
        return taken

    def take_back(self, taken: Batch) -> None:
        """What was taken could not be written, and waits again before the rest."""
        since = {first for first, last in self.removed if first == last}
        old = {id_: put for id_, put in taken.puts.items() if id_ not in since}
        self.puts = old | self.puts
        self.removed = taken.removed + self.removed
        for ids, mark in taken.confirmed.items():
            self.confirm(ids, mark)
        self.rules = taken.rules | self.rules
        self.noted = taken.noted + self.noted

    def write(self, connection: sqlite3.Connection) -> None:
        puts = self.puts.values()
        connection.executemany(_PUT_ROW, ((put.id, put.site, put.row) for put in puts))
        connection.executemany(_PUT_PAGE, ((put.id, sealed(put.id, put.page)) for put in puts))
        connection.executemany(_PUT_MARK, ((put.id, put.mark) for put in puts if put.mark))
        for statement in REMOVE:
            connection.executemany(statement, self.removed)
        connection.executemany(_CONFIRM, ((*ids, mark) for ids, mark in self.confirmed.items()))
        if self.rules or self.noted:
            sqlite_advice.write(connection, self.rules, self.noted)
