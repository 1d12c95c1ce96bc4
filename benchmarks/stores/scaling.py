"""Measures large SQLite stores: time to open, memory, disk space, and time of a claim.

Each file is filled at once, in one transaction, with the rows and packed pages that the store
itself writes: random fingerprints and sketches, as many values as are kept at most, sites of 50
pages (made_up_signatures.py). It is then opened in a process of its own, whose memory (resident,
all in all) is read after all claims and commits. The files are removed; 10,000,000 pages take 12 GB
meanwhile.

Times are by the clock: what the disk and other programs of the machine take is in them. Processor
times beside them tell how much of that was the store's own; of a claim it is the median. Of each
kind and distance are claimed as many pages as ``--claims`` says:

* *new*: like no other, on sites of their own;
* *duplicate*: a stored page at an address of another site;
* *revisit*: a stored page at its address.

Stored pages are drawn from all over the file, so nearly each is of a site that this process has
not met, and what the site's pages share is first learned again from those that are stored.
"""

from __future__ import annotations

import argparse
import gc
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time, thread_time

import numpy as np
import numpy.typing as npt

from scrapy_neardup import Rule
from scrapy_neardup.matching.candidates import FIRST_BINS, site_digest, title_digest
from scrapy_neardup.matching.stored_items import OWN_ITEMS
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores.codec import ROW, key_digest, key_seed, unpacked
from scrapy_neardup.stores.sqlite.format import NUMBER_BITS, sealed
from scrapy_neardup.stores.sqlite.store import SqliteStore
from scrapy_neardup.text.values import CODE, MAX_VALUES

from ..common.measuring import apart
from ..common.memory import resident_bytes
from ..common.options import at_least, command_parser, say
from ..common.packed_pages import HEAD
from ..common.tables import Table
from .made_up_signatures import SITE_PAGES, Maker, ordinary

_SIZES = (100_000, 1_000_000, 10_000_000)
_CLAIMS = 1000
_COMMITS = 20_000
_DISTANCES = (3, 8, 11)
_AT_ONCE = 10_000
_QUANTILES = (0.5, 0.99, 0.999, 1.0)
_STORED_AT = 1_700_000_000
_SEED = 7
_MEGABYTE = 2**20
#: A packed page up to its words.
_HEAD = np.dtype([*HEAD.descr, ("values", CODE, MAX_VALUES)])


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a store of one size.

    :ivar times: of each claim, milliseconds by the clock and of the processor, by kind of page and
        Hamming distance.
    """

    opened_seconds: float
    opened_processor_seconds: float
    resident_bytes: int
    durable_a_second: float
    times: dict[tuple[str, int], list[tuple[float, float]]]
    said: dict[str, Counter[str]]


# --- to fill a file ---


def fill(path: Path, count: int, sample: int) -> list[PageSignature]:
    """Write so many pages into a new file; returns some of them, from all over it."""
    with closing(SqliteStore(path)) as store:
        store.adopt("benchmark", {})
        secret = store.secret
    generator, chosen = np.random.default_rng(_SEED), []
    step = max(1, count // sample)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("DROP INDEX rows_site")
        connection.execute("BEGIN")
        for first in range(0, count, _AT_ONCE):
            stock = Stock(first, min(_AT_ONCE, count - first), generator)
            _insert(connection, stock, secret)
            chosen += stock.packed()[-first % step :: step]
        connection.execute("CREATE INDEX rows_site ON rows(site)")
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    return [unpacked(page, "benchmark") for page in chosen[:sample]]


class Stock:
    """Made-up pages, many at a time.

    :param first: number of the first one.
    """

    def __init__(self, first: int, count: int, generator: np.random.Generator) -> None:
        self.first = first
        self._heads = np.frombuffer(generator.bytes(count * _HEAD.itemsize), _HEAD).copy()
        self._heads["n_features"], self._heads["n_text"], self._heads["n_shown"] = 300, 3000, 4000
        self._heads["n_values"], self._heads["n_heading"] = MAX_VALUES, 0
        self._heads["n_facts"], self._heads["n_passages"], self._heads["is_read"] = 0, 0, 1
        # In the 17th place stands that a page is no list.
        self._heads["shown"][:, 16] = 0
        np.maximum(self._heads["sketch"], 1, out=self._heads["sketch"])
        self._numbers = range(first, first + count)
        self._sites = [f"site{number // SITE_PAGES}.example" for number in self._numbers]
        self._keys = [
            f"https://{site}/articles/{number}/about-the-ferry-to-holm-island.html"
            for number, site in zip(self._numbers, self._sites, strict=True)
        ]

    def rows(self, secret: bytes) -> npt.NDArray[np.void]:
        """As a store keeps them to build its index from."""
        rows, seed = np.zeros(len(self._heads), ROW), key_seed(secret)
        rows["fingerprint"] = self._heads["fingerprint"]
        rows["first_bins"] = self._heads["sketch"][:, :FIRST_BINS]
        summary = rows["summary"]
        summary["key"] = [key_digest(key, seed) for key in self._keys]
        summary["site"] = [site_digest(site) for site in self._sites]
        summary["title"] = [title_digest(_title(number)) for number in self._numbers]
        for name in ("text", "shown"):
            summary[name] = self._heads[name][:, :4].copy().view("<u4")[:, 0]
        summary["n_features"], summary["stored_at"] = 300, _STORED_AT
        summary["items"] = OWN_ITEMS
        return rows

    def packed(self) -> list[bytes]:
        """As :func:`~scrapy_neardup.stores.codec.packed` would pack each of them."""
        data, size = self._heads.tobytes(), _HEAD.itemsize
        return [
            data[place * size : place * size + size]
            + f'["{key}","{site}",[["about","the","ferry","{number:x}"],["daily","news"]]]'.encode()
            for place, (number, site, key) in enumerate(
                zip(self._numbers, self._sites, self._keys, strict=True)
            )
        ]


def _title(number: int) -> tuple[tuple[str, ...], ...]:
    return ("about", "the", "ferry", f"{number:x}"), ("daily", "news")


def _insert(connection: sqlite3.Connection, stock: Stock, secret: bytes) -> None:
    rows, some = stock.rows(secret), stock.packed()
    start = (1 << NUMBER_BITS) + stock.first
    ids = range(start, start + len(some))
    data, size = rows.tobytes(), ROW.itemsize
    connection.executemany(
        "INSERT INTO rows VALUES (?, ?, ?)",
        (
            (id_, site, data[place * size : place * size + size])
            for place, (id_, site) in enumerate(
                zip(ids, rows["summary"]["site"].tolist(), strict=True)
            )
        ),
    )
    connection.executemany(
        "INSERT INTO pages VALUES (?, ?)",
        ((id_, sealed(id_, page)) for id_, page in zip(ids, some, strict=True)),
    )


# --- to measure ---


def measure(path: Path, stored: Sequence[PageSignature], claims: int) -> Figures:
    """Open a file in this process and claim pages."""
    started, worked = perf_counter(), process_time()
    store = SqliteStore(path)
    opened = perf_counter() - started, process_time() - worked
    new = _unlike_all()
    times: dict[tuple[str, int], list[tuple[float, float]]] = {}
    said: dict[str, Counter[str]] = {}
    kinds: dict[str, Callable[[], Iterable[PageSignature]]] = {
        "new": lambda: new,
        "duplicate": lambda: map(_reprint, stored),
        "revisit": lambda: stored,
    }
    # As a crawl does: full collections walk through all that is alive.
    gc.freeze()
    for distance in _DISTANCES:
        for kind, source in kinds.items():
            some = list(islice(source(), claims))
            times[kind, distance] = list(_timed(store, some, Rule(max_distance=distance), said))
    durable = _durable(store, list(islice(new, _COMMITS)))
    resident = resident_bytes()
    store.close()
    return Figures(*opened, resident, durable, times, said)


def _unlike_all() -> Iterator[PageSignature]:
    maker = Maker(11)
    while True:
        page = ordinary(maker)
        url = page.url.replace("site", "fresh")
        yield replace(page, url=url, key=url, site=page.site.replace("site", "fresh"))


def _reprint(page: PageSignature) -> PageSignature:
    url = f"https://reprint.example/{page.url}"
    return replace(page, url=url, key=url, site="reprint.example")


def _timed(
    store: SqliteStore, some: Iterable[PageSignature], rule: Rule, said: dict[str, Counter[str]]
) -> Iterator[tuple[float, float]]:
    """Milliseconds of each claim, by the clock and of the processor; nothing of it stays."""
    for page in some:
        started, worked = perf_counter(), thread_time()
        claim = store.claim(page, rule)
        yield 1000 * (perf_counter() - started), 1000 * (thread_time() - worked)
        said.setdefault(claim.verdict.kind, Counter())[claim.verdict.reason] += 1
        if claim.ticket is not None:
            store.release(claim.ticket)


def _durable(store: SqliteStore, some: Sequence[PageSignature]) -> float:
    """Pages a second that are claimed, committed and on disk."""
    rule = Rule(max_distance=3)
    started = perf_counter()
    for page in some:
        store.commit(store.claim(page, rule).ticket)
    store.flush()
    return len(some) / (perf_counter() - started)


# --- to print ---


def store_table(found: dict[int, tuple[int, Figures]]) -> Table:
    table = Table(
        "a file of so many pages, opened by a new process",
        (
            "pages",
            "open s",
            "pages/s",
            "processor s",
            "memory MB",
            "bytes a page",
            "on disk",
            "durable/s",
        ),
    )
    for count, (on_disk, figures) in found.items():
        table.add(
            f"{count:,}",
            f"{figures.opened_seconds:.2f}",
            round(count / figures.opened_seconds),
            f"{figures.opened_processor_seconds:.2f}",
            round(figures.resident_bytes / _MEGABYTE),
            round(figures.resident_bytes / count),
            round(on_disk / count),
            round(figures.durable_a_second),
        )
    return table


def claim_table(found: dict[int, tuple[int, Figures]]) -> Table:
    head = ("pages", "page", "k", "claims", "median", "99 %", "99.9 %", "max", "processor")
    table = Table("a claim, ms", head)
    for count, (_, figures) in found.items():
        for (kind, distance), times in sorted(figures.times.items()):
            by_clock, worked = np.array(times).T
            quantiles = np.quantile(by_clock, _QUANTILES).tolist()
            median = float(np.median(worked))
            table.add(f"{count:,}", kind, distance, len(times), *quantiles, median)
        verdicts = ", ".join(
            f"{times:,} {kind} ({reason})"
            for kind, reasons in sorted(figures.said.items())
            for reason, times in reasons.items()
        )
        table.notes.append(f"{count:,}: {verdicts}")
    return table


def arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.stores.scaling", __doc__)
    parser.add_argument("--sizes", type=at_least(1), nargs="+", default=_SIZES, metavar="N")
    parser.add_argument("--claims", type=at_least(1), default=_CLAIMS, metavar="N")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where there is room")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    found: dict[int, tuple[int, Figures]] = {}
    for count in sorted(set(options.sizes)):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder) / "pages.sqlite"
            stored = apart(fill, path, count, min(options.claims, count))
            on_disk = path.stat().st_size
            found[count] = on_disk, apart(measure, path, stored, options.claims)
        say(store_table({count: found[count]}).as_text())
    print(store_table(found).as_text())
    print(claim_table(found).as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
