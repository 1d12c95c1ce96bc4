"""Records the best URLs of contents in the store, where they outlive the crawl."""

from __future__ import annotations

from functools import partial

from scrapy.utils.datatypes import LocalCache

from ...stores.better_urls import MAX_BETTER_URLS, BetterUrl
from ..store_client import StoreClient


class StoredBetterUrls:
    """The best URLs that the store has, and the changes that it does not have yet."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self._known = LocalCache[str, BetterUrl | None](MAX_BETTER_URLS)
        self._waiting: dict[str, BetterUrl | None] = {}

    async def load(self) -> dict[str, BetterUrl]:
        """Return what the store has, by the URLs of originals."""
        stored = await self._client.advise(self._client.store.better_urls, aside=True) or {}
        self._known.update(stored)
        return stored

    def note(self, original: str, better: BetterUrl | None) -> None:
        """Note the best URL of a content; ``None`` if it is that of its original."""
        if self._known.get(original) != better:
            self._known[original] = self._waiting[original] = better

    async def save(self) -> None:
        """Write the changes to the store; they wait for the next call if it fails."""
        changes, self._waiting = self._waiting, {}
        note = partial(self._client.store.note_better_urls, changes)
        if changes and not await self._client.note(note):
            self._waiting = changes | self._waiting
