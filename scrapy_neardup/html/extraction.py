"""HTML to main text: the article where there is one, otherwise all that is visible.

The page is parsed once, as trafilatura would parse it, and always from the HTML. The tree
that Scrapy may have parsed already keeps comments and is not repaired; taking it would
save a twentieth of the time and change the text of one page in a hundred, and a page's
fingerprint must not depend on whether a spider looked at it first.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from copy import deepcopy
from importlib.util import find_spec
from typing import NamedTuple, Protocol, cast

import trafilatura
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, fromstring

from ..exceptions import ExtractionError, InvalidOption, LimitExceeded, NeedsScripts
from .consent_overlays import remove_consent_overlays
from .embedded_content import content_of, data_of, lasting
from .limits import PageLimits
from .sanitizing import repaired
from .script_shells import has_empty_root, has_scripts, holds_hidden_text, needs_scripts

_DEFAULT_LIMITS = PageLimits()

#: Where a page says that it is one.
_BEGINNING = 50

#: Not seen.
_NOT_SEEN = frozenset("script style noscript template head title svg canvas".split())
#: Not seen, or seen on every page of a site.
_NOT_CONTENT = _NOT_SEEN | frozenset(
    "nav header footer aside menu select option button textarea iframe object".split()
)
#: Elements that do not break a word or a line.
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rp ruby s samp "
    "small span strike strong sub sup time tt u var wbr".split()
)


class MainText(NamedTuple):
    """What is read of a page; empty strings where there is nothing.

    :ivar title: of the page.
    :ivar text: main text.
    :ivar shown: all text of the body, menus included, as many pieces as there are between tags.
    :ivar held: what else may be another content though the text is equal, see
        :func:`~scrapy_neardup.html.embedded_content.content_of`, the data for scripts and, where
            these hold
        text that is not shown, the title; ``None`` where only the text is known.
    :ivar whole: all that the page is made of but comments, in UTF-8.
    """

    title: str
    text: str
    shown: str
    held: str | None = None
    whole: bytes = b""


class Extractor(Protocol):
    """Takes the main text out of a page. A plain function of this shape does as well.

    It is given the HTML and the tree parsed from it, which it must leave as it is, and returns
    ``None`` or an empty string where there is no text.
    """

    def __call__(self, html: str, tree: HtmlElement, /) -> str | None: ...


def read_page(html: str, extractor: Extractor, limits: PageLimits = _DEFAULT_LIMITS) -> MainText:
    """Title and main text of a page, and all that it shows.

    How large the page is has been asked already, of its bytes: decoded, it has another size.

    :raises LimitExceeded: when the page is beyond one of the other limits.
    :raises NeedsScripts: when it shows next to nothing of its content.
    :raises ExtractionError: when the parser or the extractor fails on it.
    """
    try:
        html = repaired(html)
        tree = _parsed_page(html, limits)
        if tree is None:
            return MainText("", "", "", "", html.encode("utf-8", "surrogatepass"))
        page = _read_tree(html, tree, extractor)
    except (LimitExceeded, NeedsScripts):
        raise
    except Exception as error:
        # Extractors meet every page of the web and raise whatever their libraries raise; a page
        # that cannot be read is kept, and the crawl goes on.
        raise ExtractionError(_name_of(extractor), error) from error
    limits.check_text(page.title, page.text, page.shown)
    return page


def _read_tree(html: str, tree: HtmlElement, extractor: Extractor) -> MainText:
    """What is read of a page that was parsed. What is not seen is taken out of its tree.

    :raises NeedsScripts: when it shows next to nothing of its content.
    """
    title, whole = _title(tree), etree.tostring(tree, encoding="utf-8")
    body = _body(tree)
    remove_consent_overlays(body, html)
    text = extractor(html, tree) or ""
    data = data_of(tree, html)
    held = "\n".join([content_of(body, html), *map(lasting, data)])
    scripts, is_empty = has_scripts(tree), has_empty_root(body, html)
    shown = _shown(body)
    if scripts and needs_scripts(body, text, shown, data, has_empty_root=is_empty):
        raise NeedsScripts
    if data and holds_hidden_text(shown, data):
        # Scripts may show the rest, so what is shown is not all that tells this page from others.
        held = f"{title}\n{held}"
    return MainText(title, text, shown, held, whole)


def read_fragment(markup: str, limits: PageLimits = _DEFAULT_LIMITS) -> str:
    """Text of a field that holds plain text or a piece of HTML; all of it is content.

    :raises LimitExceeded: when it is beyond a limit.
    :raises ExtractionError: when the parser fails on it.
    """
    limits.check_body(markup)
    if "<" not in markup:
        limits.check_text(markup)
        return markup
    try:
        tree = _parsed(repaired(f"<html><body><div>{markup}</div></body></html>"), limits)
        text = "" if tree is None else "".join(_pieces(tree, _NOT_SEEN))
    except LimitExceeded:
        raise
    except Exception as error:
        raise ExtractionError("fragment", error) from error
    limits.check_text(text)
    return text


def article_text(html: str, tree: HtmlElement) -> str | None:
    """The article by trafilatura, without readers' comments; all visible text if there is none."""
    text = trafilatura.extract(_without_long_paragraphs(tree), include_comments=False)
    return text or visible_text(html, tree)


def visible_text(html: str, tree: HtmlElement) -> str | None:
    """All text of the body but menus, heads, feet, side bars and forms."""
    return "".join(_pieces(_body(tree), _NOT_CONTENT)).strip()


def resiliparse_text(html: str, tree: HtmlElement) -> str | None:
    """The article by resiliparse, which parses the page by itself; else all visible text."""
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(html, main_content=True, preserve_formatting=False, alt_texts=False)
    return text or visible_text(html, tree)


def shipped_extractor(name: str) -> tuple[Extractor, str]:
    """The extractor of that name and an identity under which its texts can be compared.

    :raises InvalidOption: when there is none of that name, or its package is not installed.
    """
    if name == "trafilatura":
        return article_text, "trafilatura-1"
    if name == "visible":
        return visible_text, "visible-1"
    if name != "resiliparse":
        raise InvalidOption(
            "extractor", name, "'trafilatura', 'resiliparse', 'visible' or an import path"
        )
    if not find_spec("resiliparse"):
        raise InvalidOption(
            "extractor",
            name,
            "installed (pip install scrapy-neardup[resiliparse]), or 'trafilatura'",
        )
    return resiliparse_text, "resiliparse-1"


def _parsed_page(html: str, limits: PageLimits) -> HtmlElement | None:
    """The page's tree; ``None`` where there is no element, or nothing that looks like a page."""
    tree = _parsed(html, limits)
    if tree is None or (len(tree) < 2 and "html" not in html[:_BEGINNING].lower()):
        return None
    return tree


def _parsed(html: str, limits: PageLimits) -> HtmlElement | None:
    """The tree as trafilatura would have it, but however deep and however long its texts.

    :raises LimitExceeded: when it would take long to parse or is too deep.
    """
    limits.check_markup(html)
    # A parser of its own for each page: a parser can do one thing at a time.
    parser = HTMLParser(
        collect_ids=False,
        encoding="utf-8",
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        tree = fromstring(html.encode(), parser=parser)
    except etree.ParserError:  # there is no element
        return None
    limits.check_tree(tree)
    return tree


def _title(tree: HtmlElement) -> str:
    for title in tree.iter("title"):
        # A picture's title is not the page's.
        if next(title.iterancestors("svg"), None) is None:
            return " ".join(title.text_content().split())
    return ""


#: In one paragraph; 1,116 are the most on 3,476 real pages.
_MANY_INLINE = 2000
_long_paragraphs = etree.XPath(f"descendant::p[count(descendant::*) > {_MANY_INLINE}]")
_texts = etree.XPath("descendant::text()", smart_strings=False)


def _shown(body: HtmlElement) -> str:
    """All text of the body, each piece between two tags by itself.

    What is not seen is taken out of the tree for good: nothing else is asked of it after that.
    """
    etree.strip_elements(body, *_NOT_SEEN, with_tail=False)
    return " ".join(cast("list[str]", _texts(body)))


def _without_long_paragraphs(tree: HtmlElement) -> HtmlElement:
    """The tree, or a copy whose paragraphs of very many elements hold their text alone.

    trafilatura takes inline elements out of paragraphs and leaves a text node for each. lxml then
    walks from each text node back over all that stand before it.
    """
    if not _long_paragraphs(tree):
        return tree
    tree = deepcopy(tree)
    for paragraph in cast("list[HtmlElement]", _long_paragraphs(tree)):
        text, tail = "".join(_pieces(paragraph, _NOT_SEEN)), paragraph.tail
        paragraph.clear()
        paragraph.text, paragraph.tail = text, tail
    return tree


def _body(tree: HtmlElement) -> HtmlElement:
    for child in tree:
        if child.tag == "body":
            return child
    body = tree.find(".//body")
    return tree if body is None else body


def _pieces(root: HtmlElement, left_out: frozenset[str]) -> Iterator[str]:
    """Text nodes in reading order, with a space wherever an element breaks the line."""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element.tag not in _INLINE:
            yield " "
        if event == "end":
            yield (element.tail or "") if element is not root else ""
        elif element.tag in left_out:
            walk.skip_subtree()
        else:
            yield element.text or ""


def _name_of(extractor: Extractor) -> str:
    return getattr(extractor, "__name__", type(extractor).__name__)


def _quieten_trafilatura() -> None:
    """trafilatura warns of every page without an article; that is counted here, not logged."""
    logger = logging.getLogger("trafilatura")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


_quieten_trafilatura()
