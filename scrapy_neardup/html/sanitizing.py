"""Characters that parsers and tables choke on, taken out of a page before it is parsed.

Each step takes time in proportion to the page's length, whatever is in it.
"""

from __future__ import annotations

import re
from html.entities import html5

from ..text.combining_marks import COMBINING_MARKS, bounded_marks

#: Not allowed in a tree, and not seen in a browser; in a page they are as good as not there.
_UNSEEN = re.compile("[\0-\x08\x0b\x0e-\x1f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Nearly every page is made of nothing else (XML 1.0, section 2.2).
_READABLE = re.compile("[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")

#: Entities that are nothing but combining marks.
_MARK_NAMES = "|".join(
    sorted(
        name
        for name, value in html5.items()
        if name[-1] == ";" and COMBINING_MARKS.fullmatch(value)
    )
)
_REFERENCE = re.compile(
    rf"&(?:#(?:[xX](?P<hexadecimal>[0-9a-fA-F]+)|(?P<decimal>[0-9]+));?|(?P<name>{_MARK_NAMES}))"
)

#: Stands for a reference to nothing. It is not seen either, but unlike nothing at all it keeps
#: apart what stands around it, which might be the halves of another reference.
_NOTHING = "\u2060"

_DOCTYPE = re.compile(r"< ?! ?DOCTYPE[^>]*>", re.IGNORECASE)
_EMPTY_ROOT = re.compile(r"(<html[^<>]*)/>", re.IGNORECASE)
#: Where a doctype and the root are looked for.
_BEGINNING = 4096

_END = re.compile(r"</(?:html|body)(?=[\s/>])[^>]*>?", re.IGNORECASE)
#: An element that can hold text which is seen.
_CONTENT = re.compile(
    r"<(?!(?:html|head|title|base|link|meta|script|style|noscript|template|iframe|img|br|hr)\b)[a-z]",
    re.IGNORECASE,
)


def repaired(html: str) -> str:
    """The page as a parser can read it, with nothing lost that a browser would show.

    Characters that no tree can hold are taken out, as such and as references; lone surrogates
    become U+FFFD. Runs of combining marks are bounded, see :func:`bounded_marks`.
    """
    if not _READABLE.fullmatch(html):
        html = _UNSEEN.sub("", html).replace("\f", " ")
        html = _SURROGATE.sub("\ufffd", html)
    html = bounded_marks(_REFERENCE.sub(_resolved, html))
    return without_early_ends(_without_faulty_start(html))


def without_early_ends(html: str) -> str:
    """Put an empty tag in the place of every ``</html>`` and ``</body>`` that more content follows.

    libxml2 ends the document there and drops much of the rest, which on some blogs is the whole
    body; browsers take no notice of such a tag. Were nothing put in its place, what stands around
    it could be the halves of another one. Text alone is no content: behind a page's end it is what
    a broken template left there.
    """
    first = _END.search(html)
    if first is None:
        return html
    head, tail = html[: first.start()], html[first.start() :]
    last_content = max((content.start() for content in _CONTENT.finditer(tail)), default=-1)
    return head + _END.sub(lambda end: end[0] if end.start() > last_content else "</end>", tail)


def _resolved(reference: re.Match[str]) -> str:
    """What stands for a reference: a mark itself, so that runs can be seen; else as it is."""
    if reference["name"]:
        return html5[reference["name"]]
    digits, base = (
        (reference["hexadecimal"], 16)
        if reference["hexadecimal"]
        else (
            reference["decimal"],
            10,
        )
    )
    digits = digits.lstrip("0")
    # More than any character has; the number may have millions of digits.
    if len(digits) > 7 or (code := int(digits or "0", base)) > 0x10FFFF:
        return "\ufffd"
    character = chr(code)
    if _UNSEEN.match(character):
        return _NOTHING
    if _SURROGATE.match(character):
        return "\ufffd"
    if character == "\f":
        return " "
    return character if COMBINING_MARKS.match(character) else reference[0]


def _without_faulty_start(html: str) -> str:
    """Take out what libxml2 stumbles over: a doctype with slashes, a root that ends at once.

    See https://bugs.launchpad.net/lxml/+bug/1955915.
    """
    doctype = _DOCTYPE.match(html)
    if doctype and "/" in doctype[0]:
        html = "\n" + html[doctype.end() :]
    root = _EMPTY_ROOT.search(html, 0, _BEGINNING)
    return html if root is None else f"{html[: root.end(1)]}>{html[root.end() :]}"
