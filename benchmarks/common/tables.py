"""Formats tables as plain text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from unicodedata import east_asian_width


@dataclass
class Table:
    """A title, a head and rows; the first column is on the left, numbers on the right."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        self.rows.append(tuple(map(_cell, cells)))

    def as_text(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
        text = "\n".join("  ".join(_padded(line, widths)).rstrip() for line in lines)
        return "\n".join((f"\n{self.title}", text, *self.notes))

    def as_markdown(self) -> str:
        return f"**{self.title}**\n\n{self.markdown_body()}"

    def markdown_body(self) -> str:
        """Return the table without its title."""
        rules = ("---", *("---:" for _ in self.head[1:]))
        lines = [f"| {' | '.join(cells)} |" for cells in (self.head, rules, *self.rows)]
        return "\n".join((*lines, "", *self.notes)).rstrip()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _width(text: str) -> int:
    return sum(1 + (east_asian_width(character) in "WF") for character in text)


def _padded(cells: Iterable[str], widths: Iterable[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        gap = " " * (width - _width(cell))
        yield gap + cell if place else cell + gap
