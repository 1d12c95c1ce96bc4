"""Cuts the input into parts that one task each reads."""

from __future__ import annotations

import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote

from ..exceptions import InputError
from ..sources.columns import Columns
from ..sources.compression import error_text
from ..sources.parquet import ParquetPages, is_parquet
from ..sources.readers import HTML_SUFFIXES, html_files, html_page, json_pages, stream_pages
from ..sources.record import MAX_PAGE_BYTES, TOO_LARGE, BadRecords, Record
from ..sources.tables import table_format
from ..sources.warc import WARC
from .folder import as_local_path, file_system

#: Bytes of a part, about.
SPLIT_BYTES = 64 * 2**20
#: Files of HTML in a part, at most.
_FILES = 1000
_GZIP = b"\x1f\x8b\x08"
_WINDOW = 2**16
_GLOB = re.compile(r"[*?\[]")
#: What stays as it is in a URL's path.
_PATH = "/:@!$&'()*+,;=~"


@dataclass(frozen=True)
class Split:
    """A part of the input.

    :ivar source: a file, or the folder in which ``files`` are: an absolute path, or a URL.
    :ivar name: the source as it was given.
    :ivar kind: ``"file"`` is read as a whole, of ``"lines"`` and ``"members"`` (a WARC file of
        gzip members) what begins in the range of bytes, and of ``"row_groups"`` (a Parquet file)
        those of the range.
    :ivar end: where the range ends, not included.
    :ivar files: paths below a folder, see ``kind = "folder"``.
    :ivar unreadable: those of them that could not be read when the input was cut.
    """

    source: str
    name: str
    kind: str
    start: int = 0
    end: int = 0
    files: tuple[str, ...] = ()
    unreadable: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Input:
    """The parts of the input, and what tells it from another one.

    :ivar identity: name and size of each file, and what else is known of its version.
    """

    splits: Sequence[Split]
    identity: Sequence[Sequence[Any]]


def find_input(
    sources: Sequence[str], split_bytes: int = SPLIT_BYTES, columns: Columns | None = None
) -> Input:
    """Cut the input into parts.

    :param sources: files and folders, local or by URL; a name with ``*`` is all files it matches.
    :param columns: see :class:`~scrapy_neardup.sources.readers.PageReader`.
    :raises InputError: if a source is missing or empty, or the columns of a Parquet file cannot be
        used.
    """
    splits: list[Split] = []
    identity: list[Sequence[Any]] = []
    for given in sources:
        if given == "-":
            raise InputError("-", "workers cannot read standard input; give files")
        for name in _expanded(given):
            # Workers may run in another folder.
            source = as_local_path(name) or name
            if _is_folder(source, name):
                found = _folder_splits(source, name, split_bytes)
            else:
                found = _file_splits(source, name, split_bytes, columns)
            for split, version in found:
                splits.append(split)
                identity += version
    return Input(splits, identity)


def read_split(
    split: Split,
    columns: Columns | None,
    bad: BadRecords,
    passed_over: Counter[str],
) -> Iterator[Record]:
    """Yield the pages of a part; see :func:`~scrapy_neardup.sources.readers.stream_pages`."""
    if split.kind == "folder":
        yield from _html_pages(split, bad)
        return
    system, path = file_system(split.source)
    try:
        with system.open(path, "rb") as file:
            stream = file
            if split.kind == "row_groups":
                groups = range(split.start, split.end)
                yield from ParquetPages(file, split.name, columns).pages(bad, groups)
                return
            if split.kind == "lines":
                stream = _range_of(file, *(_line_at(file, at) for at in (split.start, split.end)))
                if split.start:
                    # Only the beginning of a file tells its format.
                    yield from json_pages(stream, split.name, bad, columns, is_part=True)
                    return
            elif split.kind == "members":
                stream = _range_of(file, *(_member_at(file, at) for at in (split.start, split.end)))
                if not stream.peek(1):
                    return
            yield from stream_pages(stream, split.name, columns, bad, passed_over)
    except OSError as error:
        raise _lost(split.source, error) from error


def _lost(path: str, error: OSError) -> InputError:
    """Return the error that a worker cannot read what the run has found."""
    problem = f"{error_text(error)}, for a worker; all of them must be able to read the input"
    return InputError(path, problem)


def _expanded(source: str) -> list[str]:
    system, path = file_system(source)
    if not _GLOB.search(path) or system.exists(path):
        return [source]
    found = [system.unstrip_protocol(name) for name in sorted(system.glob(path))]
    if not found:
        raise InputError(source, "no file matches this pattern")
    return found if "://" in source else [name.removeprefix("file://") for name in found]


def _is_folder(source: str, name: str) -> bool:
    system, path = file_system(source)
    if not system.exists(path):
        raise InputError(name, "No such file or directory")
    return bool(system.isdir(path))


_Found = Iterator[tuple[Split, list[Sequence[Any]]]]


class _File(NamedTuple):
    """A file below a folder."""

    name: str
    size: int
    changed: str
    is_readable: bool = True


def _folder_splits(source: str, name: str, split_bytes: int) -> _Found:
    files: list[_File] = []
    size = found = 0
    for file in _files_under(source):
        found += 1
        files.append(file)
        size += file.size
        if len(files) == _FILES or size >= split_bytes:
            yield _split_of(source, name, files)
            files, size = [], 0
    if files:
        yield _split_of(source, name, files)
    elif not found:
        raise InputError(name, f"no HTML files in it ({', '.join(HTML_SUFFIXES)})")


def _split_of(source: str, name: str, files: list[_File]) -> tuple[Split, list[Sequence[Any]]]:
    names = tuple(file.name for file in files)
    unreadable = frozenset(file.name for file in files if not file.is_readable)
    version = [(f"{source}/{file.name}", file.size, file.changed) for file in files]
    return Split(source, name, "folder", files=names, unreadable=unreadable), [*version]


def _files_under(source: str) -> Iterator[_File]:
    if "://" not in source:
        for path in html_files(Path(source)):
            name = path.relative_to(source).as_posix()
            # A link to nowhere is an unusable record once it is read.
            if not os.access(path, os.R_OK):
                yield _File(name, 0, "", is_readable=False)
                continue
            state = path.stat()
            yield _File(name, state.st_size, str(state.st_mtime_ns))
        return
    system, root = file_system(source)
    for found, info in sorted(system.find(root, detail=True).items()):
        if found.lower().endswith(HTML_SUFFIXES):
            name = found.removeprefix(root).lstrip("/")
            yield _File(name, int(info["size"]), _version(info))


def _file_splits(source: str, name: str, split_bytes: int, columns: Columns | None) -> _Found:
    system, path = file_system(source)
    info = system.info(path)
    size = int(info["size"])
    version: list[Sequence[Any]] = [(source, size, _version(info))]
    if not size:
        raise InputError(name, "is empty; give a file with pages")
    with system.open(path, "rb") as file:
        kind = _kind_of(file, name)
        if kind == "row_groups":
            sizes = ParquetPages(file, name, columns).row_group_bytes()
            ranges = row_group_ranges(sizes, split_bytes)
        elif kind == "file":
            ranges = [(0, size)]
        else:
            starts = range(0, size, split_bytes)
            ranges = [(start, start + split_bytes) for start in starts]
    for start, end in ranges:
        yield Split(source, name, kind, start, end), version if not start else []


def row_group_ranges(sizes: Sequence[int], split_bytes: int) -> list[tuple[int, int]]:
    """Return where ranges of row groups begin and end, each of so many bytes or one group more.

    A file without a row group has one empty range.
    """
    ranges: list[tuple[int, int]] = []
    start = total = 0
    for group, size in enumerate(sizes, 1):
        total += size
        if total >= split_bytes:
            ranges.append((start, group))
            start, total = group, 0
    if start < len(sizes) or not ranges:
        ranges.append((start, len(sizes)))
    return ranges


def _kind_of(file: BinaryIO, source: str) -> str:
    """Return how a file can be cut."""
    start = file.read(_WINDOW)
    if not table_format(source) and is_parquet(start, source):
        return "row_groups"
    if start.startswith(_GZIP) and _is_warc_member(start):
        return "members"
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    is_packed = not text.startswith(b"{")
    return "file" if is_packed or table_format(source) else "lines"


def _version(info: dict[str, Any]) -> str:
    """Return what tells this version of a file from others of the same size, where it is known."""
    known = (info.get(name) for name in ("ETag", "etag", "mtime", "LastModified", "created"))
    return str(next((value for value in known if value is not None), ""))


def _html_pages(split: Split, bad: BadRecords) -> Iterator[Record]:
    system, root = file_system(split.source)
    for name in split.files:
        try:
            body = system.cat_file(f"{root}/{name}")
        except OSError as error:
            if name not in split.unreadable:
                raise _lost(f"{split.source}/{name}", error) from error
            bad.note(error_text(error), name)
            continue
        if len(body) > MAX_PAGE_BYTES:
            bad.note(TOO_LARGE, name)
        elif "://" in split.source:
            scheme, _, folder = split.source.rstrip("/").partition("://")
            # A "#" in a name begins no fragment, and a "?" no query.
            yield Record(name, f"{scheme}://{quote(f'{folder}/{name}', safe=_PATH)}", body)
        else:
            yield html_page(Path(split.source, name), body, name)


def _line_at(file: BinaryIO, place: int) -> int:
    """Return where the first line begins that does so at a place or behind it."""
    if place == 0:
        return 0
    at = file.seek(place - 1)
    # Files of fsspec read no line of a limited length.
    while window := file.read(_WINDOW):
        end = window.find(b"\n") + 1
        if end:
            return at + end
        at += len(window)
    return at


def _member_at(file: BinaryIO, place: int) -> int:
    """Return where the first gzip member with a WARC record begins, at a place or behind it."""
    if place == 0:
        return 0
    file.seek(place)
    window = file.read(_WINDOW)
    while window:
        at = window.find(_GZIP)
        while at >= 0:
            # The member's beginning may lie behind the window.
            file.seek(place + at)
            if _is_warc_member(file.read(_WINDOW)):
                return place + at
            at = window.find(_GZIP, at + 1)
        # The last bytes again: the mark may lie across the border.
        step = max(len(window) - len(_GZIP) + 1, 1)
        place += step
        file.seek(place)
        window = file.read(_WINDOW)
        if len(window) < len(_GZIP):
            break
    return file.seek(0, io.SEEK_END)


def _is_warc_member(data: bytes) -> bool:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, len(WARC)) == WARC
    except zlib.error:
        return False


def _range_of(file: BinaryIO, start: int, end: int) -> io.BufferedReader:
    file.seek(start)
    return io.BufferedReader(_Range(file, max(end - start, 0)))


class _Range(io.RawIOBase):
    """The next bytes of a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)
