"""What every store must do. Each backend runs the whole class."""

from __future__ import annotations

from collections import Counter

import pytest

from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.stores import MemoryStore
from tests.texts import BRIDGE, FERRY, MUSEUM, TEA, article, replaced


class StoreContract:
    @pytest.fixture
    def store(self):
        raise NotImplementedError

    @pytest.fixture
    def detector(self, store) -> NearDupDetector:
        return NearDupDetector(store=store)

    def test_it_remembers_what_is_new(self, store, detector):
        for number, text in enumerate([FERRY, MUSEUM, TEA, BRIDGE]):
            verdict = detector.check(url=f"https://{number}.example/", text=text)
            assert verdict.kind == "new"
            assert len(store) == number + 1

    def test_it_does_not_remember_duplicates(self, store, detector):
        for number in range(5):
            detector.check(url=f"https://{number}.example/", text=FERRY)
        assert len(store) == 1

    def test_of_many_alike_one_is_new(self, store, detector):
        words = article(500)
        copies = [words, *(replaced(words, 0.004, seed) for seed in range(20))]
        kinds = Counter(
            detector.check(url=f"https://{number}.example/", text=" ".join(copy)).kind
            for number, copy in enumerate(copies)
        )
        assert kinds == {"new": 1, "duplicate": 20}

    def test_the_first_of_equals_is_the_original(self, detector):
        strict = Rule(max_distance=0, scope="site")
        for url in ("https://a.example/", "https://b.example/"):
            assert detector.check(url=url, text=FERRY, rule=strict).kind == "new"
        verdict = detector.check(url="https://c.example/", text=FERRY)
        assert verdict.duplicate_of == "https://a.example/"

    def test_a_revisit_takes_no_more_room(self, store, detector):
        for text in (FERRY, MUSEUM, TEA, FERRY):
            detector.check(url="https://a.example/", text=text)
        assert len(store) == 1
        assert detector.check(url="https://b.example/", text=FERRY).kind == "duplicate"
        assert detector.check(url="https://c.example/", text=TEA).kind == "new"

    def test_each_lookup_has_its_own_distance(self, store, detector):
        words = article(300)
        texts = [" ".join(copy) for copy in (words, replaced(words, 0.03))]
        a, b = (
            detector.signature(url=f"https://{n}.example/", text=text)
            for n, text in zip("ab", texts, strict=True)
        )
        apart = (a.fingerprint ^ b.fingerprint).bit_count()
        assert 0 < apart <= 11
        store.claim(a, Rule())
        for distance, kind in ((apart - 1, "new"), (apart, "duplicate")):
            c = detector.signature(url=f"https://{distance}.other/", text=texts[1])
            rule = Rule(max_distance=distance, min_similarity=0.5)
            assert store.claim(c, rule).kind == kind
            break  # the first claim stored the text itself

    def test_its_secret_is_long_and_its_own(self, store):
        assert len(store.secret) >= 16
        assert store.secret == store.secret


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()

    def test_a_changed_page_leaves_nothing_behind(self, store, detector):
        for text in (FERRY, MUSEUM):
            detector.check(url="https://a.example/", text=text)
        assert len(store._index) == len(store) == 1

    def test_two_stores_have_two_secrets(self):
        assert MemoryStore().secret != MemoryStore().secret
