"""Extracts the main text of HTML pages: the article if there is one, else all visible text.

Each page is parsed once, as trafilatura would parse it, and always from its HTML. The tree
that Scrapy may have parsed already contains comments and is not sanitized: reusing it would
save a twentieth of the time but change the text of one page in a hundred, and a fingerprint
must not depend on whether a spider has used the response's selector before.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from importlib.util import find_spec
from typing import NamedTuple, Protocol, cast

from lxml import etree
from lxml.html import HtmlElement

from .._util.encoding import utf8
from ..exceptions import ExtractionError, InvalidOption, LimitExceeded, MissingPackage, NeedsScripts
from .code_listings import remove_line_numbers
from .consent_overlays import remove_consent_overlays
from .embedded.content import held_content, script_data
from .facts.content import Fact
from .facts.page_facts import page_facts
from .facts.properties import page_properties
from .headings import heading_text, main_heading
from .kept_content import content_kept
from .limits import PageLimits
from .list_entries import ListedEntries, listed_entries
from .page_lines import INLINE
from .parsing import parsed
from .sanitizing import PRIVATE_USE, repaired
from .script_shells import has_empty_root, has_hidden_text, needs_scripts

_DEFAULT_LIMITS = PageLimits()

#: Characters at the beginning in which "html" must occur if the tree has hardly any elements.
_BEGINNING = 50
#: Begins a fragment of HTML, other than data or XML.
_FRAGMENT = re.compile(
    r"\s*(?:<!--(?:[^-]|-(?!->))*-->\s*)*"
    r"<(?:body|main|article|section|header|aside|div|p|h[1-6]|[uod]l|table|blockquote|pre|figure|form|"
    r"fieldset|details|center|font|span|a|b|strong|i|em|u|small)[\s>]",
    re.I,
)

_INVISIBLE = frozenset("script style noscript template head title svg canvas".split())
#: Invisible, or the same on every page of a site.
_NOT_CONTENT = _INVISIBLE | frozenset(
    "nav header footer aside menu select option button textarea iframe object".split()
)
_base = etree.XPath("string(descendant::base/@href)", smart_strings=False)
#: With fewer characters, resiliparse has often missed the content.
_MIN_RESILIPARSE = 400
#: Elements whose header is content: the title of an article, not the masthead of a site.
_WITH_HEADER = frozenset("article main section li".split())


class MainText(NamedTuple):
    """The parts of a page that its signature is made from; empty strings for missing ones.

    :ivar title: title of the page.
    :ivar text: main text.
    :ivar shown: all text of the body, menus included; text nodes separated by blanks.
    :ivar held: content besides the text, see
        :func:`~scrapy_neardup.html.embedded.content.embedded_content`, script data and, if these
        contain text that is not shown, the title; ``None`` if only the text is known.
    :ivar whole: the whole page except comments, in UTF-8; empty if it is a part of one.
    :ivar facts: what the page states outside its main text, see
        :func:`~scrapy_neardup.html.facts.page_facts.page_facts`.
    :ivar heading: the heading that the title repeats most of, or else the first one.
    :ivar relative: addresses of media and linked files in the page's folder, or below it.
    :ivar base: the address that they are relative to; empty if it is the page's.
    :ivar listed: its entries, if it is a list that was read as one and whose text tells them.
    :ivar has_facts: whether facts, heading and entries were looked for.
    """

    title: str
    text: str
    shown: str
    held: str | None = None
    whole: bytes = b""
    facts: Sequence[Fact] = ()
    heading: str = ""
    relative: Sequence[str] = ()
    base: str = ""
    listed: ListedEntries | None = None
    has_facts: bool = True


class Extractor(Protocol):
    """Extracts the main text of a page; a plain function with this signature is one too.

    It is called with the HTML and the tree parsed from it, which it must not modify, and returns
    ``None`` or an empty string if there is no text.
    """

    def __call__(self, html: str, tree: HtmlElement, /) -> str | None: ...


def read_page(
    html: str,
    extractor: Extractor,
    limits: PageLimits = _DEFAULT_LIMITS,
    *,
    list_url: str = "",
    needs_facts: bool = True,
) -> MainText:
    """Parse a page and return its parts.

    The caller has checked the size of the body already, in bytes.

    :param list_url: its URL, if it is that of a list, whose entries are wanted as well.
    :param needs_facts: whether its facts and all else are wanted that only pages of its site are
        compared by.
    :raises LimitExceeded: if the page exceeds one of the other limits.
    :raises NeedsScripts: if the page hardly shows any of its content without scripts.
    :raises ExtractionError: if the parser or the extractor fails on it.
    """
    try:
        html = repaired(html)
        tree = _parsed_page(html, limits)
        if tree is None:
            return MainText("", "", "", "", utf8(html))
        page = _read_tree(html, tree, extractor, list_url, needs_facts=needs_facts)
    except (LimitExceeded, NeedsScripts):
        raise
    except Exception as error:
        # Extractors raise whatever their libraries raise; a page that cannot be read is kept, and
        # the crawl goes on.
        name = getattr(extractor, "__name__", type(extractor).__name__)
        raise ExtractionError(name, error) from error
    limits.check_text(page.title, page.text, page.shown)
    return page


def _read_tree(
    html: str, tree: HtmlElement, extractor: Extractor, list_url: str, *, needs_facts: bool
) -> MainText:
    """Return the parts of a parsed page; invisible elements are removed from its tree.

    :raises NeedsScripts: if the page hardly shows any of its content without scripts.
    """
    title, whole = _title(tree), etree.tostring(tree, encoding="utf-8")
    body = _body(tree)
    remove_consent_overlays(body)
    remove_line_numbers(body)
    text = extractor(html, tree) or ""
    data = script_data(tree, html)
    held, beside = held_content(tree, body, html, data)
    has_scripts = next(tree.iter("script"), None) is not None
    is_empty = has_empty_root(body, html)
    properties = page_properties(tree, html) if needs_facts else []
    shown = _shown(body)
    if has_scripts and needs_scripts(body, text, shown, data, has_empty_root=is_empty):
        raise NeedsScripts
    if data and has_hidden_text(shown, data):
        # Scripts may show the rest, so the visible text alone does not identify this page.
        held = f"{title}\n{held}"
    base = cast("str", _base(tree)).strip() if beside or list_url else ""
    if not needs_facts:
        return MainText(
            title, text, shown, held, whole, relative=beside, base=base, has_facts=False
        )
    heading = main_heading(body, title)
    facts = [*page_facts(body, heading, title, text), *properties]
    named = "" if heading is None else heading_text(heading)
    listed = listed_entries(body, title, text, list_url, base) if list_url else None
    return MainText(title, text, shown, held, whole, facts, named, beside, base, listed)


def read_fragment(markup: str, limits: PageLimits = _DEFAULT_LIMITS) -> MainText:
    """Return all text of a field that contains plain text or an HTML fragment, and what it holds.

    :raises LimitExceeded: if it exceeds a limit.
    :raises ExtractionError: if the parser fails on it.
    """
    limits.check_body(markup)
    if "<" not in markup:
        limits.check_text(markup)
        return MainText("", markup, markup, "")
    try:
        html = repaired(f"<html><body><div>{markup}</div></body></html>")
        tree = parsed(html, limits)
        fragment = MainText("", "", "", "") if tree is None else _read_fragment(html, tree)
    except LimitExceeded:
        raise
    except Exception as error:
        raise ExtractionError("fragment", error) from error
    limits.check_text(fragment.text)
    return fragment


def _read_fragment(html: str, tree: HtmlElement) -> MainText:
    """Return the parts of a parsed fragment, all of which is content.

    A fragment has neither title nor facts, so what these would tell is among what it holds.
    """
    embedded = held_content(tree, _body(tree), html, script_data(tree, html))
    stated = (f"{fact.label}\t{fact.stated}" for fact in page_properties(tree, html))
    held = "\n".join(filter(None, [_title(tree), embedded.content, *stated]))
    text = "".join(_text_pieces(tree, _INVISIBLE))
    return MainText("", text, text, held, relative=embedded.beside)


def article_text(html: str, tree: HtmlElement) -> str | None:
    """Return trafilatura's article, without readers' comments, or else all visible text."""
    tree = _without_long_paragraphs(tree)
    with content_kept(tree):
        text = _article_text(html, tree)
    return text or visible_text(html, tree)


def _article_text(html: str, tree: HtmlElement) -> str | None:
    # Not on import: the process of a crawl rarely reads pages itself, and this takes long.
    import trafilatura

    if PRIVATE_USE.search(html):
        # trafilatura removes what is not printable.
        text = trafilatura.extract(_with_stand_ins(tree), include_comments=False)
        return text and text.translate(_STANDS_FOR)
    return trafilatura.extract(tree, include_comments=False)


def visible_text(html: str, tree: HtmlElement) -> str | None:
    """Return all text of the body except menus, footers, side bars, forms, and the site's header.

    The header of an article, a section or a list item is content: it has the title.
    """
    return "".join(_text_pieces(_body(tree), _NOT_CONTENT)).strip()


def resiliparse_text(html: str, tree: HtmlElement) -> str | None:
    """Return resiliparse's article, or trafilatura's where that is short.

    resiliparse parses the page itself.
    """
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(html, main_content=True, preserve_formatting=False, alt_texts=False)
    return text if len(text) >= _MIN_RESILIPARSE else article_text(html, tree)


def shipped_extractor(name: str) -> tuple[Extractor, str]:
    """Return a shipped extractor by name, and its identity: equal ones give comparable texts.

    :raises InvalidOption: if the name is unknown, or its package is not installed.
    """
    if name == "trafilatura":
        return article_text, "trafilatura-6"
    if name == "visible":
        return visible_text, "visible-5"
    if name != "resiliparse":
        wanted = "'trafilatura', 'resiliparse', 'visible' or an import path"
        raise InvalidOption("extractor", name, wanted)
    if not find_spec("resiliparse"):
        wanted = "pip install \"scrapy-neardup[resiliparse]\", or choose 'trafilatura'"
        raise MissingPackage("extractor", name, wanted)
    return resiliparse_text, "resiliparse-5"


def _parsed_page(html: str, limits: PageLimits) -> HtmlElement | None:
    """Return the page's tree; ``None`` without any element, or if it does not look like a page."""
    tree = parsed(html, limits)
    if tree is None or len(tree) > 1 or "html" in html[:_BEGINNING].lower():
        return tree
    return parsed(f"<html><body>{html}</body></html>", limits) if _FRAGMENT.match(html) else None


def _title(tree: HtmlElement) -> str:
    for title in tree.iter("title"):
        # The title of an SVG image is not the page's.
        if next(title.iterancestors("svg"), None) is None:
            return " ".join(title.text_content().split())
    return ""


#: Elements in one paragraph; the largest number on 3,476 real pages is 1,116.
_MAX_INLINE = 2000
_long_paragraphs = etree.XPath(f"descendant::p[count(descendant::*) > {_MAX_INLINE}]")
_texts = etree.XPath("descendant::text()", smart_strings=False)

#: What stands in for each character of :data:`PRIVATE_USE`.
_STAND_IN = dict(
    zip([*range(0xE000, 0xF900), *range(0xE0020, 0xE0080)], range(0x28000, 0x29960), strict=True)
)
_STANDS_FOR = {stand_in: private for private, stand_in in _STAND_IN.items()}


def _shown(body: HtmlElement) -> str:
    """Return all text nodes of the body, joined by blanks.

    Invisible elements are removed from the tree for good.
    """
    for parent in {element.getparent(): None for element in body.iter(*_INVISIBLE)}:
        if parent is not None:
            _remove_invisible(parent)
    return " ".join(cast("list[str]", _texts(body)))


def _remove_invisible(parent: HtmlElement) -> None:
    """Remove the invisible children of an element, and join the texts around them.

    lxml would leave the texts apart, and take quadratic time for a row of them.
    """
    removed: list[HtmlElement] = []
    before, texts = None, [parent.text]
    for child in [*parent, None]:
        if child is not None and child.tag in _INVISIBLE:
            removed.append(child)
            texts.append(child.tail)
            continue
        if len(texts) > 1:
            text = " ".join(filter(None, texts))
            if before is None:
                parent.text = text
            else:
                before.tail = text
        before, texts = child, [None if child is None else child.tail]
    for child in removed:
        parent.remove(child)


def _without_long_paragraphs(tree: HtmlElement) -> HtmlElement:
    """Return the tree, or a copy in which paragraphs of very many elements are reduced to text.

    trafilatura replaces inline elements of a paragraph by text nodes, and lxml takes quadratic time
    for these: from each one it walks back over all before it.
    """
    if not _long_paragraphs(tree):
        return tree
    tree = deepcopy(tree)
    for paragraph in cast("list[HtmlElement]", _long_paragraphs(tree)):
        text, tail = "".join(_text_pieces(paragraph, _INVISIBLE)), paragraph.tail
        paragraph.clear()
        paragraph.text, paragraph.tail = text, tail
    return tree


def _with_stand_ins(tree: HtmlElement) -> HtmlElement:
    """Return a copy of the tree with a printable character for each one for private use."""
    tree = deepcopy(tree)
    for element in tree.iter():
        element.text = element.text and element.text.translate(_STAND_IN)
        element.tail = element.tail and element.tail.translate(_STAND_IN)
    return tree


def _body(tree: HtmlElement) -> HtmlElement:
    body = tree.find("body")
    if body is None:
        body = tree.find(".//body")
    return tree if body is None else body


def _text_pieces(root: HtmlElement, skipped: frozenset[str]) -> Iterator[str]:
    """Yield the text nodes in reading order, with a space wherever an element breaks the line.

    :param skipped: names of the elements to leave out, but for headers that are content.
    """
    walk = etree.iterwalk(root, events=("start", "end"))
    depth = 0
    for event, element in walk:
        if element.tag not in INLINE:
            yield " "
        if event == "end":
            depth -= element.tag in _WITH_HEADER
            yield (element.tail or "") if element is not root else ""
        elif element.tag in skipped and not (depth and element.tag == "header"):
            walk.skip_subtree()
        else:
            depth += element.tag in _WITH_HEADER
            yield element.text or ""


# Silences its warning for every page without an article.
if (_logger := logging.getLogger("trafilatura")).level == logging.NOTSET:
    _logger.setLevel(logging.CRITICAL)
