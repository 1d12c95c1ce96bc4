"""All pairs of a store, compared with the rule applied to every two pages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup import Rule
from scrapy_neardup.hashing.minhash import SKETCH_BINS
from scrapy_neardup.matching.all_pairs import Pair
from scrapy_neardup.matching.rule import learn
from scrapy_neardup.matching.site_boilerplate import MAX_SITES, Boilerplates
from scrapy_neardup.matching.verdict import Match
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.stores.in_process import InProcessStore
from scrapy_neardup.stores.sqlite.reading import SqliteReader
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.stores.test_stores import RULES, numbered, signatures

pytestmark = pytest.mark.slow

PAGES = st.lists(signatures(), max_size=25).map(numbered)
Found = list[tuple[str, str, Match]]


@contextmanager
def in_memory(pages: list[PageSignature]) -> Iterator[InProcessStore]:
    store = MemoryStore(b"a secret of tests")
    for page in pages:
        store.add(page)
    yield store


@contextmanager
def over_a_file(pages: list[PageSignature]) -> Iterator[InProcessStore]:
    """Half of the pages are in a file, the others came to it afterwards."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "seen.sqlite"
        file = SqliteStore(path, "news")
        for page in pages[: len(pages) // 2]:
            file.add(page)
        file.close()
        store = SqliteReader(path).overlay("news")
        for page in pages[len(pages) // 2 :]:
            store.add(page)
        try:
            yield store
        finally:
            store.close()


def found(pairs: Iterator[Pair]) -> Found:
    return sorted((a.url, b.url, match) for _, (a, b), match in pairs)


def by_brute_force(pages: list[PageSignature], rule: Rule) -> Found:
    boilerplates = Boilerplates()
    for page in pages:
        learn(boilerplates.of(page.site), page)
    return sorted(
        (a.url, b.url, outcome)
        for place, a in enumerate(pages)
        for b in pages[place + 1 :]
        if (a.fingerprint ^ b.fingerprint).bit_count() <= rule.max_distance
        and isinstance(outcome := rule.compare(a, b, boilerplates), Match)
    )


@given(PAGES, RULES)
@settings(max_examples=200, deadline=None)
def test_it_finds_what_the_rule_says_of_every_two(pages, rule):
    with in_memory(pages) as store:
        assert found(store.pairs(rule)) == by_brute_force(pages, rule)


@given(PAGES, RULES)
@settings(max_examples=20, deadline=None)
def test_it_finds_the_same_over_a_file(pages, rule):
    with over_a_file(pages) as store:
        assert found(store.pairs(rule)) == by_brute_force(pages, rule)


def page(number: int, **parts: object) -> PageSignature:
    """Pages alike, on a site each."""
    rng = np.random.default_rng(1)
    made = PageSignature(
        url=f"u{number}",
        key=f"u{number}",
        site=f"{number}.example",
        title=(("ferry",),),
        n_features=300,
        fingerprint=7,
        sketch=rng.integers(1, 256, SKETCH_BINS, np.uint8).tobytes(),
        values=b"",
        text_digest=b"%016d" % number,
        n_text=3000,
        n_shown=4000,
        shown_digest=b"",
        recipe="one",
    )
    return replace(made, **parts)  # type: ignore[arg-type]


def test_only_what_is_remembered_is_compared():
    store = MemoryStore(b"a secret of tests", ttl=1000)
    store.add(page(0), stored_at=5)
    for number in range(1, 5):
        store.add(page(number))
    store.forget("u2")
    store.claim(page(9, fingerprint=8), Rule(max_distance=0))
    store.add(page(1, fingerprint=6))
    assert [store.page(number).url for number in store.numbers().tolist()] == ["u3", "u4", "u1"]
    pairs = store.pairs(Rule())
    assert sorted((numbers, match.distance) for numbers, _, match in pairs) == [
        ((3, 4), 0),
        ((3, 6), 1),
        ((4, 6), 1),
    ]


def test_many_pages_alike():
    # More pairs than are compared together.
    pages = [page(number, fingerprint=number % 3) for number in range(90)]
    random.Random(2).shuffle(pages)
    with in_memory(pages) as store:
        everyone = list(store.pairs(Rule()))
        assert len({pair.numbers for pair in everyone}) == len(everyone) == 90 * 89 // 2
        assert all(a < b for (a, b), _, _ in everyone)
        assert len(list(store.pairs(Rule(max_distance=0)))) == 3 * 30 * 29 // 2


def test_a_site_is_learned_again_when_its_boilerplate_was_forgotten():
    rng = np.random.default_rng(5)
    shared = rng.integers(1, 256, SKETCH_BINS, np.uint8)

    def of_shop(number: int, title: str) -> PageSignature:
        sketch = shared.copy()
        sketch[:100] = rng.integers(1, 256, 100, np.uint8)
        apart = {"fingerprint": number, "site": "shop.example", "title": ((title,),)}
        return page(number, sketch=sketch.tobytes(), **apart)

    shop = [of_shop(n, title) for n, title in enumerate(["kettle", "pan", "spoon", "cup", "cup"])]
    shop[:3] = [replace(p, fingerprint=p.fingerprint | 0xFFFFFF << 40) for p in shop[:3]]
    cups = shop[3:]
    others = [page(n, fingerprint=n << 16, text_digest=bytes(16)) for n in range(9, 9 + MAX_SITES)]
    with in_memory(cups) as store:
        assert [match.reason for _, _, match in store.pairs(Rule())] == ["similar_text"]
    with in_memory(shop) as store:
        assert list(store.pairs(Rule(scope="site"))) == []
    with in_memory(shop + others) as store:
        assert list(store.pairs(Rule(scope="site"))) == []
