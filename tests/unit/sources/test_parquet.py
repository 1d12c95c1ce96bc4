"""Parquet files have the pages that JSON Lines have."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from scrapy_neardup.exceptions import InputError
from scrapy_neardup.sources import parquet as reading
from scrapy_neardup.sources.columns import parse_columns
from scrapy_neardup.sources.parquet import ParquetPages
from scrapy_neardup.sources.readers import PageReader
from scrapy_neardup.sources.record import BadRecords, Record
from tests.unit.sources.test_readers import PACKERS, PAGES, RECORDS, json_lines, stored

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
#: Types that a column of strings may have, apart from being a dictionary of them.
TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]


def packed(columns: dict[str, Any], **how: Any) -> bytes:
    target = io.BytesIO()
    parquet.write_table(pa.table(columns), target, **how)
    return target.getvalue()


def read(folder: Path, data: bytes, columns: str | None = None, name: str = "a") -> PageReader:
    return PageReader(
        [stored(folder, data, name)], None if columns is None else parse_columns(columns)
    )


def ids(count: int, **more: Any) -> dict[str, Any]:
    return {"id": [str(number) for number in range(count)], **more}


@st.composite
def records_and_columns(draw) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Fields of records, and the columns that hold them; a field that is not given is null."""
    id_kind = draw(st.sampled_from([TEXT, st.integers(-(2**31), 2**31 - 1)]))
    some = st.none() | TEXT
    record = {"id": id_kind, "url": some, "title": some, "text": TEXT, "encoding": some}
    records = draw(st.lists(st.fixed_dictionaries(record), min_size=1, max_size=8))
    columns: dict[str, Any] = {}
    for name in ("id", "url", "title", "text", "encoding"):
        values = [record[name] for record in records]
        if all(value is None or isinstance(value, str) for value in values):
            kind = draw(st.sampled_from(TYPES))
            array = pa.array(values, pa.string()).cast(kind)
            columns[name] = array.dictionary_encode() if draw(st.booleans()) else array
        else:
            columns[name] = pa.array(values, draw(st.sampled_from([pa.int32(), pa.int64()])))
    pages = draw(st.lists(st.none() | st.binary(), min_size=len(records), max_size=len(records)))
    columns["html"] = pa.array(pages, draw(st.sampled_from([pa.binary(), pa.large_binary()])))
    for record, page in zip(records, pages, strict=True):
        if page is not None:
            record["html_b64"] = base64.b64encode(page).decode()
    return records, columns


@given(records_and_columns(), st.integers(1, 9), st.booleans())
def test_parquet_has_the_pages_of_json_lines(given_, group_rows, use_dictionary):
    records, columns = given_
    data = packed(columns, row_group_size=group_rows, use_dictionary=use_dictionary)
    with tempfile.TemporaryDirectory() as folder:
        lines = PageReader([stored(Path(folder), json_lines(records), "a.jsonl")])
        expected: list[Record] = []
        found: list[Record] = []
        reader = read(Path(folder), data, name="a.parquet")
        with contextlib.suppress(InputError):  # no page in it
            expected += lines
        with contextlib.suppress(InputError):
            found += reader
        assert found == expected
        assert reader.bad == lines.bad


def test_the_name_does_not_matter_and_bytes_are_counted(tmp_path):
    columns = {
        "id": ["one", None, "3"],
        "url": [page["url"] for page in PAGES],
        "html": [b"<p>Tea</p>", b"<p>Tee</p>", None],
        "text": [None, "no", "茶"],
        "title": [None, None, "Cha"],
        "lang": ["en", "de", "zh"],
    }
    reader = read(tmp_path, packed(columns), name="pages.jsonl")
    pages = iter(reader)
    assert next(pages) == Record("one", "https://a.example/1", b"<p>Tea</p>")
    assert 0 < reader.bytes_read < (reader.total_bytes or 0)
    assert list(pages) == [RECORDS[1], Record("3", RECORDS[2].url, "茶", "text", "Cha")]
    assert reader.bytes_read == reader.total_bytes


def test_columns_of_other_names_and_in_structs(tmp_path):
    raw = [{"n": [1], "head": {"link": "u"}, "raw": b"<p>a"}, None, {"head": None, "raw": b"<p>c"}]
    columns = {"page": raw, "Key": ["u", "v", "w"], "text": ["x", "y", "z"], "URL": ["1", "2", "3"]}
    data = packed(columns)
    reader = read(tmp_path, data, "id = key, html = page.raw, title=page.head.link")
    assert list(reader) == [Record("u", "1", b"<p>a", title="u"), Record("w", "3", b"<p>c")]
    assert reader.bad == {"no html, html_b64 or text": 1}
    # A content that is named is the only one. What is given for one field is not another as well.
    [page, _, _] = read(tmp_path, data, "text=text")
    assert page == Record("1", "1", "x", "text")
    [page, _, _] = read(tmp_path, data, "id=URL")
    assert page == Record("1", "id:1", "x", "text")


@pytest.mark.parametrize(
    ("columns", "given_names", "reason"),
    [
        ({"link": ["u"], "text": ["x"]}, "url=links", r"no column 'links' for url \(did you mean "
         r"'link'\?\); there are link, text"),
        ({"link": ["u"], "text": ["x"]}, None, "id or url is needed, but the columns are link, "
         "text; name those to read, such as --columns"),
        (ids(1, body=["x"]), "title=body", "html, html_b64 or text is needed"),
        (ids(1, text=["x"]), "id,text", r"have names, but the columns are given in order "
         r"\(id,text\); give FIELD=COLUMN"),
        (ids(1, text=[["x"]]), None, "text must be strings, but 'text' is list<"),
        (ids(1, html=[{"raw": "x"}]), None, "html must be strings or bytes, but 'html' is struct<"
         "raw: string>; name a column in it, such as html=html.raw"),
        ({"id": [1.5], "text": ["x"]}, None, "id must be strings or whole numbers, but 'id' is "
         "double"),
        (ids(1, text=["x"], title=[1]), None, "title must be strings, but 'title' is int64"),
        (ids(1, Text=["x"], TEXT=["y"]), None, "text is named twice: Text, TEXT"),
        ({f"column{n}": ["x"] for n in range(50)}, None, "column19 and 30 more"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_used_are_an_error_before_the_first_page(
    tmp_path, columns, given_names, reason
):
    with pytest.raises(InputError, match=reason) as caught:
        read(tmp_path, packed(columns), given_names)
    assert caught.value.source == str(tmp_path / "a")


def test_a_bad_row_costs_itself_only(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_PAGE_BYTES", 1000)
    not_utf8 = pa.Array.from_buffers(
        pa.string(), 1, [None, *pa.array([b"\xff"], pa.binary()).buffers()[1:]]
    )
    texts = pa.concat_arrays([pa.array(["a", None, "c" * 1000, "d"]), not_utf8, pa.array(["f"])])
    columns = {"id": ["1", "2", "3", "", "5", "6"], "text": texts}
    reader = read(tmp_path, packed(columns, row_group_size=2))
    assert [page.id for page in reader] == ["1", "6"]
    places = {
        "no html, html_b64 or text": 2,
        "larger than 64 MiB": 3,
        "no url or id": 4,
        "text is not UTF-8": 5,
    }
    assert reader.bad == dict.fromkeys(places, 1)
    file = tmp_path / "a"
    assert reader.bad.first == {reason: f"{file}, row {row}" for reason, row in places.items()}


def test_row_groups_are_read_alone_and_number_their_rows_within_the_file():
    data = packed(ids(10, text=[None] * 5 + list("fghij")), row_group_size=3)
    pages = ParquetPages(io.BytesIO(data), "a")
    assert len(pages.row_group_bytes()) == 4
    assert 0 < sum(pages.row_group_bytes()) < len(data)
    bad = BadRecords()
    assert [page.id for page in pages.pages(bad, range(1, 3))] == ["5", "6", "7", "8"]
    assert bad.first == {"no html, html_b64 or text": "a, row 4"}
    assert not list(pages.pages(bad, range(2, 2)))


class Counted(io.BytesIO):
    """A file that counts the bytes that are read of it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


def test_a_large_row_group_is_not_read_as_a_whole():
    pages = [os.urandom(100_000) for _ in range(100)]
    data = packed(ids(100, html=pages), write_batch_size=1, data_page_size=1, use_dictionary=False)
    file = Counted(data)
    assert next(ParquetPages(file, "a").pages(BadRecords())).content == pages[0]
    assert file.taken < 4_000_000 < len(data)


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.parquet", "empty"),
        (b'{"id": 1}', "a.parquet", r"is not Parquet: it begins with b'\{\"id', not b'PAR1'"),
        (b"PAR1 and no more", "a", "is a damaged Parquet file, or cut off"),
        (packed(ids(3, text=["a", "b", "c"]))[:-9], "a", "is a damaged Parquet file, or cut off"),
        (gzip.compress(b"PAR1", mtime=0), "a", "is Parquet within gzip or zstd"),
        (gzip.compress(b"{}", mtime=0), "a.parquet.gz", "is Parquet within gzip or zstd"),
        (PACKERS["zstd"](packed(ids(1, text=["a"]))), "a.zst", "is Parquet within gzip or zstd"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_before_the_first_page(tmp_path, data, name, reason):
    with pytest.raises(InputError, match=reason):
        read(tmp_path, data, name=name)


def test_a_file_without_rows_has_no_page(tmp_path):
    data = packed(ids(0, text=pa.array([], pa.string())))
    with pytest.raises(InputError, match=r"no page in it \(no record\)"):
        list(read(tmp_path, data))


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
def test_a_pipe_is_refused(tmp_path):
    pipe = tmp_path / "a.parquet"
    os.mkfifo(pipe)
    data = packed(ids(1, text=["a"]))
    writer = threading.Thread(target=_written, args=(pipe, data))
    writer.start()
    with pytest.raises(InputError, match="so not from a pipe; give the file"):
        list(PageReader([str(pipe)]))
    writer.join()


def _written(pipe: Path, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe.write_bytes(data)


WHOLE = packed(ids(40, html=[f"<p>{n}" * 9 for n in range(40)]), row_group_size=20)


@given(
    st.lists(st.tuples(st.integers(4, len(WHOLE) - 1), st.integers(1, 255)), min_size=1, max_size=3)
)
def test_damage_is_an_error_of_the_file_or_of_rows(changes):
    data = bytearray(WHOLE)
    for place, difference in changes:
        data[place] ^= difference
    bad = BadRecords()
    with contextlib.suppress(InputError):
        list(ParquetPages(io.BytesIO(data), "a").pages(bad))
