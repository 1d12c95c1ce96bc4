"""The decisions that a store knows of: the pages that were stored, not those that were dropped."""

from __future__ import annotations

from collections.abc import Iterator

from ..matching.rule import Rule
from ..stores.in_process import InProcessStore
from .decisions import Decision


def stored_decisions(store: InProcessStore, rule: Rule) -> Iterator[Decision]:
    """Yield the pairs of near-duplicates in a store, then all of its pages, oldest first."""
    for pair in store.pairs(rule):
        first, second = pair.pages
        yield Decision(
            url=second.url,
            verdict="pair",
            reason=pair.match.reason,
            duplicate_of=first.url,
            distance=pair.match.distance,
            similarity=round(pair.match.similarity, 4),
        )
    for entry in store.entries():
        yield Decision(entry.signature.url, "stored", "", time=entry.stored_at)
