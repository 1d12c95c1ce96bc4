"""The way of a page: what reading its main text takes, and what all the rest does.

Reading is lxml's parsing and trafilatura's extraction. The rest is all that the package does for a
page of a crawl: decoding, repairing, limits, title, shown text and media, tokens, weights,
fingerprint, sketch, digests, address, and the store's claim and commit. The whole way is timed, and
inside it the parser and the extractor; what is left is the rest.

Without pages that are given, they are those of the example project's website, English and Chinese.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from measuring import in_turn
from pages import Page
from peers import Package
from speed_figures import Check, Goal, Plot, Standing, ratio, standings
from tables import Table

from scrapy_neardup import NearDupDetector, extract
from scrapy_neardup.exceptions import UnreadablePage
from scrapy_neardup.stores import MemoryStore

_ABOUT = __doc__ or ""
#: Of more pages than this, as many from all over them.
_PAGES = 200
_HAN = re.compile(r"[\u3400-\u9fff]")
#: From this share of Han characters on a text is called Chinese.
_CHINESE = 0.2
_FAST = Package("rjieba", "rjieba", "rjieba")
_TOKENIZERS = ("rjieba", "jieba")
#: Milliseconds that all but reading may take of a page on average, with rjieba.
_BOUNDS = {"English": 0.6, "Chinese": 1.2}
_SHARE = 0.05
_SECRET = b"a benchmark has nothing to hide."

#: Milliseconds of each page: reading and the rest, shape ``(n, 2)``.
_Times = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Way:
    """Milliseconds of processor time a page, over the pages of a language."""

    tokenizer: str
    language: str
    pages: int
    reading_median: float
    reading_mean: float
    rest_median: float
    rest_mean: float

    @property
    def share(self) -> float:
        """The rest, as a part of reading."""
        return self.rest_mean / self.reading_mean


@dataclass(frozen=True)
class PagesWay:
    """:ivar ways: for each tokenizer, of each language and of all pages."""

    source: str
    ways: list[Way]
    name = "pages"
    heading = "The way of a page"
    about = _ABOUT

    def _way(self, tokenizer: str, language: str) -> Way | None:
        for way in self.ways:
            if (way.tokenizer, way.language) == (tokenizer, language):
                return way
        return None

    @property
    def _count(self) -> int:
        return max(way.pages for way in self.ways)

    def ratios(self) -> list[Goal]:
        way = self._way("rjieba", "all")
        value = ratio(way.rest_mean, way.reading_mean) if way else None
        name = "own_share_of_extraction"
        n, why = (self._count, "pages"), _FAST.trouble
        return [Goal(name, value, _SHARE, *n, why=why, against="trafilatura and lxml")]

    def goals(self) -> list[Goal]:
        goals = []
        for language, bound in _BOUNDS.items():
            way = self._way("rjieba", language)
            goals.append(
                Goal(
                    f"all but extraction, {language}",
                    way.rest_mean if way else None,
                    bound,
                    way.pages if way else 0,
                    "pages",
                    "ms",
                    why=_FAST.trouble,
                )
            )
        return goals

    def tables(self) -> list[Table]:
        head = (
            *("tokenizer", "pages", "number", "extraction: median", "mean"),
            *("all else: median", "mean", "share"),
        )
        table = Table("the way of a page: processor time, ms", head)
        for way in self.ways:
            table.add(
                way.tokenizer,
                way.language,
                way.pages,
                *(f"{ms:.2f}" for ms in (way.reading_median, way.reading_mean)),
                *(f"{ms:.2f}" for ms in (way.rest_median, way.rest_mean)),
                way.share,
            )
        table.notes.append(f"pages: {self.source}")
        return [table]

    def plots(self) -> list[Plot]:
        return []

    def checks(self) -> list[Check]:
        return []

    def peers(self) -> dict[str, Standing]:
        return standings([_FAST])

    def as_json(self) -> dict[str, Any]:
        ways = [asdict(way) | {"share": way.share} for way in self.ways]
        return {"source": self.source, "processor milliseconds": ways}


def pages_of_example() -> list[Page]:
    """The example website's pages that are HTML."""
    sys.path.append(str(Path(__file__).parent.parent / "example_project"))
    from website.pages import Website

    bases = {"news": "http://news.example", "mirror": "http://mirror.example"}
    pages = []
    for address, answer in Website(**bases).routes.items():
        page, (host, _, path) = answer(), address.partition(":")
        if page.status == 200 and "html" in page.content_type:
            url = bases[host] + path
            pages.append(Page(address, url, url, page.content_type, page.body))
    return pages


def measure(given: Iterable[Page], source: str, rounds: int) -> PagesWay:
    """The way of each page, with each tokenizer in turn."""
    pages, languages = _readable(_from_all_over(list(given)))
    tokenizers = [name for name in _TOKENIZERS if name != _FAST.name or not _FAST.trouble]
    turns = {name: partial(_times, pages, name) for name in tokenizers}
    # What is loaded with the first page of a language is no page's.
    first = [pages[languages.index(language)] for language in sorted(set(languages))]
    in_turn({name: partial(_times, first, name) for name in tokenizers}, 1)
    found = in_turn(turns, rounds)
    ways = []
    for tokenizer, times in found.items():
        each = np.median(np.stack(times), axis=0)
        for language in (*_BOUNDS, "all"):
            chosen = each[[language in (of, "all") for of in languages]]
            if len(chosen):
                ways.append(_way(tokenizer, language, chosen))
    return PagesWay(source, ways)


def _way(tokenizer: str, language: str, times: _Times) -> Way:
    (reading_median, rest_median), means = np.median(times, axis=0).tolist(), times.mean(axis=0)
    reading_mean, rest_mean = means.tolist()
    return Way(
        tokenizer, language, len(times), reading_median, reading_mean, rest_median, rest_mean
    )


def _from_all_over(pages: Sequence[Page]) -> Sequence[Page]:
    step = -(-len(pages) // _PAGES) or 1
    return pages[::step]


def _readable(pages: Iterable[Page]) -> tuple[list[Page], list[str]]:
    """The pages that have a text, and its language."""
    signer = NearDupDetector(tokenizer="pairs").signer
    kept, languages = [], []
    for page in pages:
        try:
            text = signer.read(page.body, page.content_type).text
        except UnreadablePage:
            continue
        if text:
            kept.append(page)
            chinese = len(_HAN.findall(text)) > _CHINESE * len(text)
            languages.append("Chinese" if chinese else "English")
    return kept, languages


class _Watch:
    """Adds up the processor time of the functions that it watches."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **options: Any) -> Any:
            started = process_time()
            try:
                return function(*given, **options)
            finally:
                self.seconds += process_time() - started

        return watched


@contextmanager
def _reading_watched() -> Iterator[_Watch]:
    """Watches the parser while it lasts."""
    watch, module = _Watch(), cast(Any, extract)
    parse = module.fromstring
    module.fromstring = watch(parse)
    try:
        yield watch
    finally:
        module.fromstring = parse


def _times(pages: Sequence[Page], tokenizer: str) -> _Times:
    """What each page of a crawl takes; nothing is remembered at its beginning."""
    times = np.empty((len(pages), 2))
    with _reading_watched() as watch:
        detector = NearDupDetector(
            tokenizer=tokenizer,
            extractor=watch(extract.article_text),
            store=MemoryStore(_SECRET),
        )
        for page, row in zip(pages, times, strict=True):
            started, watch.seconds = process_time(), 0.0
            signature = detector.signer.sign_html(page.url, page.body, page.content_type)
            detector.check(signature)
            whole = process_time() - started
            row[:] = 1000 * watch.seconds, 1000 * (whole - watch.seconds)
    return times
