"""Measures the memory of a page in Redis, and the time of a claim for server and clients.

It starts a server of its own, without a disk, and fills it with made-up pages
(made_up_signatures.py). Then each client, a process of its own, claims more of them and commits
each.

* *server µs*: processor time of the server for a claim and its commit; what one server carries at
  most is a second divided by it. It does not depend on what else the machine does.
* *client µs*: processor time of the client's process for the same.
* *ms*: what a claim took by the clock, with its waits for the server; *a second*: claims and
  commits of all clients together. Both depend on how many cores are free: the server and the
  clients share this machine.
* *bytes a page*: what the server's memory grew by, and what its tables for lookups take of that.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import redis

from scrapy_neardup import Rule
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores.codec import packed, row_of
from scrapy_neardup.stores.redis.layout import KeySpace, packed_number, place_of
from scrapy_neardup.stores.redis.store import RedisStore

from ..common.options import at_least, command_parser
from ..common.redis_server import redis_server
from ..common.tables import Table
from .made_up_signatures import Maker, ordinary

_PAGES = (10_000, 100_000, 1_000_000)
_CLAIMS = 500
_CLIENTS = 4
_DISTANCES = (3, 8, 11)
_AT_ONCE = 5_000
_NAMESPACE = "benchmark"
_INDEX = ("block0", "block1", "block2", "block3")


class Spent(NamedTuple):
    """Milliseconds of each claim of a client, and its total processor time."""

    times: Sequence[float]
    processor: float


def fill(port: int, pages: Iterator[PageSignature], count: int, first: int) -> None:
    """Write pages as the store's scripts would have left them, many at a time.

    Buckets are put together here: one by one, the scripts would take minutes.
    """
    part = KeySpace(_NAMESPACE)
    with redis.Redis(port=port) as client:
        tables: list[dict[bytes, list[bytes]]] = [{} for _ in range(5)]
        sites: dict[bytes, list[bytes]] = {}
        for start in range(first, count, _AT_ONCE):
            batch = list(islice(pages, min(_AT_ONCE, count - start)))
            rows, packs = {}, {}
            for place, page in enumerate(batch):
                number = packed_number(start + place)
                digest = hash(page.key) & 0xFFFFFFFFFFFFFFFF
                row = row_of(page, digest, int(time.time()))
                rows[number], packs[number] = row, packed(page)
                sites.setdefault(row[16:20], []).append(number)
                words = [(page.fingerprint, block) for block in range(4)] + [(digest, 0)]
                for table, (word, block) in zip(tables, words, strict=True):
                    at = place_of(word, block)
                    table.setdefault(at.field, []).append(at.rest + number)
            pipeline: Any = client.pipeline(transaction=False)
            pipeline.hset(part.rows, mapping=rows)
            pipeline.hset(part.pages, mapping=packs)
            pipeline.execute()
        for key, table in zip([*part.blocks, part.known], tables, strict=True):
            _append(client, key, table)
        _append(client, part.sites, sites)
        client.hset(part.count, mapping={"next": count, "size": count, "recipe": "benchmark"})


def _append(client: Any, key: bytes, buckets: dict[bytes, list[bytes]]) -> None:
    fields = list(buckets)
    for start in range(0, len(fields), _AT_ONCE):
        some = fields[start : start + _AT_ONCE]
        before = client.hmget(key, some)
        joined = {
            field: (old or b"") + b"".join(buckets[field])
            for field, old in zip(some, before, strict=True)
        }
        client.hset(key, mapping=joined)


def claims(port: int, seed: int, count: int, distance: int) -> Spent:
    """Claim pages that nobody has met, and commit them."""
    store = _opened(port)
    maker, rule = Maker(seed), Rule(max_distance=distance)
    # No page of the same address, and none of the sites that are known.
    maker._number = seed * 1_000_000
    pages = [ordinary(maker) for _ in range(count + 20)]
    for page in pages[:20]:
        _store(store, page, rule)
    started, times = process_time(), []
    for page in pages[20:]:
        before = perf_counter()
        _store(store, page, rule)
        times.append(1000 * (perf_counter() - before))
    spent = process_time() - started
    store.close()
    return Spent(times, spent)


def _opened(port: int) -> RedisStore:
    # That nothing is written to disk is meant.
    logging.getLogger("scrapy_neardup").setLevel(logging.ERROR)
    return RedisStore(f"redis://127.0.0.1:{port}", _NAMESPACE)


def _store(store: RedisStore, page: PageSignature, rule: Rule) -> None:
    claim = store.claim(page, rule)
    if claim.ticket is not None:
        store.commit(claim.ticket)


def measure(port: int, pool: Any, clients: int, count: int, distance: int) -> tuple[object, ...]:
    """A row of the table: what so many clients and their server spent."""
    first = int(1e6 * perf_counter())
    seeds = range(first, first + clients)
    with redis.Redis(port=port) as client:
        before, started = _processor(client), perf_counter()
        futures = [pool.submit(claims, port, seed, count, distance) for seed in seeds]
        spent = [future.result() for future in futures]
        took, server = perf_counter() - started, _processor(client) - before
    times = [each for one in spent for each in one.times]
    each_client = sum(one.processor for one in spent) / len(times)
    return (
        clients,
        len(times),
        f"{1e6 * server / (len(times) + 20 * clients):,.0f}",
        f"{1e6 * each_client:,.0f}",
        float(np.median(times)),
        float(np.quantile(times, 0.99)),
        f"{clients * 1000 / np.mean(times):,.0f}",
        f"{took:.1f}",
    )


def _processor(client: Any) -> float:
    """Processor time of the server so far, in seconds."""
    told: dict[str, float] = client.info("cpu")
    return told["used_cpu_user"] + told["used_cpu_sys"]


def memory(port: int) -> tuple[int, int]:
    """Bytes that the server holds, and those of the tables for lookups."""
    part = KeySpace(_NAMESPACE)
    with redis.Redis(port=port) as client:
        told: Any = client.info("memory")
        index = [client.memory_usage(part.key(name), samples=2000) or 0 for name in _INDEX]
        return int(told["used_memory"]), sum(int(each) for each in index)


def arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.stores.redis_store", __doc__)
    parser.add_argument("--pages", type=at_least(1), action="append", metavar="N")
    parser.add_argument("--claims", type=at_least(1), default=_CLAIMS, metavar="N")
    parser.add_argument("--clients", type=at_least(1), default=_CLIENTS, metavar="N")
    parser.add_argument("--server", metavar="PROGRAM", help="the redis-server to start")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    sizes = sorted(set(options.pages or _PAGES))
    table = Table(
        "a claim and its commit",
        ("pages", "k", "clients", "claims", "server µs", "client µs", "median ms", "99 % ms",
         "a second", "took s"),
    )  # fmt: skip
    room = Table("memory of the server", ("pages", "bytes a page", "of these for lookups"))
    maker, filled = Maker(7), 0
    pages = iter(lambda: ordinary(maker), None)
    with (
        redis_server(options.server, save="") as server,
        ProcessPoolExecutor(options.clients, get_context("spawn")) as pool,
    ):
        port = server.port
        _opened(port).close()
        empty, _ = memory(port)
        for count in sizes:
            fill(port, pages, count, filled)
            filled = count
            whole, index = memory(port)
            room.add(count, round((whole - empty) / count), round(index / count))
            for distance in _DISTANCES:
                for clients in sorted({1, options.clients}):
                    row = measure(port, pool, clients, options.claims, distance)
                    table.add(count, distance, *row)
                    print(".", end="", file=sys.stderr, flush=True)
    print(table.as_text())
    print(room.as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
