"""What a URL says about a page: which page it is, and which site it belongs to."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from urllib.parse import unquote, urlsplit

import tldextract
from w3lib.url import canonicalize_url

_BYTES = "(?:%[89A-F][0-9A-F]{chars}*)*"
_IN_PATH = r"[A-Za-z0-9!$&'()*+,./:;=@_~-]"
_IN_QUERY = "[A-Za-z0-9+._~-]"
_WORD = _IN_QUERY + "{many}" + _BYTES.format(chars=_IN_QUERY)
_PARAMETER = f"{_WORD.format(many='+')}={_WORD.format(many='*')}"
#: What is canonical already, but for the order of its parameters, and for segments that begin with
#: a dot. An escape of a byte beyond ASCII stays as it is.
_PLAIN = re.compile(
    r"https?://[a-z0-9.-]+(?::[1-9][0-9]{0,3})?"
    rf"/{_IN_PATH}*{_BYTES.format(chars=_IN_PATH)}(?<!;)"
    rf"(?:\?{_PARAMETER}(?:&{_PARAMETER})*)?"
)
#: In longer ones, what is not plain may stand so far behind that it is looked for in vain for long.
_MAX_PLAIN = 2048


_LISTS = frozenset("tag tags category categories".split())
_ARCHIVES = frozenset("archive archives".split())
_INDEX = re.compile(r"(?:index|default)\.\w+$")
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?)$")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_DAY_OR_MONTH = re.compile(r"\d{1,2}$")
_NUMBERED_PAGE = re.compile(r"page[-_]?\d+$")


def page_key(url: str) -> str:
    """One form for all spellings of a page's address, by which a revisit is recognised.

    Scrapy's own request fingerprint rests on the same form, w3lib's ``canonicalize_url``: order of
    query arguments, escapes and the fragment do not matter.
    """
    if (plain := plain_key(url)) is not None:
        # Nearly all are, and w3lib takes much longer to find that out.
        return plain
    try:
        return canonicalize_url(url)
    except ValueError:
        return url


# Several ask for the same URL, one right after the other.
@lru_cache(maxsize=64)
def plain_key(url: str) -> str | None:
    """That form of a URL that is in it but for the order of its query arguments; of others none."""
    if len(url) > _MAX_PLAIN or "/." in url or not _PLAIN.fullmatch(url):
        return None
    base, _, query = url.partition("?")
    return f"{base}?{_in_order(query)}" if "&" in query else url


def _in_order(query: str) -> str:
    """Parameters in the order of their names and then of their values, byte by byte."""
    # The end of a name comes before all that a longer one goes on with, and all bytes beyond ASCII
    # come behind it.
    parameters = query.replace("=", "\0").replace("%", "\x7f").split("&")
    parameters.sort()
    return "&".join(parameters).replace("\0", "=").replace("\x7f", "%")


def site_of(url: str) -> str:
    """The registrable domain of a URL, or its host where there is none (IP addresses, localhost).

    Hosting platforms whose users own their subdomains count as registries (the private section of
    the Public Suffix List), so two blogs of one platform are two sites. Without a host: ``""``.
    """
    if plain_key(url) is not None:
        return site_of_host(url.split("/", 3)[2].partition(":")[0])
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
