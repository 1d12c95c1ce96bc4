"""Tests for every :class:`~scrapy_neardup.stores.base.HintStore`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from ..exceptions import InvalidOption
from ..stores import Store
from ..stores.better_urls import BetterUrl
from ..stores.hints import COPY, ending_of, ending_of_copy, without_ended
from ..stores.visits import VISIT


class HintStoreContract:
    """Tests for the hints of a store."""

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
            (7, 100, 400, 3, 2, 300, 0.0, 0, 0),
            (9, 50, 70, 3, 1, 50, 0.75, 0, 0),
            (2**64 - 1, 100, 150, 1, 0, 0, 0.0, 7, 150),
        ]

    def test_a_move_has_the_time_at_which_it_was_seen_first(self, store: Store) -> None:
        # A page that stays moved, one that moves on, one that is back, one that moved twice.
        moves = {1: [7, 7, 7], 2**64 - 1: [7, 7, 2**64 - 2], 3: [7, 7, 0], 4: [7, 0, 7]}
        for page, targets in moves.items():
            store.note_visits(np.array([(page, 100, -1, 0)], VISIT))
            for seen_at, moved_to in zip((200, 300, 400), targets, strict=True):
                store.note_visits(np.array([(page, seen_at, -1, moved_to)], VISIT))
        # A visit that was noted late moves nothing.
        store.note_visits(np.array([(1, 250, -1, 8)], VISIT))
        histories = store.visits()
        found = histories[["page", "last_at", "moved_to", "moved_at"]].tolist()
        assert sorted(found) == [
            (1, 400, 7, 200),
            (3, 400, 0, 0),
            (4, 400, 7, 400),
            (2**64 - 1, 400, 2**64 - 2, 400),
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
