"""Generates English and Chinese web pages with the sizes and structure of real ones.

Of 3,476 real pages the HTML has 50,000 characters on average and 640 elements; the main text of
those in Chinese 2,500 characters, of the others 6,500. Words come as often as in made_up_texts.py:
those of jieba's dictionary, or of the shipped IDF table those in Latin letters, and now and then
one that is put together of two.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path

from ..common.stored_pages import Page
from . import made_up_texts

_WORDS = {"en": 1100, "zh": 1500}
_PARAGRAPH = 70
_LINKS, _CARDS = 120, 40
#: Characters of scripts and styles.
_UNSEEN = {"en": 24_000, "zh": 32_000}
#: Words of a page besides its main text, and those of a sentence.
_ALL_AROUND, _SENTENCE = 1500, 9


def pages(count: int) -> list[Page]:
    """Return this number of pages, half of them in each language; the same at every call."""
    made = []
    for number, words in enumerate(made_up_texts.ranks(count, max(_WORDS.values()) + _ALL_AROUND)):
        language = ("en", "zh")[number % 2]
        url = f"https://site{number // 20}.example/{language}/{number}.html"
        body = _Writer(language, words).page().encode()
        made.append(Page(str(number), url, url, "text/html; charset=utf-8", body))
    return made


class _Writer:
    """Writes a page, with words that come one after the other."""

    def __init__(self, language: str, ranks: list[int]) -> None:
        self._language = language
        self._ranks = chain(ranks)

    def page(self) -> str:
        take = self._take
        title, unseen = take(8), _UNSEEN[self._language] // 2
        links = "".join(
            f'<li class="item-{n}"><a href="/list/{n}" title="{n}">{take(2)}</a></li>'
            for n in range(_LINKS)
        )
        paragraphs = "".join(
            f'<p class="text">{take(_PARAGRAPH // 2)} <a href="/{n}">{take(2)}</a> '
            f"{take(_PARAGRAPH // 2 - 2)}</p>"
            for n in range(_WORDS[self._language] // _PARAGRAPH)
        )
        figures = "".join(
            f'<figure><img src="/img/{n}.jpg" alt="{n}"><figcaption>{take(8)}</figcaption></figure>'
            for n in range(8)
        )
        cards = "".join(
            f'<div class="card"><h3><a href="/c/{n}">{take(6)}</a></h3>'
            f'<span class="date">2026-11-01</span><div class="tags"><a href="/t/{n}">{take(1)}</a> '
            f'<a href="/u/{n}">{take(1)}</a></div><p>{take(12)}</p></div>'
            for n in range(_CARDS)
        )
        script = f"<script>var page = {{{'a: 1, ' * (unseen // 6)}}};</script>"
        style = f"<style>{'.item { color: #333; margin: 0 } ' * (unseen // 33)}</style>"
        return (
            f'<!DOCTYPE html><html lang="{self._language}"><head><meta charset="utf-8">'
            f"<title>{title} | {take(2)}</title>{style}{script}</head><body>"
            f"<header><nav><ul>{links}</ul></nav></header><main><article><h1>{title}</h1>"
            f'<div class="content">{paragraphs}{figures}</div></article><aside>{cards}</aside>'
            f"</main><footer><p>{take(30)}</p></footer></body></html>"
        )

    def _take(self, count: int) -> str:
        return wording(self._language, [next(self._ranks) for _ in range(count)])


def wording(language: str, ranks: Sequence[int]) -> str:
    """The words of these ranks, in sentences."""
    words = [_word(language, rank) for rank in ranks]
    between, stop = (" ", ". ") if language == "en" else ("", "，")
    return stop.join(
        between.join(words[at : at + _SENTENCE]) for at in range(0, len(words), _SENTENCE)
    )


def _word(language: str, rank: int) -> str:
    known = _words(language)
    if rank < len(known):
        return known[rank]
    first, second = divmod(rank, 1000)
    return known[first % 1000][:4] + known[second][-4:]


@cache
def _words(language: str) -> list[str]:
    """The commonest words, the commonest first."""
    if language == "zh":
        import jieba

        lines = (Path(jieba.__file__).parent / "dict.txt").read_text("utf-8").splitlines()
        counted = [(-int(times), word) for word, times, *_ in map(str.split, lines)]
    else:
        table = resources.files("scrapy_neardup.text") / "data" / "idf-multilingual.txt.gz"
        lines = gzip.decompress(table.read_bytes()).decode().splitlines()[1:]
        weighed = [(int(weight), tokens) for weight, tokens in (line.split("\t") for line in lines)]
        counted = [(weight, word) for weight, words in weighed for word in words.split(" ")]
        counted = [(weight, word) for weight, word in counted if word.isascii() and word.isalpha()]
    return [word for _, word in sorted(counted)[: made_up_texts.VOCABULARY]]
