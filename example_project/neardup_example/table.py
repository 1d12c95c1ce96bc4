"""Plain text tables, aligned where Chinese characters are two columns wide."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of the table: header, rule, rows, each column as wide as its widest cell."""
    columns = zip(header, *rows, strict=True)
    widths = [max(map(width, column)) for column in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(map(_padded, line, widths)).rstrip() for line in lines)


def width(text: str) -> int:
    """Number of terminal columns that ``text`` takes."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _padded(cell: str, columns: int) -> str:
    return cell + " " * (columns - width(cell))
