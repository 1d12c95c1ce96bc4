"""Reads pages from tables of text: CSV and TSV files, whose columns are the fields of records."""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from ..exceptions import InputError
from .columns import Columns, find_columns
from .fields import CONTENT_FIELDS, FIELDS, page_of_fields
from .record import MAX_PAGE_BYTES, TOO_LARGE, UTF8_MARK, BadRecord, BadRecords, Record

_SUFFIX = re.compile(r"\.([ct]sv)(?:\.(?:gz|gzip|zst|zstd))?$", re.IGNORECASE)
_NOT_UTF8 = "not UTF-8"
_HAS_NUL = "NUL byte"
_NOT_CSV = "not CSV"
_RAGGED = "wrong number of fields"
#: Bytes that are read again after bad rows, at most: each of many lines with stray quotes may start
#: a row that only the end of the file ends.
_MAX_REREAD = 8 * MAX_PAGE_BYTES
_SEPARATORS = {"csv": "commas", "tsv": "tabs"}


def table_format(name: str) -> str | None:
    """Return ``"csv"`` or ``"tsv"`` by the name of a table, perhaps packed, else ``None``."""
    found = _SUFFIX.search(name)
    return None if found is None else found[1].lower()


def open_table(
    stream: io.BufferedReader, source: str, columns: Columns | None, bad: BadRecords
) -> Iterator[Record]:
    """Return the pages of a CSV or TSV file in UTF-8, depending on its name.

    :param columns: of a file without a header, in order; or by the names in the header.
    :param bad: counts unusable records by reason.
    :raises InputError: if the columns are unknown; while iterating, if the last line is cut off.
    """
    if stream.peek(len(UTF8_MARK)).startswith(UTF8_MARK):
        stream.read(len(UTF8_MARK))
    kind = table_format(source) or "csv"
    rows = _CsvRows(stream) if kind == "csv" else _TsvRows(stream)
    fields = _read_header(rows, source, kind, columns, bad)
    return _pages(rows, source, fields, bad)


def _read_header(
    rows: _Rows, source: str, kind: str, columns: Columns | None, bad: BadRecords
) -> Sequence[str]:
    """Return the fields that the first line names, if it does, else the given ones."""
    in_order = None if isinstance(columns, Mapping) else columns
    problem = ""
    try:
        first = rows.next() or []
    except BadRecord as error:
        if in_order is not None:
            bad.note(error, f"{source}, line {rows.line}")
            return in_order
        first, problem = [], f" ({error})"
    header = [name.strip() for name in first]
    if first and isinstance(columns, Mapping):
        return _fields_of(header, columns, source)
    known = CONTENT_FIELDS if in_order is not None else FIELDS
    if any(name.lower() in known for name in header):
        return _fields_of(header, {}, source)
    if in_order is None:
        raise InputError(
            source,
            f"its first line{problem} does not name the fields, separated by {_SEPARATORS[kind]} "
            f"({', '.join(FIELDS)}); name them in order, such as --columns id,title,text, or by "
            "the names in the first line, such as --columns url=link,html=body",
        )
    rows.put_back()
    return in_order


def _fields_of(header: Sequence[str], names: Mapping[str, str], source: str) -> list[str]:
    """Return the field that each column of a header is; ``""`` for none."""
    try:
        places = find_columns(header, names)
    except ValueError as error:
        raise InputError(source, f"its header cannot be used: {error}") from None
    fields = dict(zip(places.values(), places, strict=True))
    return [fields.get(place, "") for place in range(len(header))]


def _pages(rows: _Rows, source: str, columns: Sequence[str], bad: BadRecords) -> Iterator[Record]:
    content = next(name for name in CONTENT_FIELDS if name in columns)
    while True:
        try:
            if (row := rows.next(len(columns))) is None:
                return
            fields = {name: cell for name, cell in zip(columns, row, strict=True) if name and cell}
            if not any(name in fields for name in CONTENT_FIELDS):
                fields[content] = ""
            yield page_of_fields(fields)
        except BadRecord as error:
            if rows.is_cut_off and str(error) in (_NOT_CSV, _RAGGED):
                reason = f"line {rows.line}, its last one, is cut off ({error})"
                raise InputError(source, reason) from None
            if rows.reread > _MAX_REREAD:
                reason = f"line {rows.line}: {error}, as many lines before it; check the quotes"
                raise InputError(source, reason) from None
            bad.note(error, f"{source}, line {rows.line}")


class _Rows(ABC):
    """The rows of a table. After a bad row, reading goes on at the line after its first line.

    A quote that is not closed thus costs the row that it is in, not all rows to the next quote.
    """

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        #: Lines to read again, before those of the stream.
        self._ahead = io.BytesIO()
        #: Lines of the present row, and the length of the first one.
        self._taken = bytearray()
        self._first = 0
        #: Number of the first line of the row that was read last, from 1.
        self.line = 1
        self._next_number = 1
        #: Bytes that were read again.
        self.reread = 0
        #: Whether any of them was read from the stream, after all lines ahead.
        self._is_of_stream = False
        #: Why the present row is bad, whatever its fields are.
        self._problem: str | None = None
        #: Whether the present row ends the file, without a line end.
        self.is_cut_off = False

    @abstractmethod
    def _parsed(self) -> list[str] | None:
        """Return the fields of the next row; ``None`` at the end."""

    def next(self, length: int | None = None) -> list[str] | None:
        """Return the next row that is not empty; ``None`` at the end.

        :param length: number of its fields, if known.
        :raises BadRecord: if the row cannot be used.
        """
        row: list[str] | None = []
        while row == []:
            self.line = self._next_number
            self._begin()
            try:
                row = self._parsed()
                if row and length not in (None, len(row)):
                    raise BadRecord(_RAGGED)
            except BadRecord:
                is_one_line = self._first == len(self._taken)
                self.is_cut_off = is_one_line and not self._taken.endswith(b"\n")
                self._put_back(self._first)
                raise
            if row and self._problem is not None:
                raise BadRecord(self._problem)
        return row

    def put_back(self) -> None:
        """Let the present row be read again."""
        self._put_back(0)

    def _put_back(self, start: int) -> None:
        """Let the lines of the present row be read again, from a byte on.

        :param start: 0, or the first byte of the second line.
        """
        self._next_number = self.line + bool(start)
        self.reread += len(self._taken) - start
        if self._is_of_stream:
            self._ahead = io.BytesIO(self._taken[start:])
        else:
            self._ahead.seek(start - len(self._taken), io.SEEK_CUR)
        self._begin()

    def _begin(self) -> None:
        self._taken.clear()
        self._first = 0
        self._is_of_stream = False
        self._problem = None

    def _lines(self) -> Iterator[str]:
        """Yield the lines, decoded; what cannot be decoded is replaced, and noted."""
        while line := self._ahead.readline() or self._next_line():
            self._next_number += 1
            self._taken += line
            self._first = self._first or len(line)
            if len(self._taken) >= MAX_PAGE_BYTES:
                raise BadRecord(TOO_LARGE)
            try:
                text = line.decode()
            except UnicodeDecodeError:
                self._problem = _NOT_UTF8
                text = line.decode(errors="replace")
            if "\0" in text:
                self._problem = _HAS_NUL
                text = text.replace("\0", "\ufffd")
            yield text

    def _next_line(self) -> bytes:
        self._is_of_stream = True
        line = piece = self._stream.readline(MAX_PAGE_BYTES)
        if len(line) == MAX_PAGE_BYTES:
            while piece and not piece.endswith(b"\n"):
                piece = self._stream.readline(2**16)
        return line


class _TsvRows(_Rows):
    """A line is a row, and a tab ends a field; nothing is quoted."""

    def _parsed(self) -> list[str] | None:
        line = next(self._lines(), None)
        if line is None:
            return None
        line = line.removesuffix("\n").removesuffix("\r")
        return line.split("\t") if line else []


class _CsvRows(_Rows):
    """Commas separate fields; quoted ones may contain commas, quotes (doubled) and line ends."""

    def _parsed(self) -> list[str] | None:
        csv.field_size_limit(max(csv.field_size_limit(), MAX_PAGE_BYTES))
        try:
            return next(csv.reader(self._lines(), strict=True), None)
        except csv.Error:
            raise BadRecord(_NOT_CSV) from None
