"""Writes rows as JSON Lines, CSV or Parquet, depending on the name of the file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TextIO

from ..._util.escaping import harmless_cell
from ...exceptions import InputError
from ...sources.compression import missing_package
from .output import atomic_output, open_output

#: What the values of a column are, besides ``None``. An id is a string or a whole number.
Kind = Literal["id", "text", "int", "float", "ids", "texts"]

_CSV_NAME = re.compile(r"\.csv(?:\.(?:gz|zst))?$", re.IGNORECASE)
_PARQUET_NAME = re.compile(r"\.parquet$", re.IGNORECASE)
#: Surrogates, which UTF-8 cannot encode.
_SURROGATES = re.compile("[\ud800-\udfff]")
#: Values that are written to a Parquet file at once; an element of a list counts as one.
_BATCH = 2**17


class RowWriter(Protocol):
    """Writes rows, each as a dictionary with the columns as its keys."""

    def write(self, row: Mapping[str, Any]) -> None: ...


@contextmanager
def open_rows(
    target: str, inputs: Iterable[str], columns: Mapping[str, Kind]
) -> Iterator[RowWriter]:
    """Open a file as with :func:`~.output.open_output`, and yield what writes rows to it.

    The rows are CSV if its name ends in ``.csv``, ``.csv.gz`` or ``.csv.zst``, Parquet if it ends
    in ``.parquet``, else JSON Lines.

    :param columns: the columns of each row, in order.
    :raises InputError: if the target cannot be written, or the package for Parquet is missing.
    """
    if _PARQUET_NAME.search(target):
        with _open_parquet(target, inputs, columns) as writer:
            yield writer
        return
    is_csv = _CSV_NAME.search(target)
    newline, heading = ("", 1) if is_csv else (None, 0)
    with open_output(target, inputs, newline=newline, heading=heading) as stream:
        yield _CsvWriter(stream, columns) if is_csv else _JsonWriter(stream)


class _JsonWriter:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, row: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(row) + "\n")


class _CsvWriter:
    """Writes CSV like that of the report, which spreadsheets recognise as UTF-8 by its first mark.

    A list is JSON in its cell.
    """

    def __init__(self, stream: TextIO, columns: Mapping[str, Kind]) -> None:
        stream.write("\ufeff")
        self._columns = list(columns)
        self._rows = csv.writer(stream)
        self._rows.writerow(self._columns)

    def write(self, row: Mapping[str, Any]) -> None:
        self._rows.writerow([_cell(row[name]) for name in self._columns])


def _cell(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(_encodable(value), ensure_ascii=False)
    return harmless_cell(_encodable(value)) if isinstance(value, str) else value


def _encodable(value: Any) -> Any:
    """Return a string, or the strings of a list, with surrogates replaced by U+FFFD."""
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value


@contextmanager
def _open_parquet(
    target: str, inputs: Iterable[str], columns: Mapping[str, Kind]
) -> Iterator[RowWriter]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise InputError(target, missing_package("Parquet", "parquet")) from None
    types = {
        "id": pa.string(),
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "ids": pa.list_(pa.string()),
        "texts": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    batches = 0
    with (
        atomic_output(target, inputs, is_empty=lambda _: not batches) as part,
        part.open("wb") as file,
        parquet.ParquetWriter(file, schema) as rows,
    ):

        def write(batch: dict[str, list[Any]]) -> None:
            nonlocal batches
            rows.write_table(pa.table(batch, schema))
            batches += 1

        writer = _ParquetWriter(columns, write)
        yield writer
        writer.flush()


class _ParquetWriter:
    """Collects rows, and writes a batch of them at once.

    :param write_batch: writes the values of each column.
    """

    def __init__(
        self, columns: Mapping[str, Kind], write_batch: Callable[[dict[str, list[Any]]], None]
    ) -> None:
        self._write_batch = write_batch
        self._columns = columns
        self._batch: dict[str, list[Any]] = {name: [] for name in columns}
        self._size = 0

    def write(self, row: Mapping[str, Any]) -> None:
        for name, kind in self._columns.items():
            value = _typed(row[name], kind)
            self._batch[name].append(value)
            self._size += len(value) if isinstance(value, list) else 1
        if self._size >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the rows that were collected."""
        if self._size:
            self._write_batch(self._batch)
            self._batch = {name: [] for name in self._columns}
            self._size = 0


def _typed(value: Any, kind: Kind) -> Any:
    if value is None:
        return None
    if kind == "id":
        return _encodable(str(value))
    return _encodable(list(map(str, value))) if kind == "ids" else _encodable(value)
