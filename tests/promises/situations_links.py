"""Pages that yield only links, and copies of them that yield items."""

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.promises.harness import (
    HOME,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    full,
    situation,
    with_store,
    words,
)


@situation(contents=12)
def stories_whose_print_views_come_first_and_yield_only_links(site: Site) -> Any:
    for n in range(12):
        onward = f'<a class="next" href="/story/{n}">Full version</a>'
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}", onward))
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
    site.index(*(f"/print/{n}" for n in range(12)))
    return PromiseSpider


@situation(contents=8, finds=8)
def of_three_copies_the_second_has_the_item_and_the_third_is_dropped(site: Site) -> Any:
    for n in range(8):
        text, title = words(seed=n), f"Story {n}"
        site.put(f"/print/{n}", bare(text, title, f'<a class="next" href="/story/{n}">on</a>'))
        more = f'<a class="next" href="/text/{n}">text only</a>'
        site.put(f"/story/{n}", full(text, title, more), f"story {n}")
        site.put(f"/text/{n}", bare(text, title), f"story {n}")
    site.index(*(f"/print/{n}" for n in range(8)))
    return PromiseSpider


class TwoFaces(CrawlSpider):
    """As ``scrapy genspider -t crawl`` writes it: no callback for the start page."""

    name = "two-faces"
    start_urls = [f"{HOME}/"]
    rules = (Rule(LinkExtractor(allow=r"/(index\.html|story/)"), callback="story", follow=True),)

    def story(self, response: Response) -> Any:
        yield {"content": content_of(response)}


@situation(contents=4)
def a_home_page_that_a_crawl_spider_meets_as_start_page_and_as_index_html(site: Site) -> Any:
    links = '<a href="/index.html">Home</a>' + "".join(
        f'<a href="/story/{n}">Story {n}</a>' for n in range(3)
    )
    for path in "/", "/index.html":
        site.put(path, full(words(seed="home"), "The Morning Post", links), "home")
    for n in range(3):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
    return TwoFaces


class Twice(PromiseSpider):
    """Visits each page again for its item, as who must send a cookie first does."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if content_of(response):
            yield response.follow(response.url, self.again, dont_filter=True)
        yield from self.links(response)

    def again(self, response: Response) -> Any:
        yield {"content": content_of(response)}


@situation(contents=6, NEARDUP_REVISIT="drop")
def pages_that_are_visited_again_for_the_item_with_revisit_drop(site: Site) -> Any:
    for n in range(6):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
    site.index()
    return Twice


class Offers(PromiseSpider):
    """Takes one item from the first visit of a page and another one from the second."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}
            yield response.follow(response.url, self.offers, dont_filter=True)
        yield from self.links(response)

    def offers(self, response: Response) -> Any:
        yield {"content": f"offers of {content_of(response)}"}


@situation(contents=12)
def pages_that_are_visited_twice_in_one_crawl_for_two_items(site: Site) -> Any:
    for n in range(6):
        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}"), f"ware {n}")
    site.index()
    return Offers


@situation(contents=12, NEARDUP_REVISIT="drop")
def pages_that_are_visited_twice_in_one_crawl_for_two_items_with_revisit_drop(site: Site) -> Any:
    for n in range(6):
        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}"), f"ware {n}")
    site.index()
    return Offers


class Discovering(PromiseSpider):
    """Follows links, and leaves items to another spider."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from self.links(response)


class Extracting(PromiseSpider):
    """Extracts, and follows no links."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}

    async def start(self) -> Any:
        for n in range(8):
            yield scrapy.Request(f"{HOME}/story/{n}")


def _stories_in_two_views(site: Site) -> None:
    for n in range(8):
        onward = '<a class="next" href="/about">About</a>'
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}", onward))
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
    site.put("/about", full(words(seed="about"), "About us"))
    site.index(*(f"/print/{n}" for n in range(8)))


@situation(contents=8)
def stories_that_an_earlier_run_on_the_same_store_took_only_links_from(site: Site) -> Any:
    _stories_in_two_views(site)
    return with_store(site, Run(Discovering), Run(Extracting))


@situation(contents=8, NEARDUP_NAMESPACE="news", NEARDUP_REVISIT="drop")
def stories_that_one_spider_discovers_and_another_one_of_the_namespace_extracts(site: Site) -> Any:
    for n in range(8):
        onward = '<a class="next" href="/about">About</a>'
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}", onward), f"story {n}")
    site.put("/about", full(words(seed="about"), "About us"))
    site.index(*(f"/story/{n}" for n in range(8)))
    discovering = type("Discover", (Discovering,), {"name": "discover"})
    extracting = type("Extract", (Extracting,), {"name": "extract"})
    return with_store(site, Run(discovering), Run(extracting))


@situation(contents=8, NEARDUP_NAMESPACE="news")
def stories_that_a_discovering_and_an_extracting_spider_meet_at_the_same_time(site: Site) -> Any:
    _stories_in_two_views(site)
    discovering = type("Discover", (Discovering,), {"name": "discover"})
    later = {"name": "extract", "custom_settings": {"DOWNLOAD_DELAY": 0.1}}
    extracting = type("Extract", (Extracting,), later)
    return with_store(site, Run(discovering, extracting))


@situation(contents=7, finds=6, NEARDUP_LINKS="skip")
def pages_behind_links_that_only_the_originals_are_followed_for(site: Site) -> Any:
    for n in range(6):
        onward = '<a class="next" href="/appendix">Appendix</a>'
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}", onward), f"story {n}")
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}", onward), f"story {n}")
    site.index()
    site.put("/appendix", full(words(seed="appendix"), "Appendix"), "appendix")
    return PromiseSpider


class OnlyFull(PromiseSpider):
    """Its selectors match the full template alone, as most spiders' do."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if response.css("article h1"):
            yield {"content": content_of(response)}
        yield from self.links(response)


@situation(contents=6)
def amp_pages_without_items_that_link_to_their_articles(site: Site) -> Any:
    for n in range(6):
        text, title = words(seed=n), f"Story {n}"
        link = f'<a class="next" href="/story/{n}">Read on the website</a>'
        amp = bare(text, title, link).replace("<html>", "<html amp>")
        canonical = f'<link rel="canonical" href="/story/{n}">'
        site.put(f"/amp/{n}", amp.replace("</title>", f"</title>{canonical}"), f"story {n}")
        amphtml = f'<link rel="amphtml" href="/amp/{n}">'
        site.put(f"/story/{n}", full(text, title, head=amphtml), f"story {n}")
    site.index(*(f"/amp/{n}" for n in range(6)))
    return OnlyFull


@situation(contents=6, finds=6)
def articles_beside_amp_pages_with_items_of_their_own(site: Site) -> Any:
    for n in range(6):
        text, title = words(seed=n), f"Story {n}"
        amp = bare(text, title).replace("<html>", "<html amp>")
        canonical = f'<link rel="canonical" href="/story/{n}">'
        site.put(f"/amp/{n}", amp.replace("</title>", f"</title>{canonical}"), f"story {n}")
        site.put(f"/story/{n}", full(text, title), f"story {n}")
    site.index()
    return PromiseSpider
