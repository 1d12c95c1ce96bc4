"""Finds items that equal a stored one in all but the URLs of the pages that they are built over.

A list may lead to an article under two URLs, and both to the one page of its author, which yields
the item. That page is new for none but the first, and gives most of each item: so nothing says that
an item is stored but an equal one whose pages are the same, or copies of each other. Only items of
one crawl are compared; a store keeps no content of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from scrapy.utils.datatypes import LocalCache

from ...matching.verdict import Verdict
from ...reasons import Reason
from ..async_bridge import wait_for
from .carried_values import hash_of
from .item_digests import BuiltItem
from .item_tracker import ItemJudgement, Judgement, PendingClaim
from .origins import CarriedValues, Origin

#: Visits whose content is remembered, and items.
_MAX_VISITS, _MAX_ITEMS = 4096, 10_000


@dataclass(frozen=True, slots=True)
class SentItem:
    """An item, by where and what it is.

    :ivar key: digest of its class, callback, fields and content, and of what its pages are or are
        copies of.
    :ivar urls: of the page that yields it, and of those that its request carried values of.
    :ivar is_stored: whether it was stored, once that is known.
    """

    key: int
    urls: Sequence[str]
    is_stored: Future[bool] = field(default_factory=Future, compare=False)

    @property
    def is_lost(self) -> bool:
        """Whether it is known not to be stored."""
        return self.is_stored.done() and not self.is_stored.result()


class EqualItems:
    """The items of one crawl that hold values of earlier pages, and were not dropped.

    :param max_wait: seconds that an item waits at most for the outcome of an equal one.
    """

    def __init__(self, max_wait: float) -> None:
        self._max_wait = max_wait
        #: What a page is a copy of, by its visit. Pages of links only are copies as well.
        self._originals = LocalCache[str, str](_MAX_VISITS)
        self._sent = LocalCache[int, SentItem](_MAX_ITEMS)

    def visited(self, visit: str, verdict: Verdict) -> None:
        """Note the verdict on a page that an item may begin on."""
        original = verdict.duplicate_of or verdict.links_seen_at
        if original is not None:
            self._originals[visit] = original

    def describe(
        self, page: Judgement | None, carried: CarriedValues, item: BuiltItem
    ) -> SentItem | None:
        """Return an item by its content and pages; ``None`` where these are not known."""
        if page is None or not carried.origins:
            return None
        verdict = page.verdict
        origins = sorted({self._original_of(origin) for origin in carried.origins})
        pages = (verdict.duplicate_of or verdict.url, *origins)
        urls = (verdict.url, *(origin.url for origin in carried.origins))
        return SentItem(hash_of("\n".join((f"{item.digest:x}", *item.fields, *pages))), urls)

    async def stored_instead(
        self, page: Judgement | None, item: SentItem | None
    ) -> Judgement | None:
        """Return the judgement to drop an item if an equal one is stored, after waiting for that.

        An item of the same URLs is none of a copy: ``NEARDUP_REVISIT`` says what becomes of it.

        :param page: the judgement on the page that yields it.
        """
        if page is None or item is None or not page.is_copy:
            return None
        if (equal := self._sent.get(item.key)) is None:
            return None
        pairs = zip(item.urls, equal.urls, strict=False)
        of_copy = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if of_copy is None:
            return None
        await wait_for(equal.is_stored, self._max_wait)
        if not (equal.is_stored.done() and equal.is_stored.result()):
            return None
        if page.is_superfluous:
            return page
        # The page is a revisit, and what is a copy is where the item began.
        url, original = of_copy
        verdict = Verdict("duplicate", url, Reason.SIMILAR_TEXT, original, similarity=1.0)
        return replace(page, verdict=replace(verdict, same_shown=True))

    def noted(self, decided: ItemJudgement, item: SentItem | None) -> ItemJudgement:
        """Return the judgement on an item that is kept, so that equal ones know what becomes of it.

        The claim for its part in another page, if it has one, is settled with its own.
        """
        if item is None or decided.is_superfluous:
            return decided
        known = self._sent.get(item.key)
        if known is not None and not known.is_lost:
            return decided
        self._sent[item.key] = item
        share = decided.share

        def settle(items: int | None) -> None:
            item.is_stored.set_result(items is not None)
            if share is not None and items is None:
                share.item_lost()
            elif share is not None:
                share.item_stored()

        return replace(decided, share=PendingClaim.of_item(settle))

    def _original_of(self, origin: Origin) -> str:
        return self._originals.get(origin.visit, origin.url)
