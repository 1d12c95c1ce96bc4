"""The part of a page that is its own content, and what is stated in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, filterfalse, islice
from typing import NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from ..links.addresses import is_anchor, leads_to_page
from ..page_lines import BESIDE, Line, short_text
from .names import BESIDE_AROUND, BESIDE_NAME, MAX_COLUMNS, columns_beside, is_column, names_of

#: Of each kind of facts, so many are looked at.
MAX_FACTS = 200
#: An element with more descendants is no line.
MAX_DESCENDANTS = 8
MAX_LABEL, MAX_STATED = 40, 120
#: An element with more descendants is no line, nor several that ``<br>`` breaks.
_MAX_BROKEN = 24
#: Numbers that are no part of a name such as AB-12.
_NUMBER = re.compile(r"(?<![A-Za-zА-я_\d])(?<![A-Za-zА-я]-)\d[\d.,:/-]*")
_TEXT = etree.XPath("string()", smart_strings=False)
#: A part beside the content that may show the page's own pictures, and how much of it is looked at.
_SLIDER, _MAX_SLIDER = "carousel", 500
#: Elements that may be columns beside a text.
_COLUMNS = etree.XPath(
    "descendant::*[self::aside or contains(@class, 'ide') or contains(@id, 'ide')]"
)
#: Without a ``main`` element, so many elements around the content are looked at, and the body only
#: if it is the next one.
_MAX_LEVELS = 4
#: Classes of parts of a layout, which may be alike whatever is in them.
_OF_LAYOUT = re.compile(
    r"(?:.*[-_])?(?:row|cols?|columns?|cards?|sections?|box|panels?|tabs?|blocks?|container|"
    r"wrapper|content|area)(?:[-_].*)?",
    re.IGNORECASE,
)
#: A text of more characters is none of the short lines that stand beside a main text.
MAX_LINE = 80
HEADINGS = ("h2", "h3", "h4", "h5", "h6")


#: Labels of the fact that is a page's heading: of one that the title does not repeat, and of one
#: that stands in the title.
HEADING, HEADING_IN_TITLE = "heading", "heading in title"
#: Label of the facts that are blocks of code.
CODE_BLOCK = "code"


class Fact(NamedTuple):
    """Something that a page states.

    :ivar label: of what; empty for a price and for a line above the text.
    :ivar stated: the rest, numbers masked unless it is a price, a property or a field's value.
    :ivar is_field: whether pages differ only if both have the label, and each another value. Else
        they differ also if only one of them states it.
    :ivar is_around: whether it is a field that stands around the page's own content.
    :ivar is_line: whether it is a field whose label, the name of an element, readers do not see.
    :ivar is_minor: whether it is a line that is kept only if the others leave room.
    """

    label: str
    stated: str
    is_field: bool = False
    is_around: bool = False
    is_line: bool = False
    is_minor: bool = False


class Stated(NamedTuple):
    """A fact, and where and how it is stated.

    :ivar has_place: whether it counts even if the main text has it, because its place matters.
    """

    element: HtmlElement
    label: str
    text: str
    fact: Fact
    has_place: bool = False


class Content:
    """The part of a page from its heading to the end of its main text, and what is around it.

    :param heading: without one, what the main text begins with; ``None`` if that is not found, and
        the whole body is the content then.
    :param last: last line of the main text.
    :param has_heading: if not, what stands around the text is its content from there on.
    :param own_boxes: tells which elements of a column beside the text are about the page.
    :ivar root: smallest element that has all of it.
    :ivar surroundings: the ``main`` element that has the content, else the element of a page's
        columns: a table or a price may stand in one of its own.
    :ivar parts: the surroundings, and columns beside them that have boxes about the page.
    :ivar whole: the element that has the root and all of these.
    :ivar text: text of that, nothing between its elements; tells what to look for.
    """

    def __init__(
        self,
        body: HtmlElement,
        heading: HtmlElement | None,
        last: Line,
        *,
        has_heading: bool = True,
        own_boxes: Callable[[HtmlElement], list[HtmlElement]] = lambda _: [],
    ) -> None:
        root = body if heading is None else _around(heading, last.around)
        if body not in root.iterancestors():
            root = body
        self.root = root if has_heading or root is body else cast("HtmlElement", root.getparent())
        self._around_root = {self.root, *self.root.iterancestors()}
        own = last.around if heading is None else self.root
        self.surroundings = _surroundings(own, body)
        columns = list(filter(own_boxes, self._columns_beside()))
        self.parts = [self.surroundings, *columns]
        self.whole = body if heading is None else self.surroundings
        if columns and self.whole is not body:
            self.whole = cast("HtmlElement", self.whole.getparent())
        self.text = cast("str", _TEXT(self.whole))
        self._places = {element: place for place, element in enumerate(self.whole.iter())}
        start = self._places[self.root]
        if heading is not None and (has_heading or self.root is body):
            start = self._places.get(heading, start)
        self._start = start
        self._in_root = self._places_in(self.root)
        self._in_parts = [*map(self._places_in, self.parts)]
        end = self._places[last.before]
        # A heading may stand behind the text, or be its last line.
        is_behind = end < self._start or last.around is heading
        self._end = self._in_root.stop - 1 if is_behind else end
        self._several: dict[HtmlElement, bool] = {}
        self._beside: dict[HtmlElement, bool] = {self.root: False, self.surroundings: False}
        self._own_boxes = self._boxes_of_columns(own_boxes)
        self._beside.update(dict.fromkeys(self._own_boxes, False))

    def is_before_end(self, element: HtmlElement) -> bool:
        """Return whether an element is between the heading and the end of the text."""
        return self._start < self._places[element] <= self._end

    def is_behind_heading(self, element: HtmlElement) -> bool:
        """Return whether an element of the root is behind the heading, or even below the text."""
        return self._start < self._places[element] < self._in_root.stop

    def is_above(self, element: HtmlElement) -> bool:
        """Return whether an element is before the heading, in the root or around it."""
        return self._places[element] < self._start

    def is_of_surroundings(self, element: HtmlElement, its_heading: HtmlElement | None) -> bool:
        """Return whether an element of the surroundings is not beside the content or on a card.

        A card has a heading or a linked picture.

        :param its_heading: the heading of the element alone, which does not make its box a card.
        """
        place = self._places[element]
        if not any(place in part for part in self._in_parts) or self.is_beside(element):
            return False
        box = element
        for each in chain([element], element.iterancestors()):
            if each in self._around_root:
                break
            box = each
            if each in self._own_boxes:
                break
        headings = (each for each in box.iter(*HEADINGS) if each is not its_heading)
        return next(headings, None) is None and box.find(".//a//img") is None

    def is_of_another(self, element: HtmlElement) -> bool:
        """Return whether a line is of one of several cards or comments, or behind a link."""
        if self.is_behind_heading(element) and self.is_before_end(element):
            return False
        parent = element.getparent()
        if parent is not None and parent not in self._around_root and _begins_with_link(parent):
            return True
        return any(map(self._is_one_of_several, self._with_boxes(element)))

    def is_of_links(self, element: HtmlElement) -> bool:
        """Return whether an element, or one around it, is beside one of its class with links."""
        for each in self._with_boxes(element):
            for other in (each.getprevious(), each.getnext()):
                is_alike = other is not None and (other.tag, other.get("class")) == (
                    each.tag,
                    each.get("class"),
                )
                if is_alike and other.find(".//a") is not None:
                    return True
        return False

    def _with_boxes(self, element: HtmlElement) -> Iterator[HtmlElement]:
        """Yield an element and those around it, as far as they have not all of the content."""
        around = (each for each in element.iterancestors() if each not in self._around_root)
        return chain([element], islice(around, _MAX_LEVELS))

    def _is_one_of_several(self, element: HtmlElement) -> bool:
        """Return whether an element is one of several texts, as comments are, or linked cards."""
        if element not in self._several:
            neighbours = (element.getprevious(), element.getnext())
            equal = [each for each in neighbours if each is not None and _are_alike(each, element)]
            has_link = element.find(".//a") is not None
            self._several[element] = any(
                (has_link and each.find(".//a") is not None)
                or (_has_sentence(each) and _has_sentence(element))
                for each in equal
            )
        return self._several[element]

    def is_around(self, element: HtmlElement) -> bool:
        """Return whether all of the page's own content is in an element."""
        return element in self._around_root

    def is_beside(self, element: HtmlElement) -> bool:
        """Return whether an element is in a part of the page for visitors, or about other pages."""
        passed = []
        is_beside = False
        for each in chain([element], element.iterancestors()):
            if each in self._beside:
                is_beside = self._beside[each]
                break
            passed.append(each)
            if is_beside := self._is_part_beside(each):
                break
        # The next elements have many of these around them, too.
        self._beside.update(dict.fromkeys(passed, is_beside))
        return is_beside

    def lines(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements between the heading and the end of the text."""
        return filter(self.is_before_end, self.root.iter(*tags))

    def rows(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements of the root behind the heading."""
        return filter(self.is_behind_heading, self.root.iter(*tags))

    def rows_and_rest(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements of the root behind the heading, and then those around it."""
        around = chain.from_iterable(part.iter(*tags) for part in self.parts)
        rest = filterfalse(self.is_behind_heading, around)
        return chain(self.rows(*tags), rest)

    def elements(self) -> Iterator[HtmlElement]:
        """Yield all elements in the surroundings, and in the columns beside them."""
        for part in self.parts:
            yield from islice(part.iter(), 1, None)

    def _columns_beside(self) -> Iterator[HtmlElement]:
        """Yield the columns and boxes beside the surroundings, if these are a ``main`` element."""
        return columns_beside(self.surroundings) if _is_main(self.surroundings) else iter(())

    def _boxes_of_columns(
        self, own_boxes: Callable[[HtmlElement], list[HtmlElement]]
    ) -> set[HtmlElement]:
        """Return the boxes about the page in columns of the content that stand beside no other."""
        found: set[HtmlElement] = set()
        columns = filter(is_column, cast("list[HtmlElement]", _COLUMNS(self.whole)))
        for column in islice(columns, MAX_COLUMNS):
            parent = column.getparent()
            is_own = column in self._around_root or not self._is_part_beside(column)
            if not is_own and (parent is None or not self.is_beside(parent)):
                found.update(own_boxes(column))
        return found

    def _is_part_beside(self, element: HtmlElement) -> bool:
        is_around = self._places.get(element, -1) not in self._in_root
        if element.tag in BESIDE or (is_around and element.tag == "header"):
            # An article may have a footer of its own, and a box beside its text.
            is_own = element.tag in ("footer", "aside") and _is_in_article(element)
            if not is_own:
                return True
        names = BESIDE_AROUND if is_around else BESIDE_NAME
        return _is_named_beside(element, names)

    def _places_in(self, element: HtmlElement) -> range:
        start = self._places[element]
        return range(start, start + sum(1 for _ in element.iter()))


def _surroundings(own: HtmlElement, body: HtmlElement) -> HtmlElement:
    """Return the element around the page's own part in which its facts may stand, too."""
    around = [own]
    while around[-1] is not body and (parent := around[-1].getparent()) is not None:
        around.append(parent)
    if (main := next(filter(_is_main, around), None)) is not None:
        return main
    columns = around[: _MAX_LEVELS + 1]
    return columns[-2] if columns[-1] is body and len(columns) > 2 else columns[-1]


def _begins_with_link(element: HtmlElement) -> bool:
    """Return whether an element begins with a link, such as a picture's, or a linked heading."""
    first = next(element.iterchildren(), None)
    if first is None or (element.text and not element.text.isspace()):
        return False
    links = [first] if first.tag == "a" else first.findall("a") if first.tag in HEADINGS else []
    return any(not is_anchor(link) for link in links)


def _are_alike(element: HtmlElement, other: HtmlElement) -> bool:
    """Return whether two elements, other than a layout's, have the same class and parts."""
    names = element.get("class")
    if element.tag != other.tag or names != other.get("class"):
        return False
    if names and any(map(_OF_LAYOUT.fullmatch, names_of(element))):
        return False
    parts, others = ([(part.tag, part.get("class")) for part in each] for each in (element, other))
    return parts == others


def _has_sentence(element: HtmlElement) -> bool:
    return any(len(text) > MAX_LINE for text in cast("Iterator[str]", element.itertext()))


def _is_main(element: HtmlElement) -> bool:
    is_main: bool = element.tag == "main" or element.get("role") == "main"
    return is_main


def _is_in_article(element: HtmlElement) -> bool:
    return next(element.iterancestors("article"), None) is not None


def _around(heading: HtmlElement, line: HtmlElement) -> HtmlElement:
    """Return the smallest element that has both."""
    around = {*heading.iterancestors()}
    return next(each for each in chain([line], line.iterancestors()) if each in around)


def is_beside(element: HtmlElement, content: HtmlElement) -> bool:
    """Return whether an element of the content is in a part of it about other pages."""
    for each in chain([element], element.iterancestors()):
        if each is content:
            return False
        if each.tag in BESIDE or _is_named_beside(each, BESIDE_NAME):
            return True
    return False


def _is_named_beside(element: HtmlElement, words: re.Pattern[str]) -> bool:
    """Return whether a name of an element, other than a picture slider, is of other pages."""
    names = [*filter(words.fullmatch, names_of(element))]
    is_slider = bool(names) and all(_SLIDER in name.lower() for name in names)
    return bool(names) and not (is_slider and _has_only_pictures(element))


def _has_only_pictures(element: HtmlElement) -> bool:
    """Return whether a slider has pictures, and neither sentences nor links to other pages."""
    n_pictures = 0
    for each in islice(element.iter(), _MAX_SLIDER):
        if each.tag == "img":
            n_pictures += 1
        if (each.tag == "a" and leads_to_page(each)) or len((each.text or "").strip()) > MAX_LINE:
            return False
    return n_pictures > 0


def line_text(element: HtmlElement) -> str | None:
    """Return the text of an element in one line; ``None`` if it has too much in it for a fact."""
    return short_text(element, MAX_DESCENDANTS, MAX_LABEL + MAX_STATED)


def broken_lines(
    element: HtmlElement, is_left_out: Callable[[HtmlElement], bool] = lambda _: False
) -> list[str]:
    """Return the lines of an element, which ``<br>`` breaks; none if it has too much in it.

    :param is_left_out: tells the elements, such as links, whose texts are left out, and so are
        lines that begin with one.
    """
    if not len(element):
        return [text] if (text := " ".join((element.text or "").split())) else []
    if next(islice(element.iterdescendants(), _MAX_BROKEN, None), None) is not None:
        return []
    lines, left_out = [element.text or ""], set()
    for child in element:
        if child.tag == "br":
            lines.append(child.tail or "")
        elif not any(map(is_left_out, child.iter())):
            texts = cast("Iterator[str]", child.itertext())
            lines[-1] += f" {' '.join(texts)} {child.tail or ''}"
        else:
            if not lines[-1].strip():
                left_out.add(len(lines) - 1)
            lines[-1] += f" {child.tail or ''}"
    kept = (line for place, line in enumerate(lines) if place not in left_out)
    return [text for line in kept if (text := " ".join(line.split()))]


def without_numbers(text: str, mark: str = " ") -> str:
    """Return a line with a mark in place of its numbers."""
    return " ".join(_NUMBER.sub(mark, text).split())
