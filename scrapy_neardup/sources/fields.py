"""Makes a page of the fields of a record: of a JSON object, or of a row of a table."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .._util.urls import ID_SCHEME
from .record import BadRecord, Record

NOT_JSON = "not JSON"
_NO_ADDRESS, _NO_CONTENT = "no url or id", "no html, html_b64 or text"
#: The fields that the columns of a table without a header are, in order, ``""`` for a column that
#: is skipped; or, by field, the names of columns in a header or a Parquet file, and of members of
#: JSON objects.
Columns = Sequence[str] | Mapping[str, str]
#: Fields of which a record has one, in the order of their precedence.
CONTENT_FIELDS = ("html", "html_b64", "text")
FIELDS = ("id", "url", "title", *CONTENT_FIELDS, "encoding", "content_type")
#: Characters of an id that canonicalizing a URL would change or might take for its syntax.
_SYNTAX = re.compile(r"[^\w.-]")
#: Names of columns in an error message, and letters of each, at most: they may be a row of texts.
_LISTED, _LETTERS = 20, 60


def page_of_json(data: bytes, columns: Columns | None) -> Record:
    """Return the page that a JSON object describes.

    :param columns: names of members by field; names in order say nothing of an object.
    :raises BadRecord: if it describes none.
    """
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRecord(NOT_JSON) from None
    if not isinstance(fields, dict):
        raise BadRecord("not an object")
    named = _renamed(fields, columns) if isinstance(columns, Mapping) else fields
    try:
        return page_of_fields(named)
    except BadRecord as error:
        if str(error) in (_NO_ADDRESS, _NO_CONTENT):
            raise BadRecord(str(error), _hint(fields, named)) from None
        raise


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """Return an object with its members under the names of fields.

    Other members that have the name of a field stay. If ``names`` has a content, no other is read.
    An object with none of the members is returned as it is, as files of other kinds may be read
    with it.
    """
    found = {field: _member(fields, name) for field, name in names.items()}
    if all(value is None for value in found.values()):
        return fields
    left_out = {*names, *names.values()}
    if not left_out.isdisjoint(CONTENT_FIELDS):
        left_out |= set(CONTENT_FIELDS)
    return {
        name: fields[name] for name in FIELDS if name in fields and name not in left_out
    } | found


def _member(fields: Mapping[str, Any], name: str) -> Any:
    """Return a member of an object; ``"page.body"`` may be one of an object in it."""
    if name in fields:
        return fields[name]
    outer, _, inner = name.partition(".")
    within = fields.get(outer)
    return _member(within, inner) if inner and isinstance(within, dict) else None


def _hint(fields: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    """Return the names of an object's members, and the option that says which are fields.

    :param named: the members that are fields already.
    """
    texts = {name: value for name, value in fields.items() if value and isinstance(value, str)}
    asked = []
    if not (named.get("url") or named.get("id")):
        links = [name for name, text in texts.items() if text.startswith(("http://", "https://"))]
        asked.append(f"url={next(iter(links), 'NAME')}")
        texts.pop(next(iter(links), ""), None)
    if all(named.get(name) is None for name in CONTENT_FIELDS):
        others = [name for name in texts if name not in FIELDS]
        longest = max(others, key=lambda name: len(texts[name]), default="NAME")
        is_text = longest in texts and not texts[longest].lstrip().startswith("<")
        asked.append(f"{'text' if is_text else 'html'}={longest}")
    return (
        f"its members are {listed(list(fields))}; say which of them are the fields, such as "
        f"--columns {','.join(asked)}"
    )


def listed(names: Sequence[str]) -> str:
    """Return names for a message, the first of many."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(name[:_LETTERS] for name in names[:_LISTED])}{more}" if names else "none"


def page_of_fields(fields: Mapping[str, Any]) -> Record:
    """Return the page that the fields of a record describe; other fields are ignored.

    :param fields: strings; ``html`` may be bytes, as ``html_b64`` is, and ``id`` a whole number.
    :raises BadRecord: if they describe none.
    """
    url, id_ = _string(fields, "url"), fields.get("id")
    if not url:
        if id_ is None or id_ == "":
            raise BadRecord(_NO_ADDRESS)
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
    raise BadRecord(_NO_CONTENT)


def _checked(given: object) -> str | int:
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        raise BadRecord("id is neither a string nor a whole number")
    return given


def _string(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise BadRecord(f"{name} is not a string")
    return value
