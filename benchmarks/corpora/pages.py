"""The original page of an article, and layouts for copies on its own site and on others."""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass, replace
from html import escape

from .articles import Article
from .frames import FrameTexts, frame_texts
from .templates import SITE_TEMPLATES, Layout, page_html


@dataclass(frozen=True, slots=True)
class MadePage:
    """A page as a site delivers it."""

    url: str
    html: str


def seeded(*names: str) -> random.Random:
    """Return a generator that gives the same numbers for the same names, on every machine."""
    return random.Random(zlib.crc32("/".join(names).encode()))


def original_page(article: Article) -> MadePage:
    """Return the page on which the article was published first."""
    return made(home(article), article)


def made(layout: Layout, article: Article) -> MadePage:
    """Return the page of an article in a layout."""
    return MadePage(layout.url, page_html(layout, article.blocks))


def home(article: Article) -> Layout:
    """Return the layout of the original page; it is the same at every call."""
    rng = seeded("site", article.name)
    texts = frame_texts(article.language)
    year, month, _ = article.date.split("-")
    layout = Layout(
        template=rng.choice(sorted(SITE_TEMPLATES)),
        url=f"https://www.{article.slug}.example/{year}/{month}/{article.slug}.html",
        site=article.site,
        texts=texts,
        head_title=f"{article.title} | {article.site}",
        heading=article.title,
        byline=byline(texts, article.author, article.date),
    )
    return with_frame(layout, rng)


def elsewhere(article: Article, rng: random.Random) -> Layout:
    """Return a layout of another site that uses another template."""
    texts = frame_texts(article.language)
    site, host = rng.choice(texts.pairs("sites"))
    others = sorted(SITE_TEMPLATES.keys() - {home(article).template})
    layout = Layout(
        template=rng.choice(others),
        url=f"https://{host}/{rng.choice(('posts', 'read', 'a'))}/{rng.randrange(10**4, 10**6)}",
        site=site,
        texts=texts,
        head_title=rng.choice((article.title, f"{article.title} - {site}")),
        heading=article.title,
        byline=byline(texts, article.author, article.date),
    )
    return with_frame(layout, rng)


def with_frame(layout: Layout, rng: random.Random) -> Layout:
    """Return the layout with a menu, teasers, some comments and a footer."""
    texts = layout.texts
    return replace(
        layout,
        menu=texts.some("menu", rng.randint(12, 24), rng),
        teasers=texts.some_pairs("teasers", rng.randint(3, 6), rng),
        comments=texts.some_pairs("comments", rng.randint(0, 3), rng),
        footer=(texts.labels["rights"], texts.labels["imprint"]),
    )


def byline(texts: FrameTexts, author: str, date: str) -> str:
    """Return the HTML of a line with author and date."""
    by = texts.labels["by"].format(author=author)
    published = texts.labels["published"].format(date=texts.date(date))
    return f'<span class="author">{escape(by)}</span> <time datetime="{date}">{published}</time>'
