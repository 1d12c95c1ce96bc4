"""Generates the pages of a site: texts of 80 to 400 words, in English and Chinese.

Copies of a page have another counter, another date and another order of the side list; print views
have nothing around the text; a list's items come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from html import escape
from random import Random

from ..corpora import made_up_texts
from ..corpora.made_up_pages import wording
from .parts import Content, Look
from .site import Found, UrlSite

#: Words of a text, of its title, of what a list shows of it, of a paragraph. Lists that showed less
#: would be small texts: the rule keeps those in another order.
_WORDS, _TITLE, _SHOWN, _PARAGRAPH = (80, 400), 5, 80, 60
#: Pages in the side list.
_BESIDE = 6


class SitePages:
    """Writes the pages of a site."""

    def __init__(self, site: UrlSite) -> None:
        self._site = site
        self._every = [*site.contents, *site.later]
        self._beside = Random(site.seed).sample(site.contents, _BESIDE)

    @cached_property
    def _ranks(self) -> list[list[int]]:
        length = _TITLE + _WORDS[1]
        return made_up_texts.ranks(len(self._every), length, seed=self._site.seed)

    def page(self, url: str, *, changed: bool = False) -> tuple[Found, str] | None:
        """Return the content at a URL and its page; ``None`` if there is none."""
        found = self._site.find(url, changed=changed)
        if found is None:
            return None
        return found, self._write(found, url, self._site.links(found, changed=changed))

    def title(self, content: Content) -> str:
        return wording(content.language, self._ranks[content.number][:_TITLE])

    def _write(self, found: Found, url: str, links: list[str]) -> str:
        content, random = found.content, Random(url)
        title = escape(self.title(content))
        main = f"<main><article><h1>{title}</h1>\n{self._main(content, found.look, random)}"
        before, after = self._around(links, random, bare=found.look == "bare")
        return (
            f'<!DOCTYPE html><html lang="{content.language}"><head><meta charset="utf-8">'
            f"<title>{title} | {self._site.domain.partition('.')[0]}</title>"
            f"{''.join(self._head(content))}</head>\n<body>{before}\n{main}</article></main>\n"
            f"{after}</body></html>"
        )

    def _main(self, content: Content, look: Look, random: Random) -> str:
        if not content.shown:
            return "\n".join(f"<p>{text}</p>" for text in self._paragraphs(content))
        items = list(content.shown)
        if look == "shuffled":
            random.shuffle(items)
        return "\n".join(
            f"<h2>{escape(self.title(item))}</h2>\n<p>{self._text(item, _SHOWN)}</p>"
            for item in items
        )

    def _paragraphs(self, content: Content) -> Iterable[str]:
        ranks = self._ranks[content.number][_TITLE:]
        words = Random(f"{self._site.seed} {content.number}").randint(*_WORDS)
        for at in range(0, words, _PARAGRAPH):
            yield wording(content.language, ranks[at : min(at + _PARAGRAPH, words)]) + "."

    def _text(self, content: Content, words: int) -> str:
        ranks = self._ranks[content.number][_TITLE:]
        return wording(content.language, ranks[:words]) + "."

    def _head(self, content: Content) -> Iterable[str]:
        kind = content.section.canonical
        if kind != "none":
            canonical = self._site.front if kind == "front" else content
            yield f'<link rel="canonical" href="{escape(canonical.urls[0])}">'
        for language, other in content.alternates.items():
            address = escape(other.urls[0])
            yield f'<link rel="alternate" hreflang="{language}" href="{address}">'

    def _around(self, links: list[str], random: Random, *, bare: bool) -> tuple[str, str]:
        nav = "\n".join(
            f'<li><a href="{escape(link)}">{n}</a></li>' for n, link in enumerate(links)
        )
        if bare:
            return "", f"<nav><ul>{nav}</ul></nav>"
        beside = random.sample(self._beside, _BESIDE)
        aside = "\n".join(f"<li>{escape(self.title(content))}</li>" for content in beside)
        return (
            f"<header><nav><ul>{nav}</ul></nav></header>",
            f"<aside><ul>{aside}</ul></aside>\n<footer>Visit {random.randrange(10**6)}, "
            f"{random.randint(1, 28)}.{random.randint(1, 12)}.2026</footer>",
        )
