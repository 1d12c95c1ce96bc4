"""Finds what a page offers for choice: two wares of one text may be sold in other sizes.

The options of a quantity, a language or an order of comments are those of the form, so only lists
count that are called after what a ware may have several of.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from lxml.html import HtmlElement

from .content import Content, Stated, line_text
from .lines_beside import line_beside
from .stable_lines import is_passage, stable_text, stable_text_within

#: Names of what a ware may have several of, in classes and names of its list of choices.
_OF_CHOICE = re.compile(
    r"(?<![a-z])(?:sizes?|colou?rs?|variants?|variations?|swatch(?:es)?|flavou?rs?|materials?|"
    r"editions?|capacit(?:y|ies)|storage|width|length|scent|finish|pack|gr(?:oe|ö)(?:ss|ß)en?|"
    r"farben?|ausf(?:ue|ü)hrung|tailles?|couleurs?|tallas?|taglie?|colore|rozmiar|kolor|"
    r"attribute_\w+|chima|yanse)(?![a-z])|尺寸|尺码|颜色|规格|サイズ|カラー",
    re.IGNORECASE,
)
_NAMES = ("class", "id", "name", "aria-label", "data-option", "data-attribute")
#: So many choices are looked at, and so many elements around one may name its list, in so many
#: characters of each attribute.
_MAX_LOOKED_AT, _MAX_AROUND, _MAX_NAME = 400, 4, 500
#: So many inputs in an element may name its list.
_MAX_INPUTS = 16
_CHOICES = ("option", "button", "label")


def choices(content: Content) -> Iterator[Stated]:
    """Yield each list of choices in the surroundings, under the word that it is called by."""
    lists: defaultdict[HtmlElement, list[str]] = defaultdict(list)
    labels: dict[HtmlElement, str] = {}
    offered = (each for each in content.elements() if each.tag in _CHOICES)
    for element in islice(offered, _MAX_LOOKED_AT):
        found = _named_list(element)
        text = line_text(element) if found else None
        if found and text:
            lists[found[0]].append(text)
            labels[found[0]] = found[1]
    for each, texts in lists.items():
        value = _stable_choices([*dict.fromkeys(texts)])
        # What is around all of the content may be the body, and is of no other page.
        is_own = content.is_around(each) or not content.is_of_another(each)
        if value is not None and is_own:
            yield line_beside(each, f"choice {labels[each]}", value)


def _stable_choices(texts: Sequence[str]) -> str | None:
    """Return what choices say that is the same in each copy of a page, in one line, if anything."""
    line = " ".join(texts)
    if not any(map(str.isalpha, line)):
        return line
    if not is_passage(line):
        return stable_text(line)
    # A long list is no passage: what is asked of a line is asked of each choice.
    said = (_stable_choice(text) if any(map(str.isalpha, text)) else text for text in texts)
    return " ".join(filter(None, said)) or None


def _stable_choice(text: str) -> str | None:
    return stable_text_within(text) if is_passage(text) else stable_text(text)


def _named_list(element: HtmlElement) -> tuple[HtmlElement, str] | None:
    """Return the element around a choice that says what there is to choose, and what it says."""
    for each in islice(element.iterancestors(), _MAX_AROUND):
        found = _OF_CHOICE.search(" ".join(_names_of_list(each)))
        if found:
            return each, found[0].lower()
    return None


def _names_of_list(element: HtmlElement) -> Iterator[str]:
    """Yield the names of an element, those of the inputs right in it, and the legend of a group.

    The tag of a custom element is a name as well, as in ``<variant-radios>``.
    """
    if "-" in str(element.tag):
        yield str(element.tag)
    yield from (element.get(name, "")[:_MAX_NAME] for name in _NAMES)
    if element.tag == "fieldset":
        yield from (line_text(each) or "" for each in element.iterchildren("legend"))
    inputs = islice(element.iterchildren("input"), _MAX_INPUTS)
    yield from (each.get("name", "")[:_MAX_NAME] for each in inputs)
