"""Tests for every :class:`~scrapy_neardup.stores.base.ClaimStore`."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ..detector import NearDupDetector
from ..exceptions import SignatureMismatch
from ..matching.rule import Rule
from ..matching.stored_items import NO_ITEMS, OWN_ITEMS
from ..stores import Claim, Entry, Store
from .texts import BRIDGE, FERRY, MUSEUM, ORCHARD


class ClaimStoreContract:
    """Tests for what judges pages and records those that were stored.

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
