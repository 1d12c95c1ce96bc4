"""One stored page, and why what was found instead is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: A page larger than this is counted and skipped; so is what unpacks to more.
MAX_PAGE_BYTES = 64 * 2**20
TOO_LARGE = f"larger than {MAX_PAGE_BYTES >> 20} MiB"


class BadRecord(ValueError):
    """A record cannot be used; the message is the reason that it is counted under."""


class NotAPage(Exception):
    """A record of an archive is no HTML page; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Record:
    """A page as it was stored or fetched.

    :ivar id: what its owner calls it; its URL unless the record says otherwise.
    :ivar url: its address.
    :ivar content: a page's HTML, its main text, or a piece of HTML or text that is taken whole;
        decoded or as bytes.
    :ivar kind: which of the three.
    :ivar title: the title that goes with a text.
    :ivar content_type: the header of that name; names the encoding of bytes.
    :ivar encoding: of bytes, when whoever made the record was told; it wins over the header.
    """

    id: str | int
    url: str
    content: str | bytes
    kind: Literal["html", "text", "fragment"] = "html"
    title: str = ""
    content_type: str | None = None
    encoding: str | None = None
