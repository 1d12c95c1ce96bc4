"""Keeps content that trafilatura would drop with the elements that it stands in.

It drops figures, most of which are pictures, and times, most of which say when a page was
published. But themes put listings of code into figures, and a sentence may name a time: ``<p>The
concert begins at <time>19:30</time>.</p>``
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

_OF_TEXT = etree.XPath("descendant::figure[descendant::pre or descendant::blockquote]")
#: In a text of their parent. Labels of forms have none around them, or are dropped with the form.
_IN_SENTENCES = etree.XPath(
    "descendant::*[self::time or self::label or self::output]"
    "[parent::*[self::p or self::li or self::td or self::dd or self::blockquote]]"
    "[../text()[normalize-space()]]"
)


@contextmanager
def content_kept(tree: HtmlElement) -> Iterator[None]:
    """Rename elements of a tree that trafilatura would drop, until the context ends."""
    renamed = [
        *((element, "div") for element in cast("list[HtmlElement]", _OF_TEXT(tree))),
        *((element, "span") for element in cast("list[HtmlElement]", _IN_SENTENCES(tree))),
    ]
    names = [str(element.tag) for element, _ in renamed]
    try:
        for element, name in renamed:
            element.tag = name
        yield
    finally:
        for (element, _), name in zip(renamed, names, strict=True):
            element.tag = name
