"""What a URL says about a page: which page it is, and which site it belongs to."""

from __future__ import annotations

from functools import cache, lru_cache
from urllib.parse import urlsplit

import tldextract
from w3lib.url import canonicalize_url


def page_key(url: str) -> str:
    """One form for all spellings of a page's address, by which a revisit is recognised.

    Scrapy's own request fingerprint rests on the same form: order of query arguments, escapes
    and the fragment do not matter.
    """
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
