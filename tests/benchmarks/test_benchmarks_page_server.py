"""The page server of the benchmarks, over real HTTP."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.common.programs import environment, module_command

pytestmark = pytest.mark.slow

MODULE = "benchmarks.crawl.page_server"

GBK = "<meta charset=gbk><p>汉字".encode("gbk")
RECORDS: list[dict[str, Any]] = [
    {"id": "text", "url": "https://a.example/grüße?q=1#top", "html": "<p>grüße"},
    {"id": "raw", "url": "http://b.example/", "html_b64": base64.b64encode(GBK).decode()},
    {"id": "again", "url": "http://a.example/grüße?q=1", "html": "<p>later"},
    {
        "id": "labelled",
        "url": "https://c.example:8443/(x)",
        "html": "{}",
        "content_type": "application/json",
    },
]
BAD_LINES = [
    "{",
    "[]",
    '{"html": "no url"}',
    '{"url": "ftp://a.example/", "html": ""}',
    '{"url": "http://[a.example/", "html": ""}',
    '{"url": "http://a.example/no-html"}',
    '{"url": "http://a.example/", "html_b64": "*"}',
    '{"url": "http://a.example/", "html": "\\ud800"}',
    '{"url": "http://a.example/", "html": "", "content_type": "a\\r\\nb: c"}',
]


class Server:
    """A running page server and what its catalogue says."""

    def __init__(self, process: subprocess.Popen[str], catalogue: Path):
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self.ready = json.loads(self._stdout.readline())
        self.catalogue = [json.loads(line) for line in catalogue.read_text().splitlines()]

    def answered(self) -> int:
        self._stdin.write("\n")
        self._stdin.flush()
        return int(json.loads(self._stdout.readline())["answered"])

    def get(
        self, target: str, headers: dict[str, str] | None = None, port: int | None = None
    ) -> tuple[int, str | None, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.ready["port"], timeout=10)
        try:
            connection.request("GET", target, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.getheader("Content-Type"), response.read()
        finally:
            connection.close()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl.gz"
    lines = [json.dumps(record) for record in RECORDS] + BAD_LINES
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n"))
    return path


@contextmanager
def running(pages: Path, *options: str) -> Iterator[Server]:
    catalogue = pages.with_name("catalogue.jsonl")
    command = module_command(MODULE, "--catalogue", catalogue, *options, pages)
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Server(process, catalogue)
    assert process.returncode == 0


def test_pages_keep_their_bytes_and_content_types_as_a_proxy_sees_them(pages: Path) -> None:
    with running(pages) as server:
        text, raw, _, labelled = [entry["request_url"] for entry in server.catalogue]
        assert text == "http://a.example/gr%C3%BC%C3%9Fe?q=1"
        assert server.get(text) == (200, "text/html; charset=utf-8", "<p>grüße".encode())
        assert server.get(raw) == (200, "text/html", GBK)
        assert server.get(labelled) == (200, "application/json", b"{}")
        assert server.answered() == 3
        assert server.answered() == 0


def test_the_host_header_serves_the_same_pages(pages: Path) -> None:
    with running(pages) as server:
        status, _, body = server.get("/gr%c3%bc%c3%9fe?q=1", {"Host": "A.example:80"})
        assert (status, body) == (200, "<p>grüße".encode())
        # Another way to write the same URL.
        assert server.get("/%28x%29", {"Host": "c.example:8443"})[0] == 200


def test_the_record_number_tells_records_of_one_url_apart(pages: Path) -> None:
    with running(pages) as server:
        url = server.catalogue[0]["request_url"]
        assert server.catalogue[2]["request_url"] == url
        assert server.get(url, {"X-Page": "2"})[2] == b"<p>later"
        assert server.get(url, {"X-Page": "0"})[2] == "<p>grüße".encode()
        assert server.get(url, {"X-Page": "1"})[0] == 404


def test_what_is_not_stored_is_not_found_and_not_counted(pages: Path) -> None:
    with running(pages) as server:
        assert server.get("http://b.example/other")[0] == 404
        assert server.get("http://other.example/")[0] == 404
        assert server.answered() == 0


def test_every_host_may_have_a_port(pages: Path) -> None:
    with running(pages, "--ports") as server:
        urls = [urlsplit(entry["request_url"]) for entry in server.catalogue]
        assert {url.hostname for url in urls} == {"127.0.0.1"}
        assert len({url.port for url in urls}) == 3
        assert server.get(urls[1].path, port=urls[1].port)[2] == GBK
        assert server.get(urls[1].path, port=urls[3].port)[0] == 404


def test_bad_records_are_counted_by_reason(pages: Path) -> None:
    with running(pages) as server:
        assert server.ready["pages"] == len(RECORDS)
        assert server.ready["hosts"] == 3
        assert sum(server.ready["skipped"].values()) == len(BAD_LINES)
        assert len(server.ready["skipped"]) == len(BAD_LINES)


def test_the_server_ends_with_its_standard_input(pages: Path) -> None:
    with running(pages) as server:
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(10) == 0


@pytest.mark.parametrize("damage", ["cut gzip", "cut line", "missing", "no page"])
def test_input_that_cannot_be_used_is_refused_with_one_line(pages: Path, damage: str) -> None:
    data = pages.read_bytes()
    if damage == "cut gzip":
        pages.write_bytes(data[:-20])
    elif damage == "cut line":
        pages.write_bytes(gzip.decompress(data).rstrip()[:-20])
    elif damage == "missing":
        pages.unlink()
    else:
        pages.write_bytes(b"{}\n")
    done = subprocess.run(
        module_command(MODULE, pages),
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert str(pages) in done.stderr
