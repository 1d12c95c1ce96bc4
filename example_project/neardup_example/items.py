"""The items of the spiders."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.http import HtmlResponse, Response


@dataclass
class Page:
    """One answer of a server. ``title`` and ``html`` are empty for all that is not HTML."""

    url: str
    content_type: str
    title: str = ""
    html: str = ""
    #: ``NEARDUP_ACTION = "tag"`` writes here what the page duplicates, instead of dropping it.
    neardup: dict[str, object] | None = None

    @classmethod
    def from_response(cls, response: Response) -> Page:
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if not isinstance(response, HtmlResponse):
            return cls(response.url, content_type)
        title = response.css("title::text").get(default="")
        return cls(response.url, content_type, title, response.text)
