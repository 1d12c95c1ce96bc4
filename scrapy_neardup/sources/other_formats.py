"""Recognises files whose pages cannot be read by their first bytes, and says what to do."""

from __future__ import annotations

import re

from ..exceptions import InputError
from .fields import CONTENT_FIELDS
from .record import UTF8_MARK

_TO_JSON = "export the items as JSON Lines: scrapy crawl SPIDER -o items.jsonl"
_TO_GZIP = "unpack it, or pack it with gzip or zstd"
_PICKLE = "a pickle"
#: First bytes of formats, their names, and the way out.
_FORMATS = (
    (b"SQLite format 3\0", "a SQLite file", "a store of a crawl is given as STORE, or by --store"),
    (b"%PDF-", "a PDF file", "extract its text, and give it as text"),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save it as CSV"),
    (b"BZh", "packed with bzip2", _TO_GZIP),
    (b"\xfd7zXZ\0", "packed with xz", _TO_GZIP),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _TO_GZIP),
    *((b"\x80%c" % version, _PICKLE, _TO_JSON) for version in (2, 3, 4, 5)),
    # Protocols 0 and 1 have no number: these begin a dictionary or a list.
    *((start, _PICKLE, _TO_JSON) for start in (b"(dp0\n", b"(lp0\n", b"}q\0", b"]q\0")),
)
#: How a dictionary begins in Python's marshal format: the type of its first key, a string, and its
#: length. It is the first item of a feed.
_MARSHAL = re.compile(rb"[{\xfb](?:[zZ\xfa\xda][^\0]|[atuA\xe1\xf4\xf5\xc1][^\0]..\0)", re.DOTALL)
#: How a text in UTF-16 begins, with or without a mark, if it is JSON, a table or markup.
_UTF16 = re.compile(rb"(?:\xff\xfe)?[\w{\[<]\0|(?:\xfe\xff)?\0[\w{\[<]")
#: What may separate the fields of a table, and what to do with a file that has them.
_TABLES = {
    b",": "is CSV by its first line; give it a name that ends in .csv",
    b"\t": "is TSV by its first line; give it a name that ends in .tsv",
    b";": "is a table separated by semicolons; separate the fields by commas, and give it a name "
    "that ends in .csv",
}
#: What may precede the root of an XML file: the first bytes of each, and what ends it.
_BEFORE_ROOT = ((b"<?", b"?>"), (b"<!--", b"-->"), (b"<!", b">"))
_ADDRESS_NAMES = {b"url", b"id"}
_CONTENT_NAMES = {name.encode() for name in CONTENT_FIELDS} | {b"title"}
_NAME = re.compile(rb"<([\w:.-]+)")
#: Suffixes of names of files that are pages, whatever their first bytes say.
_PAGE_NAME = re.compile(r"\.(?:x?html?|shtml)(?:\.(?:gz|gzip|zst|zstd))?$", re.IGNORECASE)
#: Longest line, in bytes, that may be a table's header; to split a long page takes memory and time.
_MAX_HEADER = 4096


def refuse_other_formats(start: bytes, source: str) -> None:
    """Check that a file does not begin like one of a format that has no pages.

    :param start: the first bytes of the file, unpacked, some thousand if it has as many.
    :param source: the file's name.
    :raises InputError: if it does.
    """
    if _PAGE_NAME.search(source):
        return
    for magic, name, way_out in _FORMATS:
        if start.startswith(magic):
            raise _unreadable(source, name, way_out)
    if _UTF16.match(start):
        raise InputError(source, "is UTF-16; save it as UTF-8")
    if _MARSHAL.match(start):
        raise _unreadable(source, "a feed in Python's marshal format", _TO_JSON)
    root = _xml_root(start.removeprefix(UTF8_MARK).lstrip())
    if root is not None and root.rpartition(":")[2].lower() != "html":
        raise InputError(source, f"is XML (<{root}>), not a page; {_TO_JSON}")


def refuse_tables(line: bytes, source: str) -> None:
    """Check that a file that is no table by its name does not begin with a header.

    :param line: its first line.
    :raises InputError: if it does.
    """
    if len(line) > _MAX_HEADER:
        return
    for separator, problem in _TABLES.items():
        names = {name.strip(b" \"'").lower() for name in line.strip().split(separator)}
        if names & _ADDRESS_NAMES and names & _CONTENT_NAMES:
            raise InputError(source, problem)


def _unreadable(source: str, name: str, way_out: str) -> InputError:
    return InputError(source, f"is {name}, which cannot be read as pages; {way_out}")


def _xml_root(start: bytes) -> str | None:
    """Return the name of the root of an XML file with a declaration; ``None`` if there is none."""
    if not start.startswith(b"<?xml"):
        return None
    place = 0
    while place < len(start):
        for begin, end in _BEFORE_ROOT:
            if start.startswith(begin, place):
                found = start.find(end, place)
                place = len(start) if found < 0 else found + len(end)
                break
        else:
            if (name := _NAME.match(start, place)) is not None:
                return name[1].decode("ascii", "replace")
            # White space, or the rest of a document type that has entities.
            found = start.find(b"<", place + 1)
            place = len(start) if found < 0 else found
    return None
