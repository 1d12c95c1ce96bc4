"""Reads stored pages: one JSON object per line, plain or gzip.

A record has ``url`` and either ``html`` (text) or ``html_b64`` (the page's raw
bytes); ``id`` and ``content_type`` are optional.  A bad record is counted and
skipped, an input that cannot be read to its end is an error: figures from half
a file look like figures.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from w3lib.url import safe_url_string

from scrapy_neardup.html.encoding_detection import decode

_GZIP_MAGIC = b"\x1f\x8b"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class InputError(Exception):
    """The input cannot be used; the message is what the user is shown."""


class BadRecord(ValueError):
    """A record cannot be served; the message is the reason under which it is counted."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page to serve: ``url`` as recorded, ``request_url`` as it is asked for."""

    id: str
    url: str
    request_url: str
    content_type: str
    body: bytes


def html_of(page: Page) -> str:
    """Return the page as text, decoded as the add-on decodes a response."""
    return decode(page.body, page.content_type)


def read_pages(paths: Iterable[str], skipped: Counter[str]) -> Iterator[Page]:
    """Yield the pages of all files, in order, and count bad records in *skipped*.

    :raises InputError: when a file cannot be read or ends within a record.
    """
    for path in paths:
        for number, line in enumerate(_lines(path), start=1):
            if not line.strip():
                continue
            try:
                yield parse_record(line)
            except BadRecord as error:
                if not line.endswith(b"\n") and error.args == ("not JSON",):
                    raise InputError(f"{path}: ends within the record of line {number}") from error
                skipped[str(error)] += 1


def _lines(path: str) -> Iterator[bytes]:
    try:
        with Path(path).open("rb") as file:
            yield from _unpacked(file)
    except (OSError, EOFError, zlib.error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"{path}: {reason}") from error


def _unpacked(file: BinaryIO) -> BinaryIO | gzip.GzipFile:
    magic = file.read(len(_GZIP_MAGIC))
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if magic == _GZIP_MAGIC else file


def parse_record(line: bytes) -> Page:
    """Return the page of one line, or raise :exc:`BadRecord`."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise BadRecord("not JSON") from None
    if not isinstance(record, dict):
        raise BadRecord("not an object")
    url = record.get("url")
    if not isinstance(url, str):
        raise BadRecord("no url")
    return Page(
        id=str(record.get("id", url)),
        url=url,
        request_url=request_url(url),
        content_type=_content_type(record),
        body=_body(record),
    )


def _body(record: dict[str, object]) -> bytes:
    raw, text = record.get("html_b64"), record.get("html")
    try:
        if isinstance(raw, str):
            return base64.b64decode(raw, validate=True)
        if isinstance(text, str):
            return text.encode()
    except UnicodeEncodeError:
        raise BadRecord("html is not valid Unicode") from None
    except ValueError:
        raise BadRecord("html_b64 is not base64") from None
    raise BadRecord("no html")


def _content_type(record: dict[str, object]) -> str:
    """Return the ``Content-Type`` to serve a record with.

    What the record says is sent as it stands.  Otherwise text was decoded
    before it was stored and is sent as UTF-8 and labelled so, whatever its meta
    tag still says; raw bytes get no label: whoever stored them found out what
    they are, the site never told its visitors, and the meta tag decides as it
    did there, even where it is wrong.
    """
    given = record.get("content_type")
    if given is None:
        return (
            "text/html" if isinstance(record.get("html_b64"), str) else "text/html; charset=utf-8"
        )
    if not (isinstance(given, str) and given.isascii() and given.isprintable() and given.strip()):
        raise BadRecord("content_type is not a header value")
    return given.strip()


def request_url(url: str) -> str:
    """Return the URL that a crawler asks for: plain http, escaped as Scrapy does, no fragment."""
    try:
        parts = urlsplit(safe_url_string(url.strip()))
        port = parts.port
    except ValueError:
        raise BadRecord("url is malformed") from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise BadRecord("url is not http or https")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port not in (None, _DEFAULT_PORTS[parts.scheme]):
        host = f"{host}:{port}"
    return parts._replace(scheme="http", netloc=host, path=parts.path or "/", fragment="").geturl()


def moved_to(url: str, netloc: str) -> str:
    """Return *url* on another host."""
    return urlsplit(url)._replace(netloc=netloc).geturl()


def host_of(url: str) -> str:
    """Return the host, with its port if any, of a URL from :func:`request_url`."""
    return urlsplit(url).netloc


def page_key(url: str) -> tuple[str, bytes]:
    """Return what identifies a page on the wire: host and unescaped target.

    Unescaped, because clients differ in which characters of a URL they escape.
    """
    parts: SplitResult = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return parts.netloc.lower().removesuffix(":80"), unquote_to_bytes(target)
