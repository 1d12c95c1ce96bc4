"""The first stages: reads and signs the pages, and finds those that a later version replaces."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from ..._util.encoding import utf8
from ...matching.stored_items import OWN_ITEMS
from ...signatures.signature import PageSignature
from ...sources.columns import Columns
from ...sources.record import BadRecords, Record
from ...stores.codec import ROW, packed, row_of
from ...workers import Failure, WorkerPool, sign_record
from ..folder import Report
from ..inputs import Split, read_split
from ..plan import Plan, page_numbers, split_and_record
from ..shuffle import (
    ArrowFile,
    arrow_file,
    bytes_in,
    numbers_in,
    of_width,
    opened_batches,
    partition_of,
    partitioned_file,
    table_of,
)

SIGNED, KEYS, REPLACED, REPLACED_OF_RANGE = "signed", "keys", "replaced", "replaced-of-range"

_KEY_BYTES = 16
#: Rows of a batch, in which single pages are looked up.
SIGNED_BATCH = 1024
#: Empty where a page is undecided; its URL is kept then, which the signature has otherwise. ``id``
#: and ``url`` are JSON, which has escapes for what UTF-8 lacks; an id that is the URL is empty.
SIGNED_PAGE = pa.schema(
    [
        ("key", pa.binary(_KEY_BYTES)),
        ("row", pa.binary(ROW.itemsize)),
        ("page", pa.binary()),
        ("id", pa.string()),
        ("url", pa.string()),
    ]
)
_KEY_ROW = pa.schema([("key", pa.binary(_KEY_BYTES)), ("number", pa.int64())])
_NUMBER = pa.schema([("number", pa.int64())])
_KEY = np.dtype([("high", "<u8"), ("low", "<u8")])


class SignedPages(NamedTuple):
    """Signed pages, in the order of their numbers.

    :ivar numbers: shape ``(n,)``.
    :ivar rows: of type :data:`~scrapy_neardup.stores.codec.ROW`, shape ``(n,)``.
    :ivar pages: packed signatures; empty where a page is undecided.
    :ivar ids: as JSON, empty where the id is the URL.
    :ivar urls: as JSON, of undecided pages.
    """

    numbers: npt.NDArray[np.int64]
    rows: npt.NDArray[np.void]
    pages: list[bytes]
    ids: list[str]
    urls: list[str]


def sign(plan: Plan, split_number: int, split: Split, columns: Columns | None) -> Report:
    """Read the pages of a split and write their signatures.

    :returns: numbers of pages, and of those undecided, unusable and passed over by reason.
    :raises InputError: if the split cannot be read to its end.
    """
    bad = BadRecords()
    passed_over: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    first_undecided: dict[str, tuple[str, str]] = {}
    signed = 0
    records = read_split(split, columns, bad, passed_over)
    with (
        WorkerPool(sign_record, plan.signer, 1, plan.limits) as workers,
        arrow_file(plan.folder, SIGNED, split_number, SIGNED_PAGE) as file,
    ):
        writer = _SignedWriter(file)
        for record, outcome in workers.map(records):
            if isinstance(outcome, PageSignature) and outcome.n_features:
                signed += 1
                writer.add(record, outcome)
            else:
                reason = outcome.reason if isinstance(outcome, Failure) else "no_text"
                undecided[reason] += 1
                if isinstance(outcome, Failure):
                    first_undecided.setdefault(reason, (record.url, outcome.detail))
                writer.add(record, None)
        writer.flush()
    return {
        "pages": signed,
        "undecided": dict(undecided),
        "first_undecided": first_undecided,
        "bad": dict(bad),
        "first_bad": {reason: _place(split, place) for reason, place in bad.first.items()},
        "passed_over": dict(passed_over),
    }


def _place(split: Split, place: str) -> str:
    """Return where a record is, of which only the place within its part is known."""
    return f"{place} behind byte {split.start:,}" if split.start else place


class _SignedWriter:
    """Writes pages in batches."""

    def __init__(self, file: ArrowFile) -> None:
        self._file = file
        self._rows: list[tuple[bytes, bytes, bytes, str, str]] = []

    def add(self, record: Record, signature: PageSignature | None) -> None:
        id_ = "" if record.id == record.url else json.dumps(record.id)
        if signature is None:
            row = bytes(_KEY_BYTES), bytes(ROW.itemsize), b"", id_, json.dumps(record.url)
        else:
            key = xxhash.xxh3_128_digest(utf8(signature.key))
            row = key, row_of(signature, 0, 0, OWN_ITEMS), packed(signature), id_, ""
        self._rows.append(row)
        if len(self._rows) == SIGNED_BATCH:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            columns: dict[str, Any] = dict(
                zip(SIGNED_PAGE.names, zip(*self._rows, strict=True), strict=True)
            )
            self._file.write({name: list(values) for name, values in columns.items()})
            self._rows = []


def write_keys(plan: Plan, range_: int) -> Report:
    """Write the keys of a range's pages, by key."""
    report: Report = {}
    with partitioned_file(
        plan.folder, KEYS, range_, _KEY_ROW, plan.partitions, report=report
    ) as file:
        for split in plan.splits_of(range_):
            for values, numbers in _address_keys(plan, split):
                columns = {"key": of_width(values.tobytes(), _KEY_BYTES), "number": numbers}
                file.write_by(values["high"] % np.uint64(plan.partitions), columns)
    return report


def _address_keys(
    plan: Plan, split: int
) -> Iterator[tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]]:
    """Yield the keys of the addresses of a split's pages, and the pages' numbers."""
    with opened_batches(plan.folder, SIGNED, split, ["key"]) as reader:
        for place in range(reader.num_record_batches):
            values = np.frombuffer(bytes_in(reader.get_batch(place)["key"]), _KEY)
            numbers = page_numbers(split, place * SIGNED_BATCH, values.size)
            # Undecided pages have none.
            has_key = (values["high"] | values["low"]) != 0
            yield values[has_key], numbers[has_key]


def find_replaced(plan: Plan, partition: int) -> Report:
    """Write which pages another one of the same address follows, by range."""
    report: Report = {}
    rows = table_of(
        partition_of(plan.folder, KEYS, plan.n_ranges, partition, plan.partitions), _KEY_ROW
    )
    keys = np.frombuffer(bytes_in(rows["key"]), _KEY)
    numbers = numbers_in(rows, "number")
    order = np.lexsort((numbers, keys["low"], keys["high"]))
    keys, numbers = keys[order], numbers[order]
    replaced = numbers[:-1][keys[:-1] == keys[1:]]
    with partitioned_file(
        plan.folder, REPLACED, partition, _NUMBER, plan.n_ranges, report=report
    ) as file:
        file.write_by(plan.range_of(replaced), {"number": replaced})
    return {**report, "replaced": int(replaced.size)}


def gather_replaced(plan: Plan, range_: int) -> Report:
    """Write which pages of a range another one of the same address follows, ascending."""
    batches = partition_of(plan.folder, REPLACED, plan.partitions, range_, plan.n_ranges)
    numbers = np.sort(numbers_in(table_of(batches, _NUMBER), "number"))
    with arrow_file(plan.folder, REPLACED_OF_RANGE, range_, _NUMBER) as file:
        file.write({"number": numbers})
    return {}


def living_pages(plan: Plan, range_: int) -> Iterator[SignedPages]:
    """Yield the signed pages of a range that no later one of the same address replaces."""
    replaced = replaced_in(plan, range_)
    for split in plan.splits_of(range_):
        for pages in all_pages(plan, split):
            is_alive = ~np.isin(pages.numbers, replaced)
            is_alive &= np.fromiter(map(bool, pages.pages), bool, len(pages.pages))
            yield _chosen(pages, np.flatnonzero(is_alive))


def replaced_in(plan: Plan, range_: int) -> npt.NDArray[np.int64]:
    """Return the pages of a range that a later one of the same address replaces, ascending."""
    with opened_batches(plan.folder, REPLACED_OF_RANGE, range_) as reader:
        return numbers_in(reader.read_all(), "number")


def all_pages(plan: Plan, split: int) -> Iterator[SignedPages]:
    """Yield the pages of a split, some at a time."""
    with opened_batches(plan.folder, SIGNED, split) as reader:
        for place in range(reader.num_record_batches):
            yield _pages_of(split, place, reader.get_batch(place))


def look_up(plan: Plan, numbers: npt.NDArray[np.int64]) -> SignedPages:
    """Return some pages.

    :param numbers: ascending, shape ``(n,)``.
    """
    parts = []
    splits, records = split_and_record(numbers)
    for split in np.unique(splits).tolist():
        wanted = records[splits == split]
        with opened_batches(plan.folder, SIGNED, split) as reader:
            for place in np.unique(wanted // SIGNED_BATCH).tolist():
                pages = _pages_of(split, place, reader.get_batch(place))
                parts.append(_chosen(pages, wanted[wanted // SIGNED_BATCH == place] % SIGNED_BATCH))
    return _joined(parts)


def _pages_of(split: int, place: int, batch: pa.RecordBatch) -> SignedPages:
    return SignedPages(
        page_numbers(split, place * SIGNED_BATCH, batch.num_rows),
        np.frombuffer(bytes_in(batch["row"]), ROW),
        batch["page"].to_pylist(),
        batch["id"].to_pylist(),
        batch["url"].to_pylist(),
    )


def _chosen(pages: SignedPages, places: npt.NDArray[np.intp]) -> SignedPages:
    chosen = places.tolist()
    lists = ([values[place] for place in chosen] for values in pages[2:])
    return SignedPages(pages.numbers[places], pages.rows[places], *lists)


def _joined(parts: Iterable[SignedPages]) -> SignedPages:
    numbers, rows, *lists = zip(*parts, strict=True)
    return SignedPages(
        np.concatenate(numbers),
        np.concatenate(rows),
        *([value for some in values for value in some] for values in lists),
    )
