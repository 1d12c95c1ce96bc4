"""The way of a page: what reading its main text takes, and what all the rest does.

Extraction is all that leads from a page's bytes to its text: lxml's parsing and trafilatura's
extraction, and around them what the package does so that no text is lost and no page takes for
ever (decoding, repairing, limits), and what else it reads (the title, what is shown, media). All
else is tokens, weights, fingerprint, sketch, digests, address, and the store's claim and commit.
The whole way is timed, inside it extraction, and inside that the parser and the extractor.

So there are two shares of our own: what is not extraction, as a part of it; and all that is
neither lxml nor trafilatura, as a part of those two.

Pages that are not given are made up, English and Chinese, as large as real ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from measuring import in_turn
from pages import Page
from peers import Package
from speed_figures import Check, Goal, Plot, Standing, standings
from tables import Table

from scrapy_neardup import NearDupDetector, extract
from scrapy_neardup.exceptions import UnreadablePage
from scrapy_neardup.stores import MemoryStore

_ABOUT = __doc__ or ""
#: Of more pages than this, as many from all over them.
_PAGES = 1200
_HAN = re.compile(r"[\u3400-\u9fff]")
#: From this share of Han characters on a text is called Chinese.
_CHINESE = 0.2
_FAST = Package("rjieba", "rjieba", "rjieba")
_TOKENIZERS = ("rjieba", "jieba")
#: Milliseconds that all but reading may take of a page on average, with rjieba.
_BOUNDS = {"English": 0.6, "Chinese": 1.2}
_SHARE = 0.05
_SECRET = b"a benchmark has nothing to hide."

#: Milliseconds of each page: parser and extractor, all of extraction, all else; shape ``(n, 3)``.
_Times = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Way:
    """Milliseconds of processor time a page, over the pages of a language: medians and means.

    :ivar parsing: of parser and extractor.
    :ivar extraction: of all that leads to the text, these two included.
    :ivar rest: of all else.
    """

    tokenizer: str
    language: str
    pages: int
    parsing: tuple[float, float]
    extraction: tuple[float, float]
    rest: tuple[float, float]

    @property
    def share(self) -> float:
        """All else, as a part of extraction; by means."""
        return self.rest[1] / self.extraction[1]

    @property
    def whole_share(self) -> float:
        """All that is ours, as a part of what parser and extractor take; by means."""
        return (self.extraction[1] + self.rest[1]) / self.parsing[1] - 1


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
        shares = {
            "own_share_of_extraction": (way.share if way else None, "all of extraction"),
            "own_share_of_parsing_and_extraction": (
                way.whole_share if way else None,
                "lxml and trafilatura alone",
            ),
        }
        n, why = (self._count, "pages"), _FAST.trouble
        return [
            Goal(name, value, _SHARE, *n, why=why, against=against)
            for name, (value, against) in shares.items()
        ]

    def goals(self) -> list[Goal]:
        goals = []
        for language, bound in _BOUNDS.items():
            way = self._way("rjieba", language)
            goals.append(
                Goal(
                    f"all but extraction, {language}",
                    way.rest[1] if way else None,
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
            *("tokenizer", "pages", "number", "lxml, trafilatura", "extraction", "all else"),
            *("share", "share of all that is ours"),
        )
        table = Table("the way of a page: processor time, ms: median / mean", head)
        for way in self.ways:
            table.add(
                way.tokenizer,
                way.language,
                way.pages,
                *(
                    f"{median:.2f} / {mean:.2f}"
                    for median, mean in (way.parsing, way.extraction, way.rest)
                ),
                way.share,
                way.whole_share,
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
        ways = [
            asdict(way) | {"share": way.share, "whole_share": way.whole_share} for way in self.ways
        ]
        return {"source": self.source, "processor milliseconds, median and mean": ways}


def measure(given: Iterable[Page], source: str, rounds: int) -> PagesWay:
    """The way of pages that follow others; in each round come the next ones, in either way."""
    pages, languages = _readable(_from_all_over(list(given)))
    parts = [slice(part, None, rounds + 1) for part in range(rounds + 1)]
    tokenizers = [name for name in _TOKENIZERS if name != _FAST.name or not _FAST.trouble]
    crawls = {name: _Crawl(name, [pages[part] for part in parts]) for name in tokenizers}
    found = in_turn(crawls, len(parts))
    of_parts = np.concatenate([np.array(languages)[part] for part in parts[1:]])
    ways = []
    for tokenizer, (_, *times) in found.items():
        each = np.concatenate(times)
        for language in (*_BOUNDS, "all"):
            chosen = each[(of_parts == language) | (language == "all")]
            if len(chosen):
                ways.append(_way(tokenizer, language, chosen))
    return PagesWay(source, ways)


def _way(tokenizer: str, language: str, times: _Times) -> Way:
    medians, means = np.median(times, axis=0).tolist(), times.mean(axis=0).tolist()
    return Way(tokenizer, language, len(times), *zip(medians, means, strict=True))


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


class _Crawl:
    """Reads the next pages each time; those of the first time make it know words and sites."""

    def __init__(self, tokenizer: str, parts: Iterable[Sequence[Page]]) -> None:
        self._parser, self._extraction = _Watch(), _Watch()
        self._detector = NearDupDetector(
            tokenizer=tokenizer,
            extractor=self._parser(extract.article_text),
            store=MemoryStore(_SECRET),
        )
        self._signer = cast(Any, self._detector.signer)
        self._signer.read = self._extraction(self._signer.read)
        self._parts = iter(parts)

    def __call__(self) -> _Times:
        pages = next(self._parts)
        times = np.empty((len(pages), 3))
        with self._parser_watched():
            for page, row in zip(pages, times, strict=True):
                self._parser.seconds = self._extraction.seconds = 0.0
                started = process_time()
                signature = self._signer.sign_html(page.url, page.body, page.content_type)
                self._detector.check(signature)
                whole, extraction = process_time() - started, self._extraction.seconds
                row[:] = self._parser.seconds, extraction, whole - extraction
        return 1000 * times

    @contextmanager
    def _parser_watched(self) -> Iterator[None]:
        module = cast(Any, extract)
        parse = module.fromstring
        module.fromstring = self._parser(parse)
        try:
            yield
        finally:
            module.fromstring = parse
