"""Output: messages on standard error, tables, progress on a terminal, and whole files."""

from __future__ import annotations

import gzip
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeVar

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..._util.escaping import printable
from ...exceptions import InputError
from ...sources.compression import decompressed, decompression_errors, zstd_module
from ...sources.readers import HTML_SUFFIXES
from ...sources.record import BadRecords
from ...stores.factory import SQLITE_MAGIC

T = TypeVar("T")

#: Width of tables in a file or a pipe, unless COLUMNS is set.
_FILE_WIDTH = 110


class HasSkipped(Protocol):
    """An input, or a run over it, that counts the records that were not used, by reason."""

    bad: BadRecords
    passed_over: Counter[str]


def print_message(message: str) -> None:
    """Print a line on standard error."""
    print(printable(message), file=sys.stderr)  # noqa: T201


def print_output(*blocks: str | Table) -> None:
    """Print lines and tables on standard output."""
    console = _console()
    for block in blocks:
        if isinstance(block, str):
            console.print(printable(block), soft_wrap=True)
        else:
            console.print(block)


def print_table(made: Table) -> None:
    """Print a table on standard error."""
    _console(stderr=True).print(made)


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


def format_time(seconds: int | None) -> str | None:
    """Return a time in seconds since 1970 in ISO 8601."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def report_skipped(pages: HasSkipped) -> None:
    """Print which records of the input were not used."""
    if pages.passed_over:
        print_message(f"passed over: {format_counts(pages.passed_over)}")
    if pages.bad:
        first = "; ".join(f"{place} ({reason})" for reason, place in pages.bad.first.items())
        total = pages.bad.total()
        print_message(f"bad records skipped: {total} ({format_counts(pages.bad)}); first {first}")


class _Console(Console):
    """Raises BrokenPipeError, for which rich would end the program with code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console(*, stderr: bool = False) -> Console:
    """Return a console that prints texts as they are, to standard output unless told otherwise."""
    console = _Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _FILE_WIDTH
    return console


def has_no_lines(part: Path, heading: int = 0) -> bool:
    """Return whether a file, perhaps packed, has nothing after the lines of a heading."""
    with suppress(*decompression_errors()), part.open("rb") as file:
        stream = decompressed(file, str(part))
        for _ in range(heading):
            stream.readline()
        return not stream.read(1)
    # Not even a first byte was packed to its end.
    return True


@contextmanager
def atomic_output(
    target: str,
    inputs: Iterable[str] = (),
    *,
    private: bool = False,
    is_empty: Callable[[Path], bool] = has_no_lines,
) -> Iterator[Path]:
    """Yield a path to write to, which replaces the target when the block ends without error.

    After an error or a signal, the output stays at that path, which ends in ``.part``, unless it is
    empty.

    :param inputs: files that must not be overwritten; SQLite files never are.
    :param private: only the owner may read the file.
    :param is_empty: tells whether there is nothing in the file at that path.
    :raises InputError: when the target cannot be written.
    """
    path = Path(target).resolve()
    part = path.with_name(f"{path.name}.part")
    is_made = False
    try:
        if path.exists() and any(_is_of(path, given) for given in inputs if given != "-"):
            raise InputError(target, "is an input, and would be overwritten")
        if path.is_file() and _is_sqlite(path):
            raise InputError(target, "is a SQLite file, maybe a store, and would be overwritten")
        if path.exists() and not path.is_file():
            # Write to a device or a named pipe itself.
            part = path
        # Before it is made: an interrupt may come right after that.
        is_made = part != path
        if is_made:
            _make(part, private=private)
        yield part
        if is_made:
            part.replace(path)
            is_made = False
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(target, f"cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            if is_made and is_empty(part):
                part.unlink()


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC


def _make(part: Path, *, private: bool) -> None:
    """Make a file unless it is there; a private one is made anew."""
    if private:
        # An existing file may be readable by others.
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    else:
        part.open("ab").close()


def _is_of(path: Path, given: str) -> bool:
    """Return whether a file is an input, or a page in a folder that is one."""
    source = Path(given)
    is_page = path.suffix.lower() in HTML_SUFFIXES
    return source.exists() and (
        path.samefile(source) or (is_page and source.resolve() in path.parents)
    )


@contextmanager
def open_output(
    target: str,
    inputs: Iterable[str] = (),
    *,
    private: bool = False,
    newline: str | None = None,
    heading: int = 0,
) -> Iterator[TextIO]:
    """Open a text stream to a file as with :func:`atomic_output`, or to standard output (``-``).

    The file is compressed when its name ends in ``.gz`` or ``.zst``.

    :param newline: as for :func:`open`.
    :param heading: number of lines that say nothing by themselves, such as a table's header.
    """
    if target == "-":
        yield sys.stdout
        return
    opened: Callable[..., Any] = open
    if target.endswith(".gz"):
        opened = gzip.open
    elif target.endswith(".zst"):
        opened = zstd_module(target).open
    with (
        atomic_output(
            target, inputs, private=private, is_empty=partial(has_no_lines, heading=heading)
        ) as part,
        opened(part, "wt", encoding="utf-8", newline=newline) as stream,
    ):
        yield stream
