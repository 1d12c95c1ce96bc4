"""Hostile pages: slow to read, huge, deeply nested, broken, or of another type than declared.

Each page is generated on demand and is the same every time. None is a real page. Each shape was
seen on the web, reported as a bug of some software, or found by searching for slow inputs.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from .texts import BRIDGE, FERRY, MUSEUM, TEA

UTF8 = "text/html; charset=utf-8"
UNLABELLED = "text/html"


class HostilePage(NamedTuple):
    """A page that is made when it is asked for.

    :ivar make: its body.
    :ivar content_type: header that it is served with.
    :ivar why: what it does to code that does not expect it.
    :ivar large: megabytes, or slow to read: for a crawl, not for unit tests.
    """

    make: Callable[[], bytes]
    content_type: str
    why: str
    large: bool = False


def html(body: str, head: str = "<title>Hostile</title>") -> bytes:
    """A page with this body."""
    return f"<html><head>{head}</head><body>{body}</body></html>".encode("utf-8", "surrogatepass")


def with_article(markup: str) -> bytes:
    """The markup and an ordinary article behind it."""
    return html(f"{markup}<article><h1>The ferry</h1><p>{FERRY}</p><p>{MUSEUM}</p></article>")


def deep_again(depth: int, times: int) -> bytes:
    """Deep nesting again and again."""
    return html(("<div>" * depth + "x y z " + "</div>" * depth) * times)


def many_attributes(count: int, times: int) -> bytes:
    tag = f"<p {' '.join(f'a{i}' for i in range(count))}>x</p>"
    return html(tag * times)


def siblings(count: int, markup: str = "<p>x{}</p>") -> bytes:
    return html("".join(map(markup.format, range(count))))


def inline(count: int, tag: str) -> bytes:
    """Many inline elements in one paragraph, with text between them."""
    run = "".join(f"<{tag}>word{n} is</{tag}> and " for n in range(count))
    return html(f"<article><h1>The ferry</h1><p>{run}</p><p>{FERRY}</p></article>")


def attributes(count: int) -> bytes:
    return with_article(f"<div {' '.join(f'a{i}=1' for i in range(count))}>tag</div>")


def nested(depth: int, tag: str = "div", *, closed: bool = True) -> bytes:
    return html(f"<{tag}>" * depth + f"<p>{FERRY}</p>" + f"</{tag}>" * depth * closed)


def nested_tables(depth: int) -> bytes:
    return html("<table><tr><td>" * depth + FERRY + "</td></tr></table>" * depth)


def marks(count: int, *, mixed: bool = False) -> bytes:
    """Return a letter with many combining marks, of one class or alternating between two."""
    run = "\u0301" * count if not mixed else "\u0301\u0323" * (count // 2)
    return html(f"<p>e{run}</p><p>{FERRY}</p>")


def random_han(count: int) -> str:
    rng = random.Random(count)
    return "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(count))


def han_run(count: int) -> bytes:
    return html(f"<p>{random_han(count)}</p>")


def ascii_token(count: int) -> bytes:
    return html(f"<p>{'a' * count}</p>")


def text_node(count: int) -> bytes:
    return html(f"<p>{(FERRY + ' ') * (count // len(FERRY))}</p>")


def references(*names: str) -> bytes:
    return with_article("".join(f"<p>before&#{name};after</p>" for name in names))


def raw_controls() -> bytes:
    controls = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 127, 0x85, 0xFFFE, 0xFFFF]))
    return with_article(f"<p>{controls}</p>")


def surrogates() -> bytes:
    return with_article("<p>before\ud800after</p>")


def entities() -> bytes:
    """Ten levels of ten references each: 10^9 letters in XML, none in HTML."""
    levels = "".join(
        f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' if i else '<!ENTITY e0 "lollollollol">'
        for i in range(10)
    )
    return f"<!DOCTYPE html [{levels}]>".encode() + with_article("<p>&e9;</p>")


def external_entity() -> bytes:
    doctype = '<!DOCTYPE html [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    return doctype.encode() + with_article("<p>&secret;</p>")


def cdata() -> bytes:
    return with_article("<p>before<![CDATA[ raw <b> & text ]]>after</p>")


def nuls() -> bytes:
    return b"\0".join(bytes([byte]) for byte in with_article(""))


def scattered_nuls() -> bytes:
    return with_article("<p>zero\0byte</p><p>\0\0\0</p>")


def utf16(*, little: bool) -> bytes:
    text = html(f"<p>{TEA}</p><p>{BRIDGE}</p>").decode()
    return text.encode("utf-16-le" if little else "utf-16-be")


def mislabelled(encoding: str) -> bytes:
    return html(f"<p>{TEA}</p><p>{BRIDGE}</p>").decode().encode(encoding)


def nested_overlays() -> bytes:
    """Boxes named like overlays in each other, around a long text that asks for nothing."""
    text = "some words about the ferry cookies and its harbour " * 10_000
    boxes = '<div class="cookie-box">' * 200, "</div>" * 200
    return f"<html><title>Tins</title><body>{boxes[0]}<p>{text}</p>{boxes[1]}".encode()


def menus() -> bytes:
    entries = "".join(f'<li><a href="/{i}">Entry {i}</a></li>' for i in range(200))
    return html(f"<nav><ul>{entries}</ul></nav><header><ul>{entries}</ul></header>")


def scripts() -> bytes:
    return html(f"<script>var data = {json.dumps([FERRY] * 2000)};</script><div id=app></div>")


def zeros(count: int) -> bytes:
    """Return the decompressed content of a gzip bomb."""
    return bytes(count)


def inflated(count: int) -> bytes:
    """Return the decompressed content of a gzip bomb that is HTML."""
    return html("<p>a</p>" * (count // 8))


def cut_gzip() -> bytes:
    return gzip.compress(with_article(""), mtime=0)[:-40]


def picture() -> bytes:
    noise = random.Random(1).randbytes(60_000)
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + noise


def program() -> bytes:
    return b"\x7fELF\x02\x01\x01" + bytes(9) + random.Random(2).randbytes(60_000)


def object_notation() -> bytes:
    return json.dumps({"title": "ferry", "texts": [FERRY, TEA] * 20}).encode()


def repeated(piece: str, count: int, end: str = "") -> bytes:
    """A piece so often, then an article."""
    return html(piece * count + end) + with_article("")


def unclosed(opening: str, count: int = 1) -> bytes:
    """Something that is opened and never closed, in front of all the rest."""
    return opening.encode() * count + with_article("")


def right_to_left() -> bytes:
    words = "مرحبا بالعالم هذه صفحة عن العبارة إلى الجزيرة وقصة القبطان"
    return html(f'<p dir="rtl">\u202e{words * 9}\u202c \u200f{words}</p>')


def emoji() -> bytes:
    family = "👨‍👩‍👧‍👦👩🏽‍🚀🏳️‍🌈🇳🇴1️⃣"
    return with_article(f"<p>{family * 500}</p>")


def many_ends(count: int) -> bytes:
    return html("</html><p>x</p>" * count)


_CONTROL_REFERENCES = "0 1 8 11 31 127 128 159 x1 xB xD800 xDFFF xFFFE xFFFF x110000 99999999999999"

PAGES: dict[str, HostilePage] = {
    "siblings-1e4": HostilePage(partial(siblings, 10**4), UTF8, "paragraphs take quadratic time"),
    "siblings-1e5": HostilePage(partial(siblings, 10**5), UTF8, "16 s in trafilatura", large=True),
    "siblings-1e6": HostilePage(partial(siblings, 10**6), UTF8, "more than 30 s", large=True),
    "siblings-29e3": HostilePage(
        partial(siblings, 29_000), UTF8, "as many tags as are read", large=True
    ),
    "rows-145e2": HostilePage(
        lambda: html("<table>" + "<tr><td>x y z</td></tr>" * 14_500 + "</table>"),
        UTF8,
        "the same in a table",
        large=True,
    ),
    "entries-29e3": HostilePage(
        lambda: html("<ul>" + "<li>x y z" * 29_000 + "</ul>"),
        UTF8,
        "the same in a list",
        large=True,
    ),
    "links-1e5": HostilePage(
        partial(siblings, 10**5, '<a href="/{}">x</a>'), UTF8, "a link farm", large=True
    ),
    "rows-1e5": HostilePage(
        lambda: html("<table>" + "<tr><td>x</td></tr>" * 10**5 + "</table>"),
        UTF8,
        "a table without end",
        large=True,
    ),
    "inline-2e4": HostilePage(
        partial(inline, 20_000, "span"), UTF8, "15 s in lxml: a text node for each", large=True
    ),
    "inline-bold-2e4": HostilePage(partial(inline, 20_000, "b"), UTF8, "the same", large=True),
    "inline-links-2e4": HostilePage(partial(inline, 20_000, "a"), UTF8, "the same", large=True),
    "breaks-1e5": HostilePage(partial(siblings, 10**5, "x{}<br>"), UTF8, "breaks", large=True),
    "lists-1e5": HostilePage(
        lambda: html("<ul>" + "<li>x" * 10**5 + "</ul>"), UTF8, "unclosed entries", large=True
    ),
    "attributes-1e3": HostilePage(
        partial(attributes, 10**3), UTF8, "attributes of one tag take quadratic time"
    ),
    "attributes-1e5": HostilePage(partial(attributes, 10**5), UTF8, "26 s in libxml2", large=True),
    "attributes-1000-again": HostilePage(
        partial(many_attributes, 1000, 1300), UTF8, "as many attributes as are read", large=True
    ),
    "attributes-end-tag": HostilePage(
        lambda: with_article(f"</div {' '.join(f'a{i}=1' for i in range(10**5))}>"),
        UTF8,
        "attributes where none belong",
        large=True,
    ),
    "nested-200": HostilePage(partial(nested, 200), UTF8, "deep, but read"),
    "nested-254": HostilePage(partial(nested, 254), UTF8, "the text is lost without huge_tree"),
    "nested-1e3": HostilePage(partial(nested, 10**3), UTF8, "the text is lost"),
    "nested-1e4": HostilePage(partial(nested, 10**4), UTF8, "beyond what libxml2 reads"),
    "nested-1e5": HostilePage(partial(nested, 10**5), UTF8, "the same", large=True),
    "nested-inline-1e5": HostilePage(
        partial(nested, 10**5, "b"), UTF8, "inline tags nest as well", large=True
    ),
    "nested-unclosed-1e4": HostilePage(
        partial(nested, 10**4, closed=False), UTF8, "nothing is closed"
    ),
    "nested-400-again": HostilePage(
        partial(deep_again, 400, 72), UTF8, "as many tags and as deep as is read", large=True
    ),
    "nested-50-again": HostilePage(
        partial(deep_again, 50, 580), UTF8, "as many tags as are read, not that deep", large=True
    ),
    "nested-tables-100": HostilePage(partial(nested_tables, 100), UTF8, "tables in tables"),
    "nested-tables-1e3": HostilePage(partial(nested_tables, 10**3), UTF8, "3,000 levels"),
    "marks-1e4": HostilePage(partial(marks, 10**4), UTF8, "NFKC is quadratic"),
    "marks-mixed-1e4": HostilePage(
        partial(marks, 10**4, mixed=True), UTF8, "marks that have to be sorted"
    ),
    "marks-1e6": HostilePage(partial(marks, 10**6), UTF8, "more than 30 s in NFKC", large=True),
    "marks-mixed-7e5": HostilePage(
        partial(marks, 700_000, mixed=True), UTF8, "as much text as is read", large=True
    ),
    "marks-mixed-1e6": HostilePage(
        partial(marks, 10**6, mixed=True), UTF8, "marks that have to be sorted", large=True
    ),
    "references": HostilePage(
        partial(references, *_CONTROL_REFERENCES.split()), UTF8, "one makes the whole page empty"
    ),
    "references-1e5": HostilePage(
        lambda: html("&#1;" * 10**5 + FERRY), UTF8, "nothing but them", large=True
    ),
    "controls": HostilePage(raw_controls, UTF8, "characters that XML does not know"),
    "surrogates": HostilePage(surrogates, UTF8, "bytes of lone surrogates: not UTF-8"),
    "entities": HostilePage(entities, UTF8, "a billion laughs"),
    "external-entity": HostilePage(
        external_entity, UTF8, "reads a local file where it is believed"
    ),
    "cdata": HostilePage(cdata, UTF8, "a section that HTML does not know"),
    "nuls": HostilePage(nuls, UTF8, "every second byte is zero, and it is not UTF-16"),
    "scattered-nuls": HostilePage(scattered_nuls, UTF8, "the parser stops at a zero byte"),
    "utf-16-le": HostilePage(partial(utf16, little=True), UNLABELLED, "UTF-16 without a mark"),
    "utf-16-be": HostilePage(partial(utf16, little=False), UNLABELLED, "UTF-16 without a mark"),
    "gbk-as-utf-8": HostilePage(partial(mislabelled, "gbk"), UTF8, "a wrong label"),
    "gbk-as-latin-1": HostilePage(
        partial(mislabelled, "gbk"), "text/html; charset=iso-8859-1", "a server's default label"
    ),
    "utf-8-as-gbk": HostilePage(
        partial(mislabelled, "utf-8"), "text/html; charset=gbk", "a wrong label"
    ),
    "unknown-label": HostilePage(
        partial(mislabelled, "utf-8"), "text/html; charset=x-none-such", "a label nobody knows"
    ),
    "codec-label": HostilePage(
        partial(mislabelled, "utf-8"), "text/html; charset=hex", "a codec that is no encoding"
    ),
    "han-run-1e4": HostilePage(partial(han_run, 10**4), UTF8, "jieba takes long for one run"),
    "han-run-1e5": HostilePage(partial(han_run, 10**5), UTF8, "3 s in jieba", large=True),
    "han-run-7e5": HostilePage(
        partial(han_run, 700_000), UTF8, "as much text as is read, in one run", large=True
    ),
    "han-run-1e6": HostilePage(partial(han_run, 10**6), UTF8, "more than 30 s", large=True),
    "token-1e5": HostilePage(partial(ascii_token, 10**5), UTF8, "one word"),
    "token-5e7": HostilePage(
        partial(ascii_token, 5 * 10**7), UTF8, "memory: one word of 50 MB", large=True
    ),
    "token-7e5": HostilePage(
        partial(ascii_token, 700_000), UTF8, "one word, as long as is read", large=True
    ),
    "text-7e5": HostilePage(
        partial(text_node, 700_000), UTF8, "as much text as is read", large=True
    ),
    "text-19e6": HostilePage(partial(text_node, 19 * 10**6), UTF8, "one text node", large=True),
    "text-1e6": HostilePage(partial(text_node, 10**6), UTF8, "one text node", large=True),
    "nested-overlays": HostilePage(
        nested_overlays, UTF8, "each box is asked whether it is an overlay", large=True
    ),
    "menus": HostilePage(menus, UTF8, "nothing but menus: boilerplate that many sites share"),
    "scripts": HostilePage(scripts, UTF8, "an application: nothing to read"),
    "right-to-left": HostilePage(right_to_left, UTF8, "direction marks"),
    "emoji": HostilePage(emoji, UTF8, "joiners, flags and selectors"),
    "json": HostilePage(object_notation, UTF8, "JSON that claims to be HTML"),
    "png": HostilePage(picture, UTF8, "a picture that claims to be HTML"),
    "elf": HostilePage(program, UNLABELLED, "a program that claims to be HTML"),
    "cut-gzip": HostilePage(cut_gzip, UTF8, "an unpacked body that is not"),
    "zeros": HostilePage(partial(zeros, 10**5), UTF8, "nothing but zero bytes"),
    "bomb-zeros": HostilePage(partial(zeros, 10**8), UTF8, "a gzip bomb's content", large=True),
    "bomb-html": HostilePage(partial(inflated, 10**8), UTF8, "the same, as HTML", large=True),
    "empty": HostilePage(bytes, UTF8, "nothing"),
    "early-ends": HostilePage(partial(many_ends, 10**4), UTF8, "the page ends ten thousand times"),
    "early-ends-1e5": HostilePage(
        partial(many_ends, 10**5), UTF8, "the page ends again and again", large=True
    ),
    "open-ends": HostilePage(
        partial(repeated, "</html", 10**5), UTF8, "ends that do not end", large=True
    ),
    "spaced-ends": HostilePage(
        lambda: html("</html" + " " * 10**5) + with_article(""), UTF8, "white space to search"
    ),
    "angles": HostilePage(partial(repeated, "<", 10**6), UTF8, "a million tags begin", large=True),
    "ampersands": HostilePage(
        partial(repeated, "&#", 10**6), UTF8, "a million references begin", large=True
    ),
    "comments": HostilePage(
        partial(repeated, "<!--", 10**5), UTF8, "comments begin in a comment", large=True
    ),
    "open-comment": HostilePage(partial(unclosed, "<!--"), UTF8, "all is comment"),
    "open-quote": HostilePage(partial(unclosed, '<a href="'), UTF8, "all is an address"),
    "open-quotes-1e5": HostilePage(
        partial(unclosed, '<a href="', 10**5), UTF8, "addresses begin", large=True
    ),
    "open-cdata": HostilePage(partial(unclosed, "<![CDATA["), UTF8, "all is character data"),
    "open-title": HostilePage(partial(unclosed, "<title>"), UTF8, "all is title"),
    "open-titles-1e5": HostilePage(
        partial(unclosed, "<title>", 10**5), UTF8, "titles begin", large=True
    ),
    "open-script": HostilePage(partial(unclosed, "<script>"), UTF8, "all is script"),
    "open-textarea": HostilePage(partial(unclosed, "<textarea>"), UTF8, "all is a form's text"),
    "doctypes": HostilePage(
        partial(unclosed, "<!DOCTYPE", 10**5), UTF8, "declarations begin", large=True
    ),
    "instructions": HostilePage(
        partial(unclosed, "<?xml ", 10**5), UTF8, "instructions begin", large=True
    ),
    "metas": HostilePage(
        partial(unclosed, "<meta charset=", 10**5), UTF8, "labels begin", large=True
    ),
    "white-space": HostilePage(
        partial(repeated, " \n", 10**6), UTF8, "two megabytes of white space", large=True
    ),
    "formats-1e5": HostilePage(
        partial(siblings, 10**5, "<b><i>x{}"), UTF8, "formatting that is never closed", large=True
    ),
    "forms-1e5": HostilePage(partial(siblings, 10**5, "<form>x{}"), UTF8, "forms", large=True),
    "selects-1e5": HostilePage(
        partial(siblings, 10**5, "<select><option>x{}"), UTF8, "choices", large=True
    ),
    "images-1e5": HostilePage(
        partial(siblings, 10**5, '<img src="/{}.png">'), UTF8, "pictures", large=True
    ),
}
