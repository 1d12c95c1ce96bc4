"""Finds items that equal a stored one in all but the URLs of the pages that they are built over.

A list may lead to an article under two URLs, and both to the one page of its author, which yields
the item. That page is new for none but the first, and gives most of each item: so nothing says that
an item is stored but an equal one whose pages are the same, or copies of each other. Only items of
one crawl are compared; a store keeps no content of items.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from itemadapter import ItemAdapter
from scrapy.utils.datatypes import LocalCache

from ...matching.stored_items import hash_of
from ...matching.verdict import Verdict
from ...reasons import Reason
from ..async_bridge import wait_for
from .fetch_times import is_of_fetch
from .item_tracker import ItemJudgement, Judgement, PendingClaim
from .origins import CarriedValues, Origin

#: Visits whose content is remembered, and items.
_MAX_VISITS, _MAX_ITEMS = 4096, 10_000
#: Levels of containers in an item.
_MAX_DEPTH = 20
_PLAIN = (bool, int, float, bytes, Decimal, date, timedelta)
#: Names of fields that say when an item was made.
_OF_FETCH = re.compile(
    r"(?:scraped|crawled|fetched|retrieved|collected|extracted|downloaded)"
    r"(?:_?(?:at|on|date|time|timestamp))?|timestamp",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SentItem:
    """An item, by where and what it is.

    :ivar key: digest of its class, callback, fields and content, and of what its pages are or are
        copies of.
    :ivar urls: of the page that yields it, and of those that its request carried values of.
    :ivar sent_at: when it was sent, by the monotonic clock.
    :ivar is_stored: whether it was stored, once that is known.
    """

    key: int
    urls: Sequence[str]
    sent_at: float = field(default_factory=time.monotonic, compare=False)
    is_stored: Future[bool] = field(default_factory=Future, compare=False)

    @property
    def is_lost(self) -> bool:
        """Whether it is known not to be stored."""
        return self.is_stored.done() and not self.is_stored.result()


class EqualItems:
    """The items of one crawl that hold values of earlier pages, and were not dropped.

    :param max_wait: seconds after an item was sent in which equal ones wait for its outcome.
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
        self, item: Any, page: Judgement | None, carried: CarriedValues, fields: Sequence[str]
    ) -> SentItem | None:
        """Return an item by its content and pages; ``None`` where these are not known.

        :param fields: the names of its class, its callback and its fields.
        """
        if page is None or not carried.origins or carried.judged_by == "parent":
            return None
        verdict = page.verdict
        origins = sorted({self._original_of(origin) for origin in carried.origins})
        pages = (verdict.duplicate_of or verdict.url, *origins)
        urls = (verdict.url, *(origin.url for origin in carried.origins))
        try:
            content = _content_of(item, frozenset(urls))
        except (TypeError, ValueError):  # it holds what cannot be compared
            return None
        return SentItem(hash_of("\n".join((content, *fields, *pages))), urls)

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
        # All that wait for one item wait no longer than the first of them.
        left = equal.sent_at + self._max_wait - time.monotonic()
        if left > 0:
            await wait_for(equal.is_stored, left)
        if not (equal.is_stored.done() and equal.is_stored.result()):
            return None
        if page.is_superfluous:
            return page
        # The page is a revisit, and what is a copy is where the item began.
        url, original = of_copy
        verdict = Verdict("duplicate", url, Reason.SAME_ITEM, original, similarity=1.0)
        return replace(page, verdict=replace(verdict, same_shown=True))

    def forget_sent(self) -> None:
        """Forget the items that were sent, because they may be lost."""
        self._sent.clear()

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


def _content_of(value: Any, urls: Collection[str], depth: int = _MAX_DEPTH) -> str:
    """Return the exact content of an item but for the URLs of its pages and when it was made.

    :raises TypeError: when a value in it is none that can be written down.
    """
    if depth == 0:
        raise TypeError
    if isinstance(value, str):
        return "URL" if value in urls else repr(value)
    if value is None or isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(_content_of(each, urls, depth - 1) for each in value)}]"
    if isinstance(value, Mapping) or ItemAdapter.is_item(value):
        pairs = ((name, each) for name, each in ItemAdapter(value).items())
        parts = (
            f"{name!r}:{_content_of(each, urls, depth - 1)}"
            for name, each in pairs
            if not (_OF_FETCH.fullmatch(str(name)) and is_of_fetch(str(each).casefold()))
        )
        return f"{{{','.join(sorted(parts))}}}"
    raise TypeError
