"""``scan --warc-out`` as a program: what it writes is read by warcio, and loses nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from scrapy_neardup.commands.support.warc_output import open_warc
from scrapy_neardup.exceptions import InputError
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.reasons import Reason
from scrapy_neardup.sources.readers import PageReader
from tests.support import warm
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, page

ROOT = Path(__file__).parents[2]
_TYPES = dict.fromkeys(("warcinfo", "metadata"), "application/warc-fields")
DAY = "2026-03-0{}T10:00:00Z"


def scan(*arguments: object, stdin: bytes | None = None):
    return warm.run(["-m", "scrapy", "neardup", "scan", *arguments], stdin=stdin, folder=ROOT)


def record(kind: str, name: str, url: str, block: bytes, **headers: str) -> bytes:
    """A record written by hand after ISO 28500."""
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:test:{name}>",
        "WARC-Target-URI": url,
        "WARC-Date": DAY.format(len(name) % 9 + 1),
        "Content-Type": _TYPES.get(kind, f"application/http; msgtype={kind}"),
        **{key.replace("_", "-"): value for key, value in headers.items()},
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{key}: {value}\r\n" for key, value in fields.items())
    return f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def response(html: str, *, packed: bool = False, mime: str = "text/html", status: str = "200 OK"):
    body, more = html.encode(), ""
    if packed:
        body = gzip.compress(body, mtime=0)
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        more = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"
    # Two spaces and lower case: a copy has the bytes of the server, not a tidy form of them.
    return f"HTTP/1.1 {status}\r\ncontent-type:  {mime}\r\n{more}\r\n".encode() + body


FERRY_PAGE, TEA_PAGE = page(FERRY, "Ferry"), page(TEA, "茶")
INPUT = [
    ("warcinfo", "info", "", b"software: by hand\r\n"),
    ("response", "ferry", "https://a.example/ferry", response(FERRY_PAGE)),
    ("request", "ask", "https://a.example/ferry", b"GET /ferry HTTP/1.1\r\n\r\n"),
    ("response", "logo", "https://a.example/logo", response("GIF89a", mime="image/gif")),
    ("response", "tea", "https://a.example/tea", response(TEA_PAGE, packed=True)),
    ("response", "mirror", "https://mirror.example/f", response(FERRY_PAGE)),
    ("response", "reprint", "https://b.example/f", response(page(FERRY + " Book now.", "Ferry"))),
    ("response", "tea again", "https://c.example/t", response(TEA_PAGE, packed=True)),
    ("response", "gone", "https://a.example/x", response("Gone", status="404 Not Found")),
    ("response", "museum", "https://a.example/m", response(page(MUSEUM, "Museum"))),
    # The same text as tea's, from other bytes.
    ("response", "plain tea", "https://d.example/t", response(TEA_PAGE)),
    ("metadata", "meta", "https://a.example/m", b"via: https://a.example/\r\n"),
]


def records(path: Path) -> list[tuple[str, str, dict[str, str], bytes]]:
    """Kind, id, headers and block of each record."""
    found = []
    with path.open("rb") as file:
        for each in ArchiveIterator(file, no_record_parse=True):
            headers = dict(each.rec_headers.headers)
            found.append(
                (each.rec_type, headers["WARC-Record-ID"], headers, each.raw_stream.read())
            )
    return found


@pytest.fixture(scope="module", params=[".warc", ".warc.gz"])
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("warc")
    source, target = folder / "in.warc", folder / f"out{request.param}"
    source.write_bytes(b"".join(record(*each) for each in INPUT))
    done = scan(source, "-o", folder / "verdicts.jsonl", "--warc-out", target)
    assert done.returncode == 0, done.stderr
    return target, done.stderr.decode()


def test_everything_but_duplicates_is_copied(written):
    target, _ = written
    given = {f"<urn:test:{name}>": (kind, block) for kind, name, _, block in INPUT}
    kept = {id_: (kind, block) for kind, id_, _, block in records(target) if id_ in given}
    dropped = {f"<urn:test:{name}>" for name in ("mirror", "reprint", "tea again", "plain tea")}
    assert {id_ for id_ in given if kept[id_] != given[id_]} == dropped
    assert [id_ for _, id_, *_ in records(target)[1:]] == list(given)


def test_equal_bytes_are_restored_from_what_they_refer_to(written):
    target, _ = written
    found = {id_: (headers, block) for _, id_, headers, block in records(target)}
    given = {name: (url, block) for _, name, url, block in INPUT}
    for name, original in (("mirror", "ferry"), ("tea again", "tea")):
        headers, block = found[f"<urn:test:{name}>"]
        assert headers["WARC-Type"] == "revisit"
        assert headers["WARC-Profile"].endswith("/revisit/identical-payload-digest")
        assert headers["WARC-Target-URI"] == given[name][0]
        assert headers["WARC-Date"] == DAY.format(len(name) % 9 + 1)
        whole, whole_block = found[headers["WARC-Refers-To"]]
        assert headers["WARC-Refers-To"] == f"<urn:test:{original}>"
        assert headers["WARC-Refers-To-Target-URI"] == whole["WARC-Target-URI"]
        assert headers["WARC-Refers-To-Date"] == whole["WARC-Date"]
        assert headers["WARC-Payload-Digest"] == whole["WARC-Payload-Digest"]
        assert block + whole_block.partition(b"\r\n\r\n")[2] == given[name][1]


def test_a_near_duplicate_names_its_original(written):
    target, stderr = written
    found = {id_: (headers, block) for _, id_, headers, block in records(target)}
    for name, original in (("reprint", "ferry"), ("plain tea", "tea")):
        headers, block = found[f"<urn:test:{name}>"]
        fields = dict(line.split(": ", 1) for line in block.decode().splitlines())
        given = {each: (url, whole) for _, each, url, whole in INPUT}
        assert headers["WARC-Type"] == "metadata"
        assert headers["Content-Type"] == "application/warc-fields"
        assert headers["WARC-Refers-To"] == f"<urn:test:{original}>"
        assert fields["nearDuplicateOf"] == given[original][0]
        payload = given[name][1].partition(b"\r\n\r\n")[2]
        assert fields["payloadDigest"] == warc_digest(payload)
        assert int(fields["hammingDistance"]) >= 0
        assert fields["reason"] in {"similar_text", "same_text"}
    assert "out.warc" in stderr
    assert "3 pages whole, 2 of equal bytes as revisit records, 2 near-duplicates as" in stderr


def warc_digest(payload: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(payload).digest()).decode()}"


def test_warcio_finds_nothing_wrong(written, capsys):
    target, _ = written

    checker = Checker(SimpleNamespace(inputs=[str(target)], verbose=True))
    checker.process_all()
    assert checker.exit_value == 0, capsys.readouterr().out


@pytest.mark.slow
def test_pages_of_other_files_are_resources(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "bridge.html").write_text(page(BRIDGE, "Bridge"), "utf-8")
    lines = [
        {"id": 1, "url": "https://a.example/f\u00e4hre 1\r\nX: y", "html": FERRY_PAGE},
        {"id": 1, "url": "https://b.example/", "html": FERRY_PAGE},
        {"id": 1, "url": "https://c.example/", "html": page(FERRY + " Book now.", "Ferry")},
        {"id": 1, "url": "https://d.example/", "text": TEA},
    ]
    pages = tmp_path / "pages.jsonl"
    pages.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    target = tmp_path / "out.warc.gz"
    done = scan(pages, folder, "-o", tmp_path / "v.csv", "--warc-out", target)
    assert done.returncode == 0, done.stderr
    found = records(target)[1:]
    assert [kind for kind, *_ in found] == [
        *("resource", "revisit", "metadata", "resource", "resource")
    ]
    uris = [headers["WARC-Target-URI"] for _, _, headers, _ in found]
    assert uris[0] == "https://a.example/f%C3%A4hre%201%0D%0AX:%20y"
    assert uris[4] == (folder / "bridge.html").as_uri()
    assert found[0][3] == FERRY_PAGE.encode()
    assert found[3][3] == TEA.encode()
    assert found[3][2]["Content-Type"] == "text/plain; charset=utf-8"
    assert found[1][2]["WARC-Refers-To-Target-URI"] == uris[0]
    # The pages in it are read again, but for texts, which are no HTML.
    again = tmp_path / "again.warc.gz"
    done = scan(target, "-o", tmp_path / "v.csv", "--warc-out", again)
    assert done.returncode == 0, done.stderr
    assert "2 pages: new 2" in done.stderr.decode()
    assert [each[:2] for each in records(again)[2:]] == [each[:2] for each in records(target)[1:]]


@pytest.mark.parametrize(
    ("arguments", "stdin", "error"),
    [
        (["-", "--warc-out", "{}/out.warc"], b"{}", "standard input: can be read only once"),
        (["{}/p.jsonl", "--warc-out", "{}/out.gz"], None, "a name that ends in .warc or .warc.gz"),
        (["{}/p.jsonl", "--warc-out", "{}/no/out.warc"], None, "No such file or directory"),
    ],
    ids=["standard input", "another name", "no folder"],
)
def test_what_cannot_be_written_is_said_before_a_page_is_judged(tmp_path, arguments, stdin, error):
    (tmp_path / "p.jsonl").write_text(json.dumps({"url": "https://a.example/", "text": TEA}))
    given = [argument.format(tmp_path) for argument in arguments]
    done = scan(*given, "-o", tmp_path / "v.jsonl", stdin=stdin)
    assert done.returncode in {1, 2}
    assert error in done.stderr.decode()
    assert not (tmp_path / "v.jsonl").exists()


def test_an_input_that_changes_meanwhile_is_an_error(tmp_path):
    """The first page is another one when it is read again: its verdict must not drop this one."""
    lines = [{"url": f"https://{n}.example/", "text": FERRY + n * " Book now."} for n in range(2)]
    pages = tmp_path / "p.jsonl"
    pages.write_text("\n".join(map(json.dumps, lines)))
    given = str(pages)
    target = tmp_path / "out.warc"

    def write():
        with open_warc(str(target), PageReader([given])) as output:
            for record in PageReader([given]):
                is_copy = record.url == "https://1.example/"
                verdict = Verdict(
                    "duplicate" if is_copy else "new", record.url, Reason.SIMILAR_TEXT
                )
                output.note(record, verdict)
            pages.write_text("\n".join(map(json.dumps, reversed(lines))))
            output.write()

    with pytest.raises(InputError, match="was changed before --warc-out"):
        write()
    assert not target.exists()
