"""A namespace as JSON Lines, which another machine or a later version can read.

The first line says what the file is, the last one that it is whole, with the rules, which earlier
versions pass over there; between them stands a line for each page.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..exceptions import InputError
from ..hashing.minhash import SKETCH_BINS
from ..hashing.simhash import from_hex, to_hex
from ..matching.stored_items import OWN_ITEMS
from ..signatures import quick_sketch
from ..signatures.facts import MAX_CODES
from ..signatures.signature import BODY_DIGEST_SIZE, SHOWN_SIZE, PageSignature
from ..sources.readers import LineReader
from ..text.values import CODE, MAX_VALUES
from ..text.word_sums import SIZE as WORD_SUMS_SIZE
from .reading import StoredPage

#: Version of the lines; a file of a later one is refused.
FORMAT = 1
_MARK = "scrapy_neardup_export"
_END = "end_of_export"

_BOUND = 1 << 32


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of an export, about the namespace of its pages.

    :ivar secret: key of the sketches, 16 to 64 bytes; ``None`` where the export holds none.
    """

    namespace: str
    recipe: str
    parts: Mapping[str, str]
    secret: bytes | None = field(default=None, repr=False)

    def line(self) -> str:
        """Return the line, without its end."""
        fields = {
            _MARK: FORMAT,
            "namespace": self.namespace,
            "recipe": self.recipe,
            "parts": dict(self.parts),
        }
        if self.secret is not None:
            fields["secret"] = _text(self.secret)
        return json.dumps(fields)


def page_line(page: StoredPage) -> str:
    """Return a page's line, without its end."""
    signature = page.signature
    fields: dict[str, object] = {"url": signature.url}
    if signature.key != signature.url:
        fields["key"] = signature.key
    for name, (write, _) in (_FIELDS if signature.is_read else _UNREAD_FIELDS).items():
        fields[name] = write(getattr(signature, name))
    for name in ("facts", "passages", "quick_sketch", "body_digest"):
        if part := getattr(signature, name):
            fields[name] = _text(part)
    fields["stored_at"] = page.stored_at
    if page.items != OWN_ITEMS:
        fields["items"] = to_hex(page.items)
    return json.dumps(fields)


def end_line(pages: int, rules: Mapping[str, bytes] | None = None) -> str:
    """Return the last line, without its end: the number of pages, and all rules by their names."""
    fields: dict[str, object] = {_END: pages}
    if rules:
        fields["rules"] = {name: _text(body) for name, body in rules.items()}
    return json.dumps(fields)


def is_export(beginning: bytes) -> bool:
    """Return whether an export begins like this."""
    return beginning.startswith(f'{{"{_MARK}"'.encode())


class ExportReader:
    """The pages of an export. Can be iterated over once.

    :param source: a file, plain or packed with gzip or zstd, or ``"-"`` for standard input.
    :raises InputError: when it is none, is of a later format, or cannot be read; while iterating,
        when a line cannot be used or the last one is missing.
    """

    def __init__(self, source: str) -> None:
        #: Tells how far it was read.
        self.lines = LineReader(source)
        self._source = source
        self._numbered = enumerate(self.lines, start=1)
        _, line = next(self._numbered, (1, b""))
        self.head = self._read_head(line)
        #: Rules by their names, known when all pages have been read.
        self.rules: dict[str, bytes] = {}

    def __iter__(self) -> Iterator[StoredPage]:
        for number, line in self._numbered:
            try:
                fields = json.loads(line)
                if _END in fields:
                    self.rules = _rules(fields.get("rules", {}))
                    return
                page = _page(fields, self.head.recipe)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                what = f"{error} is missing" if isinstance(error, KeyError) else error
                raise self._error(f"line {number} is no page of an export ({what})") from None
            yield page
        raise self._error("it is cut off: its last line is missing")

    def _read_head(self, line: bytes) -> Head:
        try:
            fields = json.loads(line)
            version = fields[_MARK]
            if version == FORMAT:
                return _head(fields)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._error("it is no export of a store") from None
        raise self._error(
            f"it has export format {version}, from a later scrapy-neardup than this one, which "
            f"reads formats up to {FORMAT}; upgrade"
        )

    def _error(self, problem: str) -> InputError:
        return InputError(self._source, problem)


def _head(fields: Mapping[str, Any]) -> Head:
    secret = _bytes(fields["secret"], range(16, 65)) if "secret" in fields else None
    parts = {_string(name): _string(part) for name, part in fields["parts"].items()}
    return Head(_string(fields["namespace"]), _string(fields["recipe"]), parts, secret)


def _page(fields: Mapping[str, Any], recipe: str) -> StoredPage:
    url = _string(fields["url"])
    is_read = "fingerprint" in fields
    known = _FIELDS if is_read else _UNREAD_FIELDS
    told = {name: read(fields[name]) for name, (_, read) in known.items()}
    if is_read and told["n_heading"] * CODE.itemsize > len(told["values"]):
        raise ValueError("n_heading")
    if is_read:
        told["facts"] = _bytes(fields.get("facts", ""), _FACT_LENGTHS)
    told["passages"] = _bytes(fields.get("passages", ""))
    if len(told["passages"]) % 8:
        raise ValueError("passages")
    told["quick_sketch"] = _bytes(fields.get("quick_sketch", ""), (quick_sketch.SIZE, 0))
    told["body_digest"] = _bytes(fields.get("body_digest", ""), (BODY_DIGEST_SIZE, 0))
    key = _string(fields.get("key", url))
    make = PageSignature if is_read else PageSignature.unread
    signature = make(url=url, key=key, recipe=recipe, **told)
    items = from_hex(fields["items"]) if "items" in fields else OWN_ITEMS
    return StoredPage(signature, _count(fields["stored_at"]), items)


def _title(parts: Iterable[Iterable[object]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_string, part)) for part in parts)


def _rules(fields: object) -> dict[str, bytes]:
    if not isinstance(fields, dict):
        raise TypeError(f"{fields!r} is no object of rules")
    return {name: _bytes(_string(body)) for name, body in fields.items()}


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _bytes(text: str, lengths: Sequence[int] = ()) -> bytes:
    data = b64decode(text, validate=True)
    if lengths and len(data) not in lengths:
        raise ValueError(f"{len(data)} bytes where there must be {lengths[0]}")
    return data


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no string")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _BOUND:
        raise ValueError(f"{value!r} is no whole number from 0 to {_BOUND - 1}")
    return value


_VALUE_LENGTHS = range(0, (MAX_VALUES + 1) * CODE.itemsize, CODE.itemsize)
_FACT_LENGTHS = range(0, (MAX_CODES + 1) * CODE.itemsize, CODE.itemsize)
#: How each field of a signature is written and read, beside its addresses and its recipe.
_FIELDS: Mapping[str, tuple[Callable[[Any], object], Callable[[Any], Any]]] = {
    "site": (str, _string),
    "title": (list, _title),
    "fingerprint": (to_hex, from_hex),
    "n_features": (int, _count),
    "n_text": (int, _count),
    "n_shown": (int, _count),
    "text_digest": (_text, partial(_bytes, lengths=(16,))),
    "shown_digest": (_text, partial(_bytes, lengths=(SHOWN_SIZE, 0))),
    "sketch": (_text, partial(_bytes, lengths=(SKETCH_BINS,))),
    "values": (_text, partial(_bytes, lengths=_VALUE_LENGTHS)),
    "n_heading": (int, _count),
    "word_sums": (_text, partial(_bytes, lengths=(WORD_SUMS_SIZE,))),
}
#: The same for a page that was read quickly only.
_UNREAD_FIELDS = {name: _FIELDS[name] for name in ("site", "title")}
