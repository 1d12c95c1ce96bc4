"""Moves rows from the tasks of one stage to those of the next, through files of the work folder.

Each task of a stage writes one Arrow file, in which the rows for each partition stand together; a
task of the next stage reads its partition from all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .folder import Report, WorkFolder

#: Columns by name: arrays of numbers, or Arrow's own of anything else.
Columns = Mapping[str, Any]

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
#: Bytes of the rows that are sorted by partition together; they take three times as much meanwhile.
_WRITE_BYTES = 2**25


def arrow_name(stage: str, number: int) -> str:
    """Return the name of the file of a task of a stage."""
    return f"{stage}/{number:06d}.arrow"


class ArrowFile:
    """Writes batches of rows to an Arrow file."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self.rows = 0
        self._schema = schema
        self._file = file
        self._writer = pa.ipc.new_file(file, schema, options=_OPTIONS)

    def write(self, columns: Columns) -> None:
        """Write rows as one batch."""
        batch = _batch(columns, self._schema)
        self.rows += batch.num_rows
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write what makes the file readable."""
        self._writer.close()


class PartitionedFile(ArrowFile):
    """Writes rows to an Arrow file by partition: a batch for each, again and again.

    :param partitions: how many there are.
    """

    def __init__(self, file: BinaryIO, schema: pa.Schema, partitions: int) -> None:
        super().__init__(file, schema)
        self._partitions = partitions
        self._waiting: list[tuple[npt.NDArray[Any], pa.RecordBatch]] = []
        self._bytes = 0

    def write_by(self, partition: npt.NDArray[Any], columns: Columns) -> None:
        """Write rows, each to the partition at its place; shape ``(n,)``."""
        batch = _batch(columns, self._schema)
        self._waiting.append((partition, batch))
        self._bytes += batch.nbytes
        if self._bytes >= _WRITE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the rows that wait."""
        if not self._waiting:
            return
        partitions, batches = zip(*self._waiting, strict=True)
        self._waiting, self._bytes = [], 0
        partition = np.concatenate(partitions)
        rows = pa.Table.from_batches(batches, self._schema)
        order = np.argsort(partition, kind="stable")
        ends = np.searchsorted(partition[order], np.arange(1, self._partitions + 1))
        sorted_rows = rows.take(pa.array(order)).combine_chunks()
        self.rows += sorted_rows.num_rows
        start = 0
        for end in ends.tolist():
            self._writer.write_batch(_one_batch(sorted_rows.slice(start, end - start)))
            start = end

    def close(self) -> None:
        self.flush()
        super().close()


@contextmanager
def arrow_file(
    folder: WorkFolder, stage: str, number: int, schema: pa.Schema
) -> Iterator[ArrowFile]:
    """Open the file of a task of a stage to write."""
    with folder.writing(arrow_name(stage, number)) as file:
        opened = ArrowFile(file, schema)
        yield opened
        opened.close()


@contextmanager
def partitioned_file(
    folder: WorkFolder,
    stage: str,
    number: int,
    schema: pa.Schema,
    partitions: int,
    *,
    report: Report,
) -> Iterator[PartitionedFile]:
    """Open the file of a task of a stage to write, by partition.

    :param report: is told rows and bytes.
    """
    with folder.writing(arrow_name(stage, number)) as file:
        opened = PartitionedFile(file, schema, partitions)
        yield opened
        opened.close()
        report["rows"] = report.get("rows", 0) + opened.rows
        report["bytes"] = report.get("bytes", 0) + file.tell()


@contextmanager
def opened_batches(
    folder: WorkFolder, stage: str, number: int, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatchFileReader]:
    """Open the file of a task of a stage to read.

    :param columns: which to read, if not all.
    """
    name = arrow_name(stage, number)
    with folder.open(name) as file:
        try:
            options = None
            if columns is not None:
                schema = pa.ipc.open_file(file).schema
                options = pa.ipc.IpcReadOptions(
                    included_fields=[schema.get_field_index(name) for name in columns]
                )
                file.seek(0)
            yield pa.ipc.open_file(file, options=options)
        except pa.ArrowInvalid as error:
            raise folder.damaged(name, f"is damaged ({error})") from error


def partition_of(
    folder: WorkFolder, stage: str, tasks: int, partition: int, partitions: int
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a partition that all tasks of a stage wrote, those with rows only."""
    for number in range(tasks):
        with opened_batches(folder, stage, number) as reader:
            for place in range(partition, reader.num_record_batches, partitions):
                batch = reader.get_batch(place)
                if batch.num_rows:
                    yield batch


def table_of(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Return batches as one table."""
    return pa.Table.from_batches(batches, schema)


def numbers_in(rows: pa.Table | pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """Return a column of numbers, shape ``(n,)``."""
    found: npt.NDArray[Any] = rows[name].to_numpy(zero_copy_only=False)
    return found


def of_width(values: bytes, width: int) -> pa.Array:
    """Return a column of values that all have so many bytes."""
    buffers = [None, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.binary(width), len(values) // width, buffers)


def bytes_in(column: pa.Array | pa.ChunkedArray) -> bytes:
    """Return the values of a column of :func:`of_width`, one after the other."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = []
    for chunk in chunks:
        width = chunk.type.byte_width
        start = chunk.offset * width
        parts.append(chunk.buffers()[1].to_pybytes()[start : start + len(chunk) * width])
    return b"".join(parts)


def _one_batch(rows: pa.Table) -> pa.RecordBatch:
    """Return the rows of a table of one chunk."""
    return pa.record_batch([_chunk(column) for column in rows.columns], rows.schema)


def _chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _batch(columns: Columns, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array(columns[field.name], field.type) for field in schema], schema)
