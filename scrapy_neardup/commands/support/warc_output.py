"""Writes the pages of a scan as a WARC file in which each text is once: ``--warc-out``.

The verdicts have to be known, so the pages are read a second time, one by one:

* a page of the same bytes as an earlier one becomes a ``revisit`` record, from which readers
  restore it (ISO 28500:2017, profile ``identical-payload-digest``);
* a near-duplicate becomes a ``metadata`` record that names its original; its bytes are left out;
* everything else is copied. A page that was in no WARC file becomes a ``resource`` record, because
  nobody knows the response that it came with.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import sys
import uuid
from base64 import b32encode
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import datetime, timezone
from gzip import GzipFile
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from ..._util.encoding import utf8
from ..._util.wording import quantity
from ...exceptions import InputError, InvalidOption
from ...matching.verdict import Verdict
from ...report.decisions import UrlTable
from ...sources.compression import decompressed, naming_errors
from ...sources.readers import PageReader, beginning
from ...sources.record import Record
from ...sources.warc import WARC, WholeRecord, archive_iterator, warc_headers, whole_records
from .output import atomic_output, print_message
from .progress import with_progress

_NAME = re.compile(r"\.warc(?:\.gz)?$", re.IGNORECASE)
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_TYPES = {"html": "text/html", "fragment": "text/html", "text": "text/plain"}
_URI_CHARACTERS = "!#$%&'()*+,/:;=?@[]~"
_NO_HEADER = re.compile(r"[^\x20-\x7e]")


@contextmanager
def open_warc(target: str, pages: PageReader) -> Iterator[WarcOutput]:
    """Open the file; it replaces the target when the block ends without error.

    :param target: the file; it is compressed if its name ends in ``.gz``.
    :param pages: the input, from its beginning, for the second time.
    :raises InvalidOption: if the name of the file does not end in ``.warc`` or ``.warc.gz``.
    :raises InputError: if warcio is not installed, a source can be read only once, or the file
        cannot be written.
    """
    if not _NAME.search(target):
        raise InvalidOption("--warc-out", target, "a name that ends in .warc or .warc.gz")
    archive_iterator(target)
    for source in pages.sources:
        with naming_errors(source):
            mode = stat.S_IFIFO if source == "-" else Path(source).stat().st_mode
        if stat.S_IFMT(mode) not in (stat.S_IFREG, stat.S_IFDIR):
            name = "standard input" if source == "-" else source
            raise InputError(name, "can be read only once, and --warc-out needs it twice")
    with (
        atomic_output(target, pages.sources) as part,
        part.open("wb") as file,
        closing(_WarcFile(file, Path(target).name)) as output,
    ):
        yield WarcOutput(target, pages, output)


class WarcOutput:
    """Collects the near-duplicates of a scan, and writes the file after it."""

    def __init__(self, target: str, pages: PageReader, output: _WarcFile) -> None:
        self._target = target
        self._pages = pages
        self._output = output
        #: Ids and verdicts of the near-duplicates, by their places among the pages.
        self._dropped: dict[int, tuple[str | int, Verdict]] = {}
        self._n_pages = 0
        self._last: Record | None = None

    def note(self, record: Record, verdict: Verdict) -> None:
        """Note the verdict on the next page; of several on one page the first counts."""
        if record is self._last:
            return
        self._last = record
        if verdict.is_duplicate:
            self._dropped[self._n_pages] = (record.id, verdict)
        self._n_pages += 1

    def write(self) -> None:
        """Write the file.

        :raises InputError: if the input is not what was judged.
        """
        n_pages, output = 0, self._output
        for entry in with_progress(_entries(self._pages), self._pages, "write WARC", "records"):
            if entry.page is None:
                output.copy(entry)
                continue
            id_, verdict = self._dropped.get(n_pages, (entry.page.id, None))
            if id_ != entry.page.id:
                break
            n_pages += 1
            output.add(entry, entry.page.url, verdict)
        if n_pages != self._n_pages:
            sources = ", ".join(self._pages.sources)
            raise InputError(sources, "was changed before --warc-out read it for the second time")
        print_message(f"{self._target}: {output.summary}")


def _entries(pages: PageReader) -> Iterator[WholeRecord]:
    """Yield all records of WARC files, and records made of the pages of other files."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    for source in pages.sources:
        if not beginning(source).startswith(WARC):
            yield from (_resource(page, now) for page in pages.pages_of(source))
            continue
        with naming_errors(source), Path(source).open("rb") as file:
            yield from whole_records(decompressed(file, source), source)


def _resource(page: Record, date: str) -> WholeRecord:
    """Return the record of a page that was in no WARC file."""
    content, content_type = page.content, page.content_type
    if isinstance(content, str):
        content = utf8(content)
        content_type = f"{_TYPES[page.kind]}; charset=utf-8"
    headers = {
        "WARC-Type": "resource",
        "WARC-Record-ID": uuid.uuid4().urn.join("<>"),
        "WARC-Target-URI": _uri(page.url),
        "WARC-Date": date,
        "Content-Type": _NO_HEADER.sub("?", content_type or _TYPES[page.kind]),
        "Content-Length": str(len(content)),
    }
    return WholeRecord(warc_headers(headers), BytesIO(content), page)


def _uri(url: str) -> str:
    return quote(url, safe=_URI_CHARACTERS, errors="surrogatepass")


class _Written(NamedTuple):
    """A page that was written whole.

    :ivar digest: of its payload, as its record has it.
    """

    record_id: str
    uri: str
    date: str
    digest: str


class _WarcFile:
    """Writes records, each a gzip member if the name of the file ends in ``.gz``."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._n_whole = self._n_equal = self._n_near = 0
        self._file = file
        self._is_packed = name.lower().endswith(".gz")
        #: The pages that were written whole, by SHA-256 of their payloads and by URL.
        self._by_hash, self._by_url = (UrlTable(most_bytes=sys.maxsize) for _ in range(2))
        fields = {
            "software": f"scrapy-neardup/{version('scrapy-neardup')}",
            "format": "WARC File Format 1.1",
            "description": "metadata records replace near-duplicates, and name their originals",
        }
        headers = {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": uuid.uuid4().urn.join("<>"),
            "WARC-Date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "Content-Type": "application/warc-fields",
        }
        self._put_changed(warc_headers(headers), {}, _fields(fields))

    @property
    def summary(self) -> str:
        """The numbers of records that were written, in words."""
        return (
            f"{quantity(self._n_whole, 'page')} whole, {self._n_equal} of equal bytes as revisit "
            f"records, {quantity(self._n_near, 'near-duplicate')} as metadata records"
        )

    def close(self) -> None:
        self._by_hash.close()
        self._by_url.close()

    def copy(self, record: WholeRecord) -> None:
        """Write a record as it is."""
        self._put(record.headers, record.block)

    def add(self, record: WholeRecord, url: str, verdict: Verdict | None) -> None:
        """Write a page.

        :param verdict: ``None`` unless it is a near-duplicate.
        """
        digest, payload_hash = _hashes(record)
        if (equal := _found(self._by_hash, payload_hash)) is not None:
            self._n_equal += 1
            self._put_revisit(record, equal)
        elif verdict is not None:
            self._n_near += 1
            self._put_near_duplicate(record, verdict, digest)
        else:
            self._n_whole += 1
            written = self._put_whole(record, digest)
            self._by_hash.put(payload_hash, written)
            self._by_url.put(url, written)

    def _put_whole(self, record: WholeRecord, digest: str) -> bytes:
        headers = record.headers
        if headers.get_header("WARC-Payload-Digest") is None:
            headers.add_header("WARC-Payload-Digest", digest)
        self.copy(record)
        names = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Payload-Digest")
        return json.dumps([headers.get_header(name) or "" for name in names]).encode()

    def _put_revisit(self, record: WholeRecord, equal: _Written) -> None:
        headers = record.headers
        changes = {
            "WARC-Type": "revisit",
            "WARC-Profile": _PROFILE,
            "WARC-Refers-To": equal.record_id,
            "WARC-Refers-To-Target-URI": equal.uri,
            "WARC-Refers-To-Date": equal.date,
            "WARC-Payload-Digest": equal.digest,
        }
        # The HTTP headers are the page's own.
        self._put_changed(headers, changes, BytesIO(record.block.read(record.payload_start)))

    def _put_near_duplicate(self, record: WholeRecord, verdict: Verdict, digest: str) -> None:
        original = _found(self._by_url, verdict.duplicate_of or "")
        fields = {
            "nearDuplicateOf": original.uri if original else _uri(verdict.duplicate_of or ""),
            "reason": str(verdict.reason),
            "hammingDistance": verdict.distance,
            "similarity": None if verdict.similarity is None else round(verdict.similarity, 4),
            "payloadDigest": digest,
        }
        changes = {"WARC-Type": "metadata", "Content-Type": "application/warc-fields"}
        if original is not None:
            changes["WARC-Refers-To"] = original.record_id
        record.headers.remove_header("WARC-Payload-Digest")
        self._put_changed(record.headers, changes, _fields(fields))

    def _put_changed(self, headers: Any, changes: dict[str, str], block: BytesIO) -> None:
        length = {"Content-Length": str(block.getbuffer().nbytes)}
        for name, value in (changes | length).items():
            headers.replace_header(name, value)
        headers.remove_header("WARC-Block-Digest")
        self._put(headers, block)

    def _put(self, headers: Any, block: IO[bytes]) -> None:
        with self._member() as out:
            out.write(headers.to_bytes(encoding="utf-8"))
            copyfileobj(block, out)
            out.write(b"\r\n\r\n")

    def _member(self) -> AbstractContextManager[GzipFile | IO[bytes]]:
        if self._is_packed:
            return GzipFile("", "wb", fileobj=self._file, mtime=0)
        return nullcontext(self._file)


def _found(table: UrlTable, key: str) -> _Written | None:
    found = table.get(key)
    return None if found is None else _Written(*json.loads(found))


def _fields(values: Mapping[str, object]) -> BytesIO:
    """Return lines of names and values (``application/warc-fields``)."""
    lines = (f"{name}: {value}\r\n" for name, value in values.items() if value is not None)
    return BytesIO("".join(lines).encode("utf-8", "backslashreplace"))


def _hashes(record: WholeRecord) -> tuple[str, str]:
    """Return the digest of a payload, as WARC files have it, and its SHA-256.

    Two payloads of one SHA-1 can be made on purpose.
    """
    record.block.seek(record.payload_start)
    sha1, sha256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256()
    while piece := record.block.read(1 << 16):
        sha1.update(piece)
        sha256.update(piece)
    record.block.seek(0)
    return f"sha1:{b32encode(sha1.digest()).decode()}", sha256.hexdigest()
