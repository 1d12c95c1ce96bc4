"""Decision on soft 404s: real pages beside made-up answers to addresses that do not exist."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, cast
from urllib.parse import urljoin, urlsplit

from lxml import etree, html
from scrapy.http import Request

from scrapy_neardup._util.urls import page_key
from scrapy_neardup.crawl.responses import outline_of
from scrapy_neardup.crawl.soft_404.hosts import Answer, Host, Section, Visit, host_of
from scrapy_neardup.crawl.soft_404.template import AnswerTemplate
from scrapy_neardup.html.limits import PageLimits
from scrapy_neardup.html.page_outline import PageOutline
from scrapy_neardup.sources.record import Record

from ..common.stored_pages import Page, html_of
from ..common.tables import Table
from ..corpora.missing_pages import KINDS
from ..quality.known_pairs import Corpus

#: Missing addresses that are asked for on each host.
_MISSING = ("/gone", "/shop/no-longer-here", "/2019/05/an-old-story")
_TOKENS = ("3f8a6c0d5e7b41929d0c8a7b6e5f4d3c", "b17e0c5a99d84e21a6f3027c4d8e9b10")
_CONTENT = etree.XPath("//p | //article | //h1 | //h2 | //h3 | //td | //pre | //blockquote")


class _Read(NamedTuple):
    """A page, and what it shows."""

    visit: Visit
    outline: PageOutline | None


def soft_404s(corpus: Corpus) -> list[Table]:
    """Return how many real pages are taken for soft 404s, and how many missing ones are not."""
    hosts: defaultdict[str, list[Page]] = defaultdict(list)
    for page in corpus.pages():
        hosts[host_of(page.url)].append(page)
    read = {name: [_read(p.url, html_of(p)) for p in pages] for name, pages in hosts.items()}
    table = Table(
        "soft 404s, by what a host answers to addresses that do not exist",
        ("answer", "hosts", "real pages", "false", "missing pages", "missed"),
    )
    for kind in (*KINDS, "own frame", "own frame and title"):
        counts = [_counted(kind, hosts[name], pages) for name, pages in read.items()]
        table.add(kind, len(hosts), *map(sum, zip(*counts, strict=True)))
    table.notes.append(
        "own frame: the host's first page without its paragraphs and headings, with a notice"
    )
    return [table]


def _counted(kind: str, pages: Sequence[Page], read: Sequence[_Read]) -> tuple[int, int, int, int]:
    """Return the real pages of a host, the false ones, the missing ones and the missed ones."""
    random.seed(kind + pages[0].url)
    site = urljoin(pages[0].url, "/")
    frame = html_of(pages[0]) if kind.startswith("own") else ""
    home = _with_notice(html_of(pages[0]), f"Welcome to {site}")
    host = _host(kind, site, home, frame)
    front = _read(site, home)
    _is_soft(host, front)
    false = sum(_is_soft(host, page) for page in read)
    # What was doubtful at first counts as soon as it is sure.
    missing = [_missing(kind, site, path, home, frame) for path in _MISSING]
    found = sum(_is_soft(host, page) for page in missing)
    late = {page_key(url) for url in host.take_confirmed(at_end=True)}
    late_missing = late & {page_key(page.visit.record.url) for page in missing}
    return (
        len(read),
        false + len(late) - len(late_missing),
        len(missing),
        len(missing) - found - len(late_missing),
    )


def _host(kind: str, site: str, home: str, frame: str) -> Host:
    """Return a host that was asked."""
    host = Host(host_of(site), Request(site), is_honest=False)
    answers = []
    for token in _TOKENS:
        answer = _missing(kind, site, f"/{token}", home, frame)
        if answer.visit.is_redirected:
            host.note_move(token, answer.visit.record.url)
        if answer.outline is not None:
            answers.append((token, answer.outline))
            n_bytes = len(answer.visit.record.content)
    template = AnswerTemplate.of(answers) if len(answers) == len(_TOKENS) else None
    if template is not None:
        host.answers.append(Answer(Section("/", ""), template, n_bytes))
    return host


def _missing(kind: str, site: str, path: str, home: str, frame: str) -> _Read:
    """Return what a crawl gets for a missing address."""
    url = urljoin(site, path)
    if frame:
        return _read(url, _framed(frame, path, keeps_title="title" in kind))
    answer = KINDS[kind](path, home)
    location = answer.headers.get("Location")
    if location is None:
        return _read(url, str(answer.body))
    moved_to = urljoin(site, location)
    body = home if moved_to == site else str(KINDS[kind](urlsplit(location).path, home).body)
    return _read(moved_to, body, requested=url)


def _framed(page: str, path: str, *, keeps_title: bool) -> str:
    """Return a page with a notice in the place of its content."""
    tree = html.document_fromstring(
        page.encode("utf-8", "replace"), html.HTMLParser(encoding="utf-8")
    )
    for element in cast("list[html.HtmlElement]", _CONTENT(tree)):
        if element.getparent() is not None:
            element.drop_tree()
    if not keeps_title:
        for title in tree.iter("title"):
            title.text = "Not found"
    return _with_notice(str(html.tostring(tree, encoding="unicode")), f"No page {path} is here")


def _with_notice(page: str, text: str) -> str:
    before, end, after = page.rpartition("</body>")
    return f"{before or after}<p>{text}</p>{end}{after if end else ''}"


def _read(url: str, source: str, requested: str | None = None) -> _Read:
    record = Record(url, url, source)
    return _Read(Visit(record, requested or url), outline_of(record, PageLimits()))


def _is_soft(host: Host, page: _Read) -> bool:
    return page.outline is not None and host.fits(page.visit, page.outline)
