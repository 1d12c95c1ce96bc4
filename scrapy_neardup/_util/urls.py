"""What a URL says about a page: which page it is, and which site it belongs to."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from urllib.parse import unquote, urlsplit

import tldextract
from w3lib.url import canonicalize_url

#: Canonical URLs that are cached, and characters of each: links repeat, most of them on every page.
_MAX_CACHED, _MAX_CACHED_CHARS = 8192, 2048

_LISTS = frozenset("tag tags category categories".split())
_ARCHIVES = frozenset("archive archives".split())
_INDEX = re.compile(r"(?:index|default)\.\w+$")
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?)$")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_DAY_OR_MONTH = re.compile(r"\d{1,2}$")
_NUMBERED_PAGE = re.compile(r"page[-_]?\d+$")


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
    """The registrable domain of a URL, or its host where there is none (IP addresses, localhost).

    Hosting platforms whose users own their subdomains count as registries (the private section of
    the Public Suffix List), so two blogs of one platform are two sites. Without a host: ``""``.
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return site_of_host(host)


@lru_cache(maxsize=4096)
def site_of_host(host: str) -> str:
    """See :func:`site_of`.

    :param host: in lower case, without brackets.
    """
    parts = _public_suffixes()(host)
    if parts.suffix or parts.ipv4 or parts.ipv6:
        return parts.top_domain_under_public_suffix or host
    # A top level that the list does not know is a registry by itself, says the list's algorithm.
    return ".".join(host.split(".")[-2:])


@cache
def _public_suffixes() -> tldextract.TLDExtract:
    # The list that comes with the package: nothing is fetched and nothing cached on disk.
    return tldextract.TLDExtract(
        suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
    )


def is_list(url: str) -> bool:
    """Is this, by its path, a page that lists others?

    These are: a front page (``/``, ``/index.html``); whatever lies at or under a segment ``tag``,
    ``tags``, ``category`` or ``categories``; ``archive`` or ``archives`` with nothing behind it
    but a date or a page number (``/archives/1234.html`` is a post); a numbered page
    (``…/page/2``, ``…/page-2``); and a date alone (``/2020/05/``, ``/blog/2020/``).
    """
    try:
        path = urlsplit(url).path
    except ValueError:
        return False
    segments = [part for part in unquote(path).lower().split("/") if part]
    if segments and _INDEX.match(segments[-1]):
        del segments[-1]
    if not segments:
        return True
    segments[-1] = _SUFFIX.sub("", segments[-1])
    if not _LISTS.isdisjoint(segments) or _NUMBERED_PAGE.match(segments[-1]):
        return True
    if any(before == "page" and after.isdecimal() for before, after in pairwise(segments)):
        return True
    for place, segment in enumerate(segments):
        if segment in _ARCHIVES:
            return _is_date(segments[place + 1 :]) or place == len(segments) - 1
    return _is_date(segments) or _is_date(segments[1:])


def _is_date(segments: list[str]) -> bool:
    """A year, or a year and a month, or a year, a month and a day."""
    return (
        0 < len(segments) <= 3
        and _YEAR.match(segments[0]) is not None
        and all(map(_DAY_OR_MONTH.match, segments[1:]))
    )
