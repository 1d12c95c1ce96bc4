"""Limits on the size and structure of a page; pages beyond them are refused before parsing.

The time of some steps grows faster than the page: with the number of tags in trafilatura, with
the attributes of one tag in libxml2. The limits are checked before those steps, in time linear in
the page's length. Pages are never truncated: two long pages that differ only after the cut would
look the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache

from lxml import etree
from lxml.html import HtmlElement

from .._util.encoding import utf8
from .._util.validation import require_number
from ..exceptions import LimitExceeded
from ..reasons import Reason

#: Depth limit of libxml2, even with ``huge_tree``.
_MAX_NESTING = 2000

_TAG = re.compile(r"<[a-zA-Z]")
#: Largest number of attribute values in one match: its memory grows with each of them.
_VALUES_PER_MATCH = 2000
#: An attribute's value, up to the next "=" or the tag's end.
_VALUE = r"""=(?:"[^"]*"|'[^']*'|\s+(?:"[^"]*"|'[^']*')?|[^>=]|)[^>=]*"""
_MORE_VALUES = re.compile(rf"(?:{_VALUE}){{0,{_VALUES_PER_MATCH}}}")
#: A start tag up to its end, or with its first values; ">" within a quoted value is no end.
_START_TAG = re.compile(rf"<[a-zA-Z][^>=]*{_MORE_VALUES.pattern}")
_ATTRIBUTE = re.compile(r"""[^\s/>=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*))?""")
#: The shortest attribute: a blank and a letter.
_ATTRIBUTE_CHARS = 2


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The largest page that is read.

    Signatures do not depend on the limits: a page within two sets of limits has the same signature
    under both.

    :ivar body_bytes: bytes of the body; decoded text counts as UTF-8.
    :ivar tags: start tags, those in comments and scripts included.
    :ivar attributes: attributes of one tag.
    :ivar nesting: depth of nested elements, at most 2,000.
    :ivar text_chars: characters of each of the main text, all visible text and the title.
    :raises InvalidOption: if one is not a whole number or below 1, or ``nesting`` above 2,000.
    """

    body_bytes: int = 8 * 2**20
    tags: int = 30_000
    attributes: int = 1_000
    nesting: int = 500
    text_chars: int = 750_000

    def __post_init__(self) -> None:
        for field in fields(self):
            most = _MAX_NESTING if field.name == "nesting" else None
            require_number(field.name, getattr(self, field.name), int, 1, most)

    def check_body(self, html: str | bytes) -> None:
        """Refuse a body of too many bytes.

        :raises LimitExceeded: with reason ``"too_large"``.
        """
        size = len(html)
        if isinstance(html, str) and size <= self.body_bytes and not html.isascii():
            size = len(utf8(html))
        if size > self.body_bytes:
            raise LimitExceeded(Reason.TOO_LARGE, size, self.body_bytes)

    def check_markup(self, html: str) -> None:
        """Refuse markup that would take long to parse or to traverse.

        :raises LimitExceeded: with reason ``"too_many_tags"`` or ``"too_many_attributes"``.
        """
        if html.count("<") > self.tags:
            tags = sum(1 for _ in _TAG.finditer(html))
            if tags > self.tags:
                raise LimitExceeded(Reason.TOO_MANY_TAGS, tags, self.tags)
        short = min(_ATTRIBUTE_CHARS * self.attributes, _VALUES_PER_MATCH)
        long_tags: Iterable[str] = [tag for tag in _START_TAG.findall(html) if len(tag) > short]
        if any(tag.count("=") >= _VALUES_PER_MATCH for tag in long_tags):
            # Some of them may have been matched in part only.
            long_tags = _whole_tags(html)
        for tag in long_tags:
            # The pattern matches the tag's name, too.
            attributes = sum(1 for _ in _ATTRIBUTE.finditer(tag)) - 1
            if attributes > self.attributes:
                raise LimitExceeded(Reason.TOO_MANY_ATTRIBUTES, attributes, self.attributes)

    def check_tree(self, tree: HtmlElement) -> None:
        """Refuse a tree that is nested too deeply.

        :raises LimitExceeded: with reason ``"too_nested"``.
        """
        if _reaches(self.nesting + 1)(tree.getroottree()):
            raise LimitExceeded(Reason.TOO_NESTED, self.nesting + 1, self.nesting)

    def check_text(self, *texts: str) -> None:
        """Refuse texts of which one is too long.

        :raises LimitExceeded: with reason ``"text_too_long"``.
        """
        longest = max(map(len, texts))
        if longest > self.text_chars:
            raise LimitExceeded(Reason.TEXT_TOO_LONG, longest, self.text_chars)


def _whole_tags(html: str) -> Iterator[str]:
    """Yield all start tags up to their ends, however many values they have."""
    end = 0
    while tag := _START_TAG.search(html, end):
        end = tag.end()
        while (more := _MORE_VALUES.match(html, end)) and more[0]:
            end = more.end()
        yield html[tag.start() : end]


@cache
def _reaches(depth: int) -> etree.XPath:
    """Return an XPath that tells whether there is an element at this depth; the root's is 1."""
    return etree.XPath(f"boolean({'/*' * depth})")
