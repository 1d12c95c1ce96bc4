"""Building blocks of situations: sites, spiders, pages, and the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import md5
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrapy
from itemadapter.adapter import ItemAdapter
from scrapy.http import Response, TextResponse

from tests.promises.web import CONTENT, HOME, Answer, Asked, Site
from tests.support.texts import article

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from typing_extensions import Self

__all__ = [
    "HOME",
    "Answer",
    "Asked",
    "PromiseSpider",
    "Run",
    "Site",
    "Situation",
    "all_situations",
    "bare",
    "content_of",
    "follow",
    "full",
    "label_of",
    "paragraph",
    "situation",
    "with_store",
    "words",
]


class PromiseSpider(scrapy.Spider):
    """An ordinary spider: an item of each page that holds a content, and all links."""

    name = "promises"
    start_urls = [f"{HOME}/"]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label, "url": response.url}
        yield from self.links(response)

    def links(self, response: Response) -> Iterator[scrapy.Request]:
        """Requests for all links of class ``next``."""
        yield from follow(response, "a.next")


def follow(response: Response, css: str, **options: Any) -> Iterator[scrapy.Request]:
    """Requests for the links that a selector finds; none where there is no text."""
    if isinstance(response, TextResponse) and b"<a" in response.body:
        yield from response.follow_all(css=css, **options)


def label_of(response: Response) -> str:
    """Label of what a page holds; empty where that is nothing."""
    return (response.headers.get(CONTENT) or b"").decode("latin-1")


def content_of(response: Response) -> str:
    """An id of what a page holds; empty where that is nothing.

    A label would be a text of its own, for which the item of a wrong duplicate is kept.
    """
    label = label_of(response)
    return md5(label.encode(), usedforsecurity=False).hexdigest() if label else ""


class Run:
    """A run of a situation.

    :param spiders: crawled at the same time, in one process.
    :param killed_after: so many items; the process is killed then.
    :param settings: of this run alone.
    """

    def __init__(self, *spiders: type[scrapy.Spider], **settings: Any) -> None:
        self.spiders = spiders
        self.killed_after: int | None = settings.pop("killed_after", None)
        self.settings = settings


@dataclass(frozen=True)
class Situation:
    """A situation in which a crawl could end with a content stored nowhere.

    :ivar contents: how many labels are stored without the add-on.
    :ivar finds: how many items the add-on drops, tags or reports at least.
    :ivar stored_in: which files of the folder hold what is stored, a glob.
    """

    name: str
    build: Callable[[Site], Any]
    contents: int
    finds: int
    settings: dict[str, Any]
    stored_in: str

    def runs(self, site: Site) -> list[Run]:
        """Put its pages on a site, and return what is to be run."""
        built = self.build(site)
        return built if isinstance(built, list) else [Run(built)]


_SITUATIONS: dict[str, Situation] = {}

#: Where the pipeline of the harness stores items.
STORED = "stored.jsonl"


def situation(
    *, contents: int, finds: int = 0, stored_in: str = STORED, **settings: Any
) -> Callable[[Callable[[Site], Any]], Callable[[Site], Any]]:
    """Register a situation; see :mod:`tests.promises`.

    :param settings: of all its runs.
    """

    def registered(build: Callable[[Site], Any]) -> Callable[[Site], Any]:
        name = build.__name__
        assert name not in _SITUATIONS, name
        _SITUATIONS[name] = Situation(name, build, contents, finds, settings, stored_in)
        return build

    return registered


def with_store(site: Site, *runs: Run) -> list[Run]:
    """Return the runs, which use one store on disk."""
    for run in runs:
        run.settings["NEARDUP_STORE"] = f"sqlite:///{site.folder}/seen.sqlite"
    return list(runs)


def all_situations() -> dict[str, Situation]:
    """The situations of all modules, by name."""
    for path in sorted(Path(__file__).parent.glob("situations_*.py")):
        import_module(f"tests.promises.{path.stem}")
    return _SITUATIONS


class Storage:
    """The pipeline at the end: a line for each item, on disk before ``process_item`` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(Path(crawler.settings["PROMISES_STORED"]))

    def process_item(self, item: Any) -> Any:
        with self._path.open("a") as file:
            file.write(f"{ItemAdapter(item)['content']}\n")
        return item


def words(n: int = 120, seed: object = 0) -> str:
    """Made-up words, nearly all of them distinct; texts of two seeds share hardly any."""
    return " ".join(article(n, seed=hash_of(seed), vocabulary=10**6))


def hash_of(seed: object) -> int:
    """A number that depends on the seed alone."""
    return int.from_bytes(repr(seed).encode(), "big") % (2**61 - 1)


def paragraph(text: str) -> str:
    """A text with the punctuation and the capitals of sentences, twelve words each."""
    parts = text.split()
    sentences = (" ".join(parts[i : i + 12]) for i in range(0, len(parts), 12))
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def full(text: str, title: str, more: str = "", head: str = "") -> str:
    """A page with the site's frame around a text; ``more`` is HTML within the article."""
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>"
        '<header><a href="/">Morning Post</a> <a href="/about">About us</a> Subscribe now</header>'
        f"<main><article><h1>{title}</h1><p>{paragraph(text)}</p>{more}</article></main>"
        "<aside><h3>Most read this week</h3><ul><li>Weather<li>Traffic<li>Horoscope</ul></aside>"
        "<footer>All rights reserved. Imprint, privacy and terms of use.</footer></body></html>"
    )


def bare(text: str, title: str, more: str = "") -> str:
    """The same text without any frame, as print views and text versions have it."""
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1>"
        f"<p>{paragraph(text)}</p>{more}</body></html>"
    )
