"""Fetches one page from the web: a plain GET with limits on time and size."""

from __future__ import annotations

import zlib
from http.client import HTTPException, HTTPResponse
from time import monotonic
from urllib import request
from urllib.error import HTTPError

from w3lib.url import safe_url_string

from ...exceptions import InputError
from ...sources.record import Record

_SECONDS = 30.0
_MAX_BYTES = 16 * 2**20
_PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "")


def is_web_address(given: str) -> bool:
    """Is this a URL to fetch, and not a file?"""
    return given.lower().startswith(("http://", "https://"))


def fetch(url: str, user_agent: str) -> Record:
    """Fetch the page at a URL; the record has the URL after redirects.

    :raises InputError: when there is no page, or it exceeds the limits.
    """
    headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip"}
    asked = request.Request(safe_url_string(url), headers=headers)
    try:
        with _opener().open(asked, timeout=_SECONDS) as response:
            kind = response.headers.get_content_type() if response.headers["Content-Type"] else ""
            if kind not in _PAGE_TYPES:
                raise InputError(url, f"is {kind}, not a page")
            body = _body(response, url)
            return Record(
                id=url,
                url=response.url,
                content=body.decode("utf-8", "replace") if kind == "text/plain" else body,
                kind="text" if kind == "text/plain" else "html",
                content_type=response.headers["Content-Type"],
            )
    except HTTPError as error:
        raise InputError(url, f"answers with status {error.code}") from error
    except (OSError, HTTPException, zlib.error, ValueError) as error:
        reason = getattr(error, "reason", error) or type(error).__name__
        raise InputError(url, f"cannot be fetched: {reason}") from error


def _opener() -> request.OpenerDirector:
    """Return an opener for HTTP only, so that no redirect can lead to a local file."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def _body(response: HTTPResponse, url: str) -> bytes:
    deadline = monotonic() + _SECONDS
    packed = response.headers.get("Content-Encoding", "").lower() in ("gzip", "x-gzip")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None
    body = b""
    while piece := response.read1(2**16):
        body += unpack.decompress(piece, _MAX_BYTES + 1) if unpack else piece
        if len(body) > _MAX_BYTES:
            raise InputError(url, f"is larger than {_MAX_BYTES >> 20} MiB")
        if monotonic() > deadline:
            raise InputError(url, f"takes longer than {_SECONDS:g} s")
    if response.length or (unpack and not unpack.eof):
        raise InputError(url, "is cut off")
    return body
