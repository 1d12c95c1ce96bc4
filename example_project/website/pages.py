"""Maps the URLs of both hosts to pages."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from html import escape
from urllib.parse import quote, unquote, urlsplit

from . import cases, templates
from .content import Text, load

SECTIONS = {
    "news": "News",
    "people": "People",
    "sport": "Sport",
    "kitchen": "Kitchen",
    "science": "Science",
    "museum": "Museum",
    "weather": "Weather",
    "serial": "Serial",
    "zh": "本地新闻",
}
BYLINE = {"en": "By {author}, {date}", "zh": "文/{author} {date}"}
VIEWS = {"en": "Viewed {:,} times", "zh": "阅读 {:,} 次"}
SAYINGS = (
    "A gull is only a chicken that has travelled.",
    "Never lend a ladder on a Friday.",
    "The tide waits for no man, but it has been known to slow down for Deb Marlowe.",
    "It is not raining; it is merely about to stop.",
)


@dataclass(frozen=True)
class Answer:
    """What the server sends back."""

    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Page = Callable[[], Answer]


class Website:
    """Both hosts. An address is written ``news:/path`` or ``mirror:/path``, as in expected.json.

    :param news: base URL of the newspaper's host, for the links between the two
    :param mirror: base URL of the mirror host
    """

    def __init__(self, news: str, mirror: str) -> None:
        self.bases = {"news": news, "mirror": mirror}
        self.articles = load("articles")
        self.columns = load("pages")
        self.notices = load("notices")
        goods = load("shop")
        self.shop = {slug: text for t in goods.values() for slug, text in t.variants().items()}
        self.views = random.randrange(1_000, 90_000)
        self.routes: dict[str, Page] = {
            **self._newspaper(),
            **self._lists(),
            **self._columns(),
            **self._harbour_shop(),
            **self._digest(),
            **self._not_judged(),
        }

    def answer(self, host: str, target: str) -> Answer:
        """The answer to ``target`` as it stands in a request; its query is ignored."""
        page = self.routes.get(f"{host}:{unquote(urlsplit(target).path)}")
        return page() if page else Answer(b"Gone fishing.", "text/plain", status=404)

    # Which address shows what

    def _newspaper(self) -> dict[str, Page]:
        routes: dict[str, Page] = {
            f"news:/{key}": partial(self._article, text)
            for key, text in self.articles.items()
            if key != cases.GBK_ONLY
        }
        for key in cases.PRINTED:
            routes[f"news:/print/{key}"] = partial(self._print_view, self.articles[key])
        for key, change in cases.CORRECTED.items():
            corrected = self.articles[key].corrected(*change)
            routes[f"news:/{key}-corrected"] = partial(self._article, corrected)
        for key, content_type in cases.GBK.items():
            text = self.articles[key]
            routes[f"news:/gb/{key}"] = partial(self._article, text, "gbk", content_type)
        for name, target in cases.REDIRECTS.items():
            headers = {"Location": self._url(target)}
            routes[f"news:/go/{name}"] = partial(Answer, status=302, headers=headers)
        return routes

    def _lists(self) -> dict[str, Page]:
        routes: dict[str, Page] = {"news:/": self._front_page}
        for section, name in SECTIONS.items():
            routes[f"news:/{section}/"] = partial(self._section, section, name)
        for tag in cases.TAG_PAGES:
            routes[f"news:/tag/{tag}"] = partial(self._tag_page, tag)
        for month, name in cases.ARCHIVE_PAGES.items():
            routes[f"news:/archive/{month}"] = partial(self._archive_page, month, name)
        return routes

    def _columns(self) -> dict[str, Page]:
        routes: dict[str, Page] = {}
        for key in cases.COLUMN_LINKS:
            routes[f"news:/pages/{key}"] = partial(self._column, key)
        for key, text in self.notices.items():
            routes[f"news:/notices/{key}"] = partial(self._notice, text)
        notice, alias = cases.SAME_NOTICE
        routes[f"news:/{alias}"] = partial(self._notice, self.notices[notice])
        return routes

    def _harbour_shop(self) -> dict[str, Page]:
        routes: dict[str, Page] = {"news:/shop/": self._shop_front}
        for slug, text in self.shop.items():
            routes[f"news:/shop/{slug}"] = partial(self._shop_page, text)
        key, change = cases.REVISED_GUIDE
        revised = self.shop[key].corrected(*change)
        routes[f"news:/shop/{key}-revised"] = partial(self._shop_page, revised)
        return routes

    def _digest(self) -> dict[str, Page]:
        about = self.columns["about-digest"]
        routes: dict[str, Page] = {
            "mirror:/": self._digest_front,
            "mirror:/about": partial(self._digest_page, about.title, _paragraphs(about)),
        }
        for key in (*cases.MIRRORED, *cases.REPRINTED):
            routes[f"mirror:{_story(key)}"] = partial(self._story_page, self.articles[key])
        text = self.articles[cases.GBK_MIRROR_COPY]
        routes[f"mirror:{_story(text.key)}"] = partial(self._story_page, text, "gbk")
        return routes

    def _not_judged(self) -> dict[str, Page]:
        """Answers that a crawl meets and nobody can judge: the bottom drawer's links."""
        gauge = {"gauge": "harbour", "metres": [1.2, 1.9, 2.7, 3.1, 2.8, 2.0]}
        body = json.dumps(gauge).encode()
        return {
            "news:/files/tide-tables": lambda: Answer(templates.PDF, "application/pdf"),
            "news:/files/fog": lambda: Answer(templates.PNG, "image/png"),
            "news:/files/gauge": lambda: Answer(body, "application/json"),
            "news:/drafts/1": Answer,
            "news:/drafts/2": Answer,
            "news:/robots.txt": lambda: Answer(b"User-agent: *\nAllow: /\n", "text/plain"),
            "mirror:/robots.txt": lambda: Answer(b"User-agent: *\nAllow: /\n", "text/plain"),
        }

    # The newspaper's pages

    def _article(
        self, text: Text, charset: str = "utf-8", content_type: str | None = None
    ) -> Answer:
        tools = []
        if text.key in cases.PRINTED:
            tools.append(("Print this page", f"/print/{text.key}"))
        if text.key in cases.TRANSLATIONS:
            other = self.articles[cases.TRANSLATIONS[text.key]]
            tools.append((other.title, f"/{other.key}"))
        return self._courier(
            text.title,
            _paragraphs(text),
            lang=text.lang,
            byline=BYLINE[text.lang].format(author=text.header["author"], date=text.date),
            tools=_links(tools),
            charset=charset,
            content_type=content_type,
        )

    def _print_view(self, text: Text) -> Answer:
        page = templates.PRINT.substitute(
            lang=text.lang,
            title=escape(text.title),
            heading=escape(text.title),
            body=_paragraphs(text),
            clock=_clock(),
        )
        return _html(page)

    def _front_page(self) -> Answer:
        latest = sorted(self.articles.values(), key=lambda text: text.date, reverse=True)[:12]
        body = [
            self._listing(latest, summaries=True),
            "<h2>Tags</h2>",
            _links((tag, f"/tag/{tag}") for tag in cases.TAG_PAGES),
            "<h2>Archive</h2>",
            _links((name, f"/archive/{month}") for month, name in cases.ARCHIVE_PAGES.items()),
            "<h2>Notice board</h2>",
            _links((text.title, f"/notices/{key}") for key, text in self.notices.items()),
        ]
        return self._courier("Front page", "\n".join(body))

    def _section(self, section: str, name: str) -> Answer:
        texts = [text for text in self.articles.values() if text.section == section]
        body = self._listing(texts, summaries=True)
        if section == "zh":
            body += _links([("豆腐坊（国标码版）", f"/gb/{cases.GBK_COPY}")])
        if section == "museum":
            body += _links([("Opening hours", f"/{cases.SAME_NOTICE[1]}")])
        return self._courier(name, body, lang="zh" if section == "zh" else "en")

    def _tag_page(self, tag: str) -> Answer:
        texts = [text for text in self.articles.values() if tag in text.tags]
        return self._courier(f"Posts tagged {tag}", self._listing(texts))

    def _archive_page(self, month: str, name: str) -> Answer:
        texts = [text for text in self.articles.values() if text.date.startswith(month)]
        return self._courier(f"Archive: {name}", self._listing(texts))

    def _column(self, key: str) -> Answer:
        text = self.columns[key]
        links = ((name, self._url(address)) for name, address in cases.COLUMN_LINKS[key])
        return self._courier(text.title, _paragraphs(text) + _links(links))

    def _notice(self, text: Text) -> Answer:
        page = templates.NOTICE.substitute(
            lang=text.lang, title=escape(text.title), body=_paragraphs(text)
        )
        return _html(page)

    def _courier(
        self,
        title: str,
        body: str,
        *,
        lang: str = "en",
        byline: str = "",
        tools: str = "",
        charset: str = "utf-8",
        content_type: str | None = None,
    ) -> Answer:
        self.views += random.randrange(1, 40)
        most_read = random.sample(list(self.articles.values()), 5)
        page = templates.COURIER.substitute(
            lang=lang,
            charset=charset,
            title=escape(title),
            heading=escape(title),
            byline=escape(byline),
            body=body,
            tools=tools,
            views=VIEWS[lang].format(self.views),
            menu=self._courier_menu(),
            most_read=_items((text.title, _path(text)) for text in most_read),
            online=random.randrange(20, 400),
            saying=random.choice(SAYINGS),
            clock=_clock(),
        )
        return _html(page, charset, content_type)

    def _courier_menu(self) -> str:
        columns = ((self.columns[key].title, f"/pages/{key}") for key in cases.COLUMN_LINKS)
        return _items(
            [
                *((name, f"/{section}/") for section, name in SECTIONS.items()),
                ("The Harbour Shop", "/shop/"),
                *columns,
                ("Coastline Digest", self._url("mirror:/")),
            ]
        )

    def _listing(self, texts: Iterable[Text], summaries: bool = False) -> str:
        rows = (
            f'<li><a href="{_path(text)}">{escape(text.title)}</a> '
            f"{escape(text.header['summary']) if summaries else text.date}</li>"
            for text in texts
        )
        return "<ul>{}</ul>".format("\n".join(rows))

    # The shop

    def _shop_front(self) -> Answer:
        rows = (
            f'<li><a href="/shop/{slug}">{escape(text.title)}</a> {escape(text.header["summary"])}'
            f" {escape(text.header.get('price', ''))}</li>"
            for slug, text in self.shop.items()
        )
        key, _ = cases.REVISED_GUIDE
        more = [
            (f"{self.shop[key].title} (revised)", f"/shop/{key}-revised"),
            ("Gift of the month", "/shop/tide-clock?ref=gift"),
        ]
        return self._shop("Everything on the shelves", f"<ul>{''.join(rows)}</ul>{_links(more)}")

    def _shop_page(self, text: Text) -> Answer:
        price = text.header.get("price")
        body = _paragraphs(text)
        if price:
            body += f'<p class="price">{escape(price)}</p>'
            body += _links([("Delivery and returns", "/shop/delivery?from=basket")])
        return self._shop(text.title, body, text.lang)

    def _shop(self, title: str, body: str, lang: str = "en") -> Answer:
        page = templates.SHOP.substitute(
            lang=lang,
            title=escape(title),
            heading=escape(title),
            body=body,
            menu=_items([("All goods", "/shop/"), ("Delivery and returns", "/shop/delivery")]),
            online=random.randrange(2, 30),
        )
        return _html(page)

    # The mirror host

    def _digest_front(self) -> Answer:
        keys = (*cases.MIRRORED, *cases.REPRINTED, cases.GBK_MIRROR_COPY)
        rows = (
            f'<li><a href="{_story(key)}">{escape(self.articles[key].title)}</a></li>'
            for key in keys
        )
        return self._digest_page("What the shore is reading", f"<ul>{''.join(rows)}</ul>")

    def _story_page(self, text: Text, charset: str = "utf-8") -> Answer:
        body = _paragraphs(text)
        if text.key in cases.REPRINTED:
            body = templates.REPRINT[text.lang].substitute(body=body)
        byline = f"Otter Bay, {text.date}"
        return self._digest_page(text.title, body, byline, charset)

    def _digest_page(
        self, title: str, body: str, byline: str = "", charset: str = "utf-8"
    ) -> Answer:
        self.views += random.randrange(1, 40)
        related = random.sample(cases.MIRRORED, 3)
        page = templates.DIGEST.substitute(
            charset=charset,
            title=escape(title),
            heading=escape(title),
            byline=escape(byline),
            body=body,
            menu=_items([("Stories", "/"), ("About", "/about")]),
            related=_items((self.articles[key].title, _story(key)) for key in related),
            views=f"{self.views:,}",
        )
        # Nothing but the meta element says which charset it is.
        return _html(page, charset, "text/html")

    # Addresses

    def _url(self, address: str) -> str:
        host, _, path = address.partition(":")
        return self.bases[host] + quote(path, safe="/?=")


def _html(page: str, charset: str = "utf-8", content_type: str | None = None) -> Answer:
    body = page.encode(charset, "xmlcharrefreplace")
    return Answer(body, content_type or f"text/html; charset={charset}")


def _paragraphs(text: Text) -> str:
    return "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.paragraphs)


def _items(links: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        f'<li><a href="{escape(quote(url, safe=":/?=&%"))}">{escape(name)}</a></li>'
        for name, url in links
    )


def _links(links: Iterable[tuple[str, str]]) -> str:
    items = _items(links)
    return f"<ul>{items}</ul>" if items else ""


def _path(text: Text) -> str:
    """Where the newspaper links to a text."""
    return f"/gb/{text.key}" if text.key == cases.GBK_ONLY else f"/{text.key}"


def _story(key: str) -> str:
    return "/story/" + key.replace("/", "-")


def _clock() -> str:
    return datetime.now().strftime("%Y-%m-%d %H:%M:%S")
