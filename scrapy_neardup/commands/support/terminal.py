"""Output: messages on standard error, tables on standard output, progress on a terminal."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Protocol, TypeVar

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ..._util.escaping import printable
from ...sources.readers import PageReader

T = TypeVar("T")

#: Width of tables in a file or a pipe, unless COLUMNS is set.
_FILE_WIDTH = 110


class HasProgress(Protocol):
    """An input whose progress is known."""

    @property
    def bytes_read(self) -> int: ...

    @property
    def total_bytes(self) -> int | None: ...


def print_message(message: str) -> None:
    """Print a line on standard error."""
    print(printable(message), file=sys.stderr)  # noqa: T201


def print_output(*blocks: str | Table) -> None:
    """Print lines and tables on standard output."""
    console = _Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _FILE_WIDTH
    for block in blocks:
        if isinstance(block, str):
            console.print(printable(block), soft_wrap=True)
        else:
            console.print(block)


def table(
    *heads: str, rows: Iterable[Sequence[object]], title: str | None = None, dense: bool = False
) -> Table:
    """Return a table; words that are too long for a column are folded, not cut.

    :param dense: without padding and right-aligned, for many columns of figures.
    """
    padding = (0, 0) if dense else (0, 1)
    made = Table(box=SIMPLE, title=title, title_justify="left", padding=padding)
    for head in heads:
        made.add_column(head, overflow="fold", justify="right" if dense else "left")
    for row in rows:
        made.add_row(*(Text(printable(str(cell))) for cell in row))
    return made


def format_counts(counts: Counter[str]) -> str:
    """Return counts on one line, the greatest first."""
    return ", ".join(f"{name} {number}" for name, number in counts.most_common())


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``"3 pages"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_time(seconds: int | None) -> str | None:
    """Return a time in seconds since 1970 in ISO 8601."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def report_skipped(pages: PageReader) -> None:
    """Print which records of the input were not used."""
    if pages.passed_over:
        print_message(f"passed over: {format_counts(pages.passed_over)}")
    if pages.bad:
        print_message(f"bad records skipped: {pages.bad.total()} ({format_counts(pages.bad)})")


def with_progress(
    results: Iterable[T], source: HasProgress | None, what: str, unit: str = "pages"
) -> Iterator[T]:
    """Yield the results, with a progress bar on standard error when that is a terminal.

    :param source: the input that the results are made from; ``None`` if its size is unknown.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from results
        return
    columns = (
        *Progress.get_default_columns(),
        TextColumn(f"{{task.fields[done]}} {unit}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=source.total_bytes if source else None, done=0)
        for done, result in enumerate(results, start=1):
            progress.update(task, completed=source.bytes_read if source else None, done=done)
            yield result


class _Console(Console):
    """Raises BrokenPipeError, for which rich would end the program with code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
