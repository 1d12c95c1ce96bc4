"""Measures what pages that were read quickly only take in a memory store, with and without bodies.

Each page has a sample of 64 passages that no other has, the most that is recorded. The bodies are
random, so they are as large as they are said to be, and together they exceed their bound: the
oldest are evicted. Each way is measured in a process of its own.
"""

from __future__ import annotations

import sys
from random import Random
from time import perf_counter
from typing import NamedTuple

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.signatures.passages import SAMPLE_SIZE
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores import MemoryStore

from ..common.measuring import apart
from ..common.memory import resident_bytes
from ..common.options import at_least, command_parser
from ..common.tables import Table

_PAGES = 1_000_000
_BODY_BYTES = 10_000
#: The default of NEARDUP_BODY_CACHE.
_BOUND_MIB = 256
_SITE_PAGES = 50


class Figures(NamedTuple):
    """What a store of so many pages takes.

    :ivar resident: bytes that the process grew by.
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
    passages = generator.randbytes(8 * SAMPLE_SIZE)
    return PageSignature.unread(
        url=url, key=f"{url}?", site=site, title=title, recipe="benchmark", passages=passages
    )


def measure(pages: int, body_bytes: int, bound_mib: int) -> Figures:
    """Store pages; ``body_bytes`` is 0 for no bodies."""
    store, generator, rule = MemoryStore(bytes(16)), Random(1), Rule()
    bodies = store.body_cache(bound_mib * 2**20)
    before, started = resident_bytes(), perf_counter()
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
        resident_bytes() - before,
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
    options = parser.parse_args()
    head = ("", "MiB", "bytes a page", "MiB of bodies", "bodies kept", "us a page")
    table = Table(f"{options.pages:,} pages that were read quickly only", head)
    for name, size in (("without bodies", 0), ("with bodies", options.body_bytes)):
        found = apart(measure, options.pages, size, options.bound)
        table.add(
            name,
            found.resident / 2**20,
            found.resident / options.pages,
            found.of_bodies / 2**20,
            found.kept,
            found.claim_us,
        )
    print(table.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
