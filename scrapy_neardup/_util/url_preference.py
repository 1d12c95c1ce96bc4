"""Orders URLs of one content by how well they serve as links, the best first."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

#: Names of parameters that identify a session, in lower case.
_SESSION = re.compile(
    r"(?:php|j|asp|zen|osc|cf|s)?_?sess(?:ion)?_?(?:id)?|jsessionid|phpsessid|aspsessionid\w*|"
    r"zenid|oscsid|sid|cfid|cftoken"
)
_SESSION_IN_PATH = re.compile(r";\s*(?:jsessionid|phpsessid|sid)=", re.I)
#: Words that mark a view of a page, as a whole segment of the path, as the end of one, as the first
#: label of the host, or as the name or the value of a parameter.
_VIEWS = frozenset("print printable printer printview printversion amp ampversion".split())
_END_OF_SEGMENT = re.compile(r"[-_.](?:print|printable|amp)$")
_SUFFIX = re.compile(r"\.(?:s?html?|php|aspx?|jsp)$")

#: See :func:`preference`.
Preference = tuple[bool, int, int, int, bool, int, str]


def preference(url: str) -> Preference:
    """Return a key by which URLs of one content are sorted, the best first.

    In this order: a URL that can be parsed; fewer session ids; fewer marks of a print or AMP view;
    fewer parameters of the query; ``https``; fewer characters; the lesser string. Two different
    URLs never have the same key.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return True, 0, 0, 0, True, len(url), url
    params = parse_qsl(parts.query, keep_blank_values=True)
    sessions = sum(is_session(name) for name, _ in params)
    sessions += len(_SESSION_IN_PATH.findall(parts.path))
    marks = sum(map(_is_view, unquote(parts.path).lower().split("/")))
    marks += host.partition(".")[0] in _VIEWS
    marks += sum(
        1 for name, value in params if name.lower() in _VIEWS or _squeezed(value) in _VIEWS
    )
    is_insecure = parts.scheme != "https"
    return False, sessions, marks, len(params), is_insecure, len(url), url


def is_session(name: str) -> bool:
    """Return whether a parameter of this name identifies a session."""
    return _SESSION.fullmatch(name.lower()) is not None


def _is_view(segment: str) -> bool:
    name = _SUFFIX.sub("", segment.partition(";")[0])
    return _squeezed(name) in _VIEWS or _END_OF_SEGMENT.search(name) is not None


def _squeezed(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
