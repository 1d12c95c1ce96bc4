"""What of a response, or of an item, is judged."""

from __future__ import annotations

from typing import Any

from itemadapter.adapter import ItemAdapter
from scrapy.http import HtmlResponse, Response, TextResponse

from ..reasons import Reason
from ..sources.record import Record


def why_not_judged(response: Response) -> str | None:
    """Why this response is none of ours, if it is not: only pages of text are judged."""
    if not 200 <= response.status < 300:
        return "status"
    if isinstance(response, HtmlResponse):
        return None
    plain = type(response) is TextResponse and _media_type(response) in ("", "text/plain")
    return None if plain else Reason.NOT_TEXT


def page_record(response: Response) -> Record:
    """The bytes of a page, and what Scrapy was told of their encoding.

    Decoding is left to whoever reads the page: it can take long, and a label can be wrong.
    """
    return Record(
        id=response.url,
        url=response.url,
        content=response.body,
        kind="html" if isinstance(response, HtmlResponse) else "text",
        content_type=_content_type(response),
        # Given to the response when it was made, by a renderer for instance, whose text was
        # encoded anew; it has no public name. ``response.encoding`` would guess, and decode.
        encoding=getattr(response, "_encoding", None),
    )


def item_record(url: str, item: Any, field: str) -> Record:
    """The text in a field of an item; empty where it has none."""
    value = ItemAdapter(item).get(field)
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    return Record(url, url, value if isinstance(value, str) else "", "fragment")


def _media_type(response: Response) -> str:
    return _content_type(response).partition(";")[0].strip().lower()


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")
