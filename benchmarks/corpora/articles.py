"""Reads the articles from which the disguised copies are made.

A file starts with header lines (``language``, ``title``, ``site``, ``author``, ``date``), followed
by a blank line and the body: ``## `` starts a heading, ``- `` a list entry, ``| a | b |`` is a
table row, lines between two lines of three backquotes are code, any other line is a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from .text_files import BadFile, read_headed

ARTICLES = Path(__file__).parent / "articles"

_FENCE = "```"
_HEADERS = ("language", "title", "site", "author", "date")
#: A sentence's end: not a dot after a digit, which is mostly that of an ordinal number.
_SENTENCE_END = re.compile(
    r"(?<=[^\d][.!?])\s+|(?<=[.!?][\"”“])\s+|(?<=[。！？])(?![”」])|(?<=。”)"
)
#: Languages written without blanks between words.
UNSPACED = frozenset({"zh", "ja"})


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an article: ``kind`` is heading, paragraph, list, table or code.

    A list has one row of one cell per entry, a table has its rows; the other kinds have one cell.
    """

    kind: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        return self.rows[0][0]

    def mapped(self, change: Callable[[str], str]) -> Block:
        """Return the block with *change* applied to every cell."""
        return replace(self, rows=tuple(tuple(change(cell) for cell in row) for row in self.rows))


@dataclass(frozen=True, slots=True)
class Article:
    """An article; ``name`` is the name of its file without the extension."""

    name: str
    language: str
    title: str
    site: str
    author: str
    date: str
    blocks: tuple[Block, ...]

    @property
    def spaced(self) -> bool:
        """Return whether the language separates words by blanks."""
        return self.language not in UNSPACED

    @property
    def slug(self) -> str:
        """The name without its language."""
        return self.name.partition("-")[2]

    @property
    def text(self) -> str:
        """The text without the title, one cell per line."""
        return "\n".join(cell for block in self.blocks for row in block.rows for cell in row)

    def has(self, kind: str) -> bool:
        return any(block.kind == kind for block in self.blocks)

    def with_blocks(self, blocks: Iterable[Block]) -> Article:
        return replace(self, blocks=tuple(blocks))

    def mapped(self, change: Callable[[str], str], *kinds: str) -> Article:
        """Return the article with *change* applied to blocks of *kinds*, by default all but code.

        The title is changed too if no kinds are given.
        """
        title = self.title if kinds else change(self.title)
        blocks = [
            block.mapped(change)
            if (block.kind in kinds if kinds else block.kind != "code")
            else block
            for block in self.blocks
        ]
        return replace(self, title=title, blocks=tuple(blocks))

    def sentences(self, text: str) -> list[str]:
        return [part for part in _SENTENCE_END.split(text) if part]

    def joined(self, sentences: Iterable[str]) -> str:
        return (" " if self.spaced else "").join(sentences)


def read_article(path: Path) -> Article:
    """Return the article of one file.

    :raises BadFile: when the file is not written as the module's docstring says.
    """
    headers, lines = read_headed(path, _HEADERS)
    last = len(_HEADERS) + 1 + len(lines)
    if not any(lines):
        raise BadFile(path, last, "the article has no text")
    if lines.count(_FENCE) % 2:
        raise BadFile(path, last, f"the last {_FENCE} is not closed")
    return Article(name=path.stem, blocks=tuple(read_blocks(lines)), **headers)


def read_articles(folder: Path = ARTICLES) -> list[Article]:
    """Return all articles of *folder*, in the order of their names."""
    return [read_article(path) for path in sorted(folder.glob("*.txt"))]


def paragraph(text: str) -> Block:
    return Block("paragraph", ((text,),))


def read_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Yield the blocks of a body."""
    for kind, group in groupby(_lines(lines), key=lambda line: line[0]):
        rows = [cells for _, cells in group]
        if kind in ("list", "table"):
            yield Block(kind, tuple(rows))
        elif kind.startswith("code"):
            yield Block("code", (("\n".join(row[0] for row in rows),),))
        else:
            yield from (Block(kind, (row,)) for row in rows)


def _lines(lines: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the kind and the cells of every line; each code block gets a kind of its own."""
    fences = 0
    for line in lines:
        if line == _FENCE:
            fences += 1
        elif fences % 2:
            yield f"code{fences}", (line,)
        elif line.startswith("## "):
            yield "heading", (line[3:],)
        elif line.startswith("- "):
            yield "list", (line[2:],)
        elif line.startswith("| "):
            yield "table", tuple(cell.strip() for cell in line.strip("|").split("|"))
        elif line:
            yield "paragraph", (line,)
