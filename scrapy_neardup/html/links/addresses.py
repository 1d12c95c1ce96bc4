"""Tells what an address in a page leads to, whatever copy of the page it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urljoin

from lxml.html import HtmlElement

from .file_suffixes import is_file, is_linked_file

#: A download that a server-side script delivers, by a part of its path or by a parameter.
_DOWNLOAD = re.compile(
    r"(?:^|[/_.-])(?:download|attachment|file|(?:get|view|show)(?:file|doc(?:ument)?))s?(?:[/_.?-]|$)"
    r"|(?:^|/)(?:pdf|dl|bitstream)(?:/|\.\w{2,4}$|$)"
    # A number or a hash in a folder of documents.
    r"|(?:^|/)(?:documents?|media|exports?|assets?)/(?:\d{1,18}|[\da-f-]{12,64})/?$",
    re.I,
)
_DOCUMENT_PARAMETER = re.compile(
    r"[?&#](?:(?:doc|document|file|attachment|pdf|download)(?:_?id|_?name)?=[^&#]|export=download)",
    re.I,
)
#: A film, a publication or a document of an office on the web: a link shows no more than its name.
_WORK = re.compile(
    r"^(?:https?:)?//(?:(?:(?:www|m|music)\.)?youtube\.com/(?:watch|(?:shorts|live|embed)/\w)|"
    r"(?:www\.|player\.)?vimeo\.com/(?:video/)?\d|youtu\.be/\w|"
    r"(?:dx\.)?doi\.org/10\.|docs\.google\.com/\w+/d/|drive\.google\.com/(?:file/d/|open\?)|"
    r"(?:www\.)?dropbox\.com/s/)",
    re.I,
)
#: Cloudflare's protection of addresses of mail: the first byte is the key of the others.
_PROTECTED = re.compile(r"(?:[\da-f]{2}){4,}", re.I)
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
_SCHEME = re.compile(r"[a-z][a-z\d+.-]*:", re.I)
#: Of an address that leads to no file, whatever its end looks like.
_NO_FILE_SCHEME = re.compile(r"\s*(?!https?:|ftp:|file:|data:)[a-z][a-z\d+.-]*:", re.I)
_ORIGIN = re.compile(r"^(?:https?:)?//[^/?#]*", re.I)
#: A visit's id, in the folder of a page.
_SESSION = re.compile(r"/\((?:[A-Z]\([\w-]+\))+\)|;[^/?#]*", re.A)
#: A parameter within a path, and one that says what a player is to show.
_PATH_PARAMETER = re.compile(r";([^/;]*)")
#: A fragment that tells a player what to show: a number or a path, but no place in a page.
_SHOWN_BY_FRAGMENT = re.compile(
    r"(?!comment|note|page|sect|toc|line|top|[chlnp]\d)(?=[^\d/]{0,99}[\d/])[\w!./:-]{1,100}", re.I
)
#: A long number in the name of a file, such as a moment or a hash.
_OWN_NAME = re.compile(r"\d{6}|[\da-f]{12}", re.I)
#: Stripped, because copies may lie at other depths.
_RELATIVE_PREFIX = re.compile(r"^(?:\.{0,2}/)+")
#: Parts of names of tokens, which may be short.
TOKEN_NAMES = r"token|nonce|csrf|xsrf|sess?_?(?:id|key)|formhash|p_auth|request_?id|trace_?id"
#: Names of parameters and fields that differ from one copy of a page to the next.
_VOLATILE_NAME = re.compile(
    rf"{TOKEN_NAMES}|session|captcha|viewstate|eventvalidation|authenticity|"
    r"form_build_id|timestamp|signature|expires|^(?:execution|_|t|ts|time|rand|random|sid|"
    r"utm_\w+|fbclid|gclid|ref|referr?er|return\w*|redirect\w*|next|url|uri|back\w*)$",
    re.I,
)
#: Names of parameters that sign or number a request for what the others name.
_SIGNING_NAME = re.compile(
    r"^(?:sig|hmac|auth|policy|key-pair-id|oh|oe|cb|rnd|nocache|cache\w*|"
    r"x-(?:amz|goog)-\w+(?:-\w+)*)$",
    re.I,
)
#: Names of numbers that keep an answer from a cache, and such numbers, which name nothing.
_CACHE_NAME = re.compile(r"(?:cb|ord|rnd|correlator|(?:cache_?)?bust(?:er)?)", re.I)
_CACHE_VALUE = re.compile(r"\d{6,}|0?\.\d+", re.A)
#: Names of parameters with the address of what a script delivers in another size.
_SOURCE_NAMES = frozenset(("url", "uri"))
#: A moment or a random number, which tells no two files apart.
_PASSING_VALUE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|0\.\d{8,}|1[4-9]\d{8}(?:\d{3})?$", re.A)
#: Sizes of one picture at the end of its name: "lamp-300x200", "lamp@2x".
_SIZE_IN_NAME = r"[-_.@]\d{3,4}x\d{3,4}|[_@]\d{3,4}x|@\dx|[-_]scaled"
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)$", re.I)
_SIZED = re.compile(rf"(?:{_SIZE_IN_NAME}){{1,3}}(?=(?:\.[a-z]{{3,5}}){{1,2}}$)", re.I)
#: A folder that says in which size and format a picture is delivered: "w_300,h_200,c_fill". One
#: setting alone may be a name.
_TRANSFORMATION = (
    r"(?:[wh]_\d{1,4}|c_(?:fill|fit|scale|limit|pad)|dpr_[\d.]{1,4}|"
    r"q_(?:auto(?::\w{1,9})?|\d{1,3})|f_(?:auto|jpg|png|webp|avif|gif))"
)
_TRANSFORMED = re.compile(
    rf"(?:^|(?<=/)){_TRANSFORMATION}(?:,{_TRANSFORMATION}){{1,9}}/|"
    rf"(?<=/upload/){_TRANSFORMATION}/",
    re.I,
)
_SIZE_PARAMETER = re.compile(r"w|h|width|height|dpr|quality|resize", re.I)
#: Parameters of quality and fit, which say nothing alone but are settings beside a size.
_FIT, _MAX_FIT = re.compile(r"q|fit", re.I), 8
_SIZE_VALUE = re.compile(r"\d{2,5}(?:\.\d{1,4})?(?:(?:,|%2c|x)\d{2,5})?", re.I | re.A)
#: Volatile in a file's address; a player's ``v`` may name the film.
_VERSION_NAMES = frozenset(("v", "ver", "version"))
#: Beside a parameter that names what is shown, these are versions; others are never names.
_VERSION_VALUE = re.compile(r"v?\d[\d._-]*(?:[a-z]{1,6}[\d.]*)?|[\da-f]{6,}", re.I | re.A)
_CERTAIN_VERSION = re.compile(r"v?\d+\.\d[\d._-]*(?:[a-z]{1,6}[\d.]*)?", re.I | re.A)
#: Parameters that say how something is shown, and not what.
_SETTING_NAME = re.compile(
    r"^(?:auto_?(?:play|hide)|loop|muted?|controls|rel|fs|w|h|width|height|size|q|quality|fit|crop|"
    r"format|fm|lang|locale|hl|theme|colou?r|start|end|page|mode|index|origin|parent)$",
    re.I,
)
_SETTING_VALUE = re.compile(r"(?:on|off|true|false|yes|no|auto|none|[01])?", re.I)
#: Values that differ likewise: long numbers, random letters and digits, timestamps.
VOLATILE_VALUE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z-]*|0\.\d{8,}|\d{9,}\b|"
    r"(?=[A-Za-z+/=_-]{0,40}\d)(?=[\d+/=_-]{0,40}[A-Za-z])[\w+/=-]{12,})",
    re.A,
)
#: Names of numbers that a product or a book has everywhere: long, but not volatile.
IDENTIFIER = (
    r"(?:gtin(?:-?\d{1,2})?|ean(?:-?\d{1,2})?|isbn(?:-?1[03])?|issn|upc|asin|mpn|sku|barcode|doi)"
)
_IDENTIFIER = re.compile(rf"(?:^|[\W_]){IDENTIFIER}\]?$", re.I)


def unprotected(data: str) -> str:
    """Return an address of mail that Cloudflare has encoded, each time in another way."""
    if not _PROTECTED.fullmatch(data):
        return ""
    key, *encoded = bytes.fromhex(data)
    return bytes(key ^ byte for byte in encoded).decode("utf-8", "replace")


def leads_to_file(link: HtmlElement) -> bool:
    """Return whether a link leads to a file, a film or a publication, and not to another page."""
    href = link.get("href") or ""
    path, kind = path_of(href), link.get("type") or ""
    return bool(
        (is_linked_file(path) and not _NO_FILE_SCHEME.match(href))
        or link.get("download") is not None
        or _DOWNLOAD.search(path)
        or _DOCUMENT_PARAMETER.search(href)
        or _WORK.match(href.strip())
        or (kind.startswith("application/") and "html" not in kind)
    )


def leads_to_page(link: HtmlElement) -> bool:
    """Return whether a link leads to another page, and neither to a file nor to a contact."""
    href = (link.get("href") or "").strip()
    is_page = bool(href) and href[0] != "#" and not _NO_FILE_SCHEME.match(href)
    return is_page and not leads_to_file(link)


def is_anchor(link: HtmlElement) -> bool:
    """Return whether an ``<a>`` is, or leads to, a place of its page; scripts use a bare ``#``."""
    href = (link.get("href") or "").strip()
    return not href or (href[0] == "#" and len(href) > 1)


def is_beside_page(address: str) -> bool:
    """Return whether an address leads to the folder of its page, or below it.

    An address that leads out of the folder (``../``) is mostly that of a template's file, which
    the whole tree of a manual's next version brings along. A file with a long number in its name
    is the same in any folder.
    """
    if not address or address[0] in "/#?" or address.startswith("../") or _SCHEME.match(address):
        return False
    return not _OWN_NAME.search(path_of(address).rpartition("/")[2])


def is_volatile(name: str, value: str) -> bool:
    """Return whether a named value differs from one copy of a page to the next."""
    if _VOLATILE_NAME.search(name):
        return True
    return bool(VOLATILE_VALUE.search(value)) and not _IDENTIFIER.search(name)


def said_by(href: str) -> str:
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


def stable_address(url: str) -> str:
    """Return a URL without its host and its volatile parts."""
    url = url.strip()
    if url[:5].lower() == "data:":
        return url
    address, _, fragment = _ORIGIN.sub("", url).partition("#")
    path, _, query = address.partition("?")
    leads_to_media = is_file(path_of(path))
    params = _params(query)
    if leads_to_media or "captcha" in path.lower():
        kept = [
            (name, value)
            for name, value in params
            if name and not (leads_to_media and name in _VERSION_NAMES)
            if not is_volatile(name, value)
        ]
        if _PICTURE.search(path):
            path, kept = without_size(path), _without_sizes(kept)
    else:
        kept = _identifying(params)
    named = [f"{name}={value}" for name, value in kept]
    if path and not leads_to_media:
        named += _shown_by_fragment(fragment)
    path = _PATH_PARAMETER.sub(_lasting_parameter, path)
    return "&".join((_RELATIVE_PREFIX.sub("", path), *named))


def without_size(path: str) -> str:
    """Return the path of a picture without what says in which size it is delivered."""
    return _TRANSFORMED.sub("", _SIZED.sub("", path))


def _without_sizes(params: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return parameters without those of a picture's size, and of how it fits it."""
    others = [pair for pair in params if not _is_size(*pair)]
    if len(others) == len(params):
        return params
    return [pair for pair in others if not (_FIT.fullmatch(pair[0]) and len(pair[1]) <= _MAX_FIT)]


def _is_size(name: str, value: str) -> bool:
    return bool(_SIZE_PARAMETER.fullmatch(name) and _SIZE_VALUE.fullmatch(value))


def _params(query: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (p.partition("=") for p in query.split("&"))]


def _lasting_parameter(found: re.Match[str]) -> str:
    """Return a parameter of a path, unless it is the id of a visit or a version."""
    name, _, value = found[1].partition("=")
    if not value or is_volatile(name, value) or name.lower() in _VERSION_NAMES:
        return ""
    return found[0]


def _shown_by_fragment(fragment: str) -> list[str]:
    """Return what a fragment says of what a player or a viewer shows."""
    if "=" in fragment:
        params = (p for p in _params(fragment) if p[0] not in _SOURCE_NAMES or is_file(p[1]))
        return [f"#{name}={value}" for name, value in _identifying(params)]
    return [f"#{fragment}"] if _SHOWN_BY_FRAGMENT.fullmatch(fragment) else []


def folder_of(url: str) -> str:
    """Return the path of the folder that a page's relative addresses are relative to."""
    return path_of(_SESSION.sub("", url)).rpartition("/")[0]


def places(addresses: Iterable[str], url: str, base: str) -> list[str]:
    """Return where files beside a page are, without hosts and volatile parts.

    :param addresses: see :func:`is_beside_page`. None is beside a page in the root folder, of
        which there is one only: its copies in other folders lead to its files by ``../``.
    :param url: of the page.
    :param base: the address, relative to the page's, that they are relative to.
    """
    folder = joined(_SESSION.sub("", url), base)
    if not folder_of(folder):
        return []
    return [stable_address(joined(folder, address)) for address in addresses]


def joined(url: str, address: str) -> str:
    """Return the absolute form of an address that is relative to a URL, or an invalid one as is."""
    try:
        return urljoin(url, address)
    except ValueError:  # such as an IPv6 address without its bracket
        return address


def _identifying(params: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the parameters that tell a script which file to deliver: a hash may be all of it."""
    kept = []
    for name, value in params:
        if name in _SOURCE_NAMES and value:
            kept.append((name, stable_address(unquote(value))))
        elif name and not _VOLATILE_NAME.search(name):
            is_id = name.lower().endswith("id")
            if is_id or not _PASSING_VALUE.match(value):
                kept.append((name, value))
    kept = [p for p in kept if not (_has_version(p, _CERTAIN_VERSION) or _is_of_cache(*p))]
    if any(name in _SOURCE_NAMES and _PICTURE.search(value) for name, value in kept):
        kept = _without_sizes(kept)
    lasting = [pair for pair in kept if not _SIGNING_NAME.search(pair[0])]
    if any(map(_names_something, lasting)):
        return [pair for pair in lasting if not _has_version(pair, _VERSION_VALUE)]
    return lasting or kept


def naming_parameters(query: str) -> list[tuple[str, str]]:
    """Return the parameters of a query that say what a script delivers, and not how."""
    params = _identifying(_params(query))
    return [p for p in params if p[0].lower().endswith("id") or _names_something(p)]


def _is_of_cache(name: str, value: str) -> bool:
    return bool(_CACHE_NAME.fullmatch(name) and _CACHE_VALUE.fullmatch(value))


def _has_version(param: tuple[str, str], version: re.Pattern[str]) -> bool:
    name, value = param
    return name.lower() in _VERSION_NAMES and version.fullmatch(value) is not None


def _names_something(param: tuple[str, str]) -> bool:
    """Return whether a parameter says what a script delivers, and not how, or of which version."""
    name, value = param
    if name.lower() in _VERSION_NAMES or _SETTING_NAME.match(name):
        return False
    return not _SETTING_VALUE.fullmatch(value)


def path_of(url: str) -> str:
    """Return the path of an address, without its host, its query and its parameters."""
    path = _ORIGIN.sub("", url.strip()).partition("#")[0].partition("?")[0]
    return _PATH_PARAMETER.sub("", path)
