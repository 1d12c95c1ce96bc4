"""Tests for every :class:`~scrapy_neardup.stores.Store`, and for those that outlive a process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import numpy as np
import pytest

from ..detector import NearDupDetector
from ..signatures.signature import PageSignature
from ..stores import Store
from ..stores.better_urls import BetterUrl
from ..stores.hints import COPY
from ..stores.visits import VISIT
from .claim_store import ClaimStoreContract
from .hint_store import HintStoreContract
from .texts import FERRY, MUSEUM, ORCHARD


class StoreContract(ClaimStoreContract, HintStoreContract):
    """Tests for every :class:`~scrapy_neardup.stores.Store`; subclass it as ``Test…``."""


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
