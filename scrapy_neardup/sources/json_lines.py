"""Reads JSON Lines: an object a line, with ``url`` and ``html``, ``html_b64`` or ``text``."""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from ..exceptions import InputError
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, Record

UTF8_MARK = b"\xef\xbb\xbf"
_NOT_JSON = "not JSON"


def json_pages(stream: io.BufferedReader, source: str, bad: Counter[str]) -> Iterator[Record]:
    """Yield the pages of a stream.

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
            line = line.removeprefix(UTF8_MARK)
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
