"""Reads stored pages: JSON Lines, JSON arrays, tables, Parquet, WARC and folders of HTML files.

The format is detected from the first bytes of a file; only CSV and TSV are recognised by the
name. gzip and zstd are decompressed. Unusable records are counted and skipped. An input that
cannot be read to its end is an error, because figures of half a file would pass for those of the
whole.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from ..exceptions import InputError
from .columns import Columns
from .compression import buffered, decompressed, error_text, naming_errors
from .fields import NOT_JSON, page_of_json
from .json_arrays import array_pages, require_lines
from .other_formats import refuse_other_formats, refuse_tables
from .parquet import ParquetPages, is_parquet
from .record import MAX_PAGE_BYTES, TOO_LARGE, UTF8_MARK, BadRecord, BadRecords, Record
from .tables import open_table, table_format
from .warc import WARC, archive_iterator, warc_pages

#: Suffixes, in lower case, of the files in a folder that are read.
HTML_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
_READ_AS_LINES = (
    "it was read as JSON Lines, because it begins like no other format and its name does not end "
    "in .csv or .tsv"
)
#: How an array of objects begins; a line of JSON Lines that is not broken does not.
_ARRAY = re.compile(rb"(?:%b)?\s*\[\s*\{" % UTF8_MARK)
_JSON_NAME = re.compile(r"\.json(?:\.(?:gz|gzip|zst|zstd))?$", re.IGNORECASE)


class PageReader:
    """Iterates over the pages of all sources, in order and only once.

    :param sources: files, folders, or ``"-"`` for standard input.
    :param columns: the fields that the columns of CSV and TSV files without a header are, in order,
        ``""`` for a column that is skipped; or the names of columns of Parquet files and in
        headers, and of members in JSON, by field.
    :raises InputError: on creation, if a source is missing, empty, or needs a package that is not
        installed, or the columns of a table are unknown; while iterating, if a source is cut off or
        no source has a page.
    """

    def __init__(self, sources: Sequence[str], columns: Columns | None = None) -> None:
        #: Number of unusable records by reason.
        self.bad = BadRecords()
        #: Number of records that are no pages (redirects, images …) by reason; WARC only.
        self.passed_over: Counter[str] = Counter()
        #: Number of bytes of the sources read so far, before decompression.
        self.bytes_read = 0
        self.sources = sources
        self._columns = columns
        for source in sources:
            _check(source, columns)

    def __iter__(self) -> Iterator[Record]:
        empty = True
        for source in self.sources:
            for record in self.pages_of(source):
                empty = False
                yield record
        if empty:
            counted = Counter(self.bad) + self.passed_over
            listed = ", ".join(f"{reason}: {number}" for reason, number in counted.most_common())
            places = [f"; first {place}" for place in list(self.bad.first.values())[:1]]
            hints = [f"; {hint}" for hint in list(self.bad.hints.values())[:1] if hint]
            if set(counted) == {NOT_JSON}:
                hints = [f"; {_READ_AS_LINES}"]
            raise InputError(
                ", ".join(self.sources),
                f"no page in it ({listed or 'no record'}){''.join(places)}{''.join(hints)}",
            )

    @property
    def total_bytes(self) -> int | None:
        """Total size of the sources in bytes; ``None`` if unknown."""
        total = 0
        for source in self.sources:
            path = Path(source)
            if path.is_dir():
                total += sum(file.stat().st_size for file in html_files(path))
            elif source != "-" and path.is_file():
                total += path.stat().st_size
            else:
                return None
        return total

    def pages_of(self, source: str) -> Iterator[Record]:
        """Yield the pages of one of the sources; none is no error."""
        if source != "-" and Path(source).is_dir():
            yield from self._pages_under(Path(source))
        else:
            before = self.bytes_read
            with naming_errors(source), _opened(source) as file:
                name = "standard input" if source == "-" else source
                for record in stream_pages(file, name, self._columns, self.bad, self.passed_over):
                    if file.seekable():
                        self.bytes_read = before + file.tell()
                    yield record

    def _pages_under(self, folder: Path) -> Iterator[Record]:
        for path in html_files(folder):
            try:
                size = path.stat().st_size
                if size > MAX_PAGE_BYTES:
                    raise BadRecord(TOO_LARGE)
                body = path.read_bytes()
            except (OSError, BadRecord) as error:
                self.bad.note(error_text(error), str(path))
                continue
            self.bytes_read += size
            yield html_page(path, body, path.relative_to(folder).as_posix())


def stream_pages(
    raw: BinaryIO,
    source: str,
    columns: Columns | None,
    bad: BadRecords,
    passed_over: Counter[str],
) -> Iterator[Record]:
    """Yield the pages of an open file, which may be compressed.

    :param source: its name, which may tell its format.
    :param columns: see :class:`PageReader`.
    :param bad: counts unusable records by reason.
    :param passed_over: counts records that are no pages by reason.
    :raises InputError: if the file cannot be read to its end.
    """
    with naming_errors(source):
        stream = decompressed(raw, source)
        start = stream.peek(len(WARC))
        refuse_other_formats(start, source)
        if table_format(source):
            yield from open_table(stream, source, columns, bad)
        elif is_parquet(start, source):
            yield from ParquetPages(raw, source, columns).pages(bad)
        elif start.startswith(WARC):
            yield from warc_pages(stream, source, bad, passed_over)
        elif start.removeprefix(UTF8_MARK).lstrip()[:1] == b"<":
            yield html_page(Path(source), stream.read(MAX_PAGE_BYTES), source)
        elif (_ARRAY.match(start) or _JSON_NAME.search(source)) and _at_array(stream):
            yield from array_pages(stream, source, bad, columns)
        else:
            yield from json_pages(stream, source, bad, columns)


class LineReader:
    """Iterates over the decompressed lines of a file, only once.

    :param source: a file, or ``"-"`` for standard input.
    :raises InputError: while iterating, if the file cannot be read to its end, or a line is larger
        than :data:`MAX_PAGE_BYTES`.
    """

    def __init__(self, source: str) -> None:
        #: Number of bytes read so far, before decompression.
        self.bytes_read = 0
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        with naming_errors(self._source), _opened(self._source) as file:
            stream = decompressed(file, self._source)
            while line := stream.readline(MAX_PAGE_BYTES):
                if len(line) == MAX_PAGE_BYTES:
                    raise InputError(self._source, f"a line is {TOO_LARGE}")
                if file.seekable():
                    self.bytes_read = file.tell()
                yield line

    @property
    def total_bytes(self) -> int | None:
        """Size of the file in bytes; ``None`` if unknown."""
        path = Path(self._source)
        return path.stat().st_size if self._source != "-" and path.is_file() else None


def _opened(source: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb")


def beginning(source: str) -> bytes:
    """Return the first bytes of a source, decompressed, without consuming standard input.

    :returns: some thousand bytes at most; none if the source is not a regular file.
    :raises InputError: if a file cannot be read.
    """
    if source == "-":
        # The peeked bytes may end anywhere; errors are left to whoever reads the whole stream.
        with suppress(InputError), naming_errors(source):
            start = io.BytesIO(buffered(sys.stdin.buffer).peek())
            return decompressed(start, source).peek()
        return b""
    with naming_errors(source):
        if not stat.S_ISREG(Path(source).stat().st_mode):
            # Bytes read from a pipe could not be read again.
            return b""
        with Path(source).open("rb") as file:
            return decompressed(file, source).peek()


def html_page(path: Path, body: bytes, name: str) -> Record:
    """Return the page in a file of a folder.

    :param name: its id.
    """
    return Record(name, Path(os.path.abspath(path)).as_uri(), body)  # noqa: PTH100 (keeps links)


def html_files(folder: Path) -> Iterator[Path]:
    """Yield HTML files at any depth, sorted within each folder; do not follow links to folders."""
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(HTML_SUFFIXES):
                yield Path(parent, name)


def _check(source: str, columns: Columns | None) -> None:
    """Raise an error early if a source cannot be read."""
    if source == "-":
        return
    path = Path(source)
    with naming_errors(source):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if next(html_files(path), None) is None:
                raise InputError(source, f"no HTML files in it ({', '.join(HTML_SUFFIXES)})")
        elif stat.S_ISREG(mode):
            with path.open("rb") as file:
                stream = decompressed(file, source)
                start = stream.peek(len(WARC))
                if not start:
                    raise InputError(source, "empty")
                refuse_other_formats(start, source)
                if table_format(source):
                    open_table(stream, source, columns, BadRecords())
                    return
                if is_parquet(start, source):
                    ParquetPages(file, source, columns)
                    return
            if start.startswith(WARC):
                archive_iterator(source)


def _raise(error: OSError) -> NoReturn:
    raise error


def _at_array(stream: io.BufferedReader) -> bool:
    """Go to the first byte that is no white space; return whether an array of JSON begins there."""
    if stream.peek(len(UTF8_MARK)).startswith(UTF8_MARK):
        stream.read(len(UTF8_MARK))
    while (start := stream.peek(1)) and not start.lstrip():
        stream.read(len(start))
    stream.read(len(start) - len(start.lstrip()))
    return start.lstrip().startswith(b"[")


def json_pages(
    stream: io.BufferedReader,
    source: str,
    bad: BadRecords,
    columns: Columns | None,
    *,
    is_part: bool = False,
) -> Iterator[Record]:
    """Yield the pages of a stream of JSON Lines.

    Each is an object with ``url`` or ``id``, and ``html``, ``html_b64`` or ``text``.

    :param bad: counts unusable records by reason.
    :param columns: names of members by field.
    :param is_part: whether the stream begins within the file.
    :raises InputError: if the last line is cut off.
    """
    number = 0
    while line := stream.readline(MAX_PAGE_BYTES):
        number += 1
        if len(line) == MAX_PAGE_BYTES:
            while line and not line.endswith(b"\n"):
                line = stream.readline(2**16)
            bad.note(TOO_LARGE, f"{source}, line {number}")
            continue
        if number == 1 and not is_part:
            line = line.removeprefix(UTF8_MARK)
            refuse_tables(line, source)
            if _JSON_NAME.search(source):
                require_lines(line, source)
        try:
            if line.strip():
                yield page_of_json(line, columns)
        except BadRecord as error:
            if not line.endswith(b"\n") and str(error) == NOT_JSON:
                raise InputError(source, f"line {number} is cut off or not JSON") from None
            bad.note(error, f"{source}, line {number}")
