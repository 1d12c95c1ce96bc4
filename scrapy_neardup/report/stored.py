"""What can be shown of a store: it remembers what was stored, not what was dropped."""

from __future__ import annotations

from collections.abc import Iterator

from ..matching.rule import Rule
from ..stores.in_process import InProcessStore
from .decisions import Decision


def stored_decisions(store: InProcessStore, rule: Rule) -> Iterator[Decision]:
    """The pairs of near-duplicates that stand in a store, then all of its pages, oldest first."""
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
