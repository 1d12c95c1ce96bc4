"""Reads pages from Parquet files, whose columns are the fields of records."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..exceptions import InputError
from .columns import Columns, find_columns
from .compression import is_packed, missing_package
from .fields import page_of_fields
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, BadRecords, Record

#: How a Parquet file begins.
PARQUET = b"PAR1"
_NAME = re.compile(r"\.parquet(?:\.(?:gz|gzip|zst|zstd))?$", re.IGNORECASE)
#: Rows that are decoded at once, and bytes of them by the mean of their row group.
_ROWS, _BATCH_BYTES = 16, 16 * 2**20
#: Bytes of a column that are read from the file at once.
_BUFFER = 2**20
_EXPECTED = {"id": "strings or whole numbers", "html": "strings or bytes"}


def is_parquet(start: bytes, name: str) -> bool:
    """Return whether a file is Parquet, or is called so.

    :param start: its first bytes, decompressed.
    """
    return start.startswith(PARQUET) or _NAME.search(name) is not None


@dataclass(frozen=True)
class _Column:
    """A column that is read.

    :ivar path: its name, below those of the structs that it is in.
    :ivar is_bytes: whether its values are not decoded.
    """

    field: str
    path: tuple[str, ...]
    is_bytes: bool


class ParquetPages:
    """The pages of an open Parquet file.

    Reading takes the memory of some rows, and of a data page of each column, which is what the
    writer of the file has compressed as a whole.

    :param file: can be sought in; where it stands tells how many of its rows were read.
    :param source: its name.
    :param columns: the names of columns, by field.
    :raises InputError: if it is no Parquet file, is packed, damaged or on a pipe, if its columns
        cannot be used, or pyarrow is not installed.
    """

    def __init__(self, file: BinaryIO, source: str, columns: Columns | None = None) -> None:
        _require_parquet(file, source)
        self._raw = file
        self._size = file.seek(0, io.SEEK_END)
        self._source = source
        try:
            from pyarrow import parquet
        except ImportError:
            raise InputError(source, missing_package("Parquet", "parquet")) from None
        with _naming_errors(source):
            self._file = parquet.ParquetFile(
                file, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
            )
            self._columns = _found(self._file.schema_arrow, columns, source)

    def row_group_bytes(self) -> list[int]:
        """Return the compressed size of each row group, in bytes."""
        groups = map(self._file.metadata.row_group, range(self._file.num_row_groups))
        return [
            sum(group.column(number).total_compressed_size for number in range(group.num_columns))
            for group in groups
        ]

    def pages(self, bad: BadRecords, groups: range | None = None) -> Iterator[Record]:
        """Yield the pages of the file, in order.

        :param bad: counts unusable rows by reason; they are numbered from 1 within the file.
        :param groups: the row groups to read, without gaps, if not all.
        :raises InputError: if the file is damaged.
        """
        chosen = range(self._file.num_row_groups) if groups is None else groups
        metadata = self._file.metadata
        row = sum(metadata.row_group(group).num_rows for group in range(chosen.start))
        for group in chosen:
            for batch in self._batches(group):
                values = [(column, _array(batch, column.path)) for column in self._columns]
                for place in range(batch.num_rows):
                    row += 1
                    self._raw.seek(self._size * row // max(metadata.num_rows, row))
                    try:
                        yield page_of_fields(_fields(values, place))
                    except BadRecord as error:
                        bad.note(error, f"{self._source}, row {row}")

    def _batches(self, group: int) -> Iterator[Any]:
        about = self._file.metadata.row_group(group)
        row_bytes = about.total_byte_size // max(about.num_rows, 1)
        rows = max(1, min(_ROWS, _BATCH_BYTES // max(row_bytes, 1)))
        names = [".".join(column.path) for column in self._columns]
        with _naming_errors(self._source):
            batches = self._file.iter_batches(rows, [group], columns=names, use_threads=False)
        while True:
            with _naming_errors(self._source):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


def _require_parquet(file: BinaryIO, source: str) -> None:
    if not file.seekable():
        raise InputError(
            source, "is Parquet, which is read from its end, so not from a pipe; give the file"
        )
    file.seek(0)
    start = file.read(len(PARQUET))
    if is_packed(start):
        raise InputError(
            source, "is Parquet within gzip or zstd, which cannot be read in parts; unpack it"
        )
    if start != PARQUET:
        raise InputError(source, f"is not Parquet: it begins with {start!r}, not {PARQUET!r}")


@contextmanager
def _naming_errors(source: str) -> Iterator[None]:
    """Turn errors of pyarrow into :class:`InputError`; for strings that are not UTF-8 too."""
    import pyarrow as pa

    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise InputError(source, f"is a damaged Parquet file, or cut off ({reason})") from error


def _found(schema: Any, columns: Columns | None, source: str) -> list[_Column]:
    """Return the columns to read."""
    if columns is not None and not isinstance(columns, Mapping):
        raise InputError(
            source,
            f"is Parquet, whose columns have names, but the columns are given in order "
            f"({','.join(name or '-' for name in columns)}); give FIELD=COLUMN, such as "
            "--columns url=link,html=body, or nothing if the columns have the names of the fields",
        )
    present = list(_paths(schema, ()))
    try:
        places = find_columns([".".join(path) for path, _ in present], columns or {})
        return [_column(field, *present[place]) for field, place in places.items()]
    except ValueError as error:
        raise InputError(source, f"its columns cannot be used: {error}") from None


def _paths(fields: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield path and type of each column, and of those in structs."""
    import pyarrow as pa

    for field in fields:
        path = (*above, field.name)
        yield path, field.type
        if pa.types.is_struct(field.type):
            yield from _paths(field.type, path)


def _column(field: str, path: tuple[str, ...], kind: Any) -> _Column:
    """Return a column, if values of its type can be those of the field."""
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    is_bytes = types.is_binary(value) or types.is_large_binary(value)
    is_text = types.is_string(value) or types.is_large_string(value)
    is_number = field == "id" and types.is_integer(value)
    if not (is_bytes or is_text or is_number or types.is_null(value)):
        name = ".".join(path)
        inside = ""
        if types.is_struct(kind) and kind.num_fields:
            inside = f"; name a column in it, such as {field}={name}.{kind[0].name}"
        wanted = _EXPECTED.get(field, "strings")
        raise ValueError(f"{field} must be {wanted}, but {name!r} is {str(kind)[:80]}{inside}")
    return _Column(field, path, is_bytes and field == "html")


def _array(batch: Any, path: tuple[str, ...]) -> Any:
    array = batch.column(batch.schema.names.index(path[0]))
    if len(path) == 1:
        return array
    from pyarrow import compute

    return compute.struct_field(array, list(path[1:]))


def _fields(values: Sequence[tuple[_Column, Any]], place: int) -> dict[str, Any]:
    """Return the fields of a row.

    :raises BadRecord: if it is too large, or a string is not UTF-8.
    """
    import pyarrow as pa

    fields: dict[str, Any] = {}
    size = 0
    for column, array in values:
        scalar = array[place]
        if isinstance(scalar, pa.DictionaryScalar):
            scalar = scalar.value
        if not isinstance(scalar, pa.BinaryScalar):
            fields[column.field] = scalar.as_py()
        elif (data := scalar.as_buffer()) is not None:
            size += data.size
            if size >= MAX_PAGE_BYTES:
                raise BadRecord(TOO_LARGE)
            fields[column.field] = _decoded(data.to_pybytes(), column)
    return fields


def _decoded(data: bytes, column: _Column) -> str | bytes:
    if column.is_bytes:
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadRecord(f"{column.field} is not UTF-8") from None
