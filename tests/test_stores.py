"""What every store must do. Each backend runs the whole class."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup import NearDupDetector, Rule, SignatureMismatch, Verdict, search
from scrapy_neardup.judgement import Match
from scrapy_neardup.page import PageSignature
from scrapy_neardup.stores import MemoryStore, Store
from scrapy_neardup.stores.rows import PIECE_ROWS, Rows
from tests.texts import BRIDGE, FERRY, MUSEUM, TEA, article, replaced, word

#: A few values of each kind, so that pages meet in some and differ in others.
SITES = ["a.example", "b.example"]
TITLES = [(), (("ferry",),), (("ferry",), ("news",)), (("museum",),)]
FLIPS = st.sets(st.integers(0, 63), max_size=8)
RULES = st.builds(
    Rule,
    max_distance=st.sampled_from([0, 3, 8, 11]),
    min_similarity=st.sampled_from([0, 0.5, 0.73, 1]),
    scope=st.sampled_from(["all", "site"]),
)
GENERATOR = np.random.default_rng(3)
CENTRE = GENERATOR.integers(1, 256, 512, np.uint8)
OTHER = GENERATOR.integers(1, 256, 512, np.uint8)
#: A secret hash deals shingles to bins: what differs stands anywhere.
SPREAD = GENERATOR.permutation(512)


@st.composite
def signatures(draw: st.DrawFn) -> PageSignature:
    """Signatures near each other; equal texts and equal pages have equal fingerprints."""
    text = draw(st.integers(0, 5))
    rng = random.Random(text)
    changed = draw(st.integers(0, 300)) if text > 1 else 100 * text
    sketch = np.where(changed > SPREAD, OTHER, CENTRE)
    if draw(st.booleans()):
        sketch[draw(st.integers(1, 400)) <= SPREAD] = 0
    flips = draw(FLIPS) if text > 1 else rng.sample(range(64), 3)
    n_shown = draw(st.sampled_from([400, 600, 2000]))
    return PageSignature(
        url="",
        key="",
        site=draw(st.sampled_from(SITES)),
        title=draw(st.sampled_from(TITLES)),
        n_features=draw(st.sampled_from([10, 19, 20, 100, 300])),
        fingerprint=sum(1 << bit for bit in flips),
        sketch=sketch.astype(np.uint8).tobytes(),
        text_digest=bytes([text]) * 16 if text < 4 else draw(st.binary(min_size=16, max_size=16)),
        n_text=390,
        n_shown=n_shown,
        shown_digest=draw(st.sampled_from([b"", b"1" * 16, b"2" * 16])),
        recipe="one",
    )


def numbered(pages: list[PageSignature]) -> list[PageSignature]:
    return [replace(page, url=f"u{n}", key=f"u{n}") for n, page in enumerate(pages)]


def by_brute_force(
    page: PageSignature, stored: list[PageSignature], rule: Rule, store: Store
) -> Verdict:
    """The verdict by asking the rule about every page there is, one by one."""
    accepted, thin = [], False
    for number, other in enumerate(stored):
        distance = (page.fingerprint ^ other.fingerprint).bit_count()
        if distance > rule.max_distance:
            continue
        outcome = rule.compare(page, other, store.frames)
        if isinstance(outcome, Match):
            accepted.append((-outcome.similarity, distance, number, outcome))
        elif outcome.reason == "thin_text":
            # Would the texts alone have made them one?
            alike = rule._compare_texts(page, other)
            thin |= isinstance(alike, Match)
    if accepted:
        _, _, number, match = min(accepted, key=lambda entry: entry[:3])
        return Verdict(
            "duplicate",
            page.url,
            match.reason,
            stored[number].url,
            match.distance,
            match.similarity,
        )
    if page.n_features < rule.min_features:
        return Verdict("undecided", page.url, "few_features")
    return Verdict("undecided" if thin else "new", page.url, "thin_text" if thin else "no_match")


def thin(detector: NearDupDetector, url: str, text: str, title: str) -> PageSignature:
    """A page that shows far more than this text."""
    return replace(detector.signature(url=url, text=text, title=title), n_shown=9000)


class StoreContract:
    @pytest.fixture
    def empty_store(self):
        """Makes an empty store."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, empty_store):
        return empty_store()

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

    def test_its_verdicts_are_those_of_brute_force(self, empty_store):
        kinds: Counter[str] = Counter()

        @given(st.lists(signatures(), min_size=10, max_size=25).map(numbered), RULES)
        @settings(max_examples=150)
        def check(pages: list[PageSignature], rule: Rule) -> None:
            store = empty_store()
            stored: list[PageSignature] = []
            for page in pages:
                verdict = store.claim(page, rule)
                assert verdict == by_brute_force(page, stored, rule, store)
                kinds[verdict.reason] += 1
                if not verdict.is_duplicate:
                    stored.append(page)
            assert len(store) == len(stored)

        check()
        # All that a verdict can say was said, or the test says nothing.
        assert {"same_page", "same_text", "similar_text", "thin_text", "no_match"} <= set(kinds)

    @pytest.mark.parametrize(("sketches", "ruled"), [(3, 2), (3, 1000), (1000, 1)])
    def test_a_crowd_hides_nothing_in_silence(self, empty_store, monkeypatch, sketches, ruled):
        monkeypatch.setattr(search, "MAX_SKETCHES", sketches)
        monkeypatch.setattr(search, "MAX_RULED", ruled)
        said: Counter[str] = Counter()

        @given(st.lists(signatures(), min_size=20, max_size=40).map(numbered), RULES)
        @settings(max_examples=150)
        def check(pages: list[PageSignature], rule: Rule) -> None:
            store = empty_store()
            stored: list[PageSignature] = []
            for page in pages:
                verdict = store.claim(page, rule)
                said[verdict.reason] += 1
                expected = by_brute_force(page, stored, rule, store)
                if verdict.is_duplicate:
                    # Perhaps not the most similar page, but one that the rule accepts.
                    [original] = [other for other in stored if other.url == verdict.duplicate_of]
                    assert isinstance(rule.compare(page, original, store.frames), Match)
                    continue
                stored.append(page)
                assert verdict.reason == "crowded" or verdict == expected

        check()
        # All that can be said in a crowd was said, or the test says nothing.
        assert {"crowded", "same_text", "similar_text", "no_match"} <= set(said)

    def test_in_a_crowd_the_page_of_the_same_title_is_found(self, store, detector):
        # A notice on many sites, and a post whose text is little more than that notice.
        words = article(180)
        notice, post = " ".join(words), " ".join(replaced(words, 0.012))
        for n in range(2 * search.MAX_RULED):
            url = f"https://site{n}.example/"
            assert not store.claim(thin(detector, url, notice, word(n)), Rule()).is_duplicate
        original = thin(detector, "https://a.example/", post, "The ferry to Holm")
        assert store.claim(original, Rule()).reason == "crowded"
        # All the notices are nearer to it than its original.
        again = store.claim(
            thin(detector, "https://b.example/", notice, "The ferry to Holm"), Rule()
        )
        assert (again.kind, again.duplicate_of) == ("duplicate", original.url)

    def test_a_shop_of_goods_that_differ_in_their_titles_is_a_crowd(self, store, detector):
        words = article(300)
        shop = [
            (f"https://shop.example/{n}", " ".join(replaced(words, 0.01, n)), f"Kettle {word(n)}")
            for n in range(3 * search.MAX_RULED)
        ]
        for url, text, title in shop:
            assert not detector.check(url=url, text=text, title=title).is_duplicate
        for url, text, title in shop[:: search.MAX_RULED - 1]:
            again = detector.check(url=f"{url}?print", text=f"{text} again", title=title)
            assert (again.kind, again.duplicate_of) == ("duplicate", url)
        other = detector.check(url="https://shop.example/x", text=shop[0][1], title="Teapot")
        assert (other.kind, other.reason) == ("undecided", "crowded")

    def test_another_recipe_is_refused(self, store, detector):
        detector.check(url="https://a.example/", text=FERRY)
        foreign = NearDupDetector().signature(url="https://b.example/", text=FERRY)
        with pytest.raises(SignatureMismatch):
            store.claim(foreign, Rule())
        assert len(store) == 1

    def test_its_secret_is_long_and_its_own(self, store):
        assert len(store.secret) >= 16
        assert store.secret == store.secret


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def empty_store(self):
        return MemoryStore

    def test_a_changed_page_leaves_nothing_behind(self, store, detector):
        for text in (FERRY, MUSEUM):
            detector.check(url="https://a.example/", text=text)
        assert len(store._index) == len(store) == 1

    def test_two_stores_have_two_secrets(self):
        assert MemoryStore().secret != MemoryStore().secret


@pytest.mark.parametrize("columns", [(), (3,)])
def test_rows_are_found_again_over_all_pieces(columns):
    rows = Rows(np.int64, *columns)
    written = [0, 1, PIECE_ROWS - 1, PIECE_ROWS, 3 * PIECE_ROWS + 7]
    for number in reversed(written):
        rows[number] = np.full(columns, 10 * number)
    order = [4, 2, 3, 3, 1, 0]
    taken = rows.take(np.array([written[place] for place in order]))
    assert taken.shape == (6, *columns)
    assert taken.reshape(6, -1)[:, 0].tolist() == [10 * written[place] for place in order]
