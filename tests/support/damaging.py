"""Damages a store's SQLite file at random places, and calls everything a store offers."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scrapy.settings import Settings

from scrapy_neardup.commands import Command
from scrapy_neardup.stores.better_urls import BetterUrl
from scrapy_neardup.stores.hints import COPY
from scrapy_neardup.stores.sqlite.reading import SqliteReader
from scrapy_neardup.stores.sqlite.store import SqliteStore
from scrapy_neardup.stores.visits import VISIT
from scrapy_neardup.url_rules.rule import UrlRule
from tests.support.storer import RULE, keep, made_page

NAMESPACES = ("a", "b")
#: Bytes of a page of the file.
_PAGE = 4096


def make_store(path: Path, pages: int) -> None:
    """Two namespaces with pages, some of them not confirmed, and hints of all kinds."""
    for name in NAMESPACES:
        with contextlib.closing(SqliteStore(path, name)) as store:
            store.adopt("made up", {"tokenizer": "made up"})
            for number in range(pages):
                keep(store, made_page(number), confirmed=number % 10 > 0)
            rules = [UrlRule("a.example", "/x", ("param", str(n))) for n in range(30)]
            store.put_rules({rule.name: rule.to_bytes() for rule in rules})
            known = np.arange(200).repeat(3).astype("<u8").view(COPY)
            store.note_duplicates(known, 1_700_000_000)
            store.note_visits(np.array([(n, 1_700_000_000, -1, 0) for n in range(200)], VISIT))
            better = {f"https://a.example/{n}": BetterUrl(f"/{n}", n % 2 > 0) for n in range(100)}
            store.note_better_urls(better)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The same with some bytes changed, a page of it zeroed, two swapped, or its end cut off."""
    changed, pages = bytearray(data), len(data) // _PAGE
    kind = rng.choice(["flip", "flip", "flip one", "zero", "swap", "cut", "text"])
    if kind == "flip one":
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "flip":
        for _ in range(rng.choice([10, 100, 1000])):
            changed[rng.randrange(100, len(data))] = rng.randrange(256)
    elif kind == "zero":
        start = rng.randrange(pages) * _PAGE + rng.choice([0, 0, rng.randrange(_PAGE)])
        changed[start : start + _PAGE] = bytes(len(changed[start : start + _PAGE]))
    elif kind == "swap":
        one, other = (_PAGE * n for n in rng.sample(range(1, pages), 2))
        changed[one : one + _PAGE] = data[other : other + _PAGE]
        changed[other : other + _PAGE] = data[one : one + _PAGE]
    elif kind == "cut":
        del changed[rng.randrange(len(data)) :]
    else:
        # In the page of the namespaces, and of each table's root.
        start = rng.randrange(min(pages, 12)) * _PAGE
        for _ in range(rng.choice([3, 30])):
            changed[start + rng.randrange(_PAGE)] = rng.randrange(256)
    return bytes(changed)


def _claim(path: Path, rng: random.Random) -> None:
    with contextlib.closing(SqliteStore(path, rng.choice(NAMESPACES))) as store:
        store.adopt("made up", {})
        for number in rng.sample(range(400), 30):
            # Revisits, changed ones, copies, and new pages.
            page = made_page(number)
            if number % 3 == 0:
                page = replace(page, url=f"{page.url}/copy", key=f"{page.key}/copy")
            elif number % 3 == 1:
                page = replace(made_page(number, 1), url=page.url, key=page.key)
            claim = store.claim(page, RULE)
            if claim.ticket is not None:
                store.commit(claim.ticket)
        store.flush()


def _ask(path: Path, rng: random.Random) -> None:
    with contextlib.closing(SqliteStore(path, rng.choice(NAMESPACES))) as store:
        for entry in store.entries():
            assert entry.signature == made_page(int(entry.signature.url.rpartition("/")[2]))
        for number in rng.sample(range(300), 10):
            store.find(made_page(number).key)
            store.forget(made_page(number).key)
        for pair in store.pairs(RULE):
            store.page(pair.numbers[0])
        store.rules()
        store.known_duplicates(0)
        store.visits()
        store.better_urls()
        store.put_rules({"x": b"{}"})
        store.flush()
        store.compact()


def _expire(path: Path, rng: random.Random) -> None:
    with contextlib.closing(SqliteStore(path, rng.choice(NAMESPACES), ttl=10.0)) as store:
        store.compact()


def _read(path: Path, rng: random.Random) -> None:
    reader = SqliteReader(path)
    try:
        for space in reader.namespaces():
            reader.figures(space.name)
            for page in reader.pages(space.name):
                assert page.signature.recipe == space.recipe
            list(reader.pages(space.name, "site1.example"))
            reader.rules(space.name)
            reader.known_duplicates(space.name, 0)
            reader.visits(space.name)
            reader.better_urls(space.name)
        names = [space.name for space in reader.namespaces()]
        store = reader.overlay(rng.choice(names)) if names else None
        if store is not None:
            with contextlib.closing(store):
                for number in rng.sample(range(400), 20):
                    store.claim(replace(made_page(number), recipe="made up"), RULE)
    finally:
        reader.close()


def _command(path: Path, rng: random.Random) -> None:
    arguments = rng.choice(
        [
            ["store", "info", path],
            ["store", "info", path, "--json"],
            ["store", "list", path, "--namespace", "a"],
            ["store", "list", path, "--namespace", "b", "--site", "site1.example"],
            ["store", "export", path, "--namespace", "a", "-o", f"{path}.jsonl"],
            ["store", "forget", path, "--namespace", "a", "--site", "site1.example"],
            ["store", "compact", path],
            ["rules", path, "--namespace", "a"],
            ["rules", path, "--namespace", "a", "--json"],
            ["pairs", path, "--namespace", "a", "-o", f"{path}.pairs"],
        ]
    )
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings()
    command.add_options(parser)
    options = parser.parse_args([str(argument) for argument in arguments])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        command.run([], options)


ASKS: list[Callable[[Path, random.Random], None]] = [_claim, _ask, _expire, _read, _command]
