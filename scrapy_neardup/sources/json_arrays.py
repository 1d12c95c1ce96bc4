"""Reads the elements of a large JSON array one by one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

from ..exceptions import InputError
from .fields import CONTENT_FIELDS, Columns, page_of_json
from .record import MAX_PAGE_BYTES, TOO_LARGE, BadRecord, BadRecords, Record

_CHUNK = 2**16
_MARK = re.compile(rb'["{}\[\],]')
_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_BLANKS = b" \t\r\n"


def array_pages(
    stream: io.BufferedReader, source: str, bad: BadRecords, columns: Columns | None
) -> Iterator[Record]:
    """Yield the pages of a JSON array of objects with the fields of JSON Lines.

    :param stream: starts with the array's bracket.
    :param columns: names of members by field.
    :param bad: counts unusable records by reason.
    :raises InputError: if the array is cut off, or something follows it.
    """
    elements = _Elements(stream, source)
    for element in elements:
        try:
            if element is None:
                raise BadRecord(TOO_LARGE)
            yield page_of_json(element, columns)
        except BadRecord as error:
            bad.note(error, f"{source}, element {elements.number}")


def require_lines(line: bytes, source: str) -> None:
    """Check that a file named ``.json`` that is no array has JSON Lines, by its first line.

    :raises InputError: if it is one object, on one line or on several.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(source, _expected("is neither")) from None
    holds_list = isinstance(fields, dict) and any(isinstance(v, list) for v in fields.values())
    if holds_list and not any(name in fields for name in CONTENT_FIELDS):
        raise InputError(source, _expected("is an object with a list in it, neither"))


def _expected(found: str) -> str:
    return f"{found} a JSON array of records nor JSON Lines; write the records as one of these"


class _Elements:
    """Iterates over the elements of an array, parsed only as far as to find where each ends.

    A broken element ends at the next comma that is outside of strings and brackets. An element that
    is too large is ``None``, and is not kept in memory.
    """

    def __init__(self, stream: io.BufferedReader, source: str) -> None:
        self._stream = stream
        self._source = source
        #: Of the present element, from 1.
        self.number = 0
        #: What was read of the present element, and perhaps more.
        self._data = bytearray()
        self._end = 0
        self._is_too_large = False

    def __iter__(self) -> Iterator[bytes | None]:
        self._stream.read(len(b"["))
        mark = b","
        while mark == b",":
            element, mark = self._next()
            # A comma after the last element is common, and harmless.
            if element is None or element.strip(_BLANKS) or mark == b",":
                yield element
        while self._data or self._fill():
            if self._data.strip(_BLANKS):
                raise InputError(self._source, "something follows the JSON array")
            self._data.clear()

    def _next(self) -> tuple[bytes | None, bytes]:
        """Return the next element, and the comma or bracket that ends it."""
        depth = 0
        self.number += 1
        while True:
            mark = self._next_mark()
            if mark in (b"{", b"["):
                depth += 1
            elif depth and mark in (b"}", b"]"):
                depth -= 1
            elif not depth and mark in (b",", b"]"):
                return self._take(), mark

    def _next_mark(self) -> bytes:
        """Go behind the next bracket or comma outside of strings, and return it."""
        while True:
            if (found := _MARK.search(self._data, self._end)) is None:
                self._end = len(self._data)
                self._require_more()
            elif found[0] == b'"':
                self._end = found.end()
                self._skip_string()
            else:
                self._end = found.end()
                return found[0]

    def _skip_string(self) -> None:
        while True:
            found = _STRING.match(self._data, self._end)
            self._end = self._end if found is None else found.end()
            if self._data[self._end : self._end + 1] == b'"':
                self._end += 1
                return
            self._require_more()

    def _take(self) -> bytes | None:
        size = self._end - 1
        element = None if self._is_too_large or size >= MAX_PAGE_BYTES else self._data[:size]
        del self._data[: self._end]
        self._end, self._is_too_large = 0, False
        return None if element is None else bytes(element)

    def _require_more(self) -> None:
        if len(self._data) >= MAX_PAGE_BYTES:
            self._is_too_large = True
        if self._is_too_large:
            del self._data[: self._end]
            self._end = 0
        if not self._fill():
            raise InputError(
                self._source,
                f"element {self.number}: the JSON array is cut off, or a string in it not closed",
            )

    def _fill(self) -> bool:
        data = self._stream.read1(_CHUNK)
        self._data += data
        return bool(data)
