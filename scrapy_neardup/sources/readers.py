"""Reads stored pages from JSON Lines, WARC files and folders of HTML files.

The format is detected from the first bytes of a file, not from its name; gzip and zstd are
decompressed. Unusable records are counted and skipped. An input that cannot be read to its end is
an error, because figures of half a file would pass for those of the whole.
"""

from __future__ import annotations

import base64
import io
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

from ..exceptions import InputError
from .compression import buffered, decompressed, error_text, naming_errors
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, Record
from .warc import WARC, archive_iterator, warc_pages

#: Suffixes, in lower case, of the files in a folder that are read.
HTML_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
_UTF8_MARK = b"\xef\xbb\xbf"
_NOT_JSON = "not JSON"


class PageReader:
    """Iterates over the pages of all sources, in order and only once.

    :param sources: files, folders, or ``"-"`` for standard input.
    :raises InputError: on creation, if a source is missing, empty, or needs a package that is not
        installed; while iterating, if a source is cut off or no source has a page.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        #: Number of unusable records by reason.
        self.bad: Counter[str] = Counter()
        #: Number of records that are no pages (redirects, images …) by reason; WARC only.
        self.passed_over: Counter[str] = Counter()
        #: Number of bytes of the sources read so far, before decompression.
        self.bytes_read = 0
        self._sources = sources
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
        """Total size of the sources in bytes; ``None`` if unknown."""
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
        if source != "-" and Path(source).is_dir():
            yield from self._pages_under(Path(source))
        else:
            before = self.bytes_read
            with naming_errors(source), _opened(source) as file:
                for record in self._pages_in(file, "standard input" if source == "-" else source):
                    if file.seekable():
                        self.bytes_read = before + file.tell()
                    yield record

    def _pages_under(self, folder: Path) -> Iterator[Record]:
        for path in _html_files(folder):
            try:
                size = path.stat().st_size
                if size > MAX_PAGE_BYTES:
                    raise BadRecord(TOO_LARGE)
                body = path.read_bytes()
            except (OSError, BadRecord) as error:
                self.bad[error_text(error)] += 1
                continue
            self.bytes_read += size
            yield _html_page(path, body, path.relative_to(folder).as_posix())

    def _pages_in(self, raw: BinaryIO, source: str) -> Iterator[Record]:
        with naming_errors(source):
            stream = decompressed(raw, source)
            start = stream.peek(len(WARC))
            if start.startswith(WARC):
                yield from warc_pages(stream, source, self.bad, self.passed_over)
            elif start.removeprefix(_UTF8_MARK).lstrip()[:1] == b"<":
                yield _html_page(Path(source), stream.read(MAX_PAGE_BYTES), source)
            else:
                yield from _json_pages(stream, source, self.bad)


class LineReader:
    """Iterates over the decompressed lines of a file, only once.

    :param source: a file, or ``"-"`` for standard input.
    :raises InputError: while iterating, if the file cannot be read to its end, or a line is larger
        than :data:`MAX_PAGE_BYTES`.
    """

    def __init__(self, source: str) -> None:
        #: Number of bytes read so far, before decompression.
        self.bytes_read = 0
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        with naming_errors(self._source), _opened(self._source) as file:
            stream = decompressed(file, self._source)
            while line := stream.readline(MAX_PAGE_BYTES):
                if len(line) == MAX_PAGE_BYTES:
                    raise InputError(self._source, f"a line is {TOO_LARGE}")
                if file.seekable():
                    self.bytes_read = file.tell()
                yield line

    @property
    def total_bytes(self) -> int | None:
        """Size of the file in bytes; ``None`` if unknown."""
        path = Path(self._source)
        return path.stat().st_size if self._source != "-" and path.is_file() else None


def _opened(source: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb")


def beginning(source: str) -> bytes:
    """Return the first bytes of a source, decompressed, without consuming standard input.

    :returns: some thousand bytes at most; none if the source is not a regular file.
    :raises InputError: if a file cannot be read.
    """
    if source == "-":
        # The peeked bytes may end anywhere; errors are left to whoever reads the whole stream.
        with suppress(InputError), naming_errors(source):
            start = io.BytesIO(buffered(sys.stdin.buffer).peek())
            return decompressed(start, source).peek()
        return b""
    with naming_errors(source):
        if not stat.S_ISREG(Path(source).stat().st_mode):
            # Bytes read from a pipe could not be read again.
            return b""
        with Path(source).open("rb") as file:
            return decompressed(file, source).peek()


def _html_page(path: Path, body: bytes, name: str) -> Record:
    return Record(name, Path(os.path.abspath(path)).as_uri(), body)  # noqa: PTH100 (keeps links)


def _html_files(folder: Path) -> Iterator[Path]:
    """Yield HTML files at any depth, sorted within each folder; do not follow links to folders."""
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(HTML_SUFFIXES):
                yield Path(parent, name)


def _check(source: str) -> None:
    """Raise an error early if a source cannot be read."""
    if source == "-":
        return
    path = Path(source)
    with naming_errors(source):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            if next(_html_files(path), None) is None:
                raise InputError(source, f"no HTML files in it ({', '.join(HTML_SUFFIXES)})")
        elif stat.S_ISREG(mode):
            with path.open("rb") as file:
                start = decompressed(file, source).peek(len(WARC))
            if not start:
                raise InputError(source, "empty")
            if start.startswith(WARC):
                archive_iterator(source)


def _raise(error: OSError) -> NoReturn:
    raise error


def _json_pages(stream: io.BufferedReader, source: str, bad: Counter[str]) -> Iterator[Record]:
    """Yield the pages of a stream of JSON Lines.

    Each is an object with ``url`` and ``html``, ``html_b64`` or ``text``.

    :param bad: counts unusable records by reason.
    :raises InputError: if the last line is cut off.
    """
    number = 0
    while line := stream.readline(MAX_PAGE_BYTES):
        number += 1
        if len(line) == MAX_PAGE_BYTES:
            while line and not line.endswith(b"\n"):
                line = stream.readline(2**16)
            bad[TOO_LARGE] += 1
            continue
        if number == 1:
            line = line.removeprefix(_UTF8_MARK)
        try:
            if line.strip():
                yield _json_page(line)
        except BadRecord as error:
            if not line.endswith(b"\n") and str(error) == _NOT_JSON:
                raise InputError(source, f"line {number} is cut off or not JSON") from None
            bad[str(error)] += 1


def _json_page(line: bytes) -> Record:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise BadRecord(_NOT_JSON) from None
    if not isinstance(fields, dict):
        raise BadRecord("not an object")
    url = _string(fields, "url")
    if not url:
        raise BadRecord("no url")
    content, kind = _content(fields)
    encoding = _string(fields, "encoding")
    content_type = f"text/html; charset={encoding}" if encoding else _string(fields, "content_type")
    return Record(
        id=_id(fields.get("id"), url),
        url=url,
        content=content,
        kind=kind,
        title=_string(fields, "title") or "",
        content_type=content_type,
    )


def _content(fields: dict[str, Any]) -> tuple[str | bytes, Literal["html", "text"]]:
    if (html := _string(fields, "html")) is not None:
        return html, "html"
    if (encoded := _string(fields, "html_b64")) is not None:
        try:
            return base64.b64decode(encoded, validate=True), "html"
        except ValueError:
            raise BadRecord("html_b64 is not base64") from None
    if (text := _string(fields, "text")) is not None:
        return text, "text"
    raise BadRecord("no html, html_b64 or text")


def _id(given: object, url: str) -> str | int:
    if given is None:
        return url
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        raise BadRecord("id is neither a string nor a whole number")
    return given


def _string(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise BadRecord(f"{name} is not a string")
    return value
