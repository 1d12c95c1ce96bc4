"""Repairs a page's HTML before it is parsed: invalid characters, early ends, long runs of marks.

Each step takes time linear in the page's length, whatever its content.
"""

from __future__ import annotations

import re
from html.entities import html5

from .._util.encoding import utf8
from ..text.characters import COMBINING_MARKS, bounded_marks

#: Characters that a tree must not contain and that browsers do not show.
_INVALID = re.compile("[\0-\x08\x0b\x0e-\x1f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Characters for private use: a site's own font may show them as digits or letters; and the letters
#: in flags of parts of countries. Rare Han characters stand in for them.
PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000e0020-\U000e007f]")
#: All bytes but those of invalid control characters (XML 1.0, section 2.2), and the first bytes in
#: UTF-8 of the other invalid characters: surrogates, U+FFFE and U+FFFF.
_VALID_BYTES = bytes([*b"\t\n\r", *range(ord(" "), 256)])
_SURROGATE_START, _NONCHARACTER_START = b"\xed", b"\xef\xbf"

#: Names of the entities that stand for combining marks.
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

#: Replaces a reference to an invalid character: a word joiner, which is invisible too. Without it
#: the text on both sides might form another reference.
_WORD_JOINER = "\u2060"

#: Raised or lowered digits directly behind a digit, which may be in an element of its own. Two
#: digits without a sign are the cents of a price, unless they are a power of ten.
_TAG = "<su[pb]"
_BEHIND_DIGIT = "|".join(
    rf"(?<=\d{end}{_TAG})"
    for end in ("", *(f"</{name}>" for name in "i b em var span strong".split()))
)
_BEHIND_TEN = "|".join(
    f"(?<={times}{blank}10{_TAG}>)" for times in ("[×·⋅*x]", "&times;") for blank in ("", " ")
)
_SIGN = "(?:[-+−]|&minus;|&#8722;)"
_RAISED = re.compile(
    rf"<(?P<name>su[pb])(?:{_BEHIND_DIGIT})(?: [^<>]{{0,200}})?> ?"
    rf"(?P<digits>{_SIGN}?[0-9]|{_SIGN}[0-9]{{2,3}}|n|(?:{_BEHIND_TEN})[0-9]{{2,3}}) ?</(?P=name)>",
    re.IGNORECASE,
)
#: The characters for them.
_CHARACTERS = {
    "sup": str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ"),
    "sub": str.maketrans("0123456789+-−n", "₀₁₂₃₄₅₆₇₈₉₊₋₋ₙ"),
}

_DOCTYPE = re.compile(r"< ?! ?DOCTYPE[^>]*>", re.IGNORECASE)
_EMPTY_ROOT = re.compile(r"(<html[^<>]*)/>", re.IGNORECASE)
#: The root's tag is looked for in so many characters.
_BEGINNING = 4096

_END = re.compile(r"</(?:html|body)(?=[\s/>])[^>]*>?", re.IGNORECASE)
#: A start tag of an element that may have visible text.
_CONTENT = re.compile(
    r"<(?!(?:html|head|title|base|link|meta|script|style|noscript|template|iframe|img|br|hr)\b)[a-z]",
    re.IGNORECASE,
)


def repaired(html: str) -> str:
    """Repair a page for the parser, keeping everything that a browser would show.

    Characters that are invalid in a tree are removed, literal ones and references; lone surrogates
    become U+FFFD. Runs of combining marks are bounded, see :func:`bounded_marks`. Raised and
    lowered digits behind a digit become characters of their own, because texts have no elements.
    """
    if _may_be_invalid(html):
        html = _INVALID.sub("", html).replace("\f", " ")
        html = _SURROGATE.sub("\ufffd", html)
    html = bounded_marks(_REFERENCE.sub(_resolved, html))
    if "<su" in html or "<SU" in html:
        html = _RAISED.sub(_as_characters, html)
    return without_early_ends(_without_faulty_start(html))


def _as_characters(raised: re.Match[str]) -> str:
    """Return raised or lowered digits as characters."""
    digits = raised["digits"].lower().replace("&minus;", "−").replace("&#8722;", "−")
    return digits.translate(_CHARACTERS[raised["name"].lower()])


def _may_be_invalid(html: str) -> bool:
    """Return whether a page may contain characters that a tree must not.

    Nearly every page has none, which takes half as long to see in its bytes as in its characters.
    """
    data = utf8(html)
    if data.translate(None, _VALID_BYTES):
        return True
    return len(data) > len(html) and (_SURROGATE_START in data or _NONCHARACTER_START in data)


def without_early_ends(html: str) -> str:
    """Replace every ``</html>`` and ``</body>`` that is followed by more content.

    libxml2 ends the document there and drops much of the rest, which on some blogs is the whole
    body; browsers ignore such tags. The replacement is a tag without effect; without it, the text
    on both sides might form another tag. Text alone does not count as content: after a page's end
    it is the debris of a broken template.
    """
    first = _END.search(html)
    if first is None:
        return html
    head, tail = html[: first.start()], html[first.start() :]
    last_content = max((content.start() for content in _CONTENT.finditer(tail)), default=-1)
    return head + _END.sub(lambda end: end[0] if end.start() > last_content else "</end>", tail)


def _resolved(reference: re.Match[str]) -> str:
    """Resolve references to combining marks, so that runs are found, and to invalid characters.

    Those to characters for private use and to letters in flags are resolved as well, for extractors
    that look for them.
    """
    if reference["name"]:
        return html5[reference["name"]]
    base = 16 if reference["hexadecimal"] else 10
    digits = (reference["hexadecimal"] or reference["decimal"]).lstrip("0")
    # No code point has more than 7 digits; a reference may have millions.
    if len(digits) > 7 or (code := int(digits or "0", base)) > 0x10FFFF:
        return "\ufffd"
    character = chr(code)
    if _INVALID.match(character):
        return _WORD_JOINER
    if _SURROGATE.match(character):
        return "\ufffd"
    if character == "\f":
        return " "
    is_searched = COMBINING_MARKS.match(character) or PRIVATE_USE.match(character)
    return character if is_searched else reference[0]


def _without_faulty_start(html: str) -> str:
    """Remove a doctype with slashes and the slash of a self-closing root; libxml2 misreads both.

    See https://bugs.launchpad.net/lxml/+bug/1955915.
    """
    doctype = _DOCTYPE.match(html)
    if doctype and "/" in doctype[0]:
        html = "\n" + html[doctype.end() :]
    root = _EMPTY_ROOT.search(html, 0, _BEGINNING)
    return html if root is None else f"{html[: root.end(1)]}>{html[root.end() :]}"
