"""What a page holds besides the text that it shows: media, documents, values, data for scripts.

Two pages that show the same text can still be two contents: another file behind the same link,
another picture, a product that a script will show. Copies of one page vary as well, in tokens,
times and addresses of other pages; these are left out of what is compared here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

#: Elements that hold content in attributes, and the attributes that may hold some.
_HOLDERS = (
    *("img", "image", "source", "video", "audio", "track", "iframe", "frame", "embed", "object"),
    *("param", "input", "button", "area", "option", "meter", "progress", "time", "data"),
)
#: Other elements with addresses of media. From attributes to their elements: to ask all elements
#: whether they have some takes longer.
_OTHER_HOLDERS = etree.XPath("(descendant::*/@data-src | descendant::*/@src)/..")
_ADDRESSES = ("src", "data-src", "data-original", "data-lazy-src", "poster", "data")
_SETS = ("srcset", "data-srcset", "imagesrcset")
_TEXTS = ("alt", "aria-label", "placeholder", "srcdoc", "datetime")
_VALUED = frozenset("input button option param data meter progress".split())
_STATES = ("checked", "selected")
_STYLED = etree.XPath("descendant-or-self::*/@style[contains(., 'url(')]", smart_strings=False)
#: Drawings within the page: their lines, places and words, but not their names and classes.
_DRAWN = etree.XPath(
    "descendant::svg//@*[not(contains('|id|class|style|clip-path|mask|filter|fill|', "
    "concat('|', local-name(), '|')))] | descendant::svg//text()",
    smart_strings=False,
)
_DATA_ATTRIBUTES = etree.XPath(
    "descendant-or-self::*/@*[starts-with(name(), 'data-') and "
    "(starts-with(., '{') or starts-with(., '['))]",
    smart_strings=False,
)
#: Only where the page's HTML holds this has one of its attributes data.
_DATA_ATTRIBUTE = re.compile(r"""=\s*["']?(?:[{]|\[)""")

_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
#: A file that is read, heard or looked at for its own sake.
_FILE = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|mobi|djvu|ps|txt|csv|tsv|zip|rar|7z|tar|t?gz|bz2|"
    r"xz|exe|msi|dmg|apk|deb|rpm|jar|iso|mp3|m4a|ogg|wav|flac|mp4|m4v|webm|avi|mov|mkv|jpe?g|png|"
    r"gif|webp|avif|svg|tiff?|bmp|ics|vcf|kml|gpx|stl|torrent)$",
    re.I,
)
#: A download that a script of the server answers.
_DOWNLOAD = re.compile(r"(?:^|[/_.-])(?:download|attachment|getfile|file)s?(?:[/_.?-]|$)", re.I)
_ORIGIN = re.compile(r"^(?:https?:)?//[^/?#]*", re.I)
#: Copies lie at other depths.
_UP = re.compile(r"^(?:\.{0,2}/)+")
#: Names of what differs from one copy of a page to the next.
_PASSING = re.compile(
    r"token|nonce|csrf|xsrf|session|sess?id|captcha|viewstate|eventvalidation|authenticity|"
    r"form_build_id|timestamp|signature|expires|^(?:_|t|ts|time|rand|random|sid|"
    r"utm_\w+|fbclid|gclid|ref|referr?er|return\w*|redirect\w*|next|url|uri|back\w*)$",
    re.I,
)
#: Of a file's address also this; of a player's it may say which film.
_VERSION = frozenset(("v", "ver", "version"))
#: Values that do: long numbers, random letters and digits, moments.
_RANDOM = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z-]*|0\.\d{8,}|\d{9,}\b|"
    r"(?=[A-Za-z+/=_-]{0,40}\d)(?=[\d+/=_-]{0,40}[A-Za-z])[\w+/=-]{12,})",
    re.A,
)
#: Scripts that are data: of a type that no browser runs, or an object that is put somewhere.
_ASSIGNED = re.compile(
    r"""=\s*(?:JSON\.parse\(|[\[{]\s*["{\[])|__NUXT__|__next_f|__INITIAL|__PRELOADED|__sveltekit"""
)
#: An object of empty values holds nothing.
_GIVEN = re.compile(r"""[:,\[(]\s*(?:["'][^"']|[\w{\[])""")
#: More of them are a program, whatever it puts somewhere.
_FEW_FUNCTIONS = 5
_TEMPLATES = ("html", "template")
#: In data for scripts also the addresses of pages.
_PASSING_DATA = re.compile(rf"{_RANDOM.pattern}|(?:\\{{0,3}}/){{2}}[^\s\"'<>]*", re.A)


def content_of(body: HtmlElement, html: str) -> str:
    """What may be another content though the text is equal, a line each.

    :param body: as it was parsed: what is not seen is still in it.
    :param html: of the page; what it does not hold is not looked for in the tree.
    """
    held = list(body.iter(*_HOLDERS))
    known = set(held)
    held += (e for e in cast("list[HtmlElement]", _OTHER_HOLDERS(body)) if e not in known)
    found = [*_held(held), *_documents(body.iter("a", "area"))]
    if "url(" in html:
        styles = cast("list[str]", _STYLED(body))
        found += (_address(url) for style in styles for url in _CSS_URL.findall(style))
    if "<svg" in html:
        found += cast("list[str]", _DRAWN(body))
    found += (text.strip() for e in _unseen(body) for text in e.itertext())
    return "\n".join(found)


def _unseen(body: HtmlElement) -> Iterator[HtmlElement]:
    """What is not shown where scripts run, or not yet; none of these is within another one."""
    for element in body.iter("template", "noscript"):
        if next(element.iterancestors("template", "noscript"), None) is None:
            yield element


def data_of(tree: HtmlElement, html: str) -> list[str]:
    """The data for scripts in a page: in scripts that are no programs, and in attributes."""
    found = [
        f"{script.get('id', '')}\n{script.text}"
        for script in tree.iter("script")
        if script.text and _is_data(script)
    ]
    if _DATA_ATTRIBUTE.search(html):
        found += cast("list[str]", _DATA_ATTRIBUTES(tree))
    return found


def lasting(data: str) -> str:
    """Data for scripts without what differs from one copy of a page to the next."""
    return _PASSING_DATA.sub("", data)


def _held(elements: Iterable[HtmlElement]) -> Iterator[str]:
    for element in elements:
        tag = element.tag
        if tag in ("script", "link") or _is_pixel(element):
            continue
        yield from (_address(url) for url in map(element.get, _ADDRESSES) if url)
        for candidates in filter(None, map(element.get, _SETS)):
            # "a.png 1x, b.png 2x"; addresses may hold commas.
            parts = map(str.split, candidates.split(", "))
            yield from (_address(part[0]) for part in parts if part)
        yield from filter(None, map(element.get, _TEXTS))
        if tag in _VALUED:
            yield from _value(element)


def _value(element: HtmlElement) -> Iterator[str]:
    name, value = element.get("name") or "", element.get("value") or ""
    if not _PASSING.search(name) and not _RANDOM.search(value):
        yield f"{name}={value}"
    yield from (state for state in _STATES if element.get(state) is not None)


def _documents(links: Iterable[HtmlElement]) -> Iterator[str]:
    """Links to files; those to other pages are followed, and judged there."""
    for link in links:
        href = link.get("href") or ""
        path = _path(href)
        if _FILE.search(path) or link.get("download") is not None or _DOWNLOAD.search(path):
            yield _address(href)


def _address(url: str) -> str:
    """An address without its host and without what passes."""
    url = url.strip()
    if url[:5].lower() == "data:":
        return url
    path, _, query = _ORIGIN.sub("", url).partition("#")[0].partition("?")
    is_file = _FILE.search(path) is not None
    params = (pair.partition("=") for pair in query.split("&"))
    kept = [
        f"{name}={value}"
        for name, _, value in params
        if name and not (is_file and name in _VERSION)
        if not _PASSING.search(name) and not _RANDOM.search(value)
    ]
    return "&".join((_UP.sub("", path.partition(";")[0]), *kept))


def _path(url: str) -> str:
    return _ORIGIN.sub("", url.strip()).partition("#")[0].partition("?")[0].partition(";")[0]


def _is_pixel(element: HtmlElement) -> bool:
    """Does it count visits? Such pictures have another address each time."""
    return element.get("width") in ("0", "1") and element.get("height") in ("0", "1")


def _is_data(script: HtmlElement) -> bool:
    kind, text = (script.get("type") or "").lower(), script.text or ""
    if "json" in kind or any(map(kind.__contains__, _TEMPLATES)):
        return True
    is_program = text.count("function") > _FEW_FUNCTIONS
    return not is_program and bool(_ASSIGNED.search(text) and _GIVEN.search(text))
