"""Reads stored pages, one after another: JSON Lines, WARC, or HTML files in a folder.

The first bytes of a file say what it holds, not its name. gzip and zstd are undone on the way. A
record that cannot be used is counted and skipped; an input that cannot be read to its end is an
error, because figures of half a file look like figures.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from ..exceptions import InputError
from .compression import buffered, reading, reason_of, unpacked
from .json_lines import UTF8_MARK, json_pages
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, Record
from .warc import WARC, archive_iterator, warc_pages

#: Endings, in lower case, by which a page is known in a folder.
HTML_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")


class PageReader:
    """The pages of all sources, in order. Can be iterated over once.

    :param sources: files, folders, or ``"-"`` for standard input.
    :raises InputError: here, when a source is missing, empty, or cannot be read for want of a
        package; while iterating, when one is cut off or there is no page in any of them.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        #: How many records could not be used, by reason.
        self.bad: Counter[str] = Counter()
        #: How many records are no pages, by reason (in WARC: redirects, images …).
        self.passed_over: Counter[str] = Counter()
        #: Bytes of the sources read so far, as they are stored.
        self.bytes_read = 0
        self._sources = sources
        for source in sources:
            _check(source)

    def __iter__(self) -> Iterator[Record]:
        empty = True
        for source in self._sources:
            for record in self._pages_of(source):
                empty = False
                yield record
        if empty:
            counted = self.bad + self.passed_over
            listed = ", ".join(f"{reason}: {number}" for reason, number in counted.most_common())
            raise InputError(", ".join(self._sources), f"no page in it ({listed or 'no record'})")

    @property
    def total_bytes(self) -> int | None:
        """Bytes that there are to read; ``None`` when that cannot be known."""
        total = 0
        for source in self._sources:
            path = Path(source)
            if path.is_dir():
                total += sum(file.stat().st_size for file in _html_files(path))
            elif source != "-" and path.is_file():
                total += path.stat().st_size
            else:
                return None
        return total

    def _pages_of(self, source: str) -> Iterator[Record]:
        if source == "-":
            yield from self._pages_in(sys.stdin.buffer, "standard input")
        elif Path(source).is_dir():
            yield from self._pages_under(Path(source))
        else:
            before = self.bytes_read
            with reading(source), Path(source).open("rb") as file:
                for record in self._pages_in(file, source):
                    if file.seekable():
                        self.bytes_read = before + file.tell()
                    yield record

    def _pages_under(self, folder: Path) -> Iterator[Record]:
        for path in _html_files(folder):
            try:
                size = path.stat().st_size
                if size > MAX_PAGE_BYTES:
                    raise BadRecord(TOO_LARGE)
                body = path.read_bytes()
            except (OSError, BadRecord) as error:
                self.bad[reason_of(error)] += 1
                continue
            self.bytes_read += size
            yield _html_page(path, body, path.relative_to(folder).as_posix())

    def _pages_in(self, raw: BinaryIO, source: str) -> Iterator[Record]:
        with reading(source):
            stream = unpacked(raw, source)
            start = stream.peek(len(WARC))
            if start.startswith(WARC):
                yield from warc_pages(stream, source, self.bad, self.passed_over)
            elif start.removeprefix(UTF8_MARK).lstrip()[:1] == b"<":
                yield _html_page(Path(source), stream.read(MAX_PAGE_BYTES), source)
            else:
                yield from json_pages(stream, source, self.bad)


class LineReader:
    """The lines of a file, unpacked, for formats other than pages. Can be iterated over once.

    :param source: a file, or ``"-"`` for standard input.
    :raises InputError: while iterating, when it cannot be read to its end, or a line is larger
        than :data:`MAX_PAGE_BYTES`.
    """

    def __init__(self, source: str) -> None:
        #: Bytes read so far, as they are stored.
        self.bytes_read = 0
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        with reading(self._source), self._opened() as file:
            stream = unpacked(file, self._source)
            while line := stream.readline(MAX_PAGE_BYTES):
                if len(line) == MAX_PAGE_BYTES:
                    raise InputError(self._source, f"a line is {TOO_LARGE}")
                if file.seekable():
                    self.bytes_read = file.tell()
                yield line

    @property
    def total_bytes(self) -> int | None:
        """Bytes that there are to read; ``None`` when that cannot be known."""
        path = Path(self._source)
        return path.stat().st_size if self._source != "-" and path.is_file() else None

    def _opened(self) -> AbstractContextManager[BinaryIO]:
        return (
            nullcontext(sys.stdin.buffer) if self._source == "-" else Path(self._source).open("rb")
        )


def beginning(source: str) -> bytes:
    """What a source begins with, unpacked: some thousand bytes at most, none of what is no file.

    Standard input can still be read from its first byte on.

    :raises InputError: when it cannot be read.
    """
    if source == "-":
        # It may have been cut off anywhere; whoever reads it in earnest will see whether it was.
        with suppress(InputError), reading(source):
            start = io.BytesIO(buffered(sys.stdin.buffer).peek())
            return unpacked(start, source).peek()
        return b""
    with reading(source):
        if not stat.S_ISREG(Path(source).stat().st_mode):
            # What was read of a pipe would be gone.
            return b""
        with Path(source).open("rb") as file:
            return unpacked(file, source).peek()


def _html_page(path: Path, body: bytes, name: str) -> Record:
    return Record(name, Path(os.path.abspath(path)).as_uri(), body)  # noqa: PTH100 (keeps links)


def _html_files(folder: Path) -> Iterator[Path]:
    """HTML files at any depth, sorted within each folder; links to folders are not followed."""
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(HTML_SUFFIXES):
                yield Path(parent, name)


def _check(source: str) -> None:
    """Find out before the work begins what cannot come to a good end."""
    if source == "-":
        return
    path = Path(source)
    with reading(source):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if next(_html_files(path), None) is None:
                raise InputError(source, f"no HTML files in it ({', '.join(HTML_SUFFIXES)})")
        elif stat.S_ISREG(mode):
            with path.open("rb") as file:
                start = unpacked(file, source).peek(len(WARC))
            if not start:
                raise InputError(source, "empty")
            if start.startswith(WARC):
                archive_iterator(source)


def _raise(error: OSError) -> NoReturn:
    raise error
