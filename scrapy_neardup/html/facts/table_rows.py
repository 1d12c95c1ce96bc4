"""Reads the rows of tables: what their cells say, and in which column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from lxml.html import HtmlElement

#: A row of more cells is none of a fact, nor is a column further to the right.
_MAX_CELLS, _MAX_COLUMNS = 32, 64


class Row(NamedTuple):
    """A row of a table.

    :ivar label: text of the first column.
    :ivar stated: the rest. If the row has gaps, as many bars stand in front of a cell as there are
        columns between it and the first one.
    :ivar n_stated: how many cells that is.
    :ivar has_gaps: whether the row has a value in some of the table's columns only.
    """

    element: HtmlElement
    label: str
    stated: str
    n_stated: int
    has_gaps: bool


class _Cells(NamedTuple):
    """The texts of a row by column; ``None`` for one that is no line."""

    element: HtmlElement
    number: int
    texts: dict[int, str | None]


def table_rows(
    rows: Sequence[HtmlElement], text_of: Callable[[HtmlElement], str | None]
) -> Iterator[Row]:
    """Yield the rows of two or more cells that have lines only.

    :param rows: of any tables, in reading order.
    :param text_of: returns the text of a cell, ``None`` if it is no line.
    """
    read = [_cells(row, text_of) for row in rows]
    tables = [next(row.iterancestors("table"), row) for row in rows]
    filled: defaultdict[HtmlElement, set[int]] = defaultdict(set)
    for table, cells in zip(tables, read, strict=True):
        filled[table].update(cells.texts)
    ranks = {table: _ranks(columns) for table, columns in filled.items()}
    for table, cells in zip(tables, read, strict=True):
        if cells.number > 1 and None not in cells.texts.values():
            yield _row(cells, ranks[table])


def _cells(row: HtmlElement, text_of: Callable[[HtmlElement], str | None]) -> _Cells:
    """Read the cells of a row; the first one counts even if it is empty."""
    texts: dict[int, str | None] = {0: ""}
    cells = list(islice(row.iterchildren("td", "th"), _MAX_CELLS))
    column = 0
    for cell in cells:
        if (text := text_of(cell)) != "":
            texts[min(column, _MAX_COLUMNS)] = text
        column += _span(cell)
    return _Cells(row, len(cells), texts)


def _span(cell: HtmlElement) -> int:
    """Return how many columns a cell takes up."""
    stated = (cell.get("colspan") or "")[:4].strip()
    return min(max(int(stated), 1), _MAX_COLUMNS) if stated.isdecimal() else 1


def _ranks(columns: set[int]) -> dict[int, int]:
    """Number the columns in which any row has a value: others are there for the layout."""
    return {column: rank for rank, column in enumerate(sorted(columns))}


def _row(cells: _Cells, ranks: dict[int, int]) -> Row:
    stated = {ranks[column]: text or "" for column, text in cells.texts.items()}
    label = stated.pop(0)
    if not stated or len(stated) == len(ranks) - 1:
        return Row(cells.element, label, " ".join(stated.values()), len(stated), has_gaps=False)
    placed = (f"{'|' * (rank - 1)} {text}".lstrip() for rank, text in stated.items())
    return Row(cells.element, label, " ".join(placed), len(stated), has_gaps=True)
