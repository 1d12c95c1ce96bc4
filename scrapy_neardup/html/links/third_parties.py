"""Knows what pages take from other sites: advertisements, and scripts that show one certain thing.

Both lists can be extended: a host or a path that is missing costs a copy that is not found, or a
difference that is not seen.
"""

from __future__ import annotations

import re

#: Hosts, with those below them, from which a page takes nothing but advertisements.
_ADVERTISERS = (
    *("doubleclick.net", "googlesyndication.com", "googleadservices.com", "2mdn.net"),
    *("adform.net", "adnxs.com", "adsrvr.org", "advertising.com", "amazon-adsystem.com"),
    *("casalemedia.com", "criteo.com", "criteo.net", "mgid.com", "openx.net", "outbrain.com"),
    *("pubmatic.com", "revcontent.com", "rubiconproject.com", "smartadserver.com", "taboola.com"),
    *("teads.tv", "yieldlab.net", "adition.com", "adocean.pl", "an.yandex.ru", "adfox.ru"),
)
_ADVERTISEMENT = re.compile(
    rf"(?:https?:)?//(?:[\w-]{{1,63}}\.){{0,5}}(?:{'|'.join(map(re.escape, _ADVERTISERS))})[/:?#]",
    re.I,
)
#: Scripts that show what their address names: code, a film, a chart, a poll.
_EMBEDDING = re.compile(
    r"(?:https?:)?//(?:gist\.github\.com/[\w-]+/\w|emgithub\.com/embed|"
    r"(?:www\.)?gitlab\.com/(?:[\w./-]{1,200}/)?-?/?snippets/\d|"
    r"pastebin\.com/embed_js/|(?:www\.)?jsfiddle\.net/(?:[\w-]+/)+embed|"
    r"(?:www\.)?asciinema\.org/a/|fast\.wistia\.(?:com|net)/embed/(?:medias|playlists)/|"
    r"(?:cdn\.jwplayer|content\.jwplatform)\.com/(?:players|libraries/previews|previews)/|"
    r"[\w.-]*\bkaltura\.com/[^?]{1,300}\?(?:[^#]{1,300}&)?entry_id=|"
    r"play\.vidyard\.com/\w|www\.buzzsprout\.com/\d|datawrapper\.dwcdn\.net/\w|"
    r"(?:secure|static)\.polldaddy\.com/p/\d)",
    re.I,
)


def is_advertisement(address: str) -> bool:
    """Return whether an address is that of an advertisement, another one at each visit."""
    return _ADVERTISEMENT.match(address.strip()) is not None


def is_embedding_script(address: str) -> bool:
    """Return whether the address of a script names what it shows in the page."""
    return _EMBEDDING.match(address.strip()) is not None
