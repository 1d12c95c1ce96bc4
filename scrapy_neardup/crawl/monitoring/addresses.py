"""Removes the address of a page from what it shows, and from an address what names no page."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ..._util.url_preference import is_session
from ..._util.urls import page_key
from ...text.titles import title_parts

#: Stands for a value of the request, or for the page's address.
MASK = "\0"
#: Words that must stand beside the name of a page in its title.
_MIN_BESIDE_NAME = 2
_WORD = re.compile(r"[^\W_]+")
_PORT = re.compile(r":\d+$")
#: Names of parameters that say how a visitor came to a page.
_OF_VISIT = re.compile(
    r"ref|referr?er|utm_\w+|(?:gcl|dcl|fbcl|msclk|ycl|ttcl)id|gclsrc|mc_[ce]id|_ga|igshid|"
    r"(?:pk|mtm|hsa)_\w+|spm|trk|icid|cmpid|campaign|aff(?:iliate)?(?:_?id)?",
    re.I,
)


def without_address(text: str, url: str) -> str:
    """Return a text, quoted as in a URL or not, with a mask for the address of a page."""
    return address_of(url).sub(MASK, unquote(text))


def page_address(url: str, canonical: str | None) -> str:
    """Return what identifies a page, the same for copies whose addresses differ in the query only.

    :param canonical: the URL that the page declares as its own. It counts if only the query
        differs: a wall may declare one URL at any address.
    """
    try:
        parts = urlsplit(url)
        if canonical is not None and urlsplit(canonical)[:3] == parts[:3]:
            return page_key(canonical)
        params = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return url
    kept = [(name, value) for name, value in params if not _is_of_visit(name, value)]
    return page_key(parts._replace(query=urlencode(kept)).geturl())


def _is_of_visit(name: str, value: str) -> bool:
    # A login may name the page to return to.
    return is_session(name) or (_OF_VISIT.fullmatch(name) is not None and "/" not in value)


def address_of(url: str) -> re.Pattern[str]:
    """Return a pattern for the address of a page, its path or its host.

    A match has a group if it has the path.
    """
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    paths = {path, unquote(path), parts.path, unquote(parts.path)} - {"", "/"}
    # A refusal may leave out the port.
    host = _PORT.sub(r"(?:\g<0>)?", re.escape(parts.netloc.rpartition("@")[2]))
    any_path = "|".join(map(re.escape, sorted(paths)[::-1]))
    if not paths:
        return re.compile(rf"(?:https?://)?{host}/?")
    with_host = rf"(?:https?://)?{host}(?:({any_path})|/)?"
    return re.compile(rf"{with_host}|(?<![\w/])({any_path})(?![\w/])")


def without_name(title: str, path: str, beside: int = _MIN_BESIDE_NAME) -> str:
    """Return a title with a mark for the name of the page where it stands among other words.

    A part of the title that is the name and little else is the title of a content, and a number
    may be that of one.

    :param beside: number of other words in the same part of the title, at least.
    """
    last = unquote(path.rstrip("/").rpartition("/")[2]).casefold()
    words = _WORD.findall(last.partition(".")[0])
    if not any(len(word) > 2 and word.isalpha() for word in words):
        return title
    joined = r"[\W_]+".join(map(re.escape, words))
    name = re.compile(rf"(?<![^\W_]){joined}(?![^\W_])")
    parts = []
    for part in title_parts(title):
        rest, n_names = name.subn(MASK, part)
        parts.append(rest if n_names and len(_WORD.findall(rest)) >= beside else part)
    return "|".join(parts)
