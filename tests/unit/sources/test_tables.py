"""News libraries: CSV, TSV and JSON arrays have the pages that JSON Lines have."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup._util.urls import page_key, site_of
from scrapy_neardup.exceptions import InputError
from scrapy_neardup.sources import json_arrays, tables
from scrapy_neardup.sources.columns import parse_columns
from scrapy_neardup.sources.fields import url_of_id
from scrapy_neardup.sources.readers import PageReader
from scrapy_neardup.sources.record import Record
from tests.unit.sources.test_readers import PACKERS, PAGES, RECORDS, json_lines, stored

TEA = Record("1", "id:1", 'Tea is, "hot".\nDrink it.', "text", "Tea")
MILK = Record("2", "id:2", "牛奶", "text", "")
CSV = b'id,title,text\r\n1,Tea,"Tea is, ""hot"".\nDrink it."\r\n2,,\xe7\x89\x9b\xe5\xa5\xb6\r\n'
TSV = b'1\tTea\tTea is hot.\n2\t\t"a b\n'
#: Without the line ends and tabs that TSV cannot have, and without NUL and surrogates.
LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
IN_A_LINE = st.characters(codec="utf-8", exclude_characters="\0\t\r\n")


def read(folder: Path, name: str, data: bytes, columns: str | None = None) -> PageReader:
    named = None if columns is None else parse_columns(columns)
    return PageReader([stored(folder, data, name)], named)


def written_csv(rows) -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target).writerows(rows)
    return target.getvalue().encode()


def records(letters) -> st.SearchStrategy[list[dict[str, str]]]:
    text = st.text(letters, max_size=20)
    some = st.text(letters, min_size=1, max_size=20)
    one = st.fixed_dictionaries({"id": some, "title": text, "text": some, "url": text})
    return st.lists(one, min_size=1, max_size=5)


def rows_of(given_records: list[dict[str, str]]) -> list[list[str]]:
    names = list(given_records[0])
    return [names, *([each[name] for name in names] for each in given_records)]


def same_as_lines(given_records: list[dict[str, str]], name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        expected = list(read(Path(folder), "pages.jsonl", json_lines(given_records)))
        reader = read(Path(folder), name, data)
        assert list(reader) == expected
        assert not reader.bad


@given(records(LETTERS))
def test_csv_has_the_pages_of_json_lines(given_records):
    rows = rows_of(given_records)
    same_as_lines(given_records, "pages.csv", written_csv(rows))


@given(records(IN_A_LINE))
def test_tsv_has_the_pages_of_json_lines(given_records):
    rows = rows_of(given_records)
    same_as_lines(given_records, "p.tsv", "\n".join("\t".join(row) for row in rows).encode())


@given(records(st.characters()), st.booleans(), st.sampled_from([None, 1]))
def test_a_json_array_has_the_pages_of_json_lines(given_records, ascii_only, indent):
    if not ascii_only:
        given_records = json.loads(json.dumps(given_records).encode("utf-8", "replace"))
    data = json.dumps(given_records, indent=indent).encode()
    same_as_lines(given_records, "pages.json", data)


@given(st.text(min_size=1), st.text(min_size=1))
def test_pages_of_different_ids_have_different_keys_and_sites(one, other):
    a, b = url_of_id(one), url_of_id(other)
    assert (page_key(a) == page_key(b)) == (site_of(a) == site_of(b)) == (one == other)


@pytest.mark.parametrize("packed", PACKERS)
def test_tables_and_arrays_may_be_packed(tmp_path, packed):
    ending = {"plain": "", "gzip": ".gz", "zstd": ".zst"}[packed]
    for name, data, expected in (
        ("a.CSV", CSV, [TEA, MILK]),
        ("a.json", json.dumps(PAGES).encode(), RECORDS),
    ):
        reader = read(tmp_path, name + ending, PACKERS[packed](data))
        assert list(reader) == expected
        assert reader.bytes_read == reader.total_bytes


def test_columns_name_those_of_files_without_a_header(tmp_path):
    expected = [
        Record("1", "id:1", "Tea is hot.", "text", "Tea"),
        Record("2", "id:2", '"a b', "text"),
    ]
    assert list(read(tmp_path, "a.tsv", TSV, "id,title,text")) == expected
    assert [r.title for r in read(tmp_path, "a.tsv", TSV, "id,-,text")] == ["", ""]
    # A header is no page, and says more exactly what the columns are.
    assert list(read(tmp_path, "b.csv", CSV, "text,title,id")) == [TEA, MILK]
    other = read(tmp_path, "c.csv", b"\xef\xbb\xbf\n URL ,date,Text\nhttp://a.example/,1,x\n")
    assert list(other) == [Record("http://a.example/", "http://a.example/", "x", "text")]


def test_columns_by_name_are_those_of_a_header(tmp_path):
    data = b"Nr,id,Body,text,url\n1,2,x,y,z\n"
    [by_name] = read(tmp_path, "a.csv", data, "id=nr, text=Body")
    assert by_name == Record("1", "z", "x", "text")
    # What is given for one field is not another one as well; the rest goes by its own name.
    [by_name] = read(tmp_path, "a.csv", data, "title=text,html=Body")
    assert by_name == Record("2", "z", "x", "html", "y")
    # JSON objects have the names of the fields.
    assert list(read(tmp_path, "a.jsonl", json_lines(), "id=nr,text=Body")) == RECORDS


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (
            "a.tsv",
            TSV,
            r"a\.tsv: its first line does not name the fields.* --columns id,title,text",
        ),
        ("a.csv", b"id;title;text\n1;2;3\n", "separated by commas"),
        ("a.csv", b"title,text\na,b\n", "its header cannot be used: id or url is needed"),
        ("a.csv", b"id,text,text\na,b,c\n", "text is named twice: text, text"),
        ("a.csv", "编号,正文\n".encode("gb18030"), r"its first line \(not UTF-8\)"),
        ("a.csv", "id,text\n1,x".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("a.csv", b"", "empty"),
        ("a.csv.gz", gzip.compress(b"\xef\xbb\xbf", mtime=0), "does not name the fields"),
    ],
)
def test_unknown_columns_are_an_error_before_the_first_page(tmp_path, name, data, reason):
    with pytest.raises(InputError, match=reason):
        read(tmp_path, name, data)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("id=nr,text=bodies", r"no column 'bodies' for text \(did you mean 'body'\?\); there are"),
        ("id=nr", "its header cannot be used: html, html_b64 or text is needed, but the columns"),
        ("id=nr,text=two", "two is named twice: two, two"),
    ],
)
def test_columns_by_name_that_a_header_lacks_are_an_error(tmp_path, columns, reason):
    with pytest.raises(InputError, match=reason):
        read(tmp_path, "a.csv", b"Nr,body,two,two\n1,x,y,z\n", columns)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.csv", b"id,text\n", r"no page in it \(no record\)"),
        ("a.csv", "id,text\n1,茶\n2,茶\n".encode("gb18030"), r"no page in it \(not UTF-8: 2\)"),
        ("a.csv", b'id,text\n1,x\n2,"y', "line 3, its last one, is cut off"),
        ("a.tsv", b"id\ttext\n1\tx\n2", "line 3, its last one, is cut off"),
        ("a.json", b"[]", r"no page in it \(no record\)"),
        ("a.json", b'[{"id": 1, "text": "x"}', "element 1: the JSON array is cut off"),
        ("a.json", b'[{"id": 1, "text": "x}]', "cut off"),
        ("a.json", b'[{"id": 1, "text": "x"}] [', "something follows the JSON array"),
        ("a.json", b'{"pages": [{"id": 1, "text": "x"}]}', "is an object with a list in it"),
        ("a.json", b'{\n "pages": []}', "is neither a JSON array of records nor JSON Lines"),
    ],
)
def test_a_file_that_is_cut_off_or_has_no_page_is_an_error(tmp_path, name, data, reason):
    with pytest.raises(InputError, match=reason):
        list(read(tmp_path, name, data))


@pytest.mark.parametrize(
    ("bad", "counted"),
    [
        (b"3,x\n", {"wrong number of fields": 1}),
        (b"3,x,y,z\n", {"wrong number of fields": 1}),
        (b'3,x,"y"z\n', {"not CSV": 1}),
        (b'3,"x,y\n', {"not CSV": 1}),
        (b"3,x,\0\n", {"NUL byte": 1}),
        (b'3,\xff,"y\nz"\n', {"not UTF-8": 1}),
        (b",x,y\n", {"no url or id": 1}),
        (b"3,x," + 900 * b"y" + b"\n", {"larger than 64 MiB": 1}),
        (b"\n\r\n", {}),
    ],
)
@pytest.mark.parametrize("place", ["before", "between"])
def test_a_bad_row_costs_itself_only(tmp_path, monkeypatch, bad, counted, place):
    monkeypatch.setattr(tables, "MAX_PAGE_BYTES", 800)
    head, first, second = CSV[:15], CSV[15:-11], CSV[-11:]
    rows = [bad, first, second] if place == "before" else [first, bad, second]
    reader = read(tmp_path, "a.csv", head + b"".join(rows))
    assert list(reader) == [TEA, MILK]
    assert reader.bad == Counter(counted)
    line = 2 if place == "before" else 2 + first.count(b"\n")
    assert reader.bad.first == dict.fromkeys(counted, f"{tmp_path / 'a.csv'}, line {line}")


@given(st.lists(st.sampled_from([b'1,"a\n', b'2,b"\n', b"3,c\n", b'4,"d"\n', b"5\n", b'"\n'])))
def test_reading_goes_on_at_the_line_after_a_bad_row(lines):
    """A row is bad if no row of two fields, read by itself, begins at its line."""
    expected, bad, at = [], list[int](), 0
    while at < len(lines):
        for end in range(at + 1, len(lines) + 1):
            with contextlib.suppress(csv.Error):
                text = b"".join(lines[at:end]).decode()
                [row] = csv.reader(io.StringIO(text, newline=""), strict=True)
                break
        else:
            row, end = [], at + 1
        if len(row) == 2:
            expected.append(row)
            at = end
        else:
            bad.append(at + 3)
            at += 1
    with tempfile.TemporaryDirectory() as folder:
        reader = read(Path(folder), "a.csv", b"id,text\n0,x\n" + b"".join(lines))
        assert [[r.id, r.content] for r in reader][1:] == expected
        assert reader.bad.total() == len(bad)
        places = (int(place.rpartition(" ")[2]) for place in reader.bad.first.values())
        assert min(places, default=None) == min(bad, default=None)


def test_reading_ends_if_each_line_starts_a_row_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_MAX_REREAD", 10_000)
    reader = read(tmp_path, "a.csv", b"id,text\n1,x\n" + 2000 * b'a",b,"c\n')
    with pytest.raises(InputError, match=r"a.csv: line \d: not CSV, as many lines before it"):
        list(reader)
    assert reader.bad.total() < 10


@pytest.mark.parametrize(
    ("bad", "reason"),
    [(b'1,"x"y\n', "not CSV"), (b"1,\xff\n", "not UTF-8"), (b"1,\0\n", "NUL byte")],
)
def test_the_first_row_may_be_bad_too(tmp_path, bad, reason):
    reader = read(tmp_path, "a.csv", bad + b"2,y\n", "id,text")
    assert [record.id for record in reader] == ["2"]
    assert reader.bad == {reason: 1}


def test_a_field_may_be_as_large_as_a_page(tmp_path):
    text = "x" * 5_000_000
    [record] = read(tmp_path, "a.csv", f"id,text\n1,{text}\n".encode())
    assert record.content == text


def test_a_row_without_a_text_is_a_page_without_one(tmp_path):
    [record] = read(tmp_path, "a.csv", b"id,html,text\n1,,\n")
    assert (record.content, record.kind) == ("", "html")


def test_bad_elements_of_a_json_array_cost_themselves_only(tmp_path, monkeypatch):
    monkeypatch.setattr(json_arrays, "MAX_PAGE_BYTES", 1000)
    monkeypatch.setattr(json_arrays, "_CHUNK", 7)
    large = '{"id": 1, "text": "' + 100 * '\\"}, {[\\\\' + 300 * "x" + '"}'
    elements = ["1", large, "{'id': 1}", json.dumps(PAGES[0]), "", json.dumps(PAGES[1]), "{}"]
    data = f"\ufeff\n [{', '.join(elements)}, {json.dumps(PAGES[2])},\n]\n"
    reader = read(tmp_path, "a.json", data.encode())
    assert list(reader) == RECORDS
    assert reader.bad == {
        "not an object": 1, "larger than 64 MiB": 1, "not JSON": 2, "no url or id": 1
    }  # fmt: skip
    elements_of = {reason: place.split()[-1] for reason, place in reader.bad.first.items()}
    assert [elements_of[reason] for reason in reader.bad] == ["1", "2", "3", "7"]


def test_json_lines_may_be_called_json(tmp_path):
    assert list(read(tmp_path, "a.json", json_lines())) == RECORDS
    nested = [{"id": 1, "text": "x", "tags": ["a"]}]
    assert list(read(tmp_path, "b.json", json_lines(nested))) == [Record(1, "id:1", "x", "text")]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [("id,txt", "'txt' is no field"), ("id,title", "html, html_b64 or text is needed"),
     ("text", "id or url is needed"), ("id,id,text", "id is named twice"),
     ("id=a,text", "'text' is not FIELD=COLUMN as the others are"),
     ("id=a,id=b", "id is named twice"), ("id=a,url=a", "column 'a' is given for id and url"),
     ("link=url", "'link' is no field; .*: url=link?"), ("id=", "column for id is '', which")],
)  # fmt: skip
def test_columns_that_cannot_be_used(columns, reason):
    with pytest.raises(ValueError, match=reason):
        parse_columns(columns)
