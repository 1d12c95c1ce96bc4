"""Times the steps of processing a page: extraction, and everything after it.

Extraction leads from a page's bytes to its text. It consists of lxml's parsing, trafilatura's
extraction, and this package's own steps: decoding, repairing, limits, and reading the title, the
visible text and the embedded media. The rest consists of tokens, weights, fingerprint, sketch,
digests, page key, and the claim and commit in the store. Three times are measured: the whole, the
extraction in it, and the parser and extractor in that.

A worker gets the waiting pages together, at most eight, and signs them after it has read all of
them. Therefore the times are those of groups of pages. In a busy crawl with two workers usually
four pages wait for each worker, and in a scan eight. The store is queried for the pages of a group
in a row, after another page has been read, because Scrapy's process does other work in between.

There are two shares: that of everything except extraction, relative to extraction; and that of
everything except lxml and trafilatura, relative to these two.

The timed pages are a sample of the given pages; all others are processed first, as in a crawl that
has been running for some time. Without given pages, English and Chinese pages of realistic size
are generated.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from operator import itemgetter
from time import process_time
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from scrapy_neardup import NearDupDetector
from scrapy_neardup.exceptions import UnreadablePage
from scrapy_neardup.html import extraction as extract
from scrapy_neardup.signatures.read_page import ReadPage
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore

from ..common.goals import Goal
from ..common.measuring import in_turn
from ..common.packages import Package
from ..common.stored_pages import Page
from ..common.tables import Table
from .parts import Part, Standing, standings

_ABOUT = __doc__ or ""
#: Of more pages than this, as many from all over them.
_PAGES = 1200
_HAN = re.compile(r"[\u3400-\u9fff]")
#: From this share of Han characters on a text is called Chinese.
_CHINESE = 0.2
_FAST = Package("rjieba", "rjieba", "rjieba")
#: Tokenizers, and how many pages are signed together.
_KINDS = (("rjieba", 1), ("rjieba", 4), ("rjieba", 8), ("jieba", 4))
#: What goals are asked of: a busy crawl.
_BUSY = ("rjieba", 4)
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
    together: int
    language: str
    pages: int
    parsing: tuple[float, float]
    extraction: tuple[float, float]
    rest: tuple[float, float]

    @property
    def share(self) -> float:
        """Return the mean time of everything except extraction, divided by that of extraction."""
        return self.rest[1] / self.extraction[1]

    @property
    def whole_share(self) -> float:
        """Return the mean time of the package's own code relative to parser and extractor."""
        return (self.extraction[1] + self.rest[1]) / self.parsing[1] - 1


@dataclass(frozen=True)
class PagesWay(Part):
    """:ivar ways: for each kind of crawl, of each language and of all pages."""

    source: str
    ways: list[Way]
    name = "pages"
    heading = "The steps of a page"
    about = _ABOUT

    def _way(self, language: str) -> Way | None:
        for way in self.ways:
            if (way.tokenizer, way.together, way.language) == (*_BUSY, language):
                return way
        return None

    @property
    def _count(self) -> int:
        return max(way.pages for way in self.ways)

    def ratios(self) -> list[Goal]:
        way = self._way("all")
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
            way = self._way(language)
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
            *("tokenizer", "signed together", "pages", "number", "lxml, trafilatura"),
            *("extraction", "all else", "share", "share of all that is ours"),
        )
        table = Table("the way of a page: processor time, ms: median / mean", head)
        for way in self.ways:
            table.add(
                way.tokenizer,
                way.together,
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

    def peers(self) -> dict[str, Standing]:
        return standings([_FAST])

    def as_json(self) -> dict[str, Any]:
        ways = [
            asdict(way) | {"share": way.share, "whole_share": way.whole_share} for way in self.ways
        ]
        return {"source": self.source, "processor milliseconds, median and mean": ways}


def measure(given: Iterable[Page], source: str, rounds: int) -> PagesWay:
    """The way of pages that follow others; in each round come the next ones, in every way."""
    given = list(given)
    chosen = _from_all_over(given)
    before = _read(page for page in given if page not in set(chosen))
    # By their language, so that it can be said of pages of one what they take together.
    pages = sorted(zip(*_readable(chosen), strict=True), key=itemgetter(1))
    parts = [pages[part :: rounds + 1] for part in range(rounds + 1)]
    kinds = [kind for kind in _KINDS if kind[0] != _FAST.name or not _FAST.trouble]
    crawls = {
        kind: _Crawl(*kind, [[page for page, _ in part] for part in parts], before)
        for kind in kinds
    }
    found = in_turn(crawls, len(parts))
    of_parts = np.array([language for part in parts[1:] for _, language in part])
    ways = []
    for kind, (_, *times) in found.items():
        each = np.concatenate(times)
        for language in (*_BOUNDS, "all"):
            of_language = each[(of_parts == language) | (language == "all")]
            if len(of_language):
                ways.append(_way(*kind, language, of_language))
    return PagesWay(source, ways)


def _way(tokenizer: str, together: int, language: str, times: _Times) -> Way:
    medians, means = np.median(times, axis=0).tolist(), times.mean(axis=0).tolist()
    return Way(tokenizer, together, language, len(times), *zip(medians, means, strict=True))


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


def _read(pages: Iterable[Page]) -> list[ReadPage]:
    """Return the texts from which pages are signed; unreadable pages are left out."""
    signer, read = NearDupDetector(tokenizer="pairs").signer, []
    for page in pages:
        with suppress(UnreadablePage):
            read.append(signer.html_page(page.url, page.body, page.content_type))
    return read


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
    """Reads the next pages each time; those of the first time make it know words and sites.

    :param together: how many pages are signed at once.
    :param before: pages that it knows already.
    """

    def __init__(
        self,
        tokenizer: str,
        together: int,
        parts: Iterable[Sequence[Page]],
        before: Iterable[ReadPage] = (),
    ) -> None:
        self._parser, self._extraction = _Watch(), _Watch()
        self._detector = NearDupDetector(
            tokenizer=tokenizer,
            extractor=self._parser(extract.article_text),
            store=MemoryStore(_SECRET),
        )
        self._signer = cast(Any, self._detector.signer)
        self._signer.read = self._extraction(self._signer.read)
        self._together = together
        self._parts = iter(parts)
        #: Of each page that the store is still to be asked about, its times as well.
        self._unchecked: deque[tuple[PageSignature, npt.NDArray[np.float64]]] = deque()
        for page in before:
            self._detector.check(*self._signer.sign(page))

    def __call__(self) -> _Times:
        pages = next(self._parts)
        times = np.empty((len(pages), 3))
        with self._parser_watched():
            for first in range(0, len(pages), self._together):
                some = slice(first, first + self._together)
                self._sign(pages[some], times[some])
            self._check_all()
        return 1000 * times

    def _sign(self, pages: Sequence[Page], times: _Times) -> None:
        read = []
        for page, row in zip(pages, times, strict=True):
            read.append(self._read(page, row))
            self._check_all()
        started = process_time()
        signatures = self._signer.sign(*read)
        times[:, 2] += (process_time() - started) / len(pages)
        self._unchecked.extend(zip(signatures, times, strict=True))

    def _read(self, page: Page, row: npt.NDArray[np.float64]) -> ReadPage:
        self._parser.seconds = self._extraction.seconds = 0.0
        started = process_time()
        read: ReadPage = self._signer.html_page(page.url, page.body, page.content_type)
        whole, extraction = process_time() - started, self._extraction.seconds
        row[:] = self._parser.seconds, extraction, whole - extraction
        return read

    def _check_all(self) -> None:
        while self._unchecked:
            signature, row = self._unchecked.popleft()
            started = process_time()
            self._detector.check(signature)
            row[2] += process_time() - started

    @contextmanager
    def _parser_watched(self) -> Iterator[None]:
        module = cast(Any, extract)
        parse = module.fromstring
        module.fromstring = self._parser(parse)
        try:
            yield
        finally:
            module.fromstring = parse
