"""Measures what pages that were read quickly only take in memory, with and without their bodies.

Each page has a sample of 64 passages that no other has, the most that is recorded. The bodies are
random, so they are as large as they are said to be, and together they exceed their bound: the
oldest are evicted. Each way is measured in a process of its own. Redis is given fewer pages; its
memory is what the server grew by.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from random import Random
from time import perf_counter
from typing import NamedTuple

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.signatures.passages import SAMPLE_SIZE
from scrapy_neardup.signatures.quick_sketch import SIZE
from scrapy_neardup.signatures.signature import BODY_DIGEST_SIZE, PageSignature
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores import MemoryStore, Store
from scrapy_neardup.stores.redis.store import RedisStore

from ..common.measuring import apart
from ..common.memory import resident_bytes
from ..common.options import at_least, command_parser
from ..common.redis_server import redis_server
from ..common.tables import Table

_PAGES = 1_000_000
_REDIS_PAGES = 100_000
_BODY_BYTES = 10_000
#: The default of NEARDUP_BODY_CACHE.
_BOUND_MIB = 256
_SITE_PAGES = 50


class Figures(NamedTuple):
    """Space and time that a store of so many pages takes.

    :ivar resident: bytes that the process, or the Redis, grew by.
    :ivar of_bodies: bytes of the kept bodies, by the count that the bound holds for.
    :ivar kept: number of kept bodies.
    :ivar claim_us: microseconds to claim and commit a page, the body included.
    """

    resident: int
    of_bodies: int
    kept: int
    claim_us: float


def unread_page(number: int, generator: Random) -> PageSignature:
    site = f"site{number // _SITE_PAGES}.example"
    url = f"https://{site}/articles/{number}/about-the-ferry-to-holm-island.html"
    title = (("about", "the", "ferry", f"{number:x}"), ("daily", "news"))
    return PageSignature.unread(
        url=url,
        key=f"{url}?",
        site=site,
        title=title,
        recipe="benchmark",
        passages=generator.randbytes(8 * SAMPLE_SIZE),
        quick_sketch=generator.randbytes(SIZE),
        body_digest=generator.randbytes(BODY_DIGEST_SIZE),
    )


def measure(pages: int, body_bytes: int, bound_mib: int) -> Figures:
    """Store pages; ``body_bytes`` is 0 for no bodies."""
    return _measured(MemoryStore(bytes(16)), resident_bytes, pages, body_bytes, bound_mib)


def measure_redis(pages: int, body_bytes: int, bound_mib: int) -> Figures:
    """The same of a Redis."""
    # That nothing is written to disk is meant.
    logging.getLogger("scrapy_neardup").setLevel(logging.ERROR)
    with redis_server() as server, server.client as client:
        client.config_set("save", "")
        store = RedisStore(server.address, secret=bytes(16))

        def used() -> int:
            return int(client.info("memory")["used_memory"])

        figures = _measured(store, used, pages, body_bytes, bound_mib)
        store.close()
        return figures


def _measured(
    store: Store, used: Callable[[], int], pages: int, body_bytes: int, bound_mib: int
) -> Figures:
    generator, rule = Random(1), Rule()
    bodies = store.body_cache(bound_mib * 2**20)
    before, started = used(), perf_counter()
    for number in range(pages):
        page = unread_page(number, generator)
        claim = store.claim(page, rule)
        assert claim.ticket is not None
        if body_bytes:
            record = Record(page.url, page.url, b"", "html", content_type="text/html")
            bodies.put(page.key, record, generator.randbytes(body_bytes))
        store.commit(claim.ticket)
    seconds = perf_counter() - started
    return Figures(
        used() - before,
        bodies.n_bytes,
        pages - bodies.n_evicted if body_bytes else 0,
        1e6 * seconds / pages,
    )


def main() -> int:
    parser = command_parser("benchmarks.stores.unread_pages", __doc__)
    add = parser.add_argument
    add("--pages", type=at_least(1), default=_PAGES, metavar="N")
    add("--body-bytes", type=at_least(1), default=_BODY_BYTES, metavar="N", help="compressed")
    add("--bound", type=at_least(0), default=_BOUND_MIB, metavar="MIB", help="for all bodies")
    add("--redis-pages", type=at_least(0), default=_REDIS_PAGES, metavar="N", help="0 for no Redis")
    options = parser.parse_args()
    head = ("", "MiB", "bytes a page", "MiB of bodies", "bodies kept", "us a page")
    for where, measured, pages in (
        ("memory", measure, options.pages),
        ("Redis", measure_redis, options.redis_pages),
    ):
        table = Table(f"{where}: {pages:,} pages that were read quickly only", head)
        for name, size in (("without bodies", 0), ("with bodies", options.body_bytes)):
            if pages:
                found = apart(measured, pages, size, options.bound)
                table.add(
                    name,
                    found.resident / 2**20,
                    found.resident / pages,
                    found.of_bodies / 2**20,
                    found.kept,
                    found.claim_us,
                )
        if pages:
            print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
