"""URLs with several contents: redirects, forms, languages, logins, cursors, login walls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import scrapy
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import Response, TextResponse
from scrapy.spiders import CSVFeedSpider, SitemapSpider, XMLFeedSpider
from scrapy.utils.request import fingerprint

from tests.promises.harness import (
    HOME,
    Answer,
    Asked,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    follow,
    full,
    situation,
    words,
)

N = 6


@situation(contents=N, finds=N)
def stories_that_redirects_lead_to(site: Site) -> Any:
    for n in range(N):
        site.put(f"/r/{n}", "", status=302, headers={"Location": f"/story/{n}"})
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
        site.put(f"/old/{n}", "", status=301, headers={"Location": f"/print/{n}"})
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
    site.index(*(f"/{way}/{n}" for n in range(N) for way in ("r", "old")))
    return PromiseSpider


@situation(contents=N)
def stories_behind_one_address_that_redirects_to_another_one_each_time(site: Site) -> Any:
    def latest(asked: Asked) -> Answer:
        return Answer(status=302, headers={"Location": f"/story/{asked.times}"})

    site.on("/latest", latest)
    for n in range(N):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
    site.put("/", full(words(seed=0), "Story 0"), "story 0")

    class Latest(PromiseSpider):
        custom_settings = {"CONCURRENT_REQUESTS": 1, "DUPEFILTER_CLASS": BASE}

        def links(self, response: Response) -> Any:
            if response.url == f"{HOME}/":
                for n in range(N):
                    yield scrapy.Request(f"{HOME}/latest", priority=-n)

    return Latest


#: A dupefilter that lets everything pass, for who polls.
BASE = "scrapy.dupefilters.BaseDupeFilter"


@situation(contents=N, finds=N)
def stories_that_pages_refresh_to(site: Site) -> Any:
    for n in range(N):
        refresh = f'<meta http-equiv="refresh" content="0; url=/story/{n}">'
        site.put(f"/go/{n}", full("", "One moment, please", head=refresh))
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
    site.index(*(f"/{way}/{n}" for n in range(N) for way in ("go", "print")))
    return PromiseSpider


@situation(contents=N, finds=2 * N, HTTPCACHE_ENABLED=True)
def stories_that_come_from_the_http_cache(site: Site) -> Any:
    for n in range(N):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
    site.index()
    cache = str(site.folder / "cache")
    return [Run(PromiseSpider, HTTPCACHE_DIR=cache), Run(PromiseSpider, HTTPCACHE_DIR=cache)]


class Mapped(SitemapSpider):
    name = "mapped"
    sitemap_urls = [f"{HOME}/sitemap.xml"]

    def parse(self, response: Response) -> Any:
        yield {"content": content_of(response)}


@situation(contents=N, finds=N)
def stories_of_a_sitemap_with_alternates(site: Site) -> Any:
    urls = ""
    for n in range(N):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
        urls += f"<url><loc>{HOME}/story/{n}</loc></url><url><loc>{HOME}/print/{n}</loc></url>"
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    site.put("/sitemap.xml", sitemap, content_type="application/xml")
    return Mapped


class Feed(XMLFeedSpider):
    name = "feed"
    start_urls = [f"{HOME}/feed-{n}.xml" for n in range(3)]

    def parse_node(self, response: Response, selector: Any) -> Any:
        return {"content": selector.xpath("title/text()").get()}


def _xml_feeds(site: Site, content_type: str) -> None:
    for n in range(3):
        entries = "".join(
            f"<item><title>entry {e}</title><description>{words(12, e)}</description></item>"
            for e in range(2 * n, 2 * n + 30)
        )
        feed = f'<?xml version="1.0"?><rss version="2.0"><channel>{entries}</channel></rss>'
        site.put(f"/feed-{n}.xml", feed, content_type=content_type)


@situation(contents=34)
def entries_of_feeds_that_share_most_of_them(site: Site) -> Any:
    _xml_feeds(site, "application/rss+xml")
    return Feed


@situation(contents=34)
def entries_of_feeds_that_call_themselves_html(site: Site) -> Any:
    _xml_feeds(site, "text/html")
    return Feed


class Rows(CSVFeedSpider):
    name = "rows"
    start_urls = [f"{HOME}/rows-{n}.csv" for n in range(3)]
    headers = ["content", "text"]

    def parse_row(self, response: Response, row: dict[str, str]) -> Any:
        return dict(row)


def _csv(site: Site, content_type: str) -> None:
    for n in range(3):
        rows = "".join(f"row {e},{words(6, e)}\n" for e in range(n, n + 40))
        site.put(f"/rows-{n}.csv", rows, content_type=content_type)


@situation(contents=42)
def rows_of_tables_that_share_most_of_them(site: Site) -> Any:
    _csv(site, "text/csv")
    return Rows


@situation(contents=42)
def rows_of_tables_that_call_themselves_plain_text(site: Site) -> Any:
    _csv(site, "text/plain; charset=utf-8")
    return Rows


class Forms(PromiseSpider):
    """Fills in a form, with other values each time."""

    async def start(self) -> AsyncIterator[Any]:
        for n in range(N):
            yield scrapy.FormRequest(f"{HOME}/search", formdata={"q": str(n)})


def _search(asked: Asked) -> Answer:
    which = asked.form.get("q") or asked.query.get("q") or "none"
    return Answer(full(words(seed=which), "Results"), f"results {which}")


@situation(contents=N)
def results_of_one_form_with_other_values(site: Site) -> Any:
    site.on("/search", _search)
    return Forms


@situation(contents=N, NEARDUP_REVISIT="drop")
def results_of_one_form_with_other_values_and_revisit_drop(site: Site) -> Any:
    site.on("/search", _search)
    return Forms


class FormsAfterGet(PromiseSpider):
    """Looks at copies of results by GET, and then asks by POST."""

    async def start(self) -> AsyncIterator[Any]:
        for n in range(N):
            yield scrapy.Request(f"{HOME}/saved/{n}", priority=1)
            yield scrapy.FormRequest(f"{HOME}/search", formdata={"q": str(n)})
            yield scrapy.FormRequest(f"{HOME}/search", formdata={"q": f"more {n}"}, priority=-1)


@situation(contents=2 * N, finds=N - 1, CONCURRENT_REQUESTS=1)
def results_of_a_form_of_which_some_are_copies_of_pages(site: Site) -> Any:
    site.on("/search", _search)
    for n in range(N):
        site.put(f"/saved/{n}", bare(words(seed=str(n)), "Results"), f"results {n}")
    return FormsAfterGet


class ByHeader:
    """Requests for one address with another language or session are other requests."""

    def fingerprint(self, request: scrapy.Request) -> bytes:
        return fingerprint(request, include_headers=["Accept-Language", "Cookie"])


LANGUAGES = "en de fr zh".split()


class Languages(PromiseSpider):
    """Asks for each page in each language."""

    async def start(self) -> AsyncIterator[Any]:
        for language in LANGUAGES:
            for n in range(3):
                headers = {"Accept-Language": language}
                yield scrapy.Request(f"{HOME}/page/{n}", headers=headers, dont_filter=True)


class LanguagesByHeader(PromiseSpider):
    """Likewise, after the English pages under their own addresses, and never with a filter off."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}
            return
        for n in range(3):
            yield scrapy.Request(f"{HOME}/en/page/{n}")
        for priority, language in enumerate(LANGUAGES):
            for n in range(3):
                headers = {"Accept-Language": language}
                yield scrapy.Request(f"{HOME}/page/{n}", headers=headers, priority=-priority)


def _in_languages(site: Site) -> None:
    def page(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            language = asked.headers["Accept-Language"]
            text = words(seed=f"{language} {n}")
            return Answer(full(text, f"Page {n}"), f"page {n} in {language}")

        return shown

    for n in range(3):
        site.on(f"/page/{n}", page(n))
        text = words(seed=f"en {n}")
        site.put(f"/en/page/{n}", bare(text, f"Page {n}"), f"page {n} in en")
    site.index()


@situation(contents=3 * len(LANGUAGES))
def languages_of_one_address(site: Site) -> Any:
    _in_languages(site)
    return Languages


@situation(contents=3 * len(LANGUAGES), NEARDUP_REVISIT="drop")
def languages_of_one_address_with_revisit_drop(site: Site) -> Any:
    _in_languages(site)
    return Languages


@situation(contents=3 * len(LANGUAGES), CONCURRENT_REQUESTS=1, REQUEST_FINGERPRINTER_CLASS=ByHeader)
def languages_of_one_address_of_which_one_is_a_copy_of_a_page(site: Site) -> Any:
    _in_languages(site)
    return LanguagesByHeader


class Sessions(PromiseSpider):
    """Sees each page without a login, and then with one."""

    async def start(self) -> AsyncIterator[Any]:
        for n in range(N):
            yield scrapy.Request(f"{HOME}/story/{n}", priority=1)
            cookies: Any = {"session": "member"}
            yield scrapy.Request(
                f"{HOME}/story/{n}", cookies=cookies, meta={"cookiejar": 1}, dont_filter=True
            )

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}


def _members_only(site: Site, teaser: bool) -> None:
    def page(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if "member" in (asked.headers.get("Cookie") or ""):
                return Answer(full(words(seed=n), f"Story {n}"), f"story {n}")
            if teaser:
                some = " ".join(words(seed=n).split()[:60])
                return Answer(full(f"{some} {words(30, 'wall')}", f"Story {n}"), f"teaser {n}")
            return Answer(full(words(60, "log in"), "Log in"))

        return shown

    for n in range(N):
        site.on(f"/story/{n}", page(n))


@situation(contents=N, CONCURRENT_REQUESTS=1)
def stories_behind_a_login_that_are_asked_for_without_one_first(site: Site) -> Any:
    _members_only(site, teaser=False)
    return Sessions


@situation(contents=2 * N, CONCURRENT_REQUESTS=1)
def stories_of_which_only_the_beginning_is_shown_without_a_login(site: Site) -> Any:
    _members_only(site, teaser=True)
    return Sessions


class Cursor(PromiseSpider):
    """Goes from page to page by a cursor."""

    start_urls = [f"{HOME}/list"]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        for entry in response.css("article li::text").getall():
            yield {"content": entry}
        yield from self.links(response)


@situation(contents=60)
def entries_of_a_list_by_cursor(site: Site) -> Any:
    def page(asked: Asked) -> Answer:
        at = int(asked.query.get("cursor", "0"))
        entries = "".join(f"<li>{words(8, at + n)}</li>" for n in range(10))
        onward = f'<a class="next" href="/list?cursor={at + 10}">More</a>' if at < 50 else ""
        return Answer(full("", "Latest", f"<ul>{entries}</ul>{onward}"))

    site.on("/list", page)
    return Cursor


@situation(contents=36)
def entries_of_a_list_by_cursor_below_entries_that_stay(site: Site) -> Any:
    pinned = "".join(f"<li>{words(12, ('pinned', n))}</li>" for n in range(20))

    def page(asked: Asked) -> Answer:
        at = int(asked.query.get("cursor", "0"))
        entries = "".join(f"<li>{words(12, at + n)}</li>" for n in range(2))
        onward = f'<a class="next" href="/list?cursor={at + 2}">More</a>' if at < 14 else ""
        return Answer(full("", "Latest", f"<ul>{pinned}{entries}</ul>{onward}"))

    site.on("/list", page)
    return Cursor


class JsonCursor(PromiseSpider):
    """Goes through an API by a cursor."""

    start_urls = [f"{HOME}/api"]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, TextResponse)
        page = response.json()
        for name in page["items"]:
            yield {"content": name}
        if page["next"]:
            yield response.follow(page["next"])


@situation(contents=30)
def entries_of_an_api_by_cursor(site: Site) -> Any:
    def page(asked: Asked) -> Answer:
        at = int(asked.query.get("cursor", "0"))
        onward = f"/api?cursor={at + 5}" if at < 25 else None
        entries = [f"entry {at + n}" for n in range(5)]
        return Answer(json.dumps({"items": entries, "next": onward}), content_type="text/html")

    site.on("/api", page)
    return JsonCursor


@situation(contents=N, finds=N)
def variants_of_a_test_under_one_address(site: Site) -> Any:
    def page(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            frame = full if asked.times % 2 else bare
            return Answer(frame(words(seed=n), f"Story {n}"), f"story {n}")

        return shown

    for n in range(N):
        site.on(f"/story/{n}", page(n))
    site.index(*(f"/story/{n}{variant}" for n in range(N) for variant in ("", "?ref=home")))
    return PromiseSpider


class Consents(PromiseSpider):
    """Agrees to cookies where it is asked to, and asks for the page again."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if b"We value your privacy" in response.body:
            assert response.request
            yield response.request.replace(cookies={"consent": "yes"}, dont_filter=True)
        else:
            yield from super().parse(response)


@situation(contents=N, finds=N - 1)
def stories_behind_a_consent_wall_of_which_a_callback_asks_again(site: Site) -> Any:
    def page(n: int, frame: Any) -> Any:
        def shown(asked: Asked) -> Answer:
            if "consent" in (asked.headers.get("Cookie") or ""):
                return Answer(frame(words(seed=n), f"Story {n}"), f"story {n}")
            return Answer(full(f"We value your privacy {words(90, 'wall')}", "Before you go on"))

        return shown

    for n in range(N):
        site.on(f"/story/{n}", page(n, full))
        site.on(f"/print/{n}", page(n, bare))
    site.index(*(f"/{view}/{n}" for n in range(N) for view in ("story", "print")))
    return Consents


class Retries(PromiseSpider):
    """Asks again for pages that say that the site is busy."""

    custom_settings = {"RETRY_TIMES": 3}

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if b"very busy" in response.body:
            assert response.request
            yield get_retry_request(response.request, spider=self, reason="busy")
        else:
            yield from super().parse(response)


def _busy(site: Site, times: int) -> None:
    def page(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if asked.times < times:
                return Answer(full(f"We are very busy {words(90, 'busy')}", "One moment"))
            return Answer(full(words(seed=n), f"Story {n}"), f"story {n}")

        return shown

    for n in range(N):
        site.on(f"/story/{n}", page(n))
    site.index(*(f"/story/{n}" for n in range(N)))


@situation(contents=N)
def stories_that_a_callback_asks_for_again_while_the_site_is_busy(site: Site) -> Any:
    _busy(site, 2)
    return Retries


@situation(contents=N, NEARDUP_REVISIT="drop")
def stories_that_are_asked_for_again_while_the_site_is_busy_with_revisit_drop(site: Site) -> Any:
    _busy(site, 2)
    return Retries


class Polling(PromiseSpider):
    """Looks at the same addresses again and again."""

    custom_settings = {"CONCURRENT_REQUESTS": 1, "DUPEFILTER_CLASS": BASE}

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}
            return
        for turn in range(3):
            for n in range(N):
                yield scrapy.Request(f"{HOME}/ticker/{n}", priority=-turn)


@situation(contents=1 + 2 * N)
def news_at_addresses_that_showed_one_notice_at_first(site: Site) -> Any:
    def page(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if not asked.times:
                return Answer(full(words(seed="no news"), "Ticker"), "no news")
            return Answer(full(words(seed=(n, asked.times)), "Ticker"), f"{n}.{asked.times}")

        return shown

    for n in range(N):
        site.on(f"/ticker/{n}", page(n))
    site.index()
    return Polling


class Renders:
    """A downloader middleware that renders the route behind the ``#``, as a browser would."""

    def process_request(self, request: scrapy.Request) -> scrapy.Request | None:
        route = request.url.partition("#")[2]
        if not route or "rendered" in request.meta:
            return None
        meta = {**request.meta, "rendered": request.url}
        return request.replace(url=f"{HOME}/render?route={route}", meta=meta, dont_filter=True)

    def process_response(self, request: scrapy.Request, response: Response) -> Response:
        return response.replace(url=request.meta.get("rendered", response.url))


class ByFragment:
    """Requests for one address with another route are other requests."""

    def fingerprint(self, request: scrapy.Request) -> bytes:
        return fingerprint(request, keep_fragments=True)


class Routes(PromiseSpider):
    """Knows the routes of an application."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}
            return
        for n in range(N):
            yield scrapy.Request(f"{HOME}/story/{n}")
            yield scrapy.Request(f"{HOME}/app#story-{n}", priority=-1)
            yield scrapy.Request(f"{HOME}/app#more-{n}", priority=-2)


@situation(
    contents=2 * N,
    CONCURRENT_REQUESTS=1,
    REQUEST_FINGERPRINTER_CLASS=ByFragment,
    DOWNLOADER_MIDDLEWARES={Renders: 600},
)
def routes_of_an_application_at_one_address(site: Site) -> Any:
    def page(asked: Asked) -> Answer:
        which = asked.query["route"].replace("-", " ")
        return Answer(full(words(seed=which), "App"), which)

    site.on("/render", page)
    for n in range(N):
        site.put(f"/story/{n}", bare(words(seed=f"story {n}"), "App"), f"story {n}")
    site.index()
    return Routes


class Exempt(PromiseSpider):
    """Judges no print views, by the meta key."""

    def links(self, response: Response) -> Any:
        for request in super().links(response):
            yield request.replace(meta={"neardup": False} if "/print/" in request.url else {})

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            which = "print" if "/print/" in response.url else "full"
            yield {"content": f"{label} {which}"}
        yield from self.links(response)


@situation(contents=2 * N)
def print_views_that_are_exempt_by_the_meta_key(site: Site) -> Any:
    for n in range(N):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
    site.index()
    return Exempt


class MetaHandedOn(PromiseSpider):
    """Hands on all of ``meta``, as many do."""

    def links(self, response: Response) -> Any:
        for request in super().links(response):
            yield request.replace(meta=dict(response.meta))


@situation(contents=2 * N)
def chains_of_pages_that_hand_on_all_of_their_meta(site: Site) -> Any:
    for n in range(N):
        onward = f'<a class="next" href="/part/{n}">Part two</a>'
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}", onward), f"story {n}")
        site.put(f"/part/{n}", full(words(seed=("part", n)), f"Story {n}"), f"part {n}")
    site.index(*(f"/story/{n}" for n in range(N)))
    return MetaHandedOn


@situation(contents=N + 1)
def pages_after_a_login_by_form_under_the_address_of_the_form(site: Site) -> Any:
    def account(asked: Asked) -> Answer:
        if asked.method == "POST":
            links = "".join(f'<a class="next" href="/doc/{n}">{n}</a>' for n in range(N))
            return Answer(full(words(seed="inbox"), "Account", links), "inbox")
        form = '<form method="post"><input name="user"></form>'
        return Answer(full(words(90, "please log in"), "Account", form))

    site.on("/account", account)
    for n in range(N):
        site.put(f"/doc/{n}", full(words(seed=n), f"Document {n}"), f"document {n}")

    class LogIn(PromiseSpider):
        start_urls = [f"{HOME}/account"]

        def parse(self, response: Response, **kwargs: Any) -> Any:
            yield scrapy.FormRequest(response.url, formdata={"user": "me"}, callback=self.inside)

        def inside(self, response: Response) -> Any:
            yield {"content": content_of(response)}
            yield from follow(response, "a.next", callback=self.inside)

    return LogIn
