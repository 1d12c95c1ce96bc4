"""Undoes gzip and zstd, which it recognises by the first bytes."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..exceptions import InputError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Say of which source it is that it cannot be read."""
    try:
        yield
    except OSError as error:
        raise InputError(source, reason_of(error)) from error
    except unpacking_errors() as error:
        raise InputError(source, f"cut off or broken ({error})") from error


def unpacked(raw: BinaryIO, source: str) -> io.BufferedReader:
    """Return a stream of what a file holds, unpacked where it is packed.

    :raises InputError: when a package for that is not installed.
    """
    stream = buffered(raw)
    start = stream.peek(len(_ZSTD))
    if start.startswith(_GZIP):
        return buffered(gzip.GzipFile(fileobj=stream))
    if start.startswith(_ZSTD):
        return buffered(zstd_module(source).ZstdFile(stream))
    return stream


def buffered(stream: Any) -> io.BufferedReader:
    """Return a stream that can be looked ahead in."""
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
        raise InputError(source, missing("zstd", "zstd")) from None
    return zstd


def unpacking_errors() -> tuple[type[Exception], ...]:
    """What packed data raise that are broken; zstd's own error once zstd has been imported."""
    module = sys.modules.get("compression.zstd") or sys.modules.get("backports.zstd")
    return (EOFError, zlib.error, *((module.ZstdError,) if module else ()))


def missing(what: str, extra: str) -> str:
    """Return what to say where the package is missing that reads such files."""
    return f'{what} files need a package: pip install "scrapy-neardup[{extra}]"'


def reason_of(error: Exception) -> str:
    """Return what went wrong, without the name of the file."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
