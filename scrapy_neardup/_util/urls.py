"""Derives a page's key, its site and whether it is a list from its URL."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise, takewhile
from urllib.parse import unquote, urlsplit

import tldextract
from w3lib.url import canonicalize_url

#: Canonical URLs that are cached, and characters of each: links repeat, most of them on every page.
_MAX_CACHED, _MAX_CACHED_CHARS = 8192, 2048

#: Begins the URL of a stored record that has an id and no URL.
ID_SCHEME = "id:"

#: Uses the list bundled with tldextract: nothing is fetched, nothing is cached on disk.
_split_host = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
)

#: Begins the host of a view of a site.
_OF_VIEW = re.compile(r"(?:www\d*|m|mobile|amp)\.(?=.*\.)")
_LIST_SEGMENTS = frozenset("tag tags category categories".split())
_ARCHIVE_SEGMENTS = frozenset("archive archives".split())
_INDEX = re.compile(r"(?:index|default)\.\w+$")
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?)$")
#: Years since which there are web pages, and segments that stand before them in archives of posts;
#: behind others, a number such as 2001 may name a room, and 1998/7 an act.
_YEAR, _YEAR_OF_ARCHIVE = re.compile(r"(?:199|20[0-4])\d$"), re.compile(r"(?:19|20)\d\d$")
_OF_POSTS = re.compile(
    r"(?:we)?blogs?|news|posts?|articles?|stories|journal|diary|press|date|year|entries|log|"
    r"[a-z]{2}(?:[-_][a-z]{2})?$"
)
_DAY_OR_MONTH = re.compile(r"\d{1,2}$")
#: Parameters of a front page that is still one: of its parts, their order, and of who came from
#: where.
_OF_FRONT_PAGE = re.compile(
    r"(?:page|paged|pg|offset|start|limit|per_page|sort|order|orderby|dir|lang|hl|locale|ref|source|"
    r"from|utm_\w+|\w*clid|amp|print|theme|sid|phpsessid)=[^=]*$",
    re.IGNORECASE,
)
_NUMBERED_PAGE = re.compile(r"page[-_]?\d+$")
#: The end of a path, and a query, by which a page of a list is told from its first one.
_PAGE_OF_LIST = re.compile(r"/page[-_/]?\d+$", re.IGNORECASE)
_OF_LIST_PAGE = re.compile(r"(?:page|paged|pg|p|start|offset)=\d+", re.IGNORECASE)


def page_key(url: str) -> str:
    """Return one form for all spellings of a page's URL, by which a revisit is recognised.

    It is the one of Scrapy's request fingerprints, w3lib's ``canonicalize_url``: the order of query
    arguments, escapes and the fragment do not matter. An invalid URL is returned as it is.
    """
    return _canonical(url) if len(url) <= _MAX_CACHED_CHARS else _canonical.__wrapped__(url)


@lru_cache(maxsize=_MAX_CACHED)
def _canonical(url: str) -> str:
    try:
        return canonicalize_url(url)
    except ValueError:
        return url


def site_of(url: str) -> str:
    """Return the registrable domain of a URL, or its host if it has none (IP addresses, localhost).

    Hosting platforms whose users own their subdomains count as registries (the private section of
    the Public Suffix List), so two blogs of one platform are two sites.

    :returns: ``""`` for a URL without a host. Of a record that has only an id nobody knows the
        site, so each is a site of its own.
    """
    if url.startswith(ID_SCHEME):
        return url
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return site_of_host(host)


@lru_cache(maxsize=4096)
def site_of_host(host: str) -> str:
    """Return the site of a host, see :func:`site_of`.

    :param host: in lower case, without brackets.
    """
    parts = _split_host(host)
    if parts.suffix or parts.ipv4 or parts.ipv6:
        return parts.top_domain_under_public_suffix or host
    # By the list's algorithm, an unlisted top-level domain is a registry.
    return ".".join(host.split(".")[-2:])


def are_on_one_host(url: str, other: str) -> bool:
    """Return whether two URLs have the same host, but for ``www.`` and the like."""
    try:
        hosts = [urlsplit(each).hostname or "" for each in (url, other)]
    except ValueError:
        return False
    one, another = (_OF_VIEW.sub("", host) for host in hosts)
    return one == another


def is_list(url: str) -> bool:
    """Return whether a URL's path is that of a page that lists others.

    Such paths are: a front page (``/``, ``/index.html``), unless its query names another one
    (``/?p=17``, ``/index.php?id=17``); any path with a segment ``tag``,
    ``tags``, ``category`` or ``categories``; ``archive`` or ``archives``, alone or followed only by
    a date or a page number (``/archives/1234.html`` is a post); a numbered page (``…/page/2``,
    ``…/page-2``); and a date alone or below posts (``/2020/05/``, ``/blog/2020/``).
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    segments = _segments(parts.path)
    if not segments:
        return all(map(_OF_FRONT_PAGE.match, filter(None, parts.query.split("&"))))
    if not _LIST_SEGMENTS.isdisjoint(segments) or _NUMBERED_PAGE.match(segments[-1]):
        return True
    if any(before == "page" and after.isdecimal() for before, after in pairwise(segments)):
        return True
    for index, segment in enumerate(segments):
        if segment in _ARCHIVE_SEGMENTS:
            rest = segments[index + 1 :]
            return _is_date(rest, _YEAR_OF_ARCHIVE) or index == len(segments) - 1
    is_of_posts = _OF_POSTS.fullmatch(segments[0]) is not None
    return _is_date(segments) or (is_of_posts and _is_date(segments[1:]))


def is_dated_list(url: str) -> bool:
    """Return whether a URL is that of the archive of a year, a month or a day.

    Its date may be alone, or behind segments of posts: ``/2024/05``, ``/blog/archives/2024``.
    """
    if not is_list(url):
        return False
    segments = _segments(urlsplit(url).path)
    of_posts = takewhile(lambda s: s in _ARCHIVE_SEGMENTS or _OF_POSTS.fullmatch(s), segments)
    return _is_date(segments[len([*of_posts]) :], _YEAR_OF_ARCHIVE)


def _segments(path: str) -> list[str]:
    """Return the segments of a path in lower case, without ``index.html`` and suffixes of pages."""
    segments = [part for part in unquote(path).lower().split("/") if part]
    if segments and _INDEX.match(segments[-1]):
        del segments[-1]
    segments[-1:] = [_SUFFIX.sub("", each) for each in segments[-1:]]
    return segments


def is_page_of_list(url: str, list_url: str) -> bool:
    """Return whether a URL is that of another page of a list, as by its number."""
    try:
        parts, of_list = urlsplit(url), urlsplit(list_url)
    except ValueError:
        return False
    (path, number), (list_path, _) = (_without_number(each.path) for each in (parts, of_list))
    if (parts.netloc, path) != (of_list.netloc, list_path):
        return False
    return bool(number) or _OF_LIST_PAGE.fullmatch(parts.query) is not None


def _without_number(path: str) -> tuple[str, str]:
    """Return the path of a list, and what names the page of it that a path leads to, if any."""
    path = path.rstrip("/")
    folder, _, name = path.rpartition("/")
    path = folder if _INDEX.match(name) else path
    found = _PAGE_OF_LIST.search(path)
    return (path[: found.start()], found[0]) if found else (path, "")


def _is_date(segments: list[str], year: re.Pattern[str] = _YEAR) -> bool:
    """Return whether these are a year, optionally with a month, or with a month and a day."""
    return (
        0 < len(segments) <= 3
        and year.match(segments[0]) is not None
        and all(map(_DAY_OR_MONTH.match, segments[1:]))
    )
