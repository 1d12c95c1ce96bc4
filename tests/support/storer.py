"""A program that stores generated pages in a file and then dies.

    python -m tests.support.storer WHAT FILE

It prints a line for each step; most modes run until the caller ends the process.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
from itertools import count
from pathlib import Path

import numpy as np

from scrapy_neardup import Rule
from scrapy_neardup.exceptions import StoreError
from scrapy_neardup.hashing.minhash import SKETCH_BINS
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import Store
from scrapy_neardup.stores.hints import COPY
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support.processes import wait_for

RULE = Rule(max_distance=3)
#: Of so many pages, one is an earlier one that has changed, and one is to be forgotten.
CYCLE = 10


def made_page(number: int, version: int = 0) -> PageSignature:
    """A page like no other; its versions have one address."""
    rng = random.Random(1000 * number + version)
    site = f"site{number % 7}.example"
    return PageSignature(
        url=f"https://{site}/{number}",
        key=f"https://{site}/{number}#",
        site=site,
        title=((f"page {number}",), ("daily",)),
        n_features=300,
        fingerprint=rng.getrandbits(64),
        sketch=rng.randbytes(SKETCH_BINS),
        values=b"",
        text_digest=rng.randbytes(16),
        n_text=version,
        n_shown=4000,
        shown_digest=b"",
        recipe="made up",
    )


def keep(store: Store, page: PageSignature, *, confirmed: bool = True) -> None:
    claim = store.claim(page, RULE)
    assert claim.ticket is not None, claim
    store.commit(claim.ticket, confirmed=confirmed)


def commit_for_ever(path: str) -> None:
    """Say after each commit what was committed, and when."""
    store = SqliteStore(path)
    for number in count():
        keep(store, made_page(number))
        say("stored", number, 0, time.monotonic())
        if number % CYCLE == CYCLE - 1:
            keep(store, made_page(number - 3, 1))
            say("stored", number - 3, 1, time.monotonic())
            store.forget(made_page(number - 5).key)
            say("forgot", number - 5, 0, time.monotonic())
        # Slowly: a batch is to be written because it is time, not because it is large.
        time.sleep(0.004)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def fill_the_disk(path: str) -> None:
    """Commit while no file may grow, wait to be told, and go on."""
    store = SqliteStore(path)
    store.adopt("made up", {})
    allow_bytes(Path(f"{path}-wal").stat().st_size)
    for number in range(3000):
        keep(store, made_page(number))
    keep(store, made_page(1, 1))
    store.forget(made_page(2).key)
    wait_for(lambda: store.problem)
    assert all(store.find(made_page(n).key) for n in range(3000) if n != 2)
    say(store.problem)
    sys.stdin.readline()
    allow_bytes(resource.RLIM_INFINITY)
    wait_for(lambda: store.problem is None)
    say("written", len(store))
    os.kill(os.getpid(), signal.SIGKILL)


def close_on_a_full_disk(path: str) -> None:
    store = SqliteStore(path)
    keep(store, made_page(0))
    other = SqliteStore(path, "other")
    other.close()
    allow_bytes(Path(f"{path}-wal").stat().st_size)
    for number in range(1, 42):
        keep(store, made_page(number))
    try:
        store.close()
    except StoreError as error:
        say(error)
    say("lives on")
    sys.stdin.readline()


def advise_on_a_full_disk(path: str) -> None:
    """Put rules and note known duplicates while no file may grow, wait to be told, and go on."""
    store = SqliteStore(path)
    store.adopt("made up", {})
    allow_bytes(Path(f"{path}-wal").stat().st_size)
    keep(store, made_page(0))
    for number in range(500):
        store.put_rules({f"rule {number}": b"x" * 100, "gone": b"1"})
        copies = np.array([(number, number ^ (2**64 - 1), number ^ (2**32 - 1))], COPY)
        store.note_duplicates(copies, 1_700_000_000 + number)
        if number == 250:
            wait_for(lambda: store.problem)
    store.put_rules({"gone": b""})
    assert len(store.rules()) == len(store.known_duplicates(0)) == 500
    say(store.problem)
    sys.stdin.readline()
    allow_bytes(resource.RLIM_INFINITY)
    wait_for(lambda: store.problem is None)
    store.flush()
    say("written")
    os.kill(os.getpid(), signal.SIGKILL)


def close_with_advice_alone(path: str) -> None:
    store = SqliteStore(path)
    keep(store, made_page(0))
    store.flush()
    allow_bytes(Path(f"{path}-wal").stat().st_size)
    store.put_rules({"rule": b"x" * 100_000})
    store.close()
    say("closed")
    sys.stdin.readline()


def compact_without_room(path: str, share: str) -> None:
    """Compact while no file may grow beyond a share of what the store will take.

    Below 1 the new copy does not fit; a little above, it does, but not the log by which it takes
    the old one's place, which has every page once more and the place of each.
    """
    store = SqliteStore(path)
    for number in range(6000):
        keep(store, made_page(number))
    for number in range(1000):
        store.forget(made_page(number).key)
    store.compact()
    compacted = Path(path).stat().st_size
    for number in range(1000, 1100):
        store.forget(made_page(number).key)
    store.flush()
    allow_bytes(int(compacted * float(share)))
    try:
        store.compact()
    except StoreError as error:
        say(error)
    assert [int(e.signature.url.rpartition("/")[2]) for e in store.entries()] == list(
        range(1100, 6000)
    )
    say("all there")
    allow_bytes(resource.RLIM_INFINITY)
    store.compact()
    say("compacted", Path(path).stat().st_size < compacted)
    store.close()


def allow_bytes(most: int) -> None:
    """Limit the size of files; larger writes fail, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def die_unconfirmed(path: str) -> None:
    """Confirm more pages in one of two namespaces, and die."""
    stores = [SqliteStore(path, name) for name in ("a", "b")]
    for store in stores:
        for number in range(30):
            # The last ten are said to be safe when they are committed.
            keep(store, made_page(number), confirmed=number >= 20)
            if number == 9:
                store.confirm(store.mark())
        keep(store, made_page(3, 1), confirmed=False)
    stores[1].confirm(stores[1].mark())
    keep(stores[1], made_page(99), confirmed=False)
    say("stored")
    sys.stdin.readline()


def hold(path: str) -> None:
    store = SqliteStore(path)
    say("open")
    sys.stdin.readline()
    store.close()


def forget_to_close(path: str) -> None:
    store = SqliteStore(path)
    for number in range(5):
        keep(store, made_page(number))


def open_as_nobody(path: str) -> None:
    """Without the rights of whoever runs the tests."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        SqliteStore(path)
    except StoreError as error:
        say(error)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
