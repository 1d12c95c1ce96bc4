"""A stored page, and the errors of records that are none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

#: Largest page, after decompression; larger ones are counted and skipped.
MAX_PAGE_BYTES = 64 * 2**20
TOO_LARGE = f"larger than {MAX_PAGE_BYTES >> 20} MiB"
#: The byte order mark that UTF-8 may begin with; it is no part of the text.
UTF8_MARK = b"\xef\xbb\xbf"


class BadRecord(ValueError):
    """A record is unusable; the message is the reason under which it is counted.

    :ivar hint: what this record has instead, and what to do.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class BadRecords(Counter[str]):
    """Numbers of unusable records by reason.

    :ivar first: where the first of each reason is, such as ``"news.csv, line 17"``.
    :ivar hints: what is known of the first of each reason besides that.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, str] = {}
        self.hints: dict[str, str] = {}

    def note(self, reason: object, place: str) -> None:
        """Count an unusable record.

        :param reason: as text, or an error with it.
        """
        self[str(reason)] += 1
        self.first.setdefault(str(reason), place)
        self.hints.setdefault(str(reason), getattr(reason, "hint", ""))


class NotAPage(Exception):
    """A record of an archive is no HTML page; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Record:
    """A page as it was stored or fetched.

    :ivar id: identifier given by the record, or else its URL.
    :ivar url: URL of the page.
    :ivar content: HTML of a page, its main text, or a fragment of HTML or text that is content as a
        whole; decoded or as bytes.
    :ivar kind: which of the three it is.
    :ivar title: title that belongs to a text.
    :ivar content_type: the Content-Type header, which may declare the encoding of bytes.
    :ivar encoding: encoding of bytes, if known; overrides the header.
    :ivar quick: whether to read only its title and passages, if it is HTML and these suffice.
    :ivar needs_facts: whether to read the facts of an HTML page too, by which it is compared with
        pages of its site.
    """

    id: str | int
    url: str
    content: str | bytes
    kind: Literal["html", "text", "fragment"] = "html"
    title: str = ""
    content_type: str | None = None
    encoding: str | None = None
    quick: bool = False
    needs_facts: bool = True
