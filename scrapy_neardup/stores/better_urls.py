"""The best URLs of contents whose originals have another one, so that links can be mended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .._util.encoding import utf8

#: Contents whose best URLs a namespace keeps at most; when it has as many, it takes no further.
MAX_BETTER_URLS = 50_000


class BetterUrl(NamedTuple):
    """The best URL of a content, which is not that of its original.

    :ivar is_declared: whether pages of the content declare it as theirs.
    """

    url: str
    is_declared: bool


#: Best URLs by the URLs of originals; ``None`` where that of the original is the best one again.
BetterUrlChanges = Mapping[str, BetterUrl | None]


def packed(better: BetterUrl | None) -> bytes:
    """Return a best URL as bytes; those of ``None`` are empty."""
    if better is None:
        return b""
    return bytes([better.is_declared]) + utf8(better.url)


def unpacked(data: bytes) -> BetterUrl:
    """Return the best URL that was packed.

    :raises ValueError: when these are not its bytes.
    """
    if not data or data[0] > 1:
        raise ValueError("malformed better URL")
    return BetterUrl(data[1:].decode("utf-8", "surrogatepass"), bool(data[0]))
