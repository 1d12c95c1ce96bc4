"""Collects a page's content beyond its visible text: media, documents, form values, script data.

Two pages that show the same text can still differ in content: in the file behind a link, in a
picture, in a product that a script will show. Copies of one page differ as well, in tokens, times
and addresses of other pages; these volatile parts are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from ..links.addresses import (
    VOLATILE_VALUE,
    is_beside_page,
    is_volatile,
    leads_to_file,
    path_of,
    said_by,
    stable_address,
    unprotected,
)
from ..links.file_suffixes import is_file
from ..links.third_parties import is_advertisement, is_embedding_script
from .object_literals import assigned_literals
from .states import marked_states
from .volatile_data import lasting_pair, without_volatile

#: Elements with content in their attributes.
_CONTENT_TAGS = (
    *("img", "image", "source", "video", "audio", "track", "iframe", "frame", "embed", "object"),
    *("param", "input", "button", "area", "option", "meter", "progress", "time", "data"),
)
#: Other elements with addresses of media. Going from the attributes to their elements is faster
#: than testing all elements.
_OTHER_MEDIA = etree.XPath("(descendant::*/@data-src | descendant::*/@src)/..")
_URL_ATTRIBUTES = ("src", "data-src", "data-original", "data-lazy-src", "poster", "data")
_SRCSET_ATTRIBUTES = ("srcset", "data-srcset", "imagesrcset")
#: Names of pictures that stand in for one that is loaded late.
_WAITING = re.compile(
    r"spinner|load(?:ing|er)|blank|placeholder|pixel|spacer|transparent", re.IGNORECASE
)
#: Attributes whose picture is loaded late, and characters of one that stands there until then.
_LATE_ATTRIBUTES = ("data-src", "data-original", "data-lazy-src", "data-srcset")
_MAX_STAND_IN = 2000
_TEXT_ATTRIBUTES = ("alt", "aria-label", "placeholder", "srcdoc", "datetime")
_VALUE_TAGS = frozenset("input button option param data meter progress".split())
_STATE_ATTRIBUTES = ("checked", "selected")
_STYLED = etree.XPath("descendant-or-self::*/@style[contains(., 'url(')]", smart_strings=False)
#: Inline SVG: shapes, coordinates and text, but neither ids nor classes.
_SVG = etree.XPath(
    "descendant::svg//@*[not(contains('|id|class|style|clip-path|mask|filter|fill|', "
    "concat('|', local-name(), '|')))] | descendant::svg//text()[normalize-space()]",
)
_DATA_ATTRIBUTES = etree.XPath(
    "descendant-or-self::*/@*[starts-with(name(), 'data-') and "
    "(starts-with(., '{') or starts-with(., '['))]",
)
#: The same of components, in attributes such as ``:product`` and ``x-data``.
_COMPONENT_ATTRIBUTES = etree.XPath(
    "descendant-or-self::*/@*[not(starts-with(name(), 'data-')) and "
    "(starts-with(., '{') or starts-with(., '[')) and "
    "not(contains('|class|style|id|', concat('|', name(), '|')))]",
)
#: Two numbers or more, as a chart has them.
_NUMBERS = re.compile(r"\[(?:\s{0,9}-?\d[\d.]{0,18}\s{0,9},)+\s{0,9}-?\d[\d.]{0,18}\s{0,9}\]")
#: Values of microdata and RDFa that are not shown: a content, or a value of schema.org. Counters
#: ("interactionCount") differ from one visit to the next.
_MICRODATA = etree.XPath(
    "descendant-or-self::*[@itemprop or @property]"
    "[not(contains(concat(@itemprop, @property), 'Count'))]/@content[not(contains(., '://'))] | "
    "descendant-or-self::*[@itemprop or @property]/@href[contains(., 'schema.org/')]",
)
_PROTECTED_MAIL = etree.XPath("descendant-or-self::*/@data-cfemail", smart_strings=False)
#: What stands for an image or stars, and is read out in their place.
_READ_OUT = etree.XPath(
    "descendant-or-self::*[@aria-label][self::div or self::span or self::i or self::p]"
    "[not(.//text()[normalize-space()])][not(ancestor::a or ancestor::button)]/@aria-label",
    smart_strings=False,
)
#: Documents that the head names.
_OF_HEAD = etree.XPath(
    "/html/head/link[contains(@rel, 'alternate')][starts-with(@type, 'application/pdf')]/@href | "
    "/html/head/meta[@name = 'citation_pdf_url']/@content",
    smart_strings=False,
)
_LATE_MEDIA = etree.XPath(
    "descendant-or-self::*/@*[starts-with(name(), 'data-') and contains(., '.') and "
    "not(contains('|data-src|data-original|data-lazy-src|data-srcset|', "
    "concat('|', name(), '|')))]",
)
#: Matches the HTML of every page that has such an attribute.
_DATA_ATTRIBUTE = re.compile(r"""=\s*["']?(?:[{]|\[)""")

#: A text in quotes that may be an address, as of a film that a player is told to load.
_QUOTED = re.compile(r"""["'`]([\w./%~\\-][^"'`\s<>]{3,500})["'`]""")
#: Behind the names of all attributes.
_LAST = "\x7f"
_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
#: An object or array that a script assigns.
_ASSIGNED = re.compile(
    r"""=\s*(?:JSON\.parse\(|[\[{]\s*["{\[])|__NUXT__|__next_f|__INITIAL|__PRELOADED|__sveltekit|"""
    r"""\bstreamController\.enqueue\("""
)
#: A value within such an object that is not empty.
_NON_EMPTY_VALUE = re.compile(r"""[:,\[(]\s*(?:["'][^"']|[\w{\[])""")
#: A script with more functions than this is a program, whatever it assigns.
_MAX_FUNCTIONS = 5
#: Types of programs, and of data. Optimisers and consent managers give programs any type, so what
#: has another type is told by its text.
_PROGRAM_TYPE = re.compile(r".*script.*|module|importmap|speculationrules|x-shader/.*|.*-config")
_DATA_TYPE = re.compile(r".*(?:json|html|template|xml|csv|init)")
_PROGRAM = re.compile(r"\b(?:function|var|let|const|window|document)\b|=>|\w\(|\.push\b")


class EmbeddedContent(NamedTuple):
    """The content of a page or a fragment besides its visible text.

    :ivar content: a line for each element with content in its attributes, and for each other item.
    :ivar beside: addresses of media and linked files that lie beside the page.
    """

    content: str
    beside: list[str]


def embedded_content(body: HtmlElement, html: str) -> EmbeddedContent:
    """Return the content of a page besides its visible text and script data.

    :param body: as parsed, with invisible elements.
    :param html: source of the page, searched first to skip needless work on the tree.
    """
    elements = list(body.iter(*_CONTENT_TAGS))
    links = list(body.iter("a", "area"))
    files = [*_files_behind(links), *_late_media(body, html)]
    files += cast("list[str]", _OF_HEAD(body)) if "pdf" in html else []
    addresses = chain(chain.from_iterable(map(_media, elements)), files)
    beside = [url for url in map(str.strip, addresses) if is_beside_page(url)]
    known = set(elements)
    elements += (e for e in cast("list[HtmlElement]", _OTHER_MEDIA(body)) if e not in known)
    found = [*_attribute_content(elements), *map(stable_address, files)]
    found += filter(None, (said_by(link.get("href") or "") for link in links))
    if _DATA_ATTRIBUTE.search(html):
        found += map(without_volatile, _in_order(_COMPONENT_ATTRIBUTES, body))
    if "itemprop" in html or has_rdfa(html):
        values = _in_order(_MICRODATA, body)
        found += (value for value in values if not VOLATILE_VALUE.search(value))
    if "data-cfemail" in html:
        found += map(unprotected, cast("list[str]", _PROTECTED_MAIL(body)))
    if "aria-label" in html:
        found += cast("list[str]", _READ_OUT(body))
    if "url(" in html:
        found += map(stable_address, _style_urls(body))
    if "<svg" in html:
        found += (" ".join(part.split()) for part in _in_order(_SVG, body))
    found += marked_states(body, html)
    for element in _inert(body):
        if texts := [" ".join(text.split()) for text in element.itertext() if text.strip()]:
            # Two lines at least: scripts may show another content on a page that lacks them.
            found += ["", *texts]
    return EmbeddedContent("\n".join(found), beside)


def held_content(
    tree: HtmlElement, body: HtmlElement, html: str, data: Iterable[str]
) -> EmbeddedContent:
    """Return all content besides the visible text: embedded content, data, and that of programs.

    :param tree: as parsed, with invisible elements.
    :param body: its part that may be shown.
    :param html: source of the tree.
    :param data: see :func:`script_data`.
    """
    # Two lines at least, as for templates: scripts may show another content on a page that lacks
    # them.
    blocks = [f"\n{without_volatile(each)}" for each in data]
    embedded = embedded_content(body, html)
    held = "\n".join(filter(None, [embedded.content, *blocks, *content_of_programs(tree)]))
    return embedded._replace(content=held)


def has_rdfa(html: str) -> bool:
    """Return whether a page may state properties of schema.org as RDFa does."""
    return "property=" in html and ("vocab=" in html or "schema:" in html)


def files_of(body: HtmlElement) -> list[str]:
    """Return the addresses of the media that a page shows and of the documents that it links to.

    Media within their addresses (``data:``) are left out.
    """
    shown = (e for e in body.iter(*_CONTENT_TAGS) if not _is_tracking_pixel(e))
    media = [url for element in shown for url in _media(element)]
    found = [*media, *_style_urls(body), *_files_behind(body.iter("a", "area"))]
    return [url for url in map(stable_address, found) if url and url[:5].lower() != "data:"]


def _inert(body: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the outermost elements that a browser with scripts does not show, or not yet."""
    for element in body.iter("template", "noscript"):
        if next(element.iterancestors("template", "noscript"), None) is None:
            yield element


def script_data(tree: HtmlElement, html: str) -> list[str]:
    """Return a page's data for scripts: script elements that are no programs, and attributes."""
    found = [
        f"{script.get('id', '')}\n{script.text}"
        for script in tree.iter("script")
        if script.text and is_data(script.get("type") or "", script.text)
    ]
    if _DATA_ATTRIBUTE.search(html):
        found += _in_order(_DATA_ATTRIBUTES, tree)
    return found


def content_of_programs(tree: HtmlElement) -> list[str]:
    """Return lists of numbers, objects and addresses of files of a page's scripts and style sheets.

    Data are left out, see :func:`script_data`, and so are large programs.
    """
    texts = (
        s.text for s in tree.iter("script") if s.text and not is_data(s.get("type") or "", s.text)
    )
    small = [text for text in texts if text.count("function") <= _MAX_FUNCTIONS]
    numbers = [without_volatile(each) for text in small for each in _NUMBERS.findall(text)]
    objects = filter(None, (_lasting_object(each) for t in small for each in assigned_literals(t)))
    quoted = (each.replace("\\/", "/") for text in small for each in _QUOTED.findall(text))
    styles = (style.text for style in tree.iter("style") if style.text)
    files = chain(quoted, *map(_CSS_URL.findall, styles))
    return [*numbers, *objects, *_addresses_of_files(files)]


def _addresses_of_files(urls: Iterable[str]) -> list[str]:
    return [stable_address(url) for url in urls if is_file(path_of(url))]


def _lasting_object(pairs: list[tuple[str, str]]) -> str:
    """Return what an object of a program says on each copy of a page; empty if that is nothing."""
    lasting = [pair for pair in map(lasting_pair, pairs) if pair[1]]
    if not any(name for name, _ in lasting):
        return ""
    # Two lines, as for other data.
    return "\n" + "\t".join(without_volatile(f"{name}: {value}") for name, value in lasting)


def is_data(kind: str, text: str) -> bool:
    """Return whether a script element of this type and text contains data, and is no program."""
    kind = kind.strip().lower()
    if kind and not _PROGRAM_TYPE.fullmatch(kind):
        return _DATA_TYPE.match(kind) is not None or not _PROGRAM.search(text)
    is_program = text.count("function") > _MAX_FUNCTIONS
    return not is_program and bool(_ASSIGNED.search(text) and _NON_EMPTY_VALUE.search(text))


def _attribute_content(elements: Iterable[HtmlElement]) -> Iterator[str]:
    """Yield a line for each element that has content in its attributes."""
    for element in elements:
        if element.tag == "link" or _is_tracking_pixel(element):
            continue
        sources = (element.get("src") or "", element.get("data-src") or "")
        if any(map(is_advertisement, sources)):
            continue
        if element.tag == "script" and not any(map(is_embedding_script, sources)):
            continue
        if content := "\t".join(_attributes(element)):
            yield content


def _attributes(element: HtmlElement) -> Iterator[str]:
    # The sizes of one picture have one address.
    yield from dict.fromkeys(map(stable_address, _media(element)))
    yield from filter(None, map(element.get, _TEXT_ATTRIBUTES))
    if element.tag in _VALUE_TAGS:
        yield from _value(element)


def _media(element: HtmlElement) -> Iterator[str]:
    """Yield the addresses of the files that an element shows, as they stand there."""
    source, *others = map(element.get, _URL_ATTRIBUTES)
    if source and not (_is_stand_in(source) and any(map(_is_picture, _late(element)))):
        yield source
    yield from filter(None, others)
    for candidates in filter(None, map(element.get, _SRCSET_ATTRIBUTES)):
        # "a.png 1x, b.png 2x"; addresses may contain commas.
        yield from (part[0] for part in map(str.split, candidates.split(", ")) if part)


def _late(element: HtmlElement) -> Iterator[str]:
    """Yield the addresses from which a script loads the picture of an element."""
    for value in filter(None, map(element.get, _LATE_ATTRIBUTES)):
        yield from value.split()[:1]


def _is_picture(address: str) -> bool:
    """Return whether an address names a file, and not one shown until another is loaded."""
    path = path_of(address)
    return is_file(path) and _WAITING.search(path) is None


def _is_stand_in(url: str) -> bool:
    """Return whether an address is a picture that stands there until another one is loaded."""
    return len(url) <= _MAX_STAND_IN and url[:11].lower() == "data:image/"


def _late_media(body: HtmlElement, html: str) -> Iterator[str]:
    """Yield the addresses of media in other attributes, from which scripts load them."""
    if "data-" not in html:
        return
    for value in _in_order(_LATE_MEDIA, body):
        yield from (url for url in _CSS_URL.findall(value) or [value] if is_file(path_of(url)))


def _in_order(path: etree.XPath, root: HtmlElement) -> Iterator[str]:
    """Yield attributes and texts, those of one element in an order that no template changes."""
    found = cast("list[etree._ElementUnicodeResult]", path(root))
    for _, parts in groupby(found, etree._ElementUnicodeResult.getparent):
        yield from sorted(parts, key=lambda part: part.attrname or _LAST)


def _style_urls(body: HtmlElement) -> Iterator[str]:
    for style in cast("list[str]", _STYLED(body)):
        yield from _CSS_URL.findall(style)


def _value(element: HtmlElement) -> Iterator[str]:
    name, value = element.get("name") or "", element.get("value") or ""
    # Joomla's token is the name of a field.
    if not is_volatile(name, value) and not VOLATILE_VALUE.fullmatch(name):
        yield f"{name}={value}"
    yield from (state for state in _STATE_ATTRIBUTES if element.get(state) is not None)


def _files_behind(links: Iterable[HtmlElement]) -> Iterator[str]:
    """Yield the addresses of linked files; linked pages are crawled and judged by themselves."""
    return (link.get("href") or "" for link in links if leads_to_file(link))


def _is_tracking_pixel(element: HtmlElement) -> bool:
    """Return whether an element counts visits; its address changes with each of them."""
    return element.get("width") in ("0", "1") and element.get("height") in ("0", "1")
