"""A namespace as JSON Lines, which another machine or a later version can read.

The first line says what the file is, the last one that it is whole, with the rules, which earlier
versions pass over there; between them stands a line for each page.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import InputError
from ..hashing.minhash import SKETCH_BINS
from ..hashing.simhash import from_hex, to_hex
from ..matching.stored_items import OWN_ITEMS
from ..signatures.signature import PageSignature
from ..sources.readers import LineReader
from ..text.values import MAX_VALUES
from .reading import StoredPage

#: Version of the lines; a file of a later one is refused.
FORMAT = 1
_MARK = "scrapy_neardup_export"
_END = "end_of_export"

_DIGEST_BYTES = 16
_SHOWN_DIGEST_BYTES = 17
_BOUND = 1 << 32


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of an export.

    :ivar namespace: where the pages come from.
    :ivar recipe: see :attr:`~scrapy_neardup.signatures.signature.Signer.recipe`.
    :ivar parts: what it was made of, by name.
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
    fields = {
        "url": signature.url,
        "key": signature.key,
        "site": signature.site,
        "title": signature.title,
        "fingerprint": to_hex(signature.fingerprint),
        "n_features": signature.n_features,
        "n_text": signature.n_text,
        "n_shown": signature.n_shown,
        "text_digest": _text(signature.text_digest),
        "shown_digest": _text(signature.shown_digest),
        "sketch": _text(signature.sketch),
        "values": _text(signature.values),
        "n_heading": signature.n_heading,
        "stored_at": page.stored_at,
    }
    if page.items != OWN_ITEMS:
        fields["items"] = to_hex(page.items)
    if signature.key == signature.url:
        del fields["key"]
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
    secret = _bytes(fields["secret"]) if "secret" in fields else None
    if secret is not None and not 16 <= len(secret) <= 64:
        raise ValueError("secret")
    parts = {_string(name): _string(part) for name, part in fields["parts"].items()}
    return Head(_string(fields["namespace"]), _string(fields["recipe"]), parts, secret)


def _page(fields: Mapping[str, Any], recipe: str) -> StoredPage:
    url = _string(fields["url"])
    values = _bytes(fields["values"], *range(MAX_VALUES + 1))
    n_heading = _count(fields["n_heading"])
    if n_heading > len(values):
        raise ValueError("n_heading")
    signature = PageSignature(
        url=url,
        key=_string(fields.get("key", url)),
        site=_string(fields["site"]),
        title=tuple(tuple(map(_string, part)) for part in fields["title"]),
        n_features=_count(fields["n_features"]),
        fingerprint=from_hex(fields["fingerprint"]),
        sketch=_bytes(fields["sketch"], SKETCH_BINS),
        values=values,
        text_digest=_bytes(fields["text_digest"], _DIGEST_BYTES),
        n_text=_count(fields["n_text"]),
        n_shown=_count(fields["n_shown"]),
        shown_digest=_bytes(fields["shown_digest"], _SHOWN_DIGEST_BYTES, 0),
        recipe=recipe,
        n_heading=n_heading,
    )
    items = from_hex(fields["items"]) if "items" in fields else OWN_ITEMS
    return StoredPage(signature, _count(fields["stored_at"]), items=items)


def _rules(fields: object) -> dict[str, bytes]:
    if not isinstance(fields, dict):
        raise TypeError(f"{fields!r} is no object of rules")
    return {name: _bytes(_string(body)) for name, body in fields.items()}


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _bytes(text: str, *lengths: int) -> bytes:
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
