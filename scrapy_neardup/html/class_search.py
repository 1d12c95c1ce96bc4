"""Finds elements by what their class attributes say."""

from __future__ import annotations

import re
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

_CLASSES = etree.XPath("descendant::*/@class")


def elements_by_class(body: HtmlElement, pattern: re.Pattern[str]) -> list[HtmlElement]:
    """Return the elements within a tree in whose class attribute a pattern is found.

    To search the values takes half as long as to have XPath search them.
    """
    classes = cast("list[etree._ElementUnicodeResult]", _CLASSES(body))
    return [cast("HtmlElement", each.getparent()) for each in filter(pattern.search, classes)]
