"""Reads a page quickly: its title and its passages, without extracting the main text.

To extract the main text takes some twenty times as long. Passages are enough to find the stored
pages that may have the same content; see :mod:`~scrapy_neardup.matching.passage_candidates`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html.entities import html5
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..exceptions import ExtractionError
from ..text.characters import NO_WORD, SPACED, CodePoints, as_text, code_points, scripts_of
from ..text.normalization import normalize
from .limits import PageLimits
from .sanitizing import repaired
from .script_shells import ROOT_ELEMENTS, may_need_scripts

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_INVISIBLE = [
    *("head", "script", "style", "noscript", "template", "svg", "canvas", "math", "object"),
    *("iframe", "select", "option", "button", "textarea"),
    # Shown above the words of a sentence: how these are pronounced.
    *("rt", "rp"),
]
#: Elements that most pages of a site share.
_FRAME = ["nav", "footer"]
#: Most links are menus. Their texts count on a page with fewer characters outside of links.
_MIN_UNLINKED = 400
#: Elements that do not end a passage.
_INLINE = (
    "span, b, strong, em, i, font, code, u, sup, sub, mark, abbr, small, ins, q, cite, kbd, samp, "
    "var, time, label, big, tt, acronym, dfn, bdi, bdo, wbr, s, data, nobr, output, "
    "ruby"
)
#: A link is part of a sentence if the text before or after it has a word, and no mark or number as
#: between the links of a menu.
_WORD = re.compile(r"[^\W\d_]{2}")
#: On a page with more tags than this, inline elements end passages too: to unwrap nested elements
#: takes time quadratic in their depth.
_MAX_JOINED = 10_000
#: Between two text nodes: a character that no repaired page contains.
_BREAK = "\x1f"
#: Ends a passage; stands for the ends of elements and sentences. Line breaks of the source end no
#: passage.
_END = ";"
_ENDS_OF_SENTENCES = ("。", "!", "?", "؟", "۔", "।", "։", "።", "။", "។")
_MIN_CHARS = 4
#: Bound of all tags as a multiple of ``limits.tags``, which does not count end tags. The parser's
#: time grows with depth times tags, so pages of more than _MAX_JOINED tags must not nest deeply
#: either.
_MAX_MARKUP = 4
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
#: Elements that are never within another one of their name, unless others stand between them.
_UNNESTED = frozenset(
    "area base br col embed hr img input link meta param source track wbr html head body p li dd "
    "dt tr td th tbody thead tfoot colgroup caption option optgroup rt rp".split()
)
#: React writes this between the parts of a sentence.
_EMPTY_COMMENT = "<!-- -->"
#: Character references that are shorter in UTF-8 than their characters. The parser replaces
#: references in place and would write beyond its buffer, so these are replaced before.
_LONGER = {
    f"&{name}": value for name, value in html5.items() if len(value.encode()) > len(name) + 1
}


class QuickText(NamedTuple):
    """The parts of a page that can be read quickly.

    :ivar title: title of the page.
    :ivar passages: the words of its sentences and lines, normalised and without white space, in
        reading order; those of at least 4 characters.
    :ivar text: the text that they are from, normalised.
    :ivar needs_reading: whether scripts may have yet to fill in its content, which only a full
        reading tells.
    """

    title: str
    passages: list[str]
    text: str
    needs_reading: bool


def can_read_quickly() -> bool:
    """Return whether the parser that quick reading needs is installed."""
    return find_spec("selectolax") is not None


def quick_text(html: str, limits: PageLimits) -> QuickText:
    """Read a page quickly. The caller has checked the size of the body, in bytes.

    A page that may take the parser long has no parts, and needs to be read in full.

    :raises LimitExceeded: if the page exceeds a limit, but for the depth of its elements.
    :raises ExtractionError: if the parser fails on it.
    """
    from selectolax.lexbor import LexborHTMLParser

    html = repaired(html).replace(_EMPTY_COMMENT, "")
    limits.check_markup(html)
    if _may_take_long(html, limits):
        return QuickText("", [], "", needs_reading=True)
    for reference, characters in _LONGER.items():
        html = html.replace(reference, characters)
    with _parsing():
        tree = LexborHTMLParser(html)
        title = _title(tree)
        tree.strip_tags(_INVISIBLE)
        if html.count("<") <= _MAX_JOINED:
            _join_inline_text(tree)
        shown = _text(tree)
    # To normalise a text that is too long would take time and memory without bound.
    limits.check_text(title, shown)
    with _parsing():
        needs_reading = may_need_scripts(html, shown, _ids(tree))
        text = normalize(_main_part(tree).replace(_BREAK, _END))
    return QuickText(title, _passages(text), text, needs_reading)


def _may_take_long(html: str, limits: PageLimits) -> bool:
    n_markup = html.count("<")
    if n_markup <= _MAX_JOINED:
        return False
    return n_markup > _MAX_MARKUP * limits.tags or _may_nest(html, limits.nesting)


def _may_nest(html: str, depth: int) -> bool:
    """Return whether elements may be nested deeper than ``depth``.

    An end tag counts only if an element of its name is open.
    """
    n_open: Counter[str] = Counter()
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name in _UNNESTED:
            continue
        if not tag[1]:
            n_open[name] += 1
            depth -= 1
        elif n_open[name]:
            n_open[name] -= 1
            depth += 1
        if depth < 0:
            return True
    return False


@contextmanager
def _parsing() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise ExtractionError("quick_text", error) from error


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("title")
    if title is not None and _is_svg_title(title):
        # To find all of them takes much longer.
        title = next((each for each in tree.css("title") if not _is_svg_title(each)), None)
    return "" if title is None else " ".join(title.text().split())


def _is_svg_title(title: LexborNode) -> bool:
    """Return whether a title is that of an SVG image."""
    return title.parent is not None and title.parent.tag == "svg"


def _ids(tree: LexborHTMLParser) -> Iterator[str]:
    for element in tree.css(", ".join(f"{name}[id]" for name in ROOT_ELEMENTS)):
        yield element.attributes["id"] or ""


def _join_inline_text(tree: LexborHTMLParser) -> None:
    """Make one text node of a sentence with emphasised words and links."""
    # The parser's own call for several names looks for each of them in turn.
    for element in tree.css(_INLINE):
        element.unwrap()
    for element in tree.css("p *"):
        # The name of a custom element has a hyphen.
        if element.tag == "a" or "-" in (element.tag or ""):
            element.unwrap()
    for link in tree.css("a"):
        if _is_sentence_text(link.prev) or _is_sentence_text(link.next):
            link.unwrap()
    tree.merge_text_nodes()


def _is_sentence_text(node: LexborNode | None) -> bool:
    """Return whether a node beside a link is the text of a sentence, not a mark between links."""
    return node is not None and node.tag == "-text" and bool(_WORD.search(node.text()))


def _main_part(tree: LexborHTMLParser) -> str:
    """Return the text outside of menus and links; with the links where there is little else."""
    tree.strip_tags(_FRAME)
    linked = _text(tree)
    tree.strip_tags(["a"])
    unlinked = _text(tree)
    return unlinked if _has_at_least(unlinked, _MIN_UNLINKED) else linked


def _has_at_least(text: str, n_characters: int) -> bool:
    """Return whether a text has at least so many characters that are no white space."""
    # The beginning of most texts has enough, and is split faster.
    beginning = "".join(text[: 4 * n_characters].split())
    return len(beginning) >= n_characters or len("".join(text.split())) >= n_characters


def _text(tree: LexborHTMLParser) -> str:
    body = tree.body
    return "" if body is None else body.text(separator=_BREAK)


def _passages(text: str) -> list[str]:
    # One after the other, which takes less time than a regular expression.
    for end in _ENDS_OF_SENTENCES:
        text = text.replace(end, _END)
    codes = code_points(text)
    scripts = scripts_of(codes)
    is_end = (codes == ord(_END)) | _are_full_stops(codes, scripts)
    # Punctuation is left out, because each site sets it in its own way: l'île, l’île.
    counts = is_end | (scripts != NO_WORD)
    passages = as_text(np.where(is_end, ord(_END), codes)[counts]).split(_END)
    return [passage for passage in passages if len(passage) >= _MIN_CHARS]


def _are_full_stops(codes: CodePoints, scripts: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return whether each character is a full stop, but none in a number, a name or an address."""
    are_stops: npt.NDArray[np.bool_] = codes == ord(".")
    is_letter = scripts == SPACED
    are_stops[1:-1] &= ~(is_letter[:-2] & is_letter[2:])
    return are_stops
