"""Decompresses gzip and zstd, which are recognised by their first bytes."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from .._util.encoding import utf8
from ..exceptions import InputError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@contextmanager
def naming_errors(source: str) -> Iterator[None]:
    """Turn errors of reading and decompressing into :class:`InputError`, which names the source."""
    try:
        yield
    except OSError as error:
        raise InputError(source, error_text(error)) from error
    except decompression_errors() as error:
        raise InputError(source, f"cut off or broken ({error})") from error


def decompressed(raw: BinaryIO, source: str) -> io.BufferedReader:
    """Return a stream of a file's content, decompressed if necessary.

    :raises InputError: if the package for the format is not installed.
    """
    stream = buffered(raw)
    start = stream.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        return buffered(gzip.GzipFile(fileobj=stream))
    if start.startswith(_ZSTD):
        return buffered(zstd_module(source).ZstdFile(stream))
    return stream


def is_packed(start: bytes) -> bool:
    """Return whether the first bytes of a file, four or more, are those of gzip or zstd."""
    return start.startswith((_GZIP, _ZSTD))


def buffered(stream: Any) -> io.BufferedReader:
    """Return the stream with a buffer, so that it has ``peek()``."""
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)


def zstd_module(source: str) -> Any:
    """Return the zstd module of the standard library, or its backport before Python 3.14.

    :raises InputError: if neither is installed.
    """
    module = find_zstd()
    if module is None:
        raise InputError(source, missing_package("zstd", "zstd"))
    return module


def find_zstd() -> Any | None:
    """Return the zstd module; ``None`` if neither it nor its backport is installed."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        return None
    return zstd


def packed_body(content: str | bytes) -> bytes:
    """Return the content of a page, compressed by zstd if it is installed, else by zlib."""
    data = utf8(content)
    zstd = find_zstd()
    return zlib.compress(data, 1) if zstd is None else bytes(zstd.compress(data, 1))


def unpacked_body(packed: bytes) -> bytes:
    """Return the bytes that :func:`packed_body` compressed in this environment."""
    zstd = find_zstd()
    return zlib.decompress(packed) if zstd is None else bytes(zstd.decompress(packed))


def decompression_errors() -> tuple[type[Exception], ...]:
    """Return the errors that broken data raise; with zstd's own once zstd has been imported."""
    module = sys.modules.get("compression.zstd") or sys.modules.get("backports.zstd")
    return (EOFError, zlib.error, *((module.ZstdError,) if module else ()))


def missing_package(file_format: str, extra: str) -> str:
    """Return the error message for a missing package that reads a format."""
    return f'{file_format} files need a package: pip install "scrapy-neardup[{extra}]"'


def error_text(error: Exception) -> str:
    """Return the message of an error without the file's name."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
