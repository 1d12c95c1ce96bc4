"""Makes the bodies of hostile pages; each function returns the same at every call."""

from __future__ import annotations

import gzip
import json
import random

from .texts import BRIDGE, FERRY, MUSEUM, TEA


def html(body: str, head: str = "<title>Hostile</title>") -> bytes:
    """A page with this body."""
    return f"<html><head>{head}</head><body>{body}</body></html>".encode("utf-8", "surrogatepass")


def long_title(parts: int) -> bytes:
    """A page whose title has many parts, each with a version of something."""
    title = " | ".join(f"w{n} 1.{n}" for n in range(parts))
    return html(f"<h1>The ferry</h1><p>{FERRY}</p><p>{MUSEUM}</p>", f"<title>{title}</title>")


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
