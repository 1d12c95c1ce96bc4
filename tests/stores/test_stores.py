"""The store contract, run on every backend."""

from __future__ import annotations

import gc
import random
import time
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import count
from typing import Any
from weakref import ref

import numpy as np
import numpy.typing as npt
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup import NearDupDetector, Rule, Verdict
from scrapy_neardup.hashing.minhash import SKETCH_BINS, resemblance
from scrapy_neardup.matching import candidates as search
from scrapy_neardup.matching import site_boilerplate as frame
from scrapy_neardup.matching.rule import MIN_LOOK_ALIKE
from scrapy_neardup.matching.verdict import Kind, LookAlike, Match, Mismatch
from scrapy_neardup.reasons import Reason
from scrapy_neardup.signatures.signature import SHOWN_SIZE, PageSignature
from scrapy_neardup.stores import MemoryStore, Store, better_urls, open_store
from scrapy_neardup.stores import hints as advice
from scrapy_neardup.stores.better_urls import BetterUrl
from scrapy_neardup.stores.page_table import PIECE_ROWS, GrowingRows
from scrapy_neardup.stores.sqlite.store import SqliteStore
from scrapy_neardup.stores.visits import VISIT
from scrapy_neardup.testing import PersistentStoreContract, StoreContract
from tests.support.claims import met
from tests.support.storer import keep, made_page
from tests.support.texts import FERRY, MUSEUM, TEA, article, replaced, word

#: Stores that a test may have open at a time.
MOST_OPEN = 8

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
#: Few names and digests, so that many are met again; the extremes of what they may be.
RULE_NAMES = st.sampled_from(["a.example param sort", "a.example", "\ud800 茶", "é", "\0"])
BODIES = st.sampled_from([b"", b"{}", b"\0\xff", b"x" * 5000])
DIGESTS = st.sampled_from([0, 1, 2**31, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
TIMES = st.sampled_from([0, 1, 5, 1_700_000_000, 2**32 - 1])
GENERATOR = np.random.default_rng(3)
CENTRE = GENERATOR.integers(1, 256, SKETCH_BINS, np.uint8)
OTHER = GENERATOR.integers(1, 256, SKETCH_BINS, np.uint8)
#: A secret hash deals shingles to bins: what differs stands anywhere.
SPREAD = GENERATOR.permutation(SKETCH_BINS)


def digest(number: int) -> bytes:
    """A digest; those of other numbers differ in their first bytes too, which stores compare."""
    return xxhash.xxh3_128_digest(number.to_bytes(8, "little"))


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
    n_shown = draw(st.sampled_from([500, 600, 2000]))
    return PageSignature(
        url="",
        key="",
        site=draw(st.sampled_from(SITES)),
        title=draw(st.sampled_from(TITLES)),
        n_features=draw(st.sampled_from([10, 19, 20, 100, 300, 300, 300])),
        fingerprint=sum(1 << bit for bit in flips),
        sketch=sketch.astype(np.uint8).tobytes(),
        values=b"",
        text_digest=digest(text if text < 4 else draw(st.integers(4, 2**32))),
        n_text=390,
        n_shown=n_shown,
        shown_digest=draw(st.sampled_from([b"", b"1" * SHOWN_SIZE, b"2" * SHOWN_SIZE])),
        recipe="one",
    )


def numbered(pages: list[PageSignature]) -> list[PageSignature]:
    return [replace(page, url=f"u{n}", key=f"u{n}") for n, page in enumerate(pages)]


def by_brute_force(
    page: PageSignature, stored: list[PageSignature], rule: Rule, store: Store
) -> Verdict:
    """The verdict by asking the rule about every page there is, one by one."""
    accepted, refused, thin = [], [], False
    for number, other in enumerate(stored):
        distance = (page.fingerprint ^ other.fingerprint).bit_count()
        if distance > rule.max_distance:
            continue
        outcome = rule.compare(page, other, store.boilerplates)
        if isinstance(outcome, Match):
            accepted.append((-outcome.similarity, distance, number, outcome))
            continue
        similarity = similarity_for(page, other, rule)
        if outcome.reason == Reason.THIN_TEXT:
            thin |= similarity >= rule.min_similarity
        if similarity >= MIN_LOOK_ALIKE:
            refused.append((-similarity, distance, number, outcome.reason))
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
    look_alike = None
    if refused:
        minus_similarity, distance, number, objection = min(refused)
        look_alike = LookAlike(stored[number].url, distance, -minus_similarity, objection)
    reason = Reason.THIN_TEXT if thin else Reason.NO_MATCH
    if page.n_features < rule.min_features:
        reason = Reason.FEW_FEATURES
    kind: Kind = "new" if reason == "no_match" else "undecided"
    return Verdict(kind, page.url, reason, look_alike=look_alike)


def similarity_for(page: PageSignature, other: PageSignature, rule: Rule) -> float:
    """Return the similarity of two pages; -1.0 if the rule does not compare them."""
    if page.site != other.site and rule.scope == "site":
        return -1.0
    enough = min(page.n_features, other.n_features) >= rule.min_features
    whole = page.shown_digest == other.shown_digest != b""
    equal_text = page.text_digest == other.text_digest and (enough or whole)
    if (whole and page.site == other.site) or equal_text:
        return 1.0
    return resemblance(page.sketch_values, other.sketch_values) if enough else -1.0


def judged(
    store: Store, pages: list[PageSignature], rule: Rule
) -> Iterator[tuple[PageSignature, list[PageSignature], Verdict]]:
    """Each page as it is met, those stored before it, and its verdict."""
    stored: list[PageSignature] = []
    for page in pages:
        verdict = met(store, page, rule)
        yield page, stored, verdict
        if not verdict.is_duplicate:
            stored.append(page)
    assert len(store) == len(stored)


def urls(store: Store) -> list[str]:
    return [entry.signature.url for entry in store.entries()]


def digests(*values: int) -> npt.NDArray[np.void]:
    """Of copies; each original's has all bits turned round, and each content's the half of them."""
    rows = [(value, value ^ (2**64 - 1), value ^ (2**32 - 1)) for value in values]
    return np.array(rows, advice.COPY)


def known(store: Store, since: int = 0) -> list[tuple[int, int]]:
    """Digests of copies, and when they were seen."""
    found = store.known_duplicates(since)
    assert (found["original"] == ~found["digest"]).all()
    assert (found["content"] == found["digest"] ^ np.uint64(2**32 - 1)).all()
    return found[["digest", "seen_at"]].tolist()  # type: ignore[no-any-return]


def require_newest(found: list[tuple[int, int]], seen: dict[int, int], most: int) -> None:
    """Require that the found rows are the newest of the noted ones, newest last."""
    times = [time for _, time in found]
    assert times == sorted(seen.values())[-most:]
    assert len({digest for digest, _ in found}) == len(found)
    assert set(found) <= set(seen.items())


def thin(detector: NearDupDetector, url: str, text: str, title: str) -> PageSignature:
    """A page that shows far more than this text."""
    return replace(detector.signature(url=url, text=text, title=title), n_shown=9000)


def expected_of(
    url: str, text: str, held: Container[str], held_texts: list[str], committed: dict[str, str]
) -> str:
    """Return the verdict expected on a page, by the held and committed addresses and texts."""
    if url in held:
        return "blocked"
    if url in committed:
        return "revisit"
    if text in committed.values():
        return "duplicate"
    return "blocked" if text in held_texts else "new"


class StoreTests(StoreContract):
    """The contract, tested with pages generated by Hypothesis."""

    def test_a_site_that_was_forgotten_is_learned_again(self, detector, monkeypatch):
        monkeypatch.setattr(frame, "MAX_SITES", 1)
        sites = ["a.example"] * 5 + ["b.example"]
        for number, site in enumerate(sites):
            detector.check(
                detector.signature(
                    url=f"https://{site}/{number}",
                    text=" ".join(article(80, number)),
                    title=f"Article {number} about it | Daily",
                )
            )
        titles = detector.store.boilerplates.of("a.example").titles
        assert titles.own_parts((("article", "77"), ("daily",))) == (("article", "77"),)

    def test_fields_of_items_are_compared_with_fields_and_pages_with_pages(self, store, detector):
        """As when a spider that judges pages and one that judges items share the store."""
        url, html = "https://a.example/", f"<html><body><p>{FERRY}</p><p>{MUSEUM}</p>"

        def field(path: str) -> Verdict:
            page = detector.signer.fragment_page(f"{url}{path}", f"{FERRY} {MUSEUM}")
            return met(store, detector.signer.sign(page)[0], Rule())

        def whole(path: str) -> Verdict:
            return met(store, detector.signature(url=f"{url}{path}", html=html), Rule())

        assert [whole("1").kind, field("1#item-1").kind] == ["new", "new"]
        assert whole("2").duplicate_of == f"{url}1"
        assert field("2#item-1").duplicate_of == f"{url}1#item-1"
        assert [whole("1").kind, field("1#item-1").kind] == ["revisit", "revisit"]

    def test_of_many_alike_one_is_new(self, store, detector):
        words = article(500)
        copies = [words, *(replaced(words, 0.004, seed) for seed in range(20))]
        kinds = Counter(
            detector.check(url=f"https://{number}.example/", text=" ".join(copy)).kind
            for number, copy in enumerate(copies)
        )
        assert kinds == {"new": 1, "duplicate": 20}

    def test_each_lookup_has_its_own_distance(self, store, detector):
        words = article(300)
        texts = [" ".join(copy) for copy in (words, replaced(words, 0.03))]
        a, b = (
            detector.signature(url=f"https://{n}.example/", text=text)
            for n, text in zip("ab", texts, strict=True)
        )
        apart = (a.fingerprint ^ b.fingerprint).bit_count()
        assert 0 < apart <= 11
        met(store, a, Rule())
        for distance, kind in ((apart - 1, "new"), (apart, "duplicate")):
            claim = store.claim(b, Rule(max_distance=distance, min_similarity=0.5))
            assert claim.verdict.kind == kind
            store.release(claim.ticket)

    @pytest.mark.slow
    def test_its_verdicts_are_those_of_brute_force(self, make_store):
        kinds: Counter[str] = Counter()

        @given(st.lists(signatures(), min_size=10, max_size=25).map(numbered), RULES)
        @settings(max_examples=75)
        def check(pages: list[PageSignature], rule: Rule) -> None:
            store = make_store()
            for page, stored, verdict in judged(store, pages, rule):
                assert verdict == by_brute_force(page, stored, rule, store)
                kinds[verdict.reason] += 1

        check()
        # All that a verdict can say was said, or the test says nothing.
        assert {"same_page", "same_text", "similar_text", "thin_text", "no_match"} <= set(kinds)

    @pytest.mark.parametrize(("sketches", "ruled"), [(3, 2), (3, 1000), (1000, 1)])
    @pytest.mark.slow
    def test_a_crowd_hides_nothing_in_silence(self, make_store, monkeypatch, sketches, ruled):
        monkeypatch.setattr(search, "MAX_SKETCHES", sketches)
        monkeypatch.setattr(search, "MAX_RULED", ruled)
        said: Counter[str] = Counter()

        # An estimate seldom leaves out so many that there is a crowd.
        @given(st.lists(signatures(), min_size=20, max_size=40).map(numbered), RULES)
        @settings(max_examples=40 if ruled < 1000 else 80)
        def check(pages: list[PageSignature], rule: Rule) -> None:
            store = make_store()
            for page, stored, verdict in judged(store, pages, rule):
                said[verdict.reason] += 1
                expected = by_brute_force(page, stored, rule, store)
                if (like := verdict.look_alike) is not None:
                    # Perhaps not the most similar one either.
                    [other] = [other for other in stored if other.url == like.url]
                    outcome = rule.compare(page, other, store.boilerplates)
                    assert isinstance(outcome, Mismatch)
                    assert outcome.reason == like.objection
                if verdict.is_duplicate:
                    # Perhaps not the most similar page, but one that the rule accepts.
                    [original] = [other for other in stored if other.url == verdict.duplicate_of]
                    assert isinstance(rule.compare(page, original, store.boilerplates), Match)
                else:
                    assert verdict.reason in {Reason.CROWDED, expected.reason}

        # All that can be said in a crowd must be said, or the test says nothing.
        wanted = {"crowded", "same_text", "similar_text", "no_match"}
        for _ in range(5):
            check()
            if wanted <= set(said):
                break
        assert wanted <= set(said)

    def test_in_a_crowd_the_page_of_the_same_title_is_found(self, store, detector):
        # A notice on many sites, and a post whose text is little more than that notice.
        words = article(180)
        notice, post = " ".join(words), " ".join(replaced(words, 0.012))
        for n in range(2 * search.MAX_RULED):
            url = f"https://site{n}.example/"
            assert not met(store, thin(detector, url, notice, word(n)), Rule()).is_duplicate
        original = thin(detector, "https://a.example/", post, "The ferry to Holm")
        assert met(store, original, Rule()).reason == Reason.CROWDED
        # All the notices are nearer to it than its original.
        again = met(
            store, thin(detector, "https://b.example/", notice, "The ferry to Holm"), Rule()
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

    # --- claim, then commit or release ---

    def test_what_is_committed_goes_before_what_is_reserved(self, store, detector):
        words = article(500)
        kept, claimed, third = (
            detector.signature(url=f"https://{n}.example/", text=" ".join(replaced(words, r, 1)))
            for n, r in (("a", 0.004), ("b", 0), ("c", 0))
        )
        store.commit(store.claim(kept, Rule()).ticket)
        strict = Rule(max_distance=0, min_similarity=1)
        assert store.claim(claimed, strict).ticket is not None
        claim = store.claim(third, Rule())
        assert (claim.is_blocked, claim.verdict.duplicate_of) == (False, "https://a.example/")

    def test_any_order_of_claims_and_outcomes_leaves_what_was_committed(self, make_store):
        """Against a model: a list of pages, and what is known of each address."""
        texts = [FERRY, MUSEUM, TEA]
        steps = st.lists(
            st.tuples(st.integers(0, 4), st.sampled_from(texts), st.sampled_from("crw")),
            max_size=25,
        )

        @given(steps)
        def check(plan: list[tuple[int, str, str]]) -> None:
            store = make_store()
            detector = NearDupDetector(store=store)
            held: dict[str, tuple[object, str]] = {}
            committed: dict[str, str] = {}
            for number, text, outcome in plan:
                url = f"https://{number}.example/"
                [claim] = self.claims(detector, url, text=text)
                held_texts = [its_text for _, its_text in held.values()]
                said = "blocked" if claim.is_blocked else claim.verdict.kind
                assert said == expected_of(url, text, held, held_texts, committed)
                if said == "duplicate":
                    assert committed[str(claim.verdict.duplicate_of)] == text
                if claim.ticket is not None:
                    held[url] = (claim.ticket, text)
                if outcome != "w":
                    for other, (ticket, its_text) in held.items():
                        if outcome == "c":
                            committed[other] = its_text
                            store.commit(ticket)
                        else:
                            store.release(ticket)
                    held.clear()
                assert len(store) == len(committed)
            found = {entry.signature.url for entry in store.entries()}
            assert found == set(committed)
            store.close()

        check()

    # --- what stores offer to tools ---

    # --- rules and known duplicates ---

    def test_rules_are_kept_changed_and_taken_away(self, make_store):
        """Against a dictionary."""

        @given(st.lists(st.dictionaries(RULE_NAMES, BODIES, max_size=4), max_size=6))
        def check(changes: list[dict[str, bytes]]) -> None:
            store, model = make_store(), dict[str, bytes]()
            for change in changes:
                store.put_rules(change)
                model = {name: body for name, body in (model | change).items() if body}
                assert store.rules() == model
            store.close()

        check()

    def test_with_as_many_rules_as_there_may_be_no_new_names_are_taken(self, store, monkeypatch):
        monkeypatch.setattr(advice, "MAX_RULES", 3)
        store.put_rules({"a": b"1", "b": b"1", "c": b"1"})
        store.put_rules({"d": b"2", "a": b"2"})
        assert store.rules() == {"a": b"2", "b": b"1", "c": b"1"}
        # What is taken away makes room, wherever it stands.
        store.put_rules({"d": b"3", "b": b"", "e": b""})
        assert store.rules() == {"a": b"2", "c": b"1", "d": b"3"}

    def test_with_as_many_best_urls_as_there_may_be_no_new_ones_are_taken(self, store, monkeypatch):
        monkeypatch.setattr(better_urls, "MAX_BETTER_URLS", 2)
        one, two = BetterUrl("https://a.example/1", True), BetterUrl("https://a.example/2", False)
        store.note_better_urls({"a": one, "b": one})
        store.note_better_urls({"c": two, "a": two})
        assert store.better_urls() == {"a": two, "b": one}
        store.note_better_urls({"c": two, "b": None})
        assert store.better_urls() == {"a": two, "c": two}

    def test_known_duplicates_are_those_seen_last(self, make_store, monkeypatch):
        """Against a dictionary."""
        notes = st.lists(st.tuples(st.lists(DIGESTS, max_size=4), TIMES), max_size=6)

        @given(notes, TIMES, st.integers(1, 8))
        def check(plan: list[tuple[list[int], int]], since: int, most: int) -> None:
            monkeypatch.setattr(advice, "MAX_KNOWN", 8)
            store, seen = make_store(), dict[int, int]()
            for values, time_ in plan:
                store.note_duplicates(digests(*values), time_)
                for value in values:
                    seen[value] = max(time_, seen.get(value, 0))
            require_newest(known(store), seen, 8)
            young = {digest: at for digest, at in seen.items() if at >= since}
            require_newest(known(store, since), young, 8)
            monkeypatch.setattr(advice, "MAX_KNOWN", most)
            require_newest(known(store), seen, most)
            store.close()

        check()

    def test_of_too_many_known_duplicates_the_oldest_go(self, store, monkeypatch):
        monkeypatch.setattr(advice, "MAX_KNOWN", 9)
        for start in range(0, 60, 4):
            store.note_duplicates(digests(*range(start, start + 4)), 1_700_000_000 + start)
        store.note_duplicates(digests(3), 1_700_000_100)
        assert [digest for digest, _ in known(store)] == [*range(52, 60), 3]

    def test_histories_of_visits_expire_as_pages_do(self, make_store):
        store, now = make_store(ttl=3600), int(time.time())
        store.note_visits(np.array([(1, now - 7200, -1, 0), (2, now - 7200, -1, 0)], VISIT))
        store.note_visits(np.array([(2, now - 1800, -1, 0)], VISIT))
        assert store.compact() == 0
        assert store.visits()["page"].tolist() == [2]

    def test_known_duplicates_expire_as_pages_do(self, make_store):
        store, now = make_store(ttl=3600), int(time.time())
        store.note_duplicates(digests(1), now - 7200)
        store.note_duplicates(digests(2), now - 1800)
        assert store.compact() == 0
        assert known(store) == [(2, now - 1800)]
        for_ever = make_store()
        for_ever.note_duplicates(digests(1), 1)
        for_ever.compact()
        assert known(for_ever) == [(1, 1)]

    def test_pages_come_back_as_they_were(self, make_store):
        @given(st.lists(signatures(), min_size=1, max_size=5).map(numbered), st.text())
        @settings(max_examples=50, deadline=None)
        def check(pages: list[PageSignature], url: str) -> None:
            store = make_store()
            pages[0] = replace(pages[0], url=url, key=url + "#", title=((url,), ("\ud800", "茶")))
            for page in pages:
                store.add(page)
            assert {e.signature.key: e.signature for e in store.entries()} == {
                page.key: page for page in pages
            }
            store.close()

        check()


class TestMemoryStore(StoreTests):
    @pytest.fixture
    def make_store(self):
        return MemoryStore

    def test_a_changed_page_leaves_nothing_behind(self, store, detector):
        for text in (FERRY, MUSEUM):
            detector.check(url="https://a.example/", text=text)
        assert len(store._index) == len(store) == 1

    def test_two_stores_have_two_secrets(self):
        assert MemoryStore().secret != MemoryStore().secret


class TestSqliteStore(StoreTests, PersistentStoreContract):
    @pytest.fixture
    def make_store(self, tmp_path):
        numbers = count()
        stores: list[SqliteStore] = []

        def make(**options: Any) -> SqliteStore:
            # Each example of a test makes one, and an open one takes megabytes.
            if len(stores) == MOST_OPEN:
                stores.pop(0).close()
            stores.append(SqliteStore(tmp_path / f"{next(numbers)}.sqlite", **options))
            return stores[-1]

        yield make
        for store in stores:
            if not store.users.is_closed:
                store.close()

    @pytest.fixture
    def open_again(self, tmp_path):
        return lambda: SqliteStore(tmp_path / "again.sqlite")


@pytest.mark.parametrize("columns", [(), (3,)])
def test_rows_are_found_again_over_all_pieces(columns):
    rows = GrowingRows(np.int64, *columns)
    written = [0, 1, PIECE_ROWS - 1, PIECE_ROWS, 3 * PIECE_ROWS + 7]
    for number in reversed(written):
        rows[number] = np.full(columns, 10 * number).tobytes()
    order = [4, 2, 3, 3, 1, 0]
    taken = rows.take(np.array([written[place] for place in order]))
    assert taken.shape == (6, *columns)
    assert taken.reshape(6, -1)[:, 0].tolist() == [10 * written[place] for place in order]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_store_that_was_closed_and_dropped_takes_no_memory(tmp_path, kind):
    store = open_store("memory" if kind == "memory" else f"sqlite:///{tmp_path}/pages.sqlite")
    keep(store, made_page(1))
    gone = ref(store)
    gc.disable()
    try:
        store.close()
        del store
        # Not only when cycles are collected: it may have taken gigabytes.
        assert gone() is None
    finally:
        gc.enable()
