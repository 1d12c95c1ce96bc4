"""Reads pages from WARC files: the successful HTML responses, and HTML without one (resources).

warcio parses the records.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from ..exceptions import InputError
from .compression import missing_package
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, BadRecords, NotAPage, Record

WARC = b"WARC/"
#: Bytes of a record's block from which it is in a temporary file rather than in memory.
_SPOOLED = 1 << 20
_HTML_TYPES = ("text/html", "application/xhtml+xml")


def warc_pages(
    stream: io.BufferedReader, source: str, bad: BadRecords, passed_over: Counter[str]
) -> Iterator[Record]:
    """Yield the pages of a stream.

    :param bad: counts unusable records by reason.
    :param passed_over: counts records that are no pages by reason.
    :raises InputError: if the stream is cut off or broken.
    """
    recording = _ErrorRecordingStream(stream)
    record = None
    for number, record in enumerate(_warc_records(recording, source), start=1):
        try:
            yield _warc_page(record)
        except NotAPage as reason:
            passed_over[str(reason)] += 1
        except BadRecord as error:
            bad.note(error, f"{source}, record {number}")
    recording.require_whole(source)
    if record is not None and getattr(record.raw_stream, "limit", 0) > 0:
        raise InputError(source, "ends within a record")


@dataclass(frozen=True)
class WholeRecord:
    """A record of a WARC file as it stands there, and the page in it.

    :ivar headers: of the record, as warcio parsed them.
    :ivar block: what follows them, at its beginning.
    :ivar page: ``None`` if there is none, or it cannot be read.
    :ivar payload_start: where in the block the HTTP headers of a page end.
    """

    headers: Any
    block: IO[bytes]
    page: Record | None = None
    payload_start: int = 0


def whole_records(stream: io.BufferedReader, source: str) -> Iterator[WholeRecord]:
    """Yield all records of a stream; those with the pages that :func:`warc_pages` yields have them.

    The block of each record can be read until the next one is asked for.

    :raises InputError: if the stream is cut off or broken.
    """
    loader = archive_loader(source)
    for record in _warc_records(_ErrorRecordingStream(stream), source, no_record_parse=True):
        if record.rec_type not in ("response", "resource"):
            yield WholeRecord(record.rec_headers, record.raw_stream)
            continue
        with SpooledTemporaryFile(_SPOOLED) as block:
            copyfileobj(record.raw_stream, block)
            block.seek(0)
            # warcio still asks its own record for the end of the stream.
            parsed = copy(record)
            parsed.raw_stream = block
            uri = record.rec_headers.get_header("WARC-Target-URI")
            length = record.length
            parsed.http_headers = loader.load_http_headers(record.rec_type, uri, block, length)
            start = block.tell()
            page = None
            with suppress(NotAPage, BadRecord):
                page = _warc_page(parsed)
            block.seek(0)
            yield WholeRecord(record.rec_headers, block, page, start)


def archive_iterator(source: str) -> Any:
    """Return warcio's iterator class.

    :raises InputError: if warcio is not installed.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator
    except ImportError:
        raise InputError(source, missing_package("WARC", "warc")) from None
    return ArchiveIterator


def warc_headers(fields: Mapping[str, str]) -> Any:
    """Return the headers of a new record; warcio has to be installed."""
    from warcio.statusandheaders import StatusAndHeaders

    return StatusAndHeaders("", list(fields.items()), protocol="WARC/1.1")


def archive_loader(source: str) -> Any:
    """Return what parses HTTP headers as warcio's iterator does.

    :raises InputError: if warcio is not installed.
    """
    archive_iterator(source)
    from warcio.recordloader import ArcWarcRecordLoader

    return ArcWarcRecordLoader()


class _ErrorRecordingStream(io.RawIOBase):
    """A stream that remembers its errors, because warcio takes any error for the end."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._error: Exception | None = None
        self._tail = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._stream.read(size)
        except Exception as error:
            self._error = error
            raise
        self._tail = (self._tail + data)[-4:]
        return data

    def require_whole(self, source: str) -> None:
        """Raise the recorded error, or one if the stream does not end with a whole record.

        A WARC record ends with two line ends (ISO 28500, section 4).
        """
        if self._error is not None:
            raise self._error
        if self._tail != b"\r\n\r\n":
            raise InputError(source, "ends within a record")


def _warc_records(stream: _ErrorRecordingStream, source: str, **options: bool) -> Iterator[Any]:
    """Yield warcio's records.

    :param options: of warcio's iterator.

    A record's header says where it ends, so nothing can be read after a broken one; warcio raises
    various errors then.
    """
    try:
        yield from archive_iterator(source)(stream, **options)
    except Exception as error:
        stream.require_whole(source)
        raise InputError(source, f"broken record ({error})") from error


def _warc_page(record: Any) -> Record:
    """Return the page in a record of warcio's."""
    headers = record.rec_headers
    if record.rec_type == "response" and record.http_headers is not None:
        headers = record.http_headers
        if not (status := headers.get_statuscode()).startswith("2"):
            raise NotAPage(f"status {status}")
    elif record.rec_type != "resource":
        raise NotAPage(f"{record.rec_type} record")
    content_type = headers.get_header("Content-Type") or ""
    if content_type.partition(";")[0].strip().lower() not in _HTML_TYPES:
        raise NotAPage("not HTML")
    body = _read_up_to(record.content_stream(), MAX_PAGE_BYTES)
    url = record.rec_headers.get_header("WARC-Target-URI").strip("<>")
    name = record.rec_headers.get_header("WARC-Record-ID") or url
    return Record(name.strip("<>"), url, body, content_type=content_type)


def _read_up_to(stream: Any, limit: int) -> bytes:
    pieces = []
    try:
        while limit >= 0 and (piece := stream.read(min(limit + 1, 2**16))):
            pieces.append(piece)
            limit -= len(piece)
    except Exception as error:
        # warcio decodes chunks, gzip, deflate and brotli, each with errors of its own.
        raise BadRecord("content cannot be unpacked") from error
    if limit < 0:
        raise BadRecord(TOO_LARGE)
    return b"".join(pieces)
