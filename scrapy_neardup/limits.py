"""What one page may be made of: beyond these limits it is refused before it takes long.

The time of some steps grows faster than the page: with the number of tags in trafilatura, with
the attributes of one tag in libxml2. The limits are counted before those steps, by steps whose
time grows as the page does. Nothing is ever cut off: two long pages that differ behind a cut
would look the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache

from lxml import etree
from lxml.html import HtmlElement

from .checks import require_number
from .exceptions import LimitExceeded

#: libxml2 reads no deeper, even when it is told to read huge trees.
_DEEPEST = 2000

_TAG = re.compile(r"<[a-zA-Z]")
#: A tag up to its end; an end within a quoted value does not count.
_WHOLE_TAG = re.compile(r"""<[a-zA-Z](?:[^>=]+|=\s*(?:"[^"]*"|'[^']*')?)*""")
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
            raise LimitExceeded("too_large", size, self.body_bytes)

    def check_markup(self, html: str) -> None:
        """Refuse what would take long to parse or to walk through.

        :raises LimitExceeded: with reason ``"too_many_tags"`` or ``"too_many_attributes"``.
        """
        if html.count("<") > self.tags:
            tags = sum(1 for _ in _TAG.finditer(html))
            if tags > self.tags:
                raise LimitExceeded("too_many_tags", tags, self.tags)
        for tag in _WHOLE_TAG.finditer(html):
            if tag.end() - tag.start() > _ATTRIBUTE_CHARS * self.attributes:
                self._check_attributes(tag[0])

    def check_tree(self, tree: HtmlElement) -> None:
        """Refuse what is nested too deeply.

        :raises LimitExceeded: with reason ``"too_nested"``.
        """
        if _reaches(self.nesting + 1)(tree.getroottree()):
            raise LimitExceeded("too_nested", self.nesting + 1, self.nesting)

    def check_text(self, *texts: str) -> None:
        """Refuse texts of which one is too long.

        :raises LimitExceeded: with reason ``"text_too_long"``.
        """
        longest = max(map(len, texts))
        if longest > self.text_chars:
            raise LimitExceeded("text_too_long", longest, self.text_chars)

    def _check_attributes(self, tag: str) -> None:
        # The tag's name is found as if it were an attribute.
        attributes = sum(1 for _ in _ATTRIBUTE.finditer(tag)) - 1
        if attributes > self.attributes:
            raise LimitExceeded("too_many_attributes", attributes, self.attributes)


@cache
def _reaches(depth: int) -> etree.XPath:
    """Is there an element at this depth? The root's is 1."""
    return etree.XPath(f"boolean({'/*' * depth})")
