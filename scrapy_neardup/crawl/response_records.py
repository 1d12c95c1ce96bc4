"""Converts responses and items to the records that are judged."""

from __future__ import annotations

from typing import Any

from itemadapter.adapter import ItemAdapter
from scrapy.http import HtmlResponse, Response, TextResponse

from ..reasons import Reason
from ..sources.record import Record


def why_not_judged(response: Response) -> str | None:
    """Return the reason why a response is not judged; ``None`` for a page of HTML or plain text."""
    if not 200 <= response.status < 300:
        return "status"
    if isinstance(response, HtmlResponse):
        return None
    plain = type(response) is TextResponse and _media_type(response) in ("", "text/plain")
    return None if plain else Reason.NOT_TEXT


def page_record(response: Response) -> Record:
    """Return the bytes of a page, and what Scrapy was told about their encoding.

    The reader of the record decodes them: that can take long, and a label can be wrong.
    """
    return Record(
        id=response.url,
        url=response.url,
        content=response.body,
        kind="html" if isinstance(response, HtmlResponse) else "text",
        content_type=_content_type(response),
        # The encoding that the response was created with, such as by a renderer that encoded its
        # text anew. It has no public name, and ``response.encoding`` would guess and decode.
        encoding=getattr(response, "_encoding", None),
    )


def item_record(url: str, item: Any, field: str) -> Record:
    """Return the text in a field of an item; empty where there is none."""
    value = ItemAdapter(item).get(field)
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    return Record(url, url, value if isinstance(value, str) else "", "fragment")


def _media_type(response: Response) -> str:
    return _content_type(response).partition(";")[0].strip().lower()


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")
