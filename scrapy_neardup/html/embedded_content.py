"""Collects a page's content beyond its visible text: media, documents, form values, script data.

Two pages that show the same text can still differ in content: in the file behind a link, in a
picture, in a product that a script will show. Copies of one page differ as well, in tokens, times
and addresses of other pages; these volatile parts are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast
from urllib.parse import unquote

from lxml import etree
from lxml.html import HtmlElement

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
_TEXT_ATTRIBUTES = ("alt", "aria-label", "placeholder", "srcdoc", "datetime")
_VALUE_TAGS = frozenset("input button option param data meter progress".split())
_STATE_ATTRIBUTES = ("checked", "selected")
_STYLED = etree.XPath("descendant-or-self::*/@style[contains(., 'url(')]", smart_strings=False)
#: Inline SVG: shapes, coordinates and text, but neither ids nor classes.
_SVG = etree.XPath(
    "descendant::svg//@*[not(contains('|id|class|style|clip-path|mask|filter|fill|', "
    "concat('|', local-name(), '|')))] | descendant::svg//text()",
    smart_strings=False,
)
_DATA_ATTRIBUTES = etree.XPath(
    "descendant-or-self::*/@*[starts-with(name(), 'data-') and "
    "(starts-with(., '{') or starts-with(., '['))]",
    smart_strings=False,
)
#: Matches the HTML of every page that has such an attribute.
_DATA_ATTRIBUTE = re.compile(r"""=\s*["']?(?:[{]|\[)""")

_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
#: A document, media file or archive, by the end of its path.
_FILE = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|mobi|djvu|ps|txt|csv|tsv|zip|rar|7z|tar|t?gz|bz2|"
    r"xz|exe|msi|dmg|apk|deb|rpm|jar|iso|mp3|m4a|ogg|wav|flac|mp4|m4v|webm|avi|mov|mkv|jpe?g|png|"
    r"gif|webp|avif|svg|tiff?|bmp|ics|vcf|kml|gpx|stl|torrent)$",
    re.I,
)
#: A download that a server-side script delivers.
_DOWNLOAD = re.compile(r"(?:^|[/_.-])(?:download|attachment|getfile|file)s?(?:[/_.?-]|$)", re.I)
#: Schemes of links that lead to no page, but say something: whom to call, what to load, where
#: something is.
_CONTENT_SCHEMES = frozenset(
    "mailto tel callto sms sip sips xmpp skype magnet ed2k thunder geo bitcoin litecoin monero "
    "ethereum lightning urn doi spotify".split()
)
#: Parts of numbers of telephones that copies may write in another way.
_PHONE_SCHEMES, _PHONE_SIGNS = frozenset(("tel", "callto", "sms")), re.compile(r"[\s().\-/]+")
#: What a magnet link names; the rest are names of servers.
_MAGNET_TOPIC = re.compile(r"[?&]xt(?:\.\d+)?=([^&]+)", re.I)
_ORIGIN = re.compile(r"^(?:https?:)?//[^/?#]*", re.I)
#: Stripped, because copies may lie at other depths.
_RELATIVE_PREFIX = re.compile(r"^(?:\.{0,2}/)+")
#: Names of parameters and fields that differ from one copy of a page to the next.
_VOLATILE_NAME = re.compile(
    r"token|nonce|csrf|xsrf|session|sess?id|captcha|viewstate|eventvalidation|authenticity|"
    r"form_build_id|timestamp|signature|expires|^(?:_|t|ts|time|rand|random|sid|"
    r"utm_\w+|fbclid|gclid|ref|referr?er|return\w*|redirect\w*|next|url|uri|back\w*)$",
    re.I,
)
#: Names of parameters that sign or number a request for what the others name.
_SIGNING_NAME = re.compile(
    r"^(?:sig|hmac|auth|policy|key-pair-id|oh|oe|cb|rnd|nocache|cache\w*|v|ver|version|"
    r"x-(?:amz|goog)-\w+(?:-\w+)*)$",
    re.I,
)
#: Names of parameters with the address of what a script delivers in another size.
_SOURCE_NAMES = frozenset(("url", "uri"))
#: A moment or a random number, which tells no two files apart.
_PASSING_VALUE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|0\.\d{8,}|1[4-9]\d{8}(?:\d{3})?$", re.A)
#: Volatile in a file's address only; in a video player's ``v`` may name the video.
_VERSION_NAMES = frozenset(("v", "ver", "version"))
#: Values that differ likewise: long numbers, random letters and digits, timestamps.
_VOLATILE_VALUE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z-]*|0\.\d{8,}|\d{9,}\b|"
    r"(?=[A-Za-z+/=_-]{0,40}\d)(?=[\d+/=_-]{0,40}[A-Za-z])[\w+/=-]{12,})",
    re.A,
)
#: An object or array that a script assigns.
_ASSIGNED = re.compile(
    r"""=\s*(?:JSON\.parse\(|[\[{]\s*["{\[])|__NUXT__|__next_f|__INITIAL|__PRELOADED|__sveltekit"""
)
#: A value within such an object that is not empty.
_NON_EMPTY_VALUE = re.compile(r"""[:,\[(]\s*(?:["'][^"']|[\w{\[])""")
#: A script with more functions than this is a program, whatever it assigns.
_MAX_FUNCTIONS = 5
_DATA_TYPES = ("json", "html", "template")
#: In script data, absolute URLs are volatile as well.
_VOLATILE_DATA = re.compile(rf"{_VOLATILE_VALUE.pattern}|(?:\\{{0,3}}/){{2}}[^\s\"'<>]*", re.A)


def embedded_content(body: HtmlElement, html: str) -> str:
    """Return the content of a page besides its visible text and script data.

    It has a line for each element with content in its attributes, and for each other item.

    :param body: as parsed, with invisible elements.
    :param html: source of the page, searched first to skip needless work on the tree.
    """
    elements = list(body.iter(*_CONTENT_TAGS))
    known = set(elements)
    elements += (e for e in cast("list[HtmlElement]", _OTHER_MEDIA(body)) if e not in known)
    found = [*_attribute_content(elements), *_linked(body.iter("a", "area"))]
    if "url(" in html:
        found += map(_stable_address, _style_urls(body))
    if "<svg" in html:
        found += cast("list[str]", _SVG(body))
    for element in _inert(body):
        if texts := [text.strip() for text in element.itertext()]:
            # Two lines at least: scripts may show another content on a page that lacks them.
            found += ["", *texts]
    return "\n".join(found)


def files_of(body: HtmlElement) -> list[str]:
    """Return the addresses of the media that a page shows and of the documents that it links to.

    Media within their addresses (``data:``) are left out.
    """
    shown = (e for e in body.iter(*_CONTENT_TAGS) if not _is_tracking_pixel(e))
    media = [url for element in shown for url in _media(element)]
    media += (_stable_address(url) for url in _style_urls(body))
    found = [url for url in media if url and url[:5].lower() != "data:"]
    return [*found, *_documents(body.iter("a", "area"))]


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
        found += cast("list[str]", _DATA_ATTRIBUTES(tree))
    return found


def is_data(kind: str, text: str) -> bool:
    """Return whether a script element of this type and text contains data, and is no program."""
    if any(part in kind.lower() for part in _DATA_TYPES):
        return True
    is_program = text.count("function") > _MAX_FUNCTIONS
    return not is_program and bool(_ASSIGNED.search(text) and _NON_EMPTY_VALUE.search(text))


def without_volatile(data: str) -> str:
    """Remove from script data what differs from one copy of a page to the next."""
    return _VOLATILE_DATA.sub("", data)


def _attribute_content(elements: Iterable[HtmlElement]) -> Iterator[str]:
    """Yield a line for each element that has content in its attributes."""
    for element in elements:
        if element.tag not in ("script", "link") and not _is_tracking_pixel(element):
            content = "\t".join(_attributes(element))
            if content:
                yield content


def _attributes(element: HtmlElement) -> Iterator[str]:
    yield from _media(element)
    yield from filter(None, map(element.get, _TEXT_ATTRIBUTES))
    if element.tag in _VALUE_TAGS:
        yield from _value(element)


def _media(element: HtmlElement) -> Iterator[str]:
    """Yield the addresses of the files that an element shows."""
    yield from (_stable_address(url) for url in map(element.get, _URL_ATTRIBUTES) if url)
    for candidates in filter(None, map(element.get, _SRCSET_ATTRIBUTES)):
        # "a.png 1x, b.png 2x"; addresses may contain commas.
        parts = map(str.split, candidates.split(", "))
        yield from (_stable_address(part[0]) for part in parts if part)


def _style_urls(body: HtmlElement) -> Iterator[str]:
    for style in cast("list[str]", _STYLED(body)):
        yield from _CSS_URL.findall(style)


def _value(element: HtmlElement) -> Iterator[str]:
    name, value = element.get("name") or "", element.get("value") or ""
    if not _VOLATILE_NAME.search(name) and not _VOLATILE_VALUE.search(value):
        yield f"{name}={value}"
    yield from (state for state in _STATE_ATTRIBUTES if element.get(state) is not None)


def _linked(links: Iterable[HtmlElement]) -> Iterator[str]:
    """Yield what links lead to that is no page."""
    links = list(links)
    yield from _documents(links)
    yield from filter(None, (_said_by(link.get("href") or "") for link in links))


def _documents(links: Iterable[HtmlElement]) -> Iterator[str]:
    """Yield the addresses of linked files; linked pages are crawled and judged by themselves."""
    for link in links:
        href = link.get("href") or ""
        path = _path(href)
        if _FILE.search(path) or link.get("download") is not None or _DOWNLOAD.search(path):
            yield _stable_address(href)


def _said_by(href: str) -> str:
    """Return whom or what a link names that leads to no page; empty where that is nobody.

    Links to share a page name nobody: ``mailto:?subject=...``.
    """
    scheme, _, rest = href.strip().partition(":")
    scheme = scheme.lower()
    if scheme not in _CONTENT_SCHEMES:
        return ""
    if scheme == "magnet":
        named = "&".join(sorted(map(str.lower, _MAGNET_TOPIC.findall(rest))))
    else:
        named = unquote(rest.partition("?")[0]).strip("/ ")
    if scheme == "mailto":
        named = named.lower()
    if scheme in _PHONE_SCHEMES:
        named = _PHONE_SIGNS.sub("", named)
    return f"{scheme}:{named}" if named else ""


def _stable_address(url: str) -> str:
    """Return a URL without its host and its volatile parts."""
    url = url.strip()
    if url[:5].lower() == "data:":
        return url
    path, _, query = _ORIGIN.sub("", url).partition("#")[0].partition("?")
    is_file = _FILE.search(path) is not None
    params = [(name, value) for name, _, value in (p.partition("=") for p in query.split("&"))]
    if is_file or "captcha" in path.lower():
        kept = [
            (name, value)
            for name, value in params
            if name and not (is_file and name in _VERSION_NAMES)
            if not _VOLATILE_NAME.search(name) and not _VOLATILE_VALUE.search(value)
        ]
    else:
        kept = _identifying(params)
    named = (f"{name}={value}" for name, value in kept)
    return "&".join((_RELATIVE_PREFIX.sub("", path.partition(";")[0]), *named))


def _identifying(params: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the parameters that tell a script which file to deliver: a hash may be all of it."""
    kept = []
    for name, value in params:
        if name in _SOURCE_NAMES and value:
            kept.append((name, _stable_address(unquote(value))))
        elif name and not _VOLATILE_NAME.search(name):
            is_id = name.lower().endswith("id")
            if is_id or not _PASSING_VALUE.match(value):
                kept.append((name, value))
    return [pair for pair in kept if not _SIGNING_NAME.search(pair[0])] or kept


def _path(url: str) -> str:
    return _ORIGIN.sub("", url.strip()).partition("#")[0].partition("?")[0].partition(";")[0]


def _is_tracking_pixel(element: HtmlElement) -> bool:
    """Return whether an element counts visits; its address changes with each of them."""
    return element.get("width") in ("0", "1") and element.get("height") in ("0", "1")
