"""Stored pages, one after another: JSON Lines, WARC, or HTML files in a folder.

What a file holds is read from its first bytes, not from its name. gzip and zstd are undone on
the way. A record that makes no sense is counted and passed over; an input that cannot be read
to its end is an error, because figures from half a file look like figures.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

from ..exceptions import NearDupError

#: A page larger than this is counted and passed over; so is what unpacks to more.
MAX_PAGE_BYTES = 64 * 2**20

#: Endings, in lower case, by which a page is known in a folder.
HTML_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_WARC = b"WARC/"
_UTF8_MARK = b"\xef\xbb\xbf"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_FOUND = {
    "too_large": f"larger than {MAX_PAGE_BYTES >> 20} MiB",
    "not_json": "not JSON",
}


class InputError(NearDupError):
    """An input cannot be used; the message says which one and why."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class _BadRecordError(ValueError):
    """One record cannot be used; the message is the reason that it is counted under."""


@dataclass(frozen=True, slots=True)
class Record:
    """A page as it was stored or fetched.

    :ivar id: what its owner calls it; its URL unless the record says otherwise.
    :ivar url: its address.
    :ivar content: a page's HTML, its main text, or a piece of HTML or text that is taken whole;
        decoded or as bytes.
    :ivar kind: which of the three.
    :ivar title: the title that goes with a text.
    :ivar content_type: the header of that name; names the encoding of bytes.
    :ivar encoding: of bytes, when whoever made the record was told; it wins over the header.
    """

    id: str | int
    url: str
    content: str | bytes
    kind: Literal["html", "text", "fragment"] = "html"
    title: str = ""
    content_type: str | None = None
    encoding: str | None = None


class PageReader:
    """The pages of all sources, in order. Can be iterated over once.

    :param sources: files, folders, or ``"-"`` for standard input.
    :raises InputError: here, when a source is missing, empty, or cannot be read for want of a
        package; while iterating, when one is cut off or there is no page in any of them.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        #: How many records could not be used, by reason.
        self.bad: Counter[str] = Counter()
        #: How many records are no pages, by reason (in WARC: redirects, images …).
        self.passed_over: Counter[str] = Counter()
        #: Bytes of the sources read so far, as they are stored.
        self.bytes_read = 0
        self._sources = sources
        self._position: Callable[[], int] = lambda: 0
        for source in sources:
            _check(source)

    def __iter__(self) -> Iterator[Record]:
        empty = True
        for source in self._sources:
            for record in self._pages_of(source):
                empty = False
                yield record
        if empty:
            counted = self.bad + self.passed_over
            listed = ", ".join(f"{reason}: {number}" for reason, number in counted.most_common())
            raise InputError(", ".join(self._sources), f"no page in it ({listed or 'no record'})")

    @property
    def total_bytes(self) -> int | None:
        """Bytes that there are to read; ``None`` when that cannot be known."""
        total = 0
        for source in self._sources:
            path = Path(source)
            if path.is_dir():
                total += sum(file.stat().st_size for file in _html_files(path))
            elif source != "-" and path.is_file():
                total += path.stat().st_size
            else:
                return None
        return total

    def _pages_of(self, source: str) -> Iterator[Record]:
        if source == "-":
            yield from self._pages_in(sys.stdin.buffer, "standard input")
        elif Path(source).is_dir():
            yield from self._pages_under(Path(source))
        else:
            before = self.bytes_read
            with _reading(source), Path(source).open("rb") as file:
                for record in self._pages_in(file, source):
                    if file.seekable():
                        self.bytes_read = before + file.tell()
                    yield record

    def _pages_under(self, folder: Path) -> Iterator[Record]:
        for path in _html_files(folder):
            try:
                size = path.stat().st_size
                if size > MAX_PAGE_BYTES:
                    raise _BadRecordError(_FOUND["too_large"])
                body = path.read_bytes()
            except (OSError, _BadRecordError) as error:
                self.bad[_reason_of(error)] += 1
                continue
            self.bytes_read += size
            yield _html_page(path, body, path.relative_to(folder).as_posix())

    def _pages_in(self, raw: BinaryIO, source: str) -> Iterator[Record]:
        with _reading(source):
            stream = _unpacked(raw, source)
            start = stream.peek(len(_WARC))
            if start.startswith(_WARC):
                yield from self._warc_pages(stream, source)
            elif start.removeprefix(_UTF8_MARK).lstrip()[:1] == b"<":
                yield _html_page(Path(source), stream.read(MAX_PAGE_BYTES), source)
            else:
                yield from self._json_pages(stream, source)

    def _json_pages(self, stream: io.BufferedReader, source: str) -> Iterator[Record]:
        number = 0
        while line := stream.readline(MAX_PAGE_BYTES):
            number += 1
            if len(line) == MAX_PAGE_BYTES:
                _skip_line(stream)
                self.bad[_FOUND["too_large"]] += 1
                continue
            if number == 1:
                line = line.removeprefix(_UTF8_MARK)
            try:
                if line.strip():
                    yield _json_page(line)
            except _BadRecordError as error:
                if not line.endswith(b"\n") and str(error) == _FOUND["not_json"]:
                    raise InputError(source, f"line {number} is cut off or not JSON") from None
                self.bad[str(error)] += 1

    def _warc_pages(self, stream: io.BufferedReader, source: str) -> Iterator[Record]:
        watched = _Watched(stream)
        record = None
        for record in _warc_records(watched, source):
            try:
                yield _warc_page(record)
            except _NotAPageError as reason:
                self.passed_over[str(reason)] += 1
            except _BadRecordError as error:
                self.bad[str(error)] += 1
        watched.require_whole(source)
        if record is not None and getattr(record.raw_stream, "limit", 0) > 0:
            raise InputError(source, "ends within a record")


class LineReader:
    """The lines of a file, unpacked, for formats other than pages. Can be iterated over once.

    :param source: a file, or ``"-"`` for standard input.
    :raises InputError: while iterating, when it cannot be read to its end, or a line is larger
        than :data:`MAX_PAGE_BYTES`.
    """

    def __init__(self, source: str) -> None:
        #: Bytes read so far, as they are stored.
        self.bytes_read = 0
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        with _reading(self._source), self._opened() as file:
            stream = _unpacked(file, self._source)
            while line := stream.readline(MAX_PAGE_BYTES):
                if len(line) == MAX_PAGE_BYTES:
                    raise InputError(self._source, f"a line is {_FOUND['too_large']}")
                if file.seekable():
                    self.bytes_read = file.tell()
                yield line

    @property
    def total_bytes(self) -> int | None:
        """Bytes that there are to read; ``None`` when that cannot be known."""
        path = Path(self._source)
        return path.stat().st_size if self._source != "-" and path.is_file() else None

    def _opened(self) -> AbstractContextManager[BinaryIO]:
        return (
            nullcontext(sys.stdin.buffer) if self._source == "-" else Path(self._source).open("rb")
        )


def beginning(source: str) -> bytes:
    """What a source begins with, unpacked: some thousand bytes at most, none of what is no file.

    Standard input can still be read from its first byte on.

    :raises InputError: when it cannot be read.
    """
    if source == "-":
        # It may have been cut off anywhere; whoever reads it in earnest will see whether it was.
        with suppress(InputError), _reading(source):
            start = io.BytesIO(_buffered(sys.stdin.buffer).peek())
            return _unpacked(start, source).peek()
        return b""
    with _reading(source):
        if not stat.S_ISREG(Path(source).stat().st_mode):
            # What was read of a pipe would be gone.
            return b""
        with Path(source).open("rb") as file:
            return _unpacked(file, source).peek()


class _NotAPageError(Exception):
    """A record of an archive is no HTML page; the message is the reason."""


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


def _json_page(line: bytes) -> Record:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadRecordError(_FOUND["not_json"]) from None
    if not isinstance(fields, dict):
        raise _BadRecordError("not an object")
    url = _string(fields, "url")
    if not url:
        raise _BadRecordError("no url")
    content, kind = _content(fields)
    return Record(
        id=_id(fields.get("id"), url),
        url=url,
        content=content,
        kind=kind,
        title=_string(fields, "title") or "",
        content_type=_content_type(fields),
    )


def _content(fields: dict[str, Any]) -> tuple[str | bytes, Literal["html", "text"]]:
    if (html := _string(fields, "html")) is not None:
        return html, "html"
    if (encoded := _string(fields, "html_b64")) is not None:
        try:
            return base64.b64decode(encoded, validate=True), "html"
        except ValueError:
            raise _BadRecordError("html_b64 is not base64") from None
    if (text := _string(fields, "text")) is not None:
        return text, "text"
    raise _BadRecordError("no html, html_b64 or text")


def _id(given: object, url: str) -> str | int:
    if given is None:
        return url
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        raise _BadRecordError("id is neither a string nor a whole number")
    return given


def _content_type(fields: dict[str, Any]) -> str | None:
    encoding = _string(fields, "encoding")
    return f"text/html; charset={encoding}" if encoding else _string(fields, "content_type")


def _string(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise _BadRecordError(f"{name} is not a string")
    return value


def _warc_records(stream: _Watched, source: str) -> Iterator[Any]:
    """warcio's records. Where one ends is told by its head: behind a broken one there is no more
    to be found, and warcio says so by whatever error it stumbles into.
    """
    try:
        yield from _archive_iterator(source)(stream)
    except Exception as error:
        stream.require_whole(source)
        raise InputError(source, f"broken record ({error})") from error


def _warc_page(record: Any) -> Record:
    """The page in a record of warcio's."""
    if record.rec_type != "response" or record.http_headers is None:
        raise _NotAPageError(f"{record.rec_type} record")
    status = record.http_headers.get_statuscode()
    if not status.startswith("2"):
        raise _NotAPageError(f"status {status}")
    content_type = record.http_headers.get_header("Content-Type") or ""
    if content_type.partition(";")[0].strip().lower() not in _HTML_TYPES:
        raise _NotAPageError("not HTML")
    body = _read_up_to(record.content_stream(), MAX_PAGE_BYTES)
    url = record.rec_headers.get_header("WARC-Target-URI").strip("<>")
    name = record.rec_headers.get_header("WARC-Record-ID") or url
    return Record(name.strip("<>"), url, body, content_type=content_type)


def _html_page(path: Path, body: bytes, name: str) -> Record:
    return Record(name, Path(os.path.abspath(path)).as_uri(), body)  # noqa: PTH100 (keeps links)


def _html_files(folder: Path) -> Iterator[Path]:
    """HTML files at any depth, sorted within each folder; links to folders are not followed."""
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(HTML_SUFFIXES):
                yield Path(parent, name)


def _check(source: str) -> None:
    """Find out before the work begins what cannot come to a good end."""
    if source == "-":
        return
    path = Path(source)
    with _reading(source):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if next(_html_files(path), None) is None:
                raise InputError(source, f"no HTML files in it ({', '.join(HTML_SUFFIXES)})")
        elif stat.S_ISREG(mode):
            with path.open("rb") as file:
                start = _unpacked(file, source).peek(len(_WARC))
            if not start:
                raise InputError(source, "empty")
            if start.startswith(_WARC):
                _archive_iterator(source)


@contextmanager
def _reading(source: str) -> Iterator[None]:
    """Say of which source it is that it cannot be read."""
    try:
        yield
    except OSError as error:
        raise InputError(source, _reason_of(error)) from error
    except _unpacking_errors() as error:
        raise InputError(source, f"cut off or broken ({error})") from error


def _unpacked(raw: BinaryIO, source: str) -> io.BufferedReader:
    stream = _buffered(raw)
    start = stream.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        return _buffered(gzip.GzipFile(fileobj=stream))
    if start.startswith(_ZSTD):
        return _buffered(zstd_module(source).ZstdFile(stream))
    return stream


def _buffered(stream: Any) -> io.BufferedReader:
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)


def zstd_module(source: str) -> Any:
    """What packs and unpacks zstd: Python's own, or the package for older ones.

    :raises InputError: when there is none.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        raise InputError(source, _missing("zstd", "zstd")) from None
    return zstd


def _unpacking_errors() -> tuple[type[Exception], ...]:
    """What packed data raise that are broken; zstd's own error once zstd has been imported."""
    module = sys.modules.get("compression.zstd") or sys.modules.get("backports.zstd")
    return (EOFError, zlib.error, *((module.ZstdError,) if module else ()))


def _archive_iterator(source: str) -> Any:
    try:
        from warcio.archiveiterator import ArchiveIterator
    except ImportError:
        raise InputError(source, _missing("WARC", "warc")) from None
    return ArchiveIterator


def _missing(what: str, extra: str) -> str:
    return f'{what} files need a package: pip install "scrapy-neardup[{extra}]"'


def _read_up_to(stream: Any, limit: int) -> bytes:
    pieces = []
    try:
        while limit >= 0 and (piece := stream.read(min(limit + 1, 2**16))):
            pieces.append(piece)
            limit -= len(piece)
    except Exception as error:
        # warcio unpacks chunks, gzip, deflate and brotli, each with errors of its own.
        raise _BadRecordError("content cannot be unpacked") from error
    if limit < 0:
        raise _BadRecordError(_FOUND["too_large"])
    return b"".join(pieces)


def _skip_line(stream: io.BufferedReader) -> None:
    while (piece := stream.readline(2**16)) and not piece.endswith(b"\n"):
        pass


def _reason_of(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _raise(error: OSError) -> NoReturn:
    raise error
