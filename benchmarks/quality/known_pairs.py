"""Pages with known pairs: their resemblance, and the labels of readers.

A folder holds ``pages-*.jsonl.gz``, ``pairs.csv`` (``id_a``, ``id_b``, ``jaccard`` of every pair
from 0.3 on), ``labels.csv`` (``id_a``, ``id_b``, ``label``, ``reason``, ``jaccard``),
``labels2.csv`` (``id_a``, ``id_b``, ``label``, ``drawn_from``, ``reason``: pairs that were read
twice, drawn from hits or from pairs near to them) and ``theme-notice.txt`` (ids of pages whose
extracted text is only a theme's error notice). Only the pages have to be there.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from multiprocessing import Pool
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from scrapy_neardup._util.urls import site_of

from ..common.stored_pages import InputError, Page, read_pages

#: Two pages by their places in the corpus, the smaller first.
Pair = tuple[int, int]

#: Pairs that resemble each other by 0.8 and more, are not labelled, and were read to be distinct.
READINGS = Path(__file__).with_name("readings.csv")
#: What each of two readers called a pair who looked for any statement that one page lacks: hits,
#: most of those of little resemblance and some at random, and pairs that were missed.
CLOSE_READINGS = Path(__file__).with_name("close_readings.csv")
_URLS = ("url_a", "url_b")
_LABELS = ("duplicate", "distinct", "unclear")
_DRAWN_FROM = ("hit", "near")

_Result = TypeVar("_Result")

_CHUNK = 16
_INDEX = re.compile(r"(?:index|default)\.\w+$")
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?)$")


@dataclass(frozen=True, slots=True)
class Label:
    """A reader's label of a pair: ``"duplicate"``, ``"distinct"`` or ``"unclear"``.

    :ivar drawn_from: in labels2.csv, ``"hit"`` for a random sample of what the detector dropped, or
        ``"near"`` for pairs that it did not drop; empty in labels.csv.
    """

    pair: Pair
    label: str
    jaccard: float
    reason: str
    drawn_from: str = ""


@dataclass(frozen=True)
class Corpus:
    """A folder's pages by number, and what is known of them; the pages themselves stay on disk.

    :ivar pairs: resemblance of every pair from 0.3 on.
    :ivar labels: those of labels.csv.
    :ivar labels2: those of labels2.csv; none when there is no such file.
    """

    files: tuple[Path, ...]
    ids: tuple[str, ...]
    urls: tuple[str, ...]
    pairs: dict[Pair, float]
    labels: tuple[Label, ...]
    notices: frozenset[int]
    labels2: tuple[Label, ...] = ()

    @property
    def all_labels(self) -> tuple[Label, ...]:
        return self.labels + self.labels2

    @cached_property
    def distinct(self) -> frozenset[Pair]:
        """Pairs that readers called distinct: those of the labels, and ours in readings.csv."""
        labelled = (label.pair for label in self.all_labels if label.label == "distinct")
        return frozenset((*labelled, *(pair for pair, _ in self._read(READINGS))))

    @cached_property
    def close_readings(self) -> dict[Pair, str]:
        """The label that two close readers gave each pair, ``"unclear"`` if they disagreed."""
        return {
            pair: row["first"] if row["first"] == row["second"] else "unclear"
            for pair, row in self._read(CLOSE_READINGS)
        }

    def _read(self, path: Path) -> Iterator[tuple[Pair, dict[str, str]]]:
        """Yield the rows of a table of readings that name pages of the corpus."""
        number = {url: place for place, url in enumerate(self.urls)}
        for row in _rows(path, dict):
            a, b = sorted(number.get(row[name], -1) for name in _URLS)
            if a >= 0:
                yield (a, b), row

    @property
    def sites(self) -> list[str]:
        return [site_of(url) for url in self.urls]

    def pages(self) -> Iterator[Page]:
        """The pages, in the order of their numbers."""
        return read_pages(map(str, self.files), Counter())

    def map(self, work: Callable[[Page], _Result]) -> list[_Result]:
        """Call ``work``, a picklable function, for each page on all cores; return the results."""
        with Pool() as pool:
            return list(pool.imap(work, self.pages(), _CHUNK))


def read_corpus(folder: Path) -> Corpus:
    """Read what is known of a folder's pages.

    :raises InputError: when it has no pages, or one cannot be read, or names an unknown page.
    """
    files = tuple(sorted(folder.glob("pages-*.jsonl.gz")))
    if not files:
        raise InputError(f"{folder}: no pages-*.jsonl.gz")
    skipped: Counter[str] = Counter()
    ids, urls = [], []
    for page in read_pages(map(str, files), skipped):
        ids.append(page.id)
        urls.append(page.url)
    if skipped:
        raise InputError(f"{folder}: bad records: {dict(skipped)}")
    number = {page_id: place for place, page_id in enumerate(ids)}
    pairs = dict(
        _rows(folder / "pairs.csv", lambda row: (_pair(number, row), float(row["jaccard"])))
    )
    return Corpus(
        files,
        tuple(ids),
        tuple(urls),
        pairs,
        tuple(_rows(folder / "labels.csv", lambda row: _label(number, row))),
        _notices(folder / "theme-notice.txt", number),
        tuple(_rows(folder / "labels2.csv", lambda row: _label2(number, pairs, row))),
    )


def _rows(path: Path, make: Callable[[dict[str, str]], _Result]) -> Iterator[_Result]:
    """Return the results of ``make`` for each row of a table; none if there is no such file.

    :raises InputError: when it raises KeyError, TypeError or ValueError.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            try:
                yield make(row)
            except KeyError as error:
                place = f"{path}, line {reader.line_num}"
                raise InputError(f"{place}: no page or column {error}") from error
            except (TypeError, ValueError) as error:
                raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def _notices(path: Path, number: Mapping[str, int]) -> frozenset[int]:
    words = path.read_text(encoding="utf-8").split() if path.exists() else []
    try:
        return frozenset(number[page_id] for page_id in words)
    except KeyError as error:
        raise InputError(f"{path}: no page {error}") from error


def _pair(number: Mapping[str, int], row: Mapping[str, str]) -> Pair:
    a, b = sorted((number[row["id_a"]], number[row["id_b"]]))
    return a, b


def _label(number: Mapping[str, int], row: Mapping[str, str]) -> Label:
    jaccard = float(row["jaccard"])
    return Label(_pair(number, row), _one_of(_LABELS, row["label"]), jaccard, row["reason"])


def _label2(
    number: Mapping[str, int], pairs: Mapping[Pair, float], row: Mapping[str, str]
) -> Label:
    pair = _pair(number, row)
    drawn_from = _one_of(_DRAWN_FROM, row["drawn_from"])
    label = _one_of(_LABELS, row["label"])
    return Label(pair, label, pairs.get(pair, 0.0), row["reason"], drawn_from)


def _one_of(words: Sequence[str], word: str) -> str:
    if word not in words:
        raise ValueError(f"{word!r} is none of {', '.join(words)}")
    return word


def digest(folders: Iterable[Path]) -> str:
    """Digest of the bytes and names of the files that the figures rest on."""
    total = hashlib.sha256()
    for folder in folders:
        kinds = ("*.jsonl.gz", "labels.csv", "labels2.csv", "pairs.csv", "*.txt")
        for path in chain.from_iterable(sorted(folder.glob(kind)) for kind in kinds):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{folder.name}/{path.name} {content}\n".encode())
    return total.hexdigest()


def slug(url: str) -> str:
    """The name of a post in its address: the last segment that is not ``index.html``."""
    segments = [part for part in unquote(urlsplit(url).path).lower().split("/") if part]
    if segments and _INDEX.match(segments[-1]):
        del segments[-1]
    return _SUFFIX.sub("", segments[-1]) if segments else ""


def halves(
    sites: Iterable[str], joined: Iterable[tuple[str, str]], seed: int | None = None
) -> dict[str, int]:
    """Cut the sites in two, such that no joined pair is cut.

    Sites with a resembling pair of pages are one family. Families, the largest first and of
    equals by the hash of their first name, go to the half that is smaller by then. So the cut is
    the same in every run, and what was tuned on one half has not met a copy of the other.

    :param seed: of another cut, for which families come in an order drawn by it, large or small.
    :returns: the half, 0 or 1, of each site.
    """
    family = {site: site for site in sites}
    find = partial(_head, family)
    for a, b in joined:
        first, second = sorted((find(a), find(b)))
        family[second] = first
    members: dict[str, list[str]] = {}
    for site in family:
        members.setdefault(find(site), []).append(site)
    sizes = [0, 0]
    half: dict[str, int] = {}

    def turn(head: str) -> tuple[int, bytes]:
        if seed is None:
            return -len(members[head]), _hashed(head)
        return 0, _hashed(f"{seed} {head}")

    for head in sorted(members, key=turn):
        smaller = sizes.index(min(sizes))
        sizes[smaller] += len(members[head])
        half.update(dict.fromkeys(members[head], smaller))
    return half


def _head(family: dict[str, str], site: str) -> str:
    while family[site] != site:
        site = family[site]
    return site


def _hashed(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()
