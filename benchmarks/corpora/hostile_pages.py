"""Hostile pages: slow to read, huge, deeply nested, broken, or of another type than declared.

Each page is generated on demand and is the same every time. None is a real page. Each shape was
seen on the web, reported as a bug of some software, or found by searching for slow inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from . import hostile_bodies as bodies
from .texts import FERRY

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


_CONTROL_REFERENCES = "0 1 8 11 31 127 128 159 x1 xB xD800 xDFFF xFFFE xFFFF x110000 99999999999999"

PAGES: dict[str, HostilePage] = {
    "siblings-1e4": HostilePage(
        partial(bodies.siblings, 10**4), UTF8, "paragraphs take quadratic time"
    ),
    "siblings-1e5": HostilePage(
        partial(bodies.siblings, 10**5), UTF8, "16 s in trafilatura", large=True
    ),
    "siblings-1e6": HostilePage(
        partial(bodies.siblings, 10**6), UTF8, "more than 30 s", large=True
    ),
    "siblings-29e3": HostilePage(
        partial(bodies.siblings, 29_000), UTF8, "as many tags as are read", large=True
    ),
    "rows-145e2": HostilePage(
        lambda: bodies.html("<table>" + "<tr><td>x y z</td></tr>" * 14_500 + "</table>"),
        UTF8,
        "the same in a table",
        large=True,
    ),
    "entries-29e3": HostilePage(
        lambda: bodies.html("<ul>" + "<li>x y z" * 29_000 + "</ul>"),
        UTF8,
        "the same in a list",
        large=True,
    ),
    "links-1e5": HostilePage(
        partial(bodies.siblings, 10**5, '<a href="/{}">x</a>'), UTF8, "a link farm", large=True
    ),
    "rows-1e5": HostilePage(
        lambda: bodies.html("<table>" + "<tr><td>x</td></tr>" * 10**5 + "</table>"),
        UTF8,
        "a table without end",
        large=True,
    ),
    "inline-2e4": HostilePage(
        partial(bodies.inline, 20_000, "span"),
        UTF8,
        "15 s in lxml: a text node for each",
        large=True,
    ),
    "inline-bold-2e4": HostilePage(
        partial(bodies.inline, 20_000, "b"), UTF8, "the same", large=True
    ),
    "inline-links-2e4": HostilePage(
        partial(bodies.inline, 20_000, "a"), UTF8, "the same", large=True
    ),
    "breaks-1e5": HostilePage(
        partial(bodies.siblings, 10**5, "x{}<br>"), UTF8, "breaks", large=True
    ),
    "lists-1e5": HostilePage(
        lambda: bodies.html("<ul>" + "<li>x" * 10**5 + "</ul>"),
        UTF8,
        "unclosed entries",
        large=True,
    ),
    "attributes-1e3": HostilePage(
        partial(bodies.attributes, 10**3), UTF8, "attributes of one tag take quadratic time"
    ),
    "attributes-1e5": HostilePage(
        partial(bodies.attributes, 10**5), UTF8, "26 s in libxml2", large=True
    ),
    "attributes-1000-again": HostilePage(
        partial(bodies.many_attributes, 1000, 1300),
        UTF8,
        "as many attributes as are read",
        large=True,
    ),
    "attributes-end-tag": HostilePage(
        lambda: bodies.with_article(f"</div {' '.join(f'a{i}=1' for i in range(10**5))}>"),
        UTF8,
        "attributes where none belong",
        large=True,
    ),
    "nested-200": HostilePage(partial(bodies.nested, 200), UTF8, "deep, but read"),
    "nested-254": HostilePage(
        partial(bodies.nested, 254), UTF8, "the text is lost without huge_tree"
    ),
    "nested-1e3": HostilePage(partial(bodies.nested, 10**3), UTF8, "the text is lost"),
    "nested-1e4": HostilePage(partial(bodies.nested, 10**4), UTF8, "beyond what libxml2 reads"),
    "nested-1e5": HostilePage(partial(bodies.nested, 10**5), UTF8, "the same", large=True),
    "nested-inline-1e5": HostilePage(
        partial(bodies.nested, 10**5, "b"), UTF8, "inline tags nest as well", large=True
    ),
    "nested-unclosed-1e4": HostilePage(
        partial(bodies.nested, 10**4, closed=False), UTF8, "nothing is closed"
    ),
    "nested-400-again": HostilePage(
        partial(bodies.deep_again, 400, 72), UTF8, "as many tags and as deep as is read", large=True
    ),
    "nested-50-again": HostilePage(
        partial(bodies.deep_again, 50, 580),
        UTF8,
        "as many tags as are read, not that deep",
        large=True,
    ),
    "nested-tables-100": HostilePage(partial(bodies.nested_tables, 100), UTF8, "tables in tables"),
    "nested-tables-1e3": HostilePage(partial(bodies.nested_tables, 10**3), UTF8, "3,000 levels"),
    "marks-1e4": HostilePage(partial(bodies.marks, 10**4), UTF8, "NFKC is quadratic"),
    "marks-mixed-1e4": HostilePage(
        partial(bodies.marks, 10**4, mixed=True), UTF8, "marks that have to be sorted"
    ),
    "marks-1e6": HostilePage(
        partial(bodies.marks, 10**6), UTF8, "more than 30 s in NFKC", large=True
    ),
    "marks-mixed-7e5": HostilePage(
        partial(bodies.marks, 700_000, mixed=True), UTF8, "as much text as is read", large=True
    ),
    "marks-mixed-1e6": HostilePage(
        partial(bodies.marks, 10**6, mixed=True), UTF8, "marks that have to be sorted", large=True
    ),
    "references": HostilePage(
        partial(bodies.references, *_CONTROL_REFERENCES.split()),
        UTF8,
        "one makes the whole page empty",
    ),
    "references-1e5": HostilePage(
        lambda: bodies.html("&#1;" * 10**5 + FERRY), UTF8, "nothing but them", large=True
    ),
    "controls": HostilePage(bodies.raw_controls, UTF8, "characters that XML does not know"),
    "surrogates": HostilePage(bodies.surrogates, UTF8, "bytes of lone surrogates: not UTF-8"),
    "entities": HostilePage(bodies.entities, UTF8, "a billion laughs"),
    "external-entity": HostilePage(
        bodies.external_entity, UTF8, "reads a local file where it is believed"
    ),
    "cdata": HostilePage(bodies.cdata, UTF8, "a section that HTML does not know"),
    "nuls": HostilePage(bodies.nuls, UTF8, "every second byte is zero, and it is not UTF-16"),
    "scattered-nuls": HostilePage(bodies.scattered_nuls, UTF8, "the parser stops at a zero byte"),
    "utf-16-le": HostilePage(
        partial(bodies.utf16, little=True), UNLABELLED, "UTF-16 without a mark"
    ),
    "utf-16-be": HostilePage(
        partial(bodies.utf16, little=False), UNLABELLED, "UTF-16 without a mark"
    ),
    "gbk-as-utf-8": HostilePage(partial(bodies.mislabelled, "gbk"), UTF8, "a wrong label"),
    "gbk-as-latin-1": HostilePage(
        partial(bodies.mislabelled, "gbk"),
        "text/html; charset=iso-8859-1",
        "a server's default label",
    ),
    "utf-8-as-gbk": HostilePage(
        partial(bodies.mislabelled, "utf-8"), "text/html; charset=gbk", "a wrong label"
    ),
    "unknown-label": HostilePage(
        partial(bodies.mislabelled, "utf-8"),
        "text/html; charset=x-none-such",
        "a label nobody knows",
    ),
    "codec-label": HostilePage(
        partial(bodies.mislabelled, "utf-8"),
        "text/html; charset=hex",
        "a codec that is no encoding",
    ),
    "han-run-1e4": HostilePage(
        partial(bodies.han_run, 10**4), UTF8, "jieba takes long for one run"
    ),
    "han-run-1e5": HostilePage(partial(bodies.han_run, 10**5), UTF8, "3 s in jieba", large=True),
    "han-run-7e5": HostilePage(
        partial(bodies.han_run, 700_000), UTF8, "as much text as is read, in one run", large=True
    ),
    "han-run-1e6": HostilePage(partial(bodies.han_run, 10**6), UTF8, "more than 30 s", large=True),
    "token-1e5": HostilePage(partial(bodies.ascii_token, 10**5), UTF8, "one word"),
    "token-5e7": HostilePage(
        partial(bodies.ascii_token, 5 * 10**7), UTF8, "memory: one word of 50 MB", large=True
    ),
    "token-7e5": HostilePage(
        partial(bodies.ascii_token, 700_000), UTF8, "one word, as long as is read", large=True
    ),
    "text-7e5": HostilePage(
        partial(bodies.text_node, 700_000), UTF8, "as much text as is read", large=True
    ),
    "text-19e6": HostilePage(
        partial(bodies.text_node, 19 * 10**6), UTF8, "one text node", large=True
    ),
    "text-1e6": HostilePage(partial(bodies.text_node, 10**6), UTF8, "one text node", large=True),
    "nested-overlays": HostilePage(
        bodies.nested_overlays, UTF8, "each box is asked whether it is an overlay", large=True
    ),
    "menus": HostilePage(
        bodies.menus, UTF8, "nothing but menus: boilerplate that many sites share"
    ),
    "scripts": HostilePage(bodies.scripts, UTF8, "an application: nothing to read"),
    "right-to-left": HostilePage(bodies.right_to_left, UTF8, "direction marks"),
    "emoji": HostilePage(bodies.emoji, UTF8, "joiners, flags and selectors"),
    "json": HostilePage(bodies.object_notation, UTF8, "JSON that claims to be HTML"),
    "png": HostilePage(bodies.picture, UTF8, "a picture that claims to be HTML"),
    "elf": HostilePage(bodies.program, UNLABELLED, "a program that claims to be HTML"),
    "cut-gzip": HostilePage(bodies.cut_gzip, UTF8, "an unpacked body that is not"),
    "zeros": HostilePage(partial(bodies.zeros, 10**5), UTF8, "nothing but zero bytes"),
    "bomb-zeros": HostilePage(
        partial(bodies.zeros, 10**8), UTF8, "a gzip bomb's content", large=True
    ),
    "bomb-html": HostilePage(
        partial(bodies.inflated, 10**8), UTF8, "the same, as HTML", large=True
    ),
    "empty": HostilePage(bytes, UTF8, "nothing"),
    "early-ends": HostilePage(
        partial(bodies.many_ends, 10**4), UTF8, "the page ends ten thousand times"
    ),
    "early-ends-1e5": HostilePage(
        partial(bodies.many_ends, 10**5), UTF8, "the page ends again and again", large=True
    ),
    "open-ends": HostilePage(
        partial(bodies.repeated, "</html", 10**5), UTF8, "ends that do not end", large=True
    ),
    "spaced-ends": HostilePage(
        lambda: bodies.html("</html" + " " * 10**5) + bodies.with_article(""),
        UTF8,
        "white space to search",
    ),
    "angles": HostilePage(
        partial(bodies.repeated, "<", 10**6), UTF8, "a million tags begin", large=True
    ),
    "ampersands": HostilePage(
        partial(bodies.repeated, "&#", 10**6), UTF8, "a million references begin", large=True
    ),
    "comments": HostilePage(
        partial(bodies.repeated, "<!--", 10**5), UTF8, "comments begin in a comment", large=True
    ),
    "open-comment": HostilePage(partial(bodies.unclosed, "<!--"), UTF8, "all is comment"),
    "open-quote": HostilePage(partial(bodies.unclosed, '<a href="'), UTF8, "all is an address"),
    "open-quotes-1e5": HostilePage(
        partial(bodies.unclosed, '<a href="', 10**5), UTF8, "addresses begin", large=True
    ),
    "open-cdata": HostilePage(partial(bodies.unclosed, "<![CDATA["), UTF8, "all is character data"),
    "open-title": HostilePage(partial(bodies.unclosed, "<title>"), UTF8, "all is title"),
    "open-titles-1e5": HostilePage(
        partial(bodies.unclosed, "<title>", 10**5), UTF8, "titles begin", large=True
    ),
    "titles-5e4": HostilePage(
        partial(bodies.long_title, 50_000),
        UTF8,
        "each part of a title is compared with each",
        large=True,
    ),
    "open-script": HostilePage(partial(bodies.unclosed, "<script>"), UTF8, "all is script"),
    "open-textarea": HostilePage(
        partial(bodies.unclosed, "<textarea>"), UTF8, "all is a form's text"
    ),
    "doctypes": HostilePage(
        partial(bodies.unclosed, "<!DOCTYPE", 10**5), UTF8, "declarations begin", large=True
    ),
    "instructions": HostilePage(
        partial(bodies.unclosed, "<?xml ", 10**5), UTF8, "instructions begin", large=True
    ),
    "metas": HostilePage(
        partial(bodies.unclosed, "<meta charset=", 10**5), UTF8, "labels begin", large=True
    ),
    "white-space": HostilePage(
        partial(bodies.repeated, " \n", 10**6), UTF8, "two megabytes of white space", large=True
    ),
    "formats-1e5": HostilePage(
        partial(bodies.siblings, 10**5, "<b><i>x{}"),
        UTF8,
        "formatting that is never closed",
        large=True,
    ),
    "forms-1e5": HostilePage(
        partial(bodies.siblings, 10**5, "<form>x{}"), UTF8, "forms", large=True
    ),
    "selects-1e5": HostilePage(
        partial(bodies.siblings, 10**5, "<select><option>x{}"), UTF8, "choices", large=True
    ),
    "images-1e5": HostilePage(
        partial(bodies.siblings, 10**5, '<img src="/{}.png">'), UTF8, "pictures", large=True
    ),
}
