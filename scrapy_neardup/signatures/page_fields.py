"""The arguments that describe a page to the detector, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from ..exceptions import InvalidPage
from .signature import PageSignature

_FIELDS = ("url", "html", "text", "title")


class _Content(TypedDict, total=False):
    html: str | bytes
    text: str
    title: str


class PageFields(_Content):
    """The arguments of ``NearDupDetector.check()`` as a mapping, for one page of many.

    ``url`` (a string), and either ``html`` (a string or bytes) or ``text`` and perhaps its
    ``title`` (strings).
    """

    url: str


def page_of(
    signature: object, url: object, html: object, text: object, title: object
) -> PageFields | PageSignature:
    """Return the page that the arguments of a call describe.

    :raises InvalidPage: if they describe none.
    """
    if signature is None:
        return fields_of(url, html, text, title)
    if not isinstance(signature, PageSignature):
        raise InvalidPage(
            f"the positional argument must be a PageSignature, not {kind_of(signature)}; give a "
            "page by name: url=… and html=…, or url=… and text=…"
        )
    if not (url is None and html is None and text is None and title == ""):
        raise InvalidPage("give either a signature or url, html, text and title, not both")
    return signature


def fields_of(url: object, html: object, text: object, title: object) -> PageFields:
    """Return the fields of a page.

    :raises InvalidPage: if one is missing, is one too many, or has another type.
    """
    if not isinstance(url, str):
        wanted = "; any string that identifies the page will do" if url is None else ""
        raise InvalidPage(f"url must be the page's URL, a string, not {kind_of(url)}{wanted}")
    if not url.strip():
        # All pages without a URL would be one page at different times.
        raise InvalidPage(
            "url must be the page's URL, not an empty string; any string that identifies the page "
            "will do"
        )
    if (html is None) == (text is None):
        found = "neither is" if html is None else "both are"
        raise InvalidPage(
            f"a page has either html (the whole page) or text (its main text), but {found} given"
        )
    if not isinstance(title, str):
        raise InvalidPage(f"title must be a string, not {kind_of(title)}")
    if isinstance(html, (str, bytes)):
        return {"url": url, "html": html}
    if html is not None:
        raise InvalidPage(f"html must be a string or bytes, not {kind_of(html)}")
    if not isinstance(text, str):
        advice = "; decode it, or give the whole page as html" if isinstance(text, bytes) else ""
        raise InvalidPage(f"text must be a string, not {kind_of(text)}{advice}")
    return {"url": url, "text": text, "title": title}


def page_among(page: object, number: int) -> PageFields | PageSignature:
    """Return one page of many.

    :param number: its place, from 1.
    :raises InvalidPage: if it is none.
    """
    if isinstance(page, PageSignature):
        return page
    if not isinstance(page, Mapping):
        raise InvalidPage(
            f"page {number} must be a mapping with url and html or text, or a PageSignature, not "
            f"{kind_of(page)}"
        )
    if unknown := [name for name in page if name not in _FIELDS]:
        raise InvalidPage(f"page {number} has {unknown[0]!r}; its fields are {', '.join(_FIELDS)}")
    try:
        url, html, text = (page.get(name) for name in _FIELDS[:-1])
        return fields_of(url, html, text, page.get("title", ""))
    except InvalidPage as error:
        raise InvalidPage(f"page {number}: {error}") from None


def kind_of(value: object) -> str:
    """Return what a value is, for a message."""
    return "None" if value is None else type(value).__name__
