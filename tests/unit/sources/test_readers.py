from __future__ import annotations

import base64
import gzip
import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup.exceptions import InputError
from scrapy_neardup.sources.readers import PageReader
from scrapy_neardup.sources.record import Record

PAGES: list[dict[str, Any]] = [
    {"id": "one", "url": "https://a.example/1", "html": "<p>Tea</p>"},
    {"url": "https://a.example/2", "html_b64": base64.b64encode(b"<p>Tee</p>").decode()},
    {"id": 3, "url": "https://a.example/3", "text": "茶", "title": "Cha", "lang": "zh"},
]
RECORDS = [
    Record("one", "https://a.example/1", "<p>Tea</p>"),
    Record("https://a.example/2", "https://a.example/2", b"<p>Tee</p>"),
    Record(3, "https://a.example/3", "茶", "text", "Cha"),
]


def json_lines(pages=PAGES) -> bytes:
    return b"".join(json.dumps(page).encode() + b"\n" for page in pages)


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    packed: bytes = module.compress(data)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd}


def warc(responses) -> bytes:
    """A WARC file written by hand after ISO 28500, so that warcio is not its own judge."""
    records = [warc_record("warcinfo", "", b"software: by hand\r\n")]
    for url, head, body in responses:
        http = b"HTTP/1.1 " + head.encode() + b"\r\n\r\n" + body
        records.append(warc_record("request", url, b"GET / HTTP/1.1\r\n\r\n"))
        records.append(warc_record("response", url, http))
    return b"".join(records)


def warc_record(kind: str, url: str, block: bytes) -> bytes:
    mime = {"warcinfo": "warc-fields"}.get(kind, f"http; msgtype={kind}")
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{kind}:{url}>\r\n"
        f"WARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: application/{mime}\r\n"
        f"Content-Length: {len(block)}\r\n"
    )
    head += f"WARC-Target-URI: {url}\r\n" if url else ""
    return head.encode() + b"\r\n" + block + b"\r\n\r\n"


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)


WARC = warc(
    [
        ("https://a.example/1", "200 OK\r\nContent-Type: text/html; charset=gbk", b"<p>1</p>"),
        (
            "https://a.example/2",
            "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
            "Transfer-Encoding: chunked",
            chunked(gzip.compress(b"<p>2</p>")),
        ),
        ("https://a.example/3", "404 Not Found\r\nContent-Type: text/html", b"<p>3</p>"),
        ("https://a.example/4", "200 OK\r\nContent-Type: image/png", b"\x89PNG"),
    ]
)


def stored(folder: Path, data: bytes, name: str = "pages") -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("packed", PACKERS)
def test_json_lines(tmp_path, packed):
    reader = PageReader([stored(tmp_path, PACKERS[packed](json_lines()))])
    assert list(reader) == RECORDS
    assert not reader.bad
    assert reader.bytes_read == reader.total_bytes


def test_several_sources_one_after_another(tmp_path):
    first = stored(tmp_path, json_lines(PAGES[:1]), "1")
    second = stored(tmp_path, gzip.compress(json_lines(PAGES[1:])), "2")
    assert list(PageReader([second, first])) == [*RECORDS[1:], RECORDS[0]]


def test_gzip_of_several_members_a_byte_order_mark_and_empty_lines(tmp_path):
    members = gzip.compress(b"\xef\xbb\xbf\n" + json_lines(PAGES[:1])) + gzip.compress(
        b"\n" + json_lines(PAGES[1:])
    )
    assert list(PageReader([stored(tmp_path, members)])) == RECORDS


def test_no_line_end_at_the_end(tmp_path):
    assert list(PageReader([stored(tmp_path, json_lines().rstrip())])) == RECORDS


@pytest.mark.parametrize(
    ("fields", "content_type"),
    [
        ({"encoding": "gbk"}, "text/html; charset=gbk"),
        ({"content_type": "text/html; charset=big5"}, "text/html; charset=big5"),
        ({"encoding": "gbk", "content_type": "text/html"}, "text/html; charset=gbk"),
    ],
)
def test_what_names_the_encoding(tmp_path, fields, content_type):
    [record] = PageReader([stored(tmp_path, json_lines([{**PAGES[1], **fields}]))])
    assert record.content_type == content_type


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "not an object"),
        (b"{}", "no url or id"),
        (b'{"url": ""}', "no url or id"),
        (b'{"url": 1}', "url is not a string"),
        (b'{"url": "u"}', "no html, html_b64 or text"),
        (b'{"url": "u", "html": ["a"]}', "html is not a string"),
        (b'{"url": "u", "html_b64": "%"}', "html_b64 is not base64"),
        (b'{"url": "u", "html": "", "id": 1.5}', "id is neither a string nor a whole number"),
        (b'{"url": "u", "html": "", "id": true}', "id is neither a string nor a whole number"),
    ],
)
def test_a_bad_record_is_counted_and_passed_over(tmp_path, line, reason):
    reader = PageReader([stored(tmp_path, line + b"\n" + json_lines())])
    assert list(reader) == RECORDS
    assert reader.bad == Counter([reason])
    [place] = reader.bad.first.values()
    assert place.endswith(", line 1")


def test_a_record_that_is_too_large(tmp_path, monkeypatch):
    for module in ("readers", "warc"):
        monkeypatch.setattr(f"scrapy_neardup.sources.{module}.MAX_PAGE_BYTES", 200)
    large = json.dumps({"url": "u", "html": "x" * 1000}).encode() + b"\n"
    reader = PageReader([stored(tmp_path, large + json_lines() + large)])
    assert list(reader) == RECORDS
    assert reader.bad.total() == 2


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_no_cut_goes_unnoticed_in_a_packed_file(tmp_path, packed):
    whole = PACKERS[packed](json_lines())
    for length in range(len(whole)):
        with pytest.raises(InputError):
            list(PageReader([stored(tmp_path, whole[:length])]))


def test_a_cut_within_a_json_line_is_an_error(tmp_path):
    whole = json_lines()
    for length in range(whole.rindex(b"{") + 1, len(whole) - 1):
        with pytest.raises(InputError, match="line 3 is cut off or not JSON"):
            list(PageReader([stored(tmp_path, whole[:length])]))


@pytest.mark.parametrize("packed", PACKERS)
def test_warc(tmp_path, packed):
    reader = PageReader([stored(tmp_path, PACKERS[packed](WARC))])
    assert list(reader) == [
        Record(
            "urn:x:response:https://a.example/1",
            "https://a.example/1",
            b"<p>1</p>",
            content_type="text/html; charset=gbk",
        ),
        Record(
            "urn:x:response:https://a.example/2",
            "https://a.example/2",
            b"<p>2</p>",
            content_type="text/html",
        ),
    ]
    assert reader.passed_over == {
        "warcinfo record": 1, "request record": 4, "status 404": 1, "not HTML": 1
    }  # fmt: skip
    assert not reader.bad


@pytest.mark.parametrize("packed", PACKERS)
def test_no_cut_goes_unnoticed_in_a_warc(tmp_path, packed):
    whole = PACKERS[packed](WARC)
    last = WARC.rindex(b"WARC/1.0") + 1 if packed == "plain" else 1
    for length in {*range(last, len(whole), 7), *range(len(whole) - 12, len(whole))}:
        with pytest.raises(InputError):
            list(PageReader([stored(tmp_path, whole[:length])]))


def test_a_warc_with_a_broken_record_is_an_error(tmp_path):
    nameless = WARC.replace(b"WARC-Target-URI: https://a.example/1\r\n", b"")
    with pytest.raises(InputError, match="broken record"):
        list(PageReader([stored(tmp_path, nameless)]))


def test_a_folder_of_html_files(tmp_path):
    for name in ("b.html", "a/2.HTM", "a/10.html", "a/x.css", "茶.xhtml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    reader = PageReader([str(tmp_path)])
    assert [(record.id, record.content) for record in reader] == [
        (name, name.encode()) for name in ("b.html", "茶.xhtml", "a/10.html", "a/2.HTM")
    ]
    assert [record.url for record in PageReader([str(tmp_path)])][:2] == [
        f"{tmp_path.as_uri()}/b.html",
        f"{tmp_path.as_uri()}/%E8%8C%B6.xhtml",
    ]
    assert reader.bytes_read == reader.total_bytes


def test_a_page_by_itself(tmp_path):
    path = stored(tmp_path, b"\n <!doctype html><p>Tea</p>", "page.php")
    [record] = PageReader([path])
    assert (record.id, record.url) == (path, Path(path).as_uri())
    assert record.content == b"\n <!doctype html><p>Tea</p>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (gzip.compress(b"", mtime=0), "empty"),
        (b"\x00\x01\x02", "line 1 is cut off or not JSON"),
        (b"\n\n", r"no page in it \(no record\)"),
        (b'{"url": "u"}\n' * 2, r"no page in it \(no html, html_b64 or text: 2\)"),
        (b"\x1f\x8bnot gzip at all", "Unknown compression method|Not a gzipped file"),
    ],
)
def test_an_input_without_a_page_is_an_error(tmp_path, data, reason):
    with pytest.raises(InputError, match=reason):
        list(PageReader([stored(tmp_path, data)]))


def test_what_cannot_work_is_said_before_the_first_page(tmp_path):
    good = stored(tmp_path, json_lines())
    (tmp_path / "folder").mkdir()
    for bad, reason in (
        (str(tmp_path / "none"), "No such file"),
        (str(tmp_path / "folder"), "no HTML files in it"),
        (stored(tmp_path, b"", "empty"), "empty"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            PageReader([good, bad])
        assert caught.value.source == bad


@pytest.mark.parametrize(
    ("data", "blocked", "extra"),
    [(WARC, "warcio", "warc"), (zstd(b"x"), "backports", "zstd"), (b"PAR1", "pyarrow", "parquet")],
    ids=["warc", "zstd", "parquet"],
)
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python itself reads zstd")
def test_a_missing_package_is_named(tmp_path, data, blocked, extra):
    program = (
        f"import sys; sys.modules[{blocked!r}] = None\n"
        "from scrapy_neardup.exceptions import InputError\n"
        "from scrapy_neardup.sources.readers import PageReader\n"
        f"try: PageReader([{stored(tmp_path, data)!r}])\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)  # noqa: PLW1510
    assert f'pip install "scrapy-neardup[{extra}]"' in done.stdout


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(json_lines()))))
    reader = PageReader(["-"])
    assert reader.total_bytes is None
    assert list(reader) == RECORDS
