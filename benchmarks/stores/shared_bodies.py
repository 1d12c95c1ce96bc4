"""Compares where the bodies of lazy crawls that share a Redis can be kept.

Several processes crawl one site, each page in one of them at random; here their stores take turns
in one process. A page of which another one had the body cannot be read in full by this one if each
keeps its own; with the bodies in Redis, it can.

* *copies found*: of the copies on the site, those that were called duplicates.
* *ms in the store*: by the clock, for a page: claims, commits, completions, and bodies put and
  taken; without the time to read pages.
* *bytes a page*: what the server's memory grew by, bodies included.
"""

from __future__ import annotations

import logging
import random
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.compression import packed_body
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores.body_cache import BodyCache
from scrapy_neardup.stores.redis.store import RedisStore

from ..common.options import at_least, command_parser
from ..common.redis_server import redis_server
from ..common.tables import Table
from ..corpora import made_up_pages

T = TypeVar("T")

_PAGES = 600
_PROCESSES = 4
_BOUND = 256 * 2**20
_SECRET = bytes(32)
#: Of the pages, one in so many is a copy of one before it.
_COPIES = 4


class Page(NamedTuple):
    """A page of the site, and what a crawl makes of it."""

    record: Record
    quick: PageSignature
    full: PageSignature
    is_copy: bool


class Worker:
    """One of the processes: a store of its own, and its bodies.

    :param bodies: its own, or ``None`` for those in the store.
    """

    def __init__(self, address: str, bodies: BodyCache | None) -> None:
        self.seconds = 0.0
        self.store = RedisStore(address, "shared", secret=_SECRET)
        self._bodies = bodies or self.store.body_cache(_BOUND)

    def crawl(self, page: Page, site: dict[str, Page]) -> str:
        """Claim and store a page; return the kind of its verdict."""
        signature, rule = page.quick, Rule()
        while True:
            claim = self._timed(self.store.claim, signature, rule)
            if not (claim.must_read or claim.unread):
                break
            for key in claim.unread:
                has_body = self._timed(self._bodies.take, key) is not None
                full = site[key].full if has_body else None
                self._timed(self.store.complete, key, full)
            signature = page.full.with_quick_parts_of(page.quick)
        if claim.ticket is not None:
            if not signature.is_read:
                body = packed_body(page.record.content)
                self._timed(self._bodies.put, signature.key, page.record, body)
            self._timed(self.store.commit, claim.ticket)
        return claim.verdict.kind

    def _timed(self, call: Callable[..., T], *arguments: Any) -> T:
        started = perf_counter()
        try:
            return call(*arguments)
        finally:
            self.seconds += perf_counter() - started


def site_of(count: int, seed: int) -> list[Page]:
    """Return pages in the order in which they are crawled; each copy comes after its original."""
    signer, chance, pages = Signer(secret=_SECRET, extraction="lazy"), random.Random(seed), []
    originals: list[str] = []
    for number, made_up in enumerate(made_up_pages.pages(count)):
        is_copy = bool(originals) and number % _COPIES == 0
        html = chance.choice(originals) if is_copy else made_up.body.decode()
        if not is_copy:
            originals.append(html)
        else:
            html = html.replace("</body>", f"<div>Printed {number} times</div></body>")
        url = f"https://site.example/{number}"
        record = Record(url, url, html, "html")
        [quick] = signer.sign(signer.quick_page(url, html))
        pages.append(Page(record, quick, signer.sign_html(url, html), is_copy))
    return pages


def measure(pages: list[Page], processes: int, *, is_shared: bool) -> tuple[float, float, float]:
    """Return the share of copies found, milliseconds in the store, and bytes, a page."""
    chance, site = random.Random(1), {page.quick.key: page for page in pages}
    with redis_server() as server, server.client as client:
        workers = [
            Worker(server.address, None if is_shared else BodyCache(_BOUND, lambda key: None))
            for _ in range(processes)
        ]
        before = _memory(client)
        found = sum(
            chance.choice(workers).crawl(page, site) == "duplicate" and page.is_copy
            for page in pages
        )
        n_bytes = _memory(client) - before
        for worker in workers:
            worker.store.close()
    seconds = sum(worker.seconds for worker in workers)
    copies = sum(page.is_copy for page in pages)
    return found / copies, 1000 * seconds / len(pages), n_bytes / len(pages)


def _memory(client: Any) -> int:
    return int(client.info("memory")["used_memory"])


def main() -> int:
    parser = command_parser("benchmarks.stores.shared_bodies", __doc__)
    add = parser.add_argument
    add("--pages", type=at_least(_COPIES), default=_PAGES, metavar="N")
    add("--processes", type=at_least(1), default=_PROCESSES, metavar="N")
    options = parser.parse_args()
    # That nothing is written to disk is meant.
    logging.getLogger("scrapy_neardup").setLevel(logging.ERROR)
    pages = site_of(options.pages, 1)
    head = ("bodies", "copies found", "ms in the store", "bytes a page")
    name = f"{options.pages:,} pages of one site in {options.processes} processes"
    table = Table(name, head)
    for where, is_shared in (("of each process", False), ("in Redis", True)):
        table.add(where, *measure(pages, options.processes, is_shared=is_shared))
    print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
