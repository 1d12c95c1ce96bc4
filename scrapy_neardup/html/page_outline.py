"""Splits a page into blocks of all that it shows and holds, to compare it with another exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from lxml import etree
from lxml.html import HtmlElement

from .limits import PageLimits
from .page_lines import INLINE
from .parsing import parsed
from .sanitizing import repaired

#: Elements whose text a browser does not show; that of scripts may be data.
_HIDDEN = frozenset("style noscript template head title svg canvas".split())
#: Attributes that name the file that an element shows.
_FILES = {
    "img": ("src", "data-src"),
    "source": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
}
#: Begins a block that is no text.
SCRIPT, FILE = "script\t", "file\t"


class PageOutline(NamedTuple):
    """All that a page shows and holds.

    :ivar title: its title.
    :ivar blocks: its lines of text, and among them, marked, the files that it shows and the text of
        its scripts; blanks are single.
    :ivar places: tags and classes of the elements that have them.
    """

    title: str
    blocks: tuple[str, ...]
    places: tuple[str, ...]

    @classmethod
    def of_text(cls, text: str) -> PageOutline:
        """Return the outline of plain text."""
        lines = tuple(filter(None, map(_spaced, text.splitlines())))
        return cls("", lines, ("",) * len(lines))

    @property
    def shown(self) -> list[str]:
        """The lines of text."""
        return [block for block in self.blocks if not block.startswith((SCRIPT, FILE))]

    @property
    def n_shown(self) -> int:
        """Number of characters of the text that it shows."""
        return sum(map(len, self.shown))

    @property
    def has_scripts(self) -> bool:
        """Whether it has scripts with a text or a file."""
        return any(block.startswith(SCRIPT) for block in self.blocks)


def page_outline(html: str, limits: PageLimits) -> PageOutline:
    """Return the outline of a page.

    :raises LimitExceeded: if the page exceeds a limit.
    """
    tree = parsed(repaired(html), limits)
    if tree is None:
        return PageOutline.of_text(html)
    title = next((_spaced(t.text_content()) for t in tree.iter("title")), "")
    blocks = [(text, place) for text, place in _blocks(tree) if text]
    return PageOutline(title, tuple(b for b, _ in blocks), tuple(p for _, p in blocks))


def _blocks(root: HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield the text of each block and where it is; a block may be empty."""
    pieces: list[str] = []
    place = ""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        own = _own_block(element) if event == "start" else None
        if own is not None or tag not in INLINE:
            yield _spaced("".join(pieces)), place
            pieces = []
            around = element if event == "start" else element.getparent()
            place = _place_of(around)
        if own is not None:
            yield own, f"{_place_of(element)} in {_place_of(element.getparent())}"
        if event == "end":
            pieces.append((element.tail or "") if element is not root else "")
        elif tag == "script" or (tag in _HIDDEN and tag != "head"):
            walk.skip_subtree()
        elif tag != "head":
            pieces.append(element.text or "")
    yield _spaced("".join(pieces)), place


def _place_of(element: HtmlElement | None) -> str:
    return "" if element is None else f"{element.tag} {element.get('class', '')}"


def _own_block(element: HtmlElement) -> str | None:
    """Return the block that an element is by itself, if it is one."""
    if element.tag == "script":
        return SCRIPT + (_spaced(element.text or "") or element.get("src", ""))
    if element.tag == "svg":
        return f"{FILE}svg {crc32(etree.tostring(element, with_tail=False)):x}"
    for name in _FILES.get(element.tag, ()):
        file: str = element.get(name, "").strip()
        if file:
            return FILE + file
    return None


def _spaced(text: str) -> str:
    return " ".join(text.split())
