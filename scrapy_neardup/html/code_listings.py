"""Removes line numbers from listings of code, which one theme shows and another does not."""

from __future__ import annotations

import re
from itertools import chain, islice, pairwise
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

from .class_search import elements_by_class

#: Elements in which highlighters put line numbers, by their classes: Hexo and SyntaxHighlighter
#: ("gutter"), Pygments and Rouge ("lineno", "linenos", "linenodiv"), Chroma ("ln", "lnt"),
#: highlight.js ("hljs-ln-numbers") and others ("line-number").
_NAME = re.compile(r"gutter|lineno|line-num|hljs-ln|lnt|(?:^|[ \t\r\n])ln(?:[ \t\r\n]|$)")
#: Cells beside cells of code that look like code themselves.
_CELLS = etree.XPath("descendant::td[descendant::pre][following-sibling::td/descendant::pre]")
_CODE = ("pre", "code")
#: How many elements around line numbers, and how many beside these, are looked at for the code.
_MAX_AROUND, _MAX_BESIDE = 4, 3
_MAX_DIGITS = 8


def remove_line_numbers(body: HtmlElement) -> None:
    """Remove the line numbers of a page's listings from its tree."""
    # Most pages have no code, and the searches below take longer.
    if next(body.iter(*_CODE), None) is None:
        return
    cells = cast("list[HtmlElement]", _CELLS(body))
    # One number in a cell without a name may be a value.
    elements = [each for each in cells if _n_line_numbers(each) > 1]
    named = elements_by_class(body, _NAME)
    elements += [each for each in named if _is_at_code(each) and _n_line_numbers(each)]
    for element in elements:
        tail, parent = element.tail, element.getparent()
        if element.tag == "td" and parent is not None:
            parent.remove(element)
        else:
            # To remove an element in a text copies the text before it.
            element.clear()
            element.tail = tail


def _n_line_numbers(element: HtmlElement) -> int:
    """Return how many numbers an element has; 0 unless they follow each other and are all of it."""
    words = " ".join(cast("list[str]", [*element.itertext()])).split()
    if not all(word.isdecimal() and len(word) <= _MAX_DIGITS for word in words):
        return 0
    follow = all(int(number) + 1 == int(after) for number, after in pairwise(words))
    return len(words) if follow else 0


def _is_at_code(element: HtmlElement) -> bool:
    """Return whether an element is in a block of code, or shortly before one."""
    around = [*islice(element.iterancestors(), _MAX_AROUND)]
    if any(each.tag in _CODE for each in around):
        return True
    beside = (islice(each.itersiblings(), _MAX_BESIDE) for each in [element, *around])
    return any(next(each.iter(*_CODE), None) is not None for each in chain.from_iterable(beside))
