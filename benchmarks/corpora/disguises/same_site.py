"""Disguises on the same site: other URLs of one article."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from html import escape
from urllib.parse import urlsplit

from ..articles import Article, paragraph
from ..frames import FrameTexts
from ..pages import MadePage, byline, home, made, with_frame
from ..templates import SITE_TEMPLATES, Layout
from .registry import disguise
from .restructuring import first_share


def _at(layout: Layout, *, suffix: str = "", host: str = "", path: str = "") -> Layout:
    """Return the layout at another address of its site."""
    parts = urlsplit(layout.url)
    changed = parts._replace(netloc=host or parts.netloc, path=path or parts.path)
    return replace(layout, url=changed.geturl() + suffix)


def _bare_host(layout: Layout) -> str:
    return urlsplit(layout.url).netloc.removeprefix("www.")


@disguise("print-view", same_site=True)
def print_view(article: Article, rng: random.Random) -> MadePage:
    """Return the view for printers: no menu, no sidebar."""
    return made(replace(_at(home(article), suffix="?print=1"), template="print"), article)


@disguise("amp-view", same_site=True)
def amp_view(article: Article, rng: random.Random) -> MadePage:
    """Return the view for fast mobile display."""
    layout = _at(home(article), path=f"/amp/{article.slug}.html")
    return made(replace(layout, template="amp", comments=()), article)


@disguise("mobile-host", same_site=True)
def mobile_host(article: Article, rng: random.Random) -> MadePage:
    """Return the page of the host for telephones."""
    layout = home(article)
    layout = _at(layout, host=f"m.{_bare_host(layout)}")
    return made(replace(layout, template="mobile", comments=()), article)


@disguise("session-id", same_site=True)
def session_id(article: Article, rng: random.Random) -> MadePage:
    """Return the same page with a session's identifier and other teasers."""
    layout = _at(home(article), suffix=f";jsessionid={rng.getrandbits(64):016X}")
    return made(replace(layout, teasers=layout.texts.some_pairs("teasers", 5, rng)), article)


@disguise("index-variant", same_site=True)
def index_variant(article: Article, rng: random.Random) -> MadePage:
    """Return the page as a folder's index, over plain http."""
    layout = home(article)
    path = urlsplit(layout.url).path.removesuffix(".html") + "/index.html"
    layout = _at(layout, path=path)
    return made(replace(layout, url=layout.url.replace("https:", "http:", 1)), article)


@disguise("campaign-parameters", same_site=True)
def campaign_parameters(article: Article, rng: random.Random) -> MadePage:
    """Return the page with parameters of a campaign and a greeting for its visitors."""
    layout = _at(home(article), suffix=f"?utm_source=letter&utm_campaign={rng.randrange(1000)}")
    greeting = escape(layout.texts.one("newsletters", rng))
    return made(replace(layout, banner=f'<div class="greeting">{greeting}</div>'), article)


@disguise("views-and-clock", same_site=True)
def views_and_clock(article: Article, rng: random.Random) -> MadePage:
    """Return the page with a counter of views and a clock."""
    layout = _at(home(article), suffix=f"?t={rng.randrange(10**9)}")
    views = layout.label("views").format(views=rng.randrange(100, 90000))
    time = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
    clock = f'<div class="clock">{layout.label("clock").format(clock=time)}</div>'
    return made(replace(layout, byline=f"{layout.byline} <i>{views}</i>", banner=clock), article)


@disguise("other-menus", same_site=True)
def other_menus(article: Article, rng: random.Random) -> MadePage:
    """Return the page after its menus, teasers and footer have changed."""
    layout = with_frame(_at(home(article), suffix="?from=start"), rng)
    texts = layout.texts
    menu = [
        f"{place} {entry}" for place, entry in zip(texts.lines("places"), layout.menu, strict=False)
    ]
    return made(replace(layout, menu=menu, footer=texts.some("sources", 1, rng)), article)


@disguise("redesign", same_site=True)
def redesign(article: Article, rng: random.Random) -> MadePage:
    """Return the page in another template of the same site."""
    layout = home(article)
    template = rng.choice(sorted(SITE_TEMPLATES.keys() - {layout.template}))
    layout = replace(_at(layout, path=f"/articles/{article.slug}"), template=template)
    return made(with_frame(layout, rng), article)


@disguise("other-section", same_site=True)
def other_section(article: Article, rng: random.Random) -> MadePage:
    """Return the page below the path of another section, with a trail of links."""
    layout = _at(home(article), path=f"/topics/{rng.randrange(90)}/{article.slug}.html")
    trail = " › ".join(map(escape, layout.texts.some("menu", 3, rng)))
    return made(replace(layout, banner=f'<p class="trail">{trail}</p>'), article)


@disguise("new-date", same_site=True)
def new_date(article: Article, rng: random.Random) -> MadePage:
    """Return the page with a later date."""
    layout = _at(home(article), suffix="?rev=2")
    later = date.fromisoformat(article.date) + timedelta(days=rng.randrange(20, 700))
    return made(
        replace(layout, byline=byline(layout.texts, article.author, later.isoformat())), article
    )


@disguise("other-author", same_site=True)
def other_author(article: Article, rng: random.Random) -> MadePage:
    """Return the page with the staff in place of the author."""
    layout = _at(home(article), suffix="?edition=2")
    staff = layout.texts.labels["staff"]
    return made(replace(layout, byline=byline(layout.texts, staff, article.date)), article)


@disguise("title-updated", same_site=True)
def title_updated(article: Article, rng: random.Random) -> MadePage:
    """Return the page with a note in its title that it was updated."""
    layout = _at(home(article), suffix="?updated")
    title = f"{article.title} {layout.texts.labels['updated']}"
    return made(replace(layout, heading=title, head_title=f"{title} | {layout.site}"), article)


@disguise("comments-appended", same_site=True)
def comments_appended(article: Article, rng: random.Random) -> MadePage:
    """Return the page with ten comments."""
    layout = _at(home(article), suffix="?comments=all")
    return made(replace(layout, comments=layout.texts.some_pairs("comments", 10, rng)), article)


@disguise("related-appended", same_site=True)
def related_appended(article: Article, rng: random.Random) -> MadePage:
    """Return the page with related posts at the end of the text."""
    layout = _at(home(article), suffix="?related=1")
    return made(replace(layout, tail=_teaser_list(layout, "related", 6, rng)), article)


def _teaser_list(layout: Layout, label: str, count: int, rng: random.Random) -> str:
    entries = "".join(
        f"<li><b>{escape(title)}</b> {escape(text)}</li>"
        for title, text in layout.texts.some_pairs("teasers", count, rng)
    )
    return f'<div class="{label}"><h3>{layout.label(label)}</h3><ul>{entries}</ul></div>'


@disguise("newsletter-boxes", same_site=True)
def newsletter_boxes(article: Article, rng: random.Random) -> MadePage:
    """Return the page with boxes of a newsletter in its text."""
    layout = _at(home(article), suffix="?ab=letters")
    button = f"<form><input type=email><button>{layout.label('subscribe')}</button></form>"
    boxes = [
        f'<div class="letter-box"><p>{escape(text)}</p>{button}</div>'
        for text in layout.texts.some("newsletters", 2, rng)
    ]
    return made(replace(layout, inserts=boxes), article)


@disguise("cookie-banner", same_site=True)
def cookie_banner(article: Article, rng: random.Random) -> MadePage:
    """Return the page with a banner about cookies in front of the text."""
    layout = _at(home(article), suffix="?consent=ask")
    text = escape(layout.texts.one("cookies", rng))
    banner = (
        f'<div role="dialog" class="consent"><p>{text}</p>'
        f"<button>{layout.label('accept')}</button></div>"
    )
    return made(replace(layout, banner=banner), article)


@disguise("sharing-buttons", same_site=True)
def sharing_buttons(article: Article, rng: random.Random) -> MadePage:
    """Return the page with the texts of sharing buttons around and within the text."""
    layout = _at(home(article), suffix="?share=1")
    buttons = "".join(f"<a href='#'>{escape(text)}</a> " for text in layout.texts.lines("share"))
    bar = f'<div class="share">{buttons}</div>'
    return made(replace(layout, lead=bar, tail=bar, inserts=(bar,)), article)


@disguise("search-widget", same_site=True)
def search_widget(article: Article, rng: random.Random) -> MadePage:
    """Return the page with results of the site's search below the text."""
    layout = _at(home(article), suffix="?q=all")
    found = layout.label("found").format(count=rng.randrange(20, 900))
    results = _teaser_list(layout, "search", 8, rng)
    box = f'<form><input type="search"></form><p>{found}</p>{results}'
    return made(replace(layout, after=box), article)


@disguise("captions-added", same_site=True)
def captions_added(article: Article, rng: random.Random) -> MadePage:
    """Return the page with pictures and their captions."""
    layout = _at(home(article), suffix="?images=1")
    pictures = [
        f'<figure><img src="/img/{rng.randrange(9999)}.jpg" alt="{layout.label("image")}">'
        f"<figcaption>{escape(text)}</figcaption></figure>"
        for text in layout.texts.some("captions", 4, rng)
    ]
    return made(replace(layout, inserts=pictures), article)


@disguise("advertisements", same_site=True)
def advertisements(article: Article, rng: random.Random) -> MadePage:
    """Return the page with paragraphs of advertisement in its text."""
    layout = _at(home(article), suffix="?ads=1")
    texts = map(escape, layout.texts.some("advertisements", 4, rng))
    return made(replace(layout, inserts=[f"<p>{text}</p>" for text in texts]), article)


@disguise("two-sentences-changed", same_site=True)
def two_sentences_changed(article: Article, rng: random.Random) -> MadePage:
    """Return a corrected version: two sentences are others, a note says so."""
    layout = _at(home(article), suffix="?version=2")
    others = layout.texts.some("sentences", 2, rng)
    blocks = list(article.blocks)
    for at, other in zip(_long_paragraphs(article, 2, rng), others, strict=True):
        sentences = article.sentences(blocks[at].text)
        sentences[rng.randrange(len(sentences))] = other
        blocks[at] = paragraph(article.joined(sentences))
    note = f'<p class="note">{layout.label("correction")}</p>'
    return made(replace(layout, tail=note), article.with_blocks(blocks))


def _long_paragraphs(article: Article, count: int, rng: random.Random) -> Sequence[int]:
    """Return the places of some paragraphs that have several sentences."""
    places = [
        at
        for at, block in enumerate(article.blocks)
        if block.kind == "paragraph" and len(article.sentences(block.text)) > 2
    ]
    return rng.sample(places, count)


def _first_part(
    article: Article, share: float, suffix: str, notice: Callable[[FrameTexts], str]
) -> MadePage:
    layout = _at(home(article), suffix=suffix)
    tail = f'<p class="more"><a href="#">{escape(notice(layout.texts))}</a></p>'
    part = article.with_blocks(first_share(article, share))
    return made(replace(layout, tail=tail), part)


@disguise("first-half", same_site=True)
def first_half(article: Article, rng: random.Random) -> MadePage:
    """Return the first half of the text, with a link to the rest."""
    return _first_part(article, 0.5, "?view=short", lambda texts: texts.labels["more"])


@disguise("page-1-of-2", same_site=True)
def page_1_of_2(article: Article, rng: random.Random) -> MadePage:
    """Return the first of two pages, with 60 % of the text."""
    return _first_part(
        article, 0.6, "?page=1", lambda texts: f"{texts.labels['previous']} {texts.labels['next']}"
    )


@disguise("teaser-and-paywall", same_site=True)
def teaser_and_paywall(article: Article, rng: random.Random) -> MadePage:
    """Return 70 % of the text, with a notice for subscribers."""
    return _first_part(article, 0.7, "?guest=1", lambda texts: texts.labels["subscribers"])


@disguise("long-frame", same_site=True)
def long_frame(article: Article, rng: random.Random) -> MadePage:
    """Return the page with much more text around the article than in it."""
    layout = _at(home(article), suffix="?directory=1")
    texts = layout.texts
    entries = [f"{place} {entry}" for place in texts.lines("places") for entry in layout.menu]
    rng.shuffle(entries)
    directory = "".join(f'<li><a href="#">{escape(entry)}</a></li>' for entry in entries)
    return made(
        replace(
            layout,
            teasers=texts.pairs("teasers"),
            comments=texts.pairs("comments"),
            after=f'<div class="directory"><ul>{directory}</ul></div>',
        ),
        article,
    )


@disguise("site-name-as-title", same_site=True)
def site_name_as_title(article: Article, rng: random.Random) -> MadePage:
    """Return the page with the site's name alone as its title, and no h1 of the article."""
    layout = _at(home(article), suffix="?frame=0")
    return made(replace(layout, head_title=layout.site, heading=layout.site), article)
