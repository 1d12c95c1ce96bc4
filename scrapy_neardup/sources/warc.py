"""Pages in WARC files: successful responses that are HTML. warcio reads the records."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..exceptions import InputError
from .compression import missing
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, NotAPage, Record

WARC = b"WARC/"
_HTML_TYPES = ("text/html", "application/xhtml+xml")


def warc_pages(
    stream: io.BufferedReader, source: str, bad: Counter[str], passed_over: Counter[str]
) -> Iterator[Record]:
    """Yield the pages of a stream; other records are counted by reason.

    :param bad: counts records that cannot be used.
    :param passed_over: counts records that are no pages.
    :raises InputError: when the stream is cut off, or broken.
    """
    watched = _Watched(stream)
    record = None
    for record in _warc_records(watched, source):
        try:
            yield _warc_page(record)
        except NotAPage as reason:
            passed_over[str(reason)] += 1
        except BadRecord as error:
            bad[str(error)] += 1
    watched.require_whole(source)
    if record is not None and getattr(record.raw_stream, "limit", 0) > 0:
        raise InputError(source, "ends within a record")


def archive_iterator(source: str) -> Any:
    """Return warcio's iterator class.

    :raises InputError: when warcio is not installed.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator
    except ImportError:
        raise InputError(source, missing("WARC", "warc")) from None
    return ArchiveIterator


class _Watched(io.RawIOBase):
    """A stream whose reader takes any error for its end; what really happened is kept."""

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
        """A WARC record ends with two line ends (ISO 28500, section 4)."""
        if self._error is not None:
            raise self._error
        if self._tail != b"\r\n\r\n":
            raise InputError(source, "ends within a record")


def _warc_records(stream: _Watched, source: str) -> Iterator[Any]:
    """warcio's records. Where one ends is told by its head: behind a broken one there is no more
    to be found, and warcio says so by whatever error it stumbles into.
    """
    try:
        yield from archive_iterator(source)(stream)
    except Exception as error:
        stream.require_whole(source)
        raise InputError(source, f"broken record ({error})") from error


def _warc_page(record: Any) -> Record:
    """The page in a record of warcio's."""
    if record.rec_type != "response" or record.http_headers is None:
        raise NotAPage(f"{record.rec_type} record")
    status = record.http_headers.get_statuscode()
    if not status.startswith("2"):
        raise NotAPage(f"status {status}")
    content_type = record.http_headers.get_header("Content-Type") or ""
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
        # warcio unpacks chunks, gzip, deflate and brotli, each with errors of its own.
        raise BadRecord("content cannot be unpacked") from error
    if limit < 0:
        raise BadRecord(TOO_LARGE)
    return b"".join(pieces)
