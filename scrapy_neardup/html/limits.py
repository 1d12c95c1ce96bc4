"""What one page may be made of: beyond these limits it is refused before it takes long.

The time of some steps grows faster than the page: with the number of tags in trafilatura, with
the attributes of one tag in libxml2. The limits are counted before those steps, by steps whose
time grows as the page does. Nothing is ever cut off: two long pages that differ behind a cut
would look the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache

from lxml import etree
from lxml.html import HtmlElement

from .._util.validation import require_number
from ..exceptions import LimitExceeded
from ..reasons import Reason

#: libxml2 reads no deeper, even when it is told to read huge trees.
_DEEPEST = 2000

_TAG = re.compile(r"<[a-zA-Z]")
#: Values that are matched at once: with each of them a regular expression takes more memory.
_AT_ONCE = 2000
#: What is given to an attribute, up to the next one that is given something or to the tag's end.
_VALUE = r"""=(?:"[^"]*"|'[^']*'|\s+(?:"[^"]*"|'[^']*')?|[^>=]|)[^>=]*"""
_MORE_OF_TAG = re.compile(rf"(?:{_VALUE}){{0,{_AT_ONCE}}}")
#: A tag up to its end; an end within a quoted value does not count.
_TAG_AT_ONCE = re.compile(rf"<[a-zA-Z][^>=]*{_MORE_OF_TAG.pattern}")
_ATTRIBUTE = re.compile(r"""[^\s/>=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*))?""")
#: The shortest attribute: a blank and a letter.
_ATTRIBUTE_CHARS = 2


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The most that is read of one page.

    A signature does not depend on them: a page within two sets of limits has one signature.

    :ivar body_bytes: bytes of the body; text counts as its UTF-8.
    :ivar tags: start tags, those in comments and scripts included.
    :ivar attributes: attributes on one tag.
    :ivar nesting: elements in one another, at most 2,000.
    :ivar text_chars: characters of the main text, of all that the page shows, and of the title,
        each.
    :raises InvalidOption: when one is no whole number, below 1, or ``nesting`` above 2,000.
    """

    body_bytes: int = 8 * 2**20
    tags: int = 30_000
    attributes: int = 1_000
    nesting: int = 500
    text_chars: int = 750_000

    def __post_init__(self) -> None:
        for field in fields(self):
            most = _DEEPEST if field.name == "nesting" else None
            require_number(field.name, getattr(self, field.name), int, 1, most)

    def check_body(self, html: str | bytes) -> None:
        """Refuse a body of too many bytes.

        :raises LimitExceeded: with reason ``"too_large"``.
        """
        size = len(html)
        if isinstance(html, str) and size <= self.body_bytes and not html.isascii():
            size = len(html.encode("utf-8", "surrogatepass"))
        if size > self.body_bytes:
            raise LimitExceeded(Reason.TOO_LARGE, size, self.body_bytes)

    def check_markup(self, html: str) -> None:
        """Refuse what would take long to parse or to walk through.

        :raises LimitExceeded: with reason ``"too_many_tags"`` or ``"too_many_attributes"``.
        """
        if html.count("<") > self.tags:
            tags = sum(1 for _ in _TAG.finditer(html))
            if tags > self.tags:
                raise LimitExceeded(Reason.TOO_MANY_TAGS, tags, self.tags)
        few_chars = min(_ATTRIBUTE_CHARS * self.attributes, _AT_ONCE)
        long: Iterable[str] = [tag for tag in _TAG_AT_ONCE.findall(html) if len(tag) > few_chars]
        if any(tag.count("=") >= _AT_ONCE for tag in long):
            long = _whole_tags(html)
        for tag in long:
            self._check_attributes(tag)

    def check_tree(self, tree: HtmlElement) -> None:
        """Refuse what is nested too deeply.

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

    def _check_attributes(self, tag: str) -> None:
        # The tag's name is found as if it were an attribute.
        attributes = sum(1 for _ in _ATTRIBUTE.finditer(tag)) - 1
        if attributes > self.attributes:
            raise LimitExceeded(Reason.TOO_MANY_ATTRIBUTES, attributes, self.attributes)


def _whole_tags(html: str) -> Iterator[str]:
    """All start tags, each up to its end, however much is given to its attributes."""
    end = 0
    while tag := _TAG_AT_ONCE.search(html, end):
        end = tag.end()
        while (more := _MORE_OF_TAG.match(html, end)) and more[0]:
            end = more.end()
        yield html[tag.start() : end]


@cache
def _reaches(depth: int) -> etree.XPath:
    """Is there an element at this depth? The root's is 1."""
    return etree.XPath(f"boolean({'/*' * depth})")
