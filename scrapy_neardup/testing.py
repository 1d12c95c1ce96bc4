"""The contract of stores as tests, for authors of stores. Needs pytest.

class TestOwnStore(StoreContract):
    @pytest.fixture
    def make_store(self):
        return OwnStore
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import numpy as np
import pytest

from .detector import NearDupDetector
from .exceptions import InvalidOption, SignatureMismatch
from .matching.rule import Rule
from .matching.stored_items import NO_ITEMS, OWN_ITEMS
from .signatures.signature import PageSignature
from .stores import Claim, Entry, Store
from .stores.better_urls import BetterUrl
from .stores.hints import COPY, ending_of, ending_of_copy, without_ended
from .stores.visits import VISIT

__all__ = ["PersistentStoreContract", "StoreContract"]

FERRY = (
    "The ferry to Holm island leaves twice a day from the old pier, at eight in the morning and "
    "at five in the afternoon, except on Sundays, when the crew has a rest and the boat is "
    "scrubbed from stem to stern. A single ticket costs three crowns, a bicycle rides for one "
    "crown more, and dogs travel free as long as they keep off the benches."
)
MUSEUM = (
    "After two years of repairs the museum of weaving opens its doors again on Saturday. "
    "Visitors will find nine looms in working order, the oldest of them from a monastery that "
    "burned down in the great fire, and a new room in which children may try their hand at a "
    "small frame. The curator has collected letters of women who worked the night shift."
)
ORCHARD = (
    "Planting begins behind the school next month, where pupils dug forty holes for apple, pear "
    "and plum saplings before autumn storms arrived. Neighbours lent spades, wheelbarrows and an "
    "elderly tractor; retired gardeners explained pruning, grafting and why moles deserve mercy."
)
BRIDGE = (
    "Engineers reopened Hollow Bridge yesterday after replacing rusted cables, cracked granite "
    "blocks and every lamp along its northern railing. Cyclists now ride apart from lorries, "
    "whose drivers used to wait half an hour whenever somebody's cart lost a wheel midway."
)


class StoreContract:
    """Tests for every :class:`~scrapy_neardup.stores.Store`; subclass it as ``Test…``.

    It has many methods because each is a test of one promise.
    """

    @pytest.fixture
    def make_store(self) -> Callable[..., Store]:
        """Return a function that makes an empty store; to be overridden.

        It takes the option ``ttl`` (seconds, ``None`` unless given). The fixture closes what it
        made and the test did not close.
        """
        raise NotImplementedError

    @pytest.fixture
    def store(self, make_store: Callable[..., Store]) -> Store:
        """Return an empty store."""
        return make_store()

    @pytest.fixture
    def detector(self, store: Store) -> NearDupDetector:
        """Return a detector with the empty store."""
        return NearDupDetector(store=store)

    def claims(self, detector: NearDupDetector, *urls: str, text: str = FERRY) -> list[Claim]:
        """Return claims of one text at several URLs, made one after the other."""
        pages = [detector.signature(url=url, text=text) for url in urls]
        return [detector.store.claim(page, Rule()) for page in pages]

    # --- verdicts ---

    def test_new_pages_are_stored(self, store: Store, detector: NearDupDetector) -> None:
        for number, text in enumerate([FERRY, MUSEUM, ORCHARD, BRIDGE]):
            assert detector.check(url=f"https://{number}.example/", text=text).kind == "new"
            assert len(store) == number + 1

    def test_duplicates_are_not_stored(self, store: Store, detector: NearDupDetector) -> None:
        for number in range(5):
            detector.check(url=f"https://{number}.example/", text=FERRY)
        assert len(store) == 1

    def test_the_first_of_equal_pages_is_the_original(self, detector: NearDupDetector) -> None:
        strict = Rule(max_distance=0, scope="site")
        for url in ("https://a.example/", "https://b.example/"):
            assert detector.check(url=url, text=FERRY, rule=strict).kind == "new"
        verdict = detector.check(url="https://c.example/", text=FERRY)
        assert verdict.duplicate_of == "https://a.example/"

    def test_a_revisit_replaces_the_page(self, store: Store, detector: NearDupDetector) -> None:
        for text in (FERRY, MUSEUM, ORCHARD, FERRY):
            detector.check(url="https://a.example/", text=text)
        assert len(store) == 1
        assert detector.check(url="https://b.example/", text=FERRY).kind == "duplicate"
        assert detector.check(url="https://c.example/", text=ORCHARD).kind == "new"

    def test_another_recipe_is_refused(self, store: Store, detector: NearDupDetector) -> None:
        detector.check(url="https://a.example/", text=FERRY)
        foreign = NearDupDetector().signature(url="https://b.example/", text=FERRY)
        with pytest.raises(SignatureMismatch):
            store.claim(foreign, Rule())
        assert len(store) == 1

    def test_the_secret_is_long_and_does_not_change(self, store: Store) -> None:
        assert len(store.secret) >= 16
        assert store.secret == store.secret

    # --- claim, then commit or release ---

    def test_of_copies_claimed_together_one_is_new_and_the_others_wait(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        urls = [f"https://{n}.example/" for n in range(5)]
        first, *others = self.claims(detector, *urls)
        assert (first.verdict.kind, first.is_blocked) == ("new", False)
        assert len(store) == 0
        for claim in others:
            assert (claim.is_blocked, claim.ticket) == (True, None)
            assert claim.verdict.duplicate_of == urls[0]
        store.commit(first.ticket)
        assert len(store) == 1
        for claim in self.claims(detector, *urls[1:]):
            assert (claim.is_blocked, claim.verdict.kind) == (False, "duplicate")

    def test_who_waits_is_notified(self, store: Store, detector: NearDupDetector) -> None:
        for settle in (store.release, store.commit):
            first, other = self.claims(detector, "https://a.example/", "https://b.example/")
            if other.outcome is not None:
                assert not other.outcome.done()
            settle(first.ticket)
            if other.outcome is not None:
                assert other.outcome.done()

    def test_a_released_page_was_never_there(self, store: Store, detector: NearDupDetector) -> None:
        [first] = self.claims(detector, "https://a.example/")
        store.release(first.ticket)
        assert len(store) == 0
        [second] = self.claims(detector, "https://b.example/")
        assert (second.verdict.kind, second.is_blocked) == ("new", False)
        store.commit(second.ticket)
        [again] = self.claims(detector, "https://a.example/")
        assert again.verdict.duplicate_of == "https://b.example/"

    def test_a_page_that_is_claimed_twice_waits_for_itself(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        first, again = self.claims(detector, *["https://a.example/"] * 2)
        assert (again.is_blocked, again.verdict.kind) == (True, "revisit")
        store.commit(first.ticket)
        [again] = self.claims(detector, "https://a.example/")
        assert (again.is_blocked, again.verdict.reason) == (False, "unchanged")

    def test_a_changed_page_is_replaced_only_when_it_is_committed(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        [first] = self.claims(detector, "https://a.example/")
        store.commit(first.ticket)
        for settle, stored in ((store.release, FERRY), (store.commit, MUSEUM)):
            [change] = self.claims(detector, "https://a.example/", text=MUSEUM)
            assert (change.verdict.kind, change.verdict.reason) == ("revisit", "changed")
            settle(change.ticket)
            assert len(store) == 1
            for text in (FERRY, MUSEUM):
                [copy] = self.claims(detector, "https://b.example/", text=text)
                assert copy.verdict.is_duplicate is (text is stored)
                if copy.ticket is not None:
                    store.release(copy.ticket)

    def test_a_claim_is_settled_once(self, store: Store, detector: NearDupDetector) -> None:
        [first] = self.claims(detector, "https://a.example/")
        [other] = self.claims(detector, "https://b.example/", text=MUSEUM)
        for settle in (store.commit, store.commit, store.release):
            settle(first.ticket)
        for settle in (store.release, store.release, store.commit):
            settle(other.ticket)
        assert [entry.signature.url for entry in store.entries()] == ["https://a.example/"]

    def test_unconfirmed_pages_count_as_stored(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        before = store.mark()
        [first] = self.claims(detector, "https://a.example/")
        store.commit(first.ticket, confirmed=False)
        assert store.mark() > before
        for _ in range(2):
            [copy] = self.claims(detector, "https://b.example/")
            assert copy.verdict.duplicate_of == "https://a.example/"
            store.confirm(store.mark())

    # --- pages of which no item was stored ---

    def test_a_page_without_stored_items_is_no_original(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        [links] = self.claims(detector, "https://a.example/")
        store.commit(links.ticket, items=NO_ITEMS)
        [copy] = self.claims(detector, "https://b.example/")
        assert (copy.verdict.kind, copy.verdict.links_seen_at) == ("new", "https://a.example/")
        store.commit(copy.ticket, items=7)
        [other] = self.claims(detector, "https://c.example/")
        assert (other.verdict.duplicate_of, other.items) == ("https://b.example/", 7)
        [again] = self.claims(detector, "https://a.example/")
        assert again.verdict.duplicate_of == "https://b.example/"
        assert [entry.items for entry in store.entries()] == [NO_ITEMS, 7]

    def test_a_page_that_is_visited_again_for_its_item_becomes_an_original(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        for items, reason in ((NO_ITEMS, "no_match"), (OWN_ITEMS, "unchanged")):
            [claim] = self.claims(detector, "https://a.example/")
            assert claim.verdict.reason == reason
            if reason == "unchanged":
                assert claim.verdict.links_seen_at == "https://a.example/"
            store.commit(claim.ticket, items=items)
        [again] = self.claims(detector, "https://a.example/")
        assert (again.verdict.links_seen_at, again.items) == (None, OWN_ITEMS)
        assert len(store) == 1

    def test_a_visit_without_items_removes_nothing(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        for text, items in ((FERRY, OWN_ITEMS), (MUSEUM, NO_ITEMS)):
            [claim] = self.claims(detector, "https://a.example/", text=text)
            store.commit(claim.ticket, items=items)
        [copy] = self.claims(detector, "https://b.example/")
        assert copy.verdict.duplicate_of == "https://a.example/"
        assert [entry.items for entry in store.entries()] == [OWN_ITEMS]
        assert len(store) == 1

    # --- administration ---

    def test_pages_can_be_added_found_and_forgotten(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        pages = [
            detector.signature(url=f"https://{n}.example/", text=text, title=f"{n} | Daily")
            for n, text in enumerate([FERRY, MUSEUM, ORCHARD])
        ]
        for number, page in enumerate(pages):
            store.add(page, stored_at=1_700_000_000 + number)
        assert len(store) == 3
        assert list(store.entries()) == [
            Entry(page, 1_700_000_000 + n) for n, page in enumerate(pages)
        ]
        assert store.find(pages[1].key) == Entry(pages[1], 1_700_000_001)
        assert store.find("https://else.example/") is None
        assert store.forget(pages[1].key)
        assert not store.forget(pages[1].key)
        assert store.find(pages[1].key) is None
        assert [entry.signature for entry in store.entries()] == [pages[0], pages[2]]
        [claim] = self.claims(detector, "https://b.example/", text=MUSEUM)
        assert claim.verdict.kind == "new"

    def test_a_page_that_is_added_again_is_replaced(
        self, store: Store, detector: NearDupDetector
    ) -> None:
        for text in (FERRY, MUSEUM):
            store.add(detector.signature(url="https://a.example/", text=text))
        assert len(store) == 1
        assert detector.check(url="https://b.example/", text=FERRY).kind == "new"
        assert detector.check(url="https://c.example/", text=MUSEUM).kind == "duplicate"

    def test_old_pages_expire(self, make_store: Callable[..., Store]) -> None:
        store, now = make_store(ttl=3600), int(time.time())
        detector = NearDupDetector(store=store)
        old = detector.signature(url="https://old.example/", text=FERRY)
        young = detector.signature(url="https://young.example/", text=MUSEUM)
        store.add(old, now - 7200)
        store.add(young, now - 1800)
        assert store.find(old.key) is None
        assert detector.check(url="https://0.other/", text=FERRY).kind == "new"
        assert detector.check(url="https://1.other/", text=MUSEUM).kind == "duplicate"
        assert detector.check(url="https://old.example/", text=ORCHARD).kind == "new"
        store.add(detector.signature(url="https://x.example/", text=BRIDGE), now - 7200)
        assert store.compact() == 1
        assert {entry.signature.url for entry in store.entries()} == {
            "https://young.example/", "https://0.other/", "https://old.example/",
        }  # fmt: skip

    # --- hints ---

    def test_rules_are_put_replaced_and_deleted(self, store: Store) -> None:
        store.put_rules({"a.example": b"1", "\ud800 茶": b"\0\xff", "gone": b""})
        store.put_rules({"a.example": b"2"})
        assert store.rules() == {"a.example": b"2", "\ud800 茶": b"\0\xff"}
        store.put_rules({"\ud800 茶": b"", "b.example": b"x" * 5000})
        assert store.rules() == {"a.example": b"2", "b.example": b"x" * 5000}

    def test_known_duplicates_are_those_noted_last(self, store: Store) -> None:
        rows = [(0, 1, 2), (2**63, 3, 4), (2**64 - 1, 2**64 - 1, 2**64 - 1)]
        store.note_duplicates(np.array(rows[:2], COPY), 1_700_000_000)
        store.note_duplicates(np.array(rows[2:], COPY), 1_700_000_005)
        store.note_duplicates(np.array(rows[:1], COPY), 1_700_000_009)
        assert store.known_duplicates(0).tolist() == [
            (*rows[1], 1_700_000_000), (*rows[2], 1_700_000_005), (*rows[0], 1_700_000_009),
        ]  # fmt: skip
        assert len(store.known_duplicates(1_700_000_006)) == 1

    def test_known_duplicates_end(self, store: Store) -> None:
        rows = [(1, 7, 5), (2, 7, 6), (3, 8, 5), (4, 8, 6)]
        store.note_duplicates(np.array(rows, COPY), 100)
        store.note_duplicates(np.array([ending_of(7), ending_of_copy(4)], COPY), 101)
        # What is noted with an ending, or after it, holds.
        store.note_duplicates(np.array([(2, 7, 9)], COPY), 101)
        left = without_ended(store.known_duplicates(0))
        assert sorted(left.tolist()) == [(2, 7, 9, 101), (3, 8, 5, 100)]

    def test_known_duplicates_expire(self, make_store: Callable[..., Store]) -> None:
        store, now = make_store(ttl=3600), int(time.time())
        store.note_duplicates(np.array([(1, 7, 5)], COPY), now - 7200)
        store.note_duplicates(np.array([(2, 7, 5)], COPY), now - 1800)
        assert store.compact() == 0
        assert store.known_duplicates(0).tolist() == [(2, 7, 5, now - 1800)]

    def test_visits_make_a_history(self, store: Store) -> None:
        store.note_visits(visits := np.array([(7, 100, -1, 0), (2**64 - 1, 100, -1, 0)], VISIT))
        store.note_visits(np.array([(7, 200, 0.25, 0), (7, 300, 0.0, 0), (7, 400, -1, 0)], VISIT))
        store.note_visits(visits)  # noted before
        store.note_visits(np.array([(7, 350, 0.5, 0), (8, 100, -1, 7)], VISIT))
        store.note_visits(np.array([(9, 50, 0.75, 0), (2**64 - 1, 150, -1, 7)], VISIT))
        store.note_visits(np.array([(9, 60, -1, 7), (9, 70, -1, 0)], VISIT))
        assert sorted(store.visits().tolist()) == [
            (7, 100, 400, 3, 2, 300, 0.0, 0),
            (9, 50, 70, 3, 1, 50, 0.75, 0),
            (2**64 - 1, 100, 150, 1, 0, 0, 0.0, 7),
        ]

    def test_best_urls_are_those_noted_last(self, store: Store) -> None:
        one, two = (
            BetterUrl("https://a.example/1", True),
            BetterUrl("https://a.example/\udc80", False),
        )
        store.note_better_urls({"https://a.example/x": two, "https://a.example/y": two})
        store.note_better_urls({"https://a.example/x": one, "https://a.example/y": None})
        store.note_better_urls({"https://a.example/z": None, "https://a.example/\udc80": two})
        assert store.better_urls() == {"https://a.example/x": one, "https://a.example/\udc80": two}

    @pytest.mark.parametrize("seen_at", [-1, 2**32, 1.5])
    def test_a_time_out_of_range_is_refused(self, store: Store, seen_at: int) -> None:
        with pytest.raises(InvalidOption, match="seconds since 1970 from 0 to 4294967295"):
            store.note_duplicates(np.array([(1, 2, 3)], COPY), seen_at)
        assert len(store.known_duplicates(0)) == 0


class PersistentStoreContract(StoreContract):
    """Additional tests for stores that outlive their process."""

    @pytest.fixture
    def open_again(self) -> Callable[[], Store]:
        """Return a function that opens one and the same store; to be overridden.

        The store is empty at first. Before it is opened again, it is closed.
        """
        raise NotImplementedError

    def test_pages_and_hints_are_there_again(self, open_again: Callable[[], Store]) -> None:
        with closing(open_again()) as store:
            secret, page = store.secret, _added(store, FERRY)
            store.put_rules({"a.example": b"1"})
            store.note_duplicates(np.array([(1, 7, 5)], COPY), 100)
            store.note_visits(np.array([(7, 100, -1, 0)], VISIT))
            better = {page.url: BetterUrl("https://a.example/", False)}
            store.note_better_urls({**better, "https://b.example/": better[page.url]})
            store.note_better_urls({"https://b.example/": None})
        with closing(open_again()) as store:
            assert store.secret == secret
            assert store.forgotten == 0
            store.adopt(page.recipe, {})
            assert [entry.signature for entry in store.entries()] == [page]
            assert store.rules() == {"a.example": b"1"}
            assert store.known_duplicates(0).tolist() == [(1, 7, 5, 100)]
            assert store.visits()[["page", "last_at"]].tolist() == [(7, 100)]
            assert store.better_urls() == better
            verdict = NearDupDetector(store=store).check(url="https://b.example/", text=FERRY)
            assert verdict.duplicate_of == page.url

    def test_what_was_not_confirmed_is_forgotten(self, open_again: Callable[[], Store]) -> None:
        with closing(open_again()) as store:
            confirmed = _added(store, FERRY, confirmed=False)
            store.confirm(store.mark())
            _added(store, MUSEUM, confirmed=False)
            safe = _added(store, ORCHARD)
            assert len(store) == 3
        with closing(open_again()) as store:
            assert (store.forgotten, len(store)) == (1, 2)
            urls = [entry.signature.url for entry in store.entries()]
            assert urls == [confirmed.url, safe.url]

    def test_what_was_reserved_is_free_again(self, open_again: Callable[[], Store]) -> None:
        with closing(open_again()) as store:
            detector = NearDupDetector(store=store)
            assert self.claims(detector, "https://a.example/")[0].ticket is not None
        with closing(open_again()) as store:
            [claim] = self.claims(NearDupDetector(store=store), "https://b.example/")
            assert (claim.verdict.kind, claim.is_blocked) == ("new", False)


def _added(store: Store, text: str, *, confirmed: bool = True) -> PageSignature:
    url = f"https://a.example/{text[:3]}"
    page = NearDupDetector(store=store).signature(url=url, text=text)
    store.add(page, confirmed=confirmed)
    return page
