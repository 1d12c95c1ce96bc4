"""Makes a page of the fields of a record: of a JSON object, or of a row of a table."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from .._util.urls import ID_SCHEME
from .record import BadRecord, Record

NOT_JSON = "not JSON"
#: Fields of which a record has one, in the order of their precedence.
CONTENT_FIELDS = ("html", "html_b64", "text")
FIELDS = ("id", "url", "title", *CONTENT_FIELDS, "encoding", "content_type")
#: Characters of an id that canonicalizing a URL would change or might take for its syntax.
_SYNTAX = re.compile(r"[^\w.-]")


def page_of_json(data: bytes) -> Record:
    """Return the page that a JSON object describes.

    :raises BadRecord: if it describes none.
    """
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRecord(NOT_JSON) from None
    if not isinstance(fields, dict):
        raise BadRecord("not an object")
    return page_of_fields(fields)


def page_of_fields(fields: Mapping[str, Any]) -> Record:
    """Return the page that the fields of a record describe; other fields are ignored.

    :param fields: strings; ``html`` may be bytes, as ``html_b64`` is, and ``id`` a whole number.
    :raises BadRecord: if they describe none.
    """
    url, id_ = _string(fields, "url"), fields.get("id")
    if not url:
        if id_ is None or id_ == "":
            raise BadRecord("no url or id")
        url = url_of_id(_checked(id_))
    content, kind = _content(fields)
    encoding = _string(fields, "encoding")
    content_type = f"text/html; charset={encoding}" if encoding else _string(fields, "content_type")
    return Record(
        id=url if id_ is None else _checked(id_),
        url=url,
        content=content,
        kind=kind,
        title=_string(fields, "title") or "",
        content_type=content_type,
    )


def url_of_id(id_: str | int) -> str:
    """Return the URL of a page of which only the id is known: ``id:17``, a site of its own.

    Different ids have different canonical URLs.
    """
    return ID_SCHEME + _SYNTAX.sub(lambda found: f"~{ord(found[0]):x}~", str(id_))


def _content(fields: Mapping[str, Any]) -> tuple[str | bytes, Literal["html", "text"]]:
    if isinstance(html := fields.get("html"), bytes):
        return html, "html"
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


def _checked(given: object) -> str | int:
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        raise BadRecord("id is neither a string nor a whole number")
    return given


def _string(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise BadRecord(f"{name} is not a string")
    return value
