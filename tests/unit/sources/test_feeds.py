"""Feeds of Scrapy: items with any fields as JSON and CSV, and formats that are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import marshal
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from scrapy.exporters import MarshalItemExporter, PickleItemExporter

from scrapy_neardup.exceptions import InputError
from scrapy_neardup.sources.columns import parse_columns
from scrapy_neardup.sources.other_formats import refuse_tables
from scrapy_neardup.sources.readers import PageReader

ITEMS = [
    {"link": "https://a.example/1", "title": "One", "body": "<p>one", "page": {"text": "1"}},
    {"link": "https://a.example/2", "title": "Two", "body": "<p>two", "page": {"text": "2"}},
]
LINES = "".join(json.dumps(item) + "\n" for item in ITEMS)
ARRAY = "[\n" + ",\n".join(map(json.dumps, ITEMS)) + "\n]"
PAGE_LINES = '{"url": "https://a.example/1", "text": "One"}\n'
CSV = "link,title,body\r\n" + "".join(f"{i['link']},{i['title']},{i['body']}\r\n" for i in ITEMS)


def stored(folder: Path, name: str, data: str | bytes) -> str:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return str(folder / name)


@pytest.mark.parametrize(("name", "data"), [("a.jsonl", LINES), ("a.json", ARRAY), ("a.csv", CSV)])
def test_a_feed_is_read_whatever_its_fields_are_called(tmp_path, name, data):
    source = stored(tmp_path, name, data)
    pages = list(PageReader([source], parse_columns("url=link,html=body")))
    assert [(page.url, page.content) for page in pages] == [
        ("https://a.example/1", "<p>one"),
        ("https://a.example/2", "<p>two"),
    ]
    with pytest.raises(InputError, match=r"link, title, body.*--columns url=link,html=body"):
        list(PageReader([source]))


def test_members_of_objects_within_objects_and_objects_with_none_of_the_members(tmp_path):
    lines = LINES + '{"url": "https://b.example/", "text": "plain", "html": null}\n'
    # Where one is named, no other content is read, not even under its own name.
    lines += '{"link": "https://c.example/", "html": "<p>other"}\n'
    reader = PageReader([stored(tmp_path, "a", lines)], parse_columns("url=link,text=page.text"))
    pages = [(page.url, page.content, page.kind) for page in reader]
    assert [content for _, content, _ in pages] == ["1", "2", "plain"]
    assert reader.bad == {"no html, html_b64 or text": 1}


def test_the_hint_names_a_text_as_such(tmp_path):
    item = {"address": "https://a.example/", "n": 3, "article": "A long text without markup."}
    with pytest.raises(InputError, match=r"--columns url=address,text=article$"):
        list(PageReader([stored(tmp_path, "a.jsonl", json.dumps(item) + "\n")]))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.xml", b'<?xml version="1.0"?>\n<!-- x -->\n<items><item/></items>', "is XML .<items>"),
        (
            "a",
            gzip.compress(b"\xef\xbb\xbf<?xml version='1.0'?><a:feed/>", mtime=0),
            "is XML .<a:feed>",
        ),
        ("a.pickle", pickle.dumps(ITEMS), "is a pickle.*-o items.jsonl"),
        ("a.jsonl.bz2", bz2.compress(LINES.encode()), "packed with bzip2.*gzip or zstd"),
        ("a.csv", b"PK\x03\x04 and so on", "a ZIP archive or a spreadsheet.*CSV"),
        ("a.sqlite", b"SQLite format 3\0", "is a SQLite file.*--store"),
        *(
            (f"a.{ending}", text.encode(encoding), "is UTF-16; save it as UTF-8")
            for ending, text in (("jsonl", PAGE_LINES), ("json", f"[{PAGE_LINES}]"))
            for encoding in ("utf-16-le", "utf-16-be", "utf-16")
        ),
    ],
)
def test_another_format_is_named_with_the_way_out(tmp_path, name, data, said):
    with pytest.raises(InputError, match=said):
        PageReader([stored(tmp_path, name, data)])


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.json", "a"])
@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("url,title,text", r"is CSV by its first line.*\.csv$"),
        ('"title","ID","HTML"', r"is CSV by its first line.*\.csv$"),
        ("id\ttext", r"is TSV by its first line.*\.tsv$"),
        ("url;text", r"separated by semicolons.*commas.*\.csv$"),
    ],
)
def test_a_table_under_another_name_is_named_as_such(tmp_path, name, header, said):
    with pytest.raises(InputError, match=said):
        list(PageReader([stored(tmp_path, name, f"{header}\r\n1,2,3\r\n")]))


def test_a_long_first_line_is_not_cut_into_names():
    line = b"url,text" + b"," * 2**20
    tracemalloc.start()
    try:
        refuse_tables(line, "a")
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 2 * len(line)


def test_what_no_page_was_found_in_says_how_it_was_read(tmp_path):
    with pytest.raises(InputError, match=r"not JSON: 2.*read as JSON Lines, because it begins"):
        list(PageReader([stored(tmp_path, "a.yml", "- url: https://a.example/\n  text: One\n")]))


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a"])
@pytest.mark.parametrize("before", ["", "\ufeff", "\n "])
def test_an_array_is_read_under_any_name(tmp_path, name, before):
    array = f"{before}[ \n{PAGE_LINES},\n{PAGE_LINES}]"
    assert len(list(PageReader([stored(tmp_path, name, array)]))) == 2


def feed(
    exporter: type[MarshalItemExporter | PickleItemExporter], items: list[Any], **options: Any
) -> bytes:
    """A feed as Scrapy writes it."""
    file = io.BytesIO()
    made = exporter(file, **options)
    made.start_exporting()
    for item in items:
        made.export_item(item)
    made.finish_exporting()
    return file.getvalue()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_feed_of_pickles_is_named_as_such(tmp_path, protocol):
    data = feed(PickleItemExporter, ITEMS, protocol=protocol)
    with pytest.raises(InputError, match=r"is a pickle, which cannot.*: scrapy crawl SPIDER -o"):
        PageReader([stored(tmp_path, "a.pickle", data)])


@pytest.mark.parametrize("key", ["url", "ключ", "k" * 300])
def test_a_feed_in_the_marshal_format_is_named_as_such(tmp_path, key):
    data = feed(MarshalItemExporter, [{key: "https://a.example/"}, *ITEMS])
    for each in (data, *(marshal.dumps({key: 1}, version) for version in range(5))):
        with pytest.raises(InputError, match=r"in Python's marshal format.*scrapy crawl SPIDER -o"):
            PageReader([stored(tmp_path, "a.marshal", each)])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a", '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x "y">]><html><p>x</html>'),
        ("a", '<?xml version="1.0"?><h:html xmlns:h="x"><p>x</html>'),
        ("a.html", '<?xml version="1.0"?><div>x</div>'),
        ("a", "<items>x</items>"),
    ],
)
def test_pages_that_look_like_xml_are_read(tmp_path, name, data):
    assert len(list(PageReader([stored(tmp_path, name, data)]))) == 1
