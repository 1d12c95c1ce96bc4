"""Passes each response to the judge before its callback runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy.http import Request, Response

from .crawl.items.built_items import Place
from .crawl.items.item_tracker import Judgement
from .crawl.judge import NearDupJudge, find_judge
from .reasons import Reason

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class NearDupSpiderMiddleware:
    """Judges pages, notes the judgement for their items, and holds back links of duplicates.

    :raises NotConfigured: when the crawl has no judge.
    """

    def __init__(self, judge: NearDupJudge) -> None:
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(find_judge(crawler))

    def process_spider_input(self, response: Response) -> None:
        """Note what came with a request before its callback can change it."""
        self._judge.arrived(response)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Judge by the page, or by each item when ``NEARDUP_ITEM_FIELD`` names a field."""
        by_item = self._judge.config.item_field is not None
        async for output in (self._by_item if by_item else self._by_page)(response, result):
            yield output

    async def _by_page(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """One judgement a page, when its first item or link comes."""
        judged = ended = False
        judgement = None
        places = _Places()
        try:
            async for output in result:
                if not judged:
                    judged = True
                    judgement = await self._judge.judge_page(response)
                if not isinstance(output, Request):
                    yield await self._sent(output, places.of(output), response, judgement)
                elif self._is_followed(output, response, judgement):
                    yield output
            ended = True
        finally:
            if not judged:
                self._judge.pass_page(
                    Reason.NO_OUTPUT if ended else Reason.CALLBACK_FAILED, response
                )
            if judgement is not None and judgement.pending is not None:
                judgement.pending.ended(failed=not ended)

    async def _sent(
        self, item: Any, place: Place, response: Response, judgement: Judgement | None
    ) -> Any:
        """The item, of which it is noted what decides on it."""
        if judgement is not None and judgement.pending is not None:
            judgement.pending.item_sent()
        await self._judge.send_from_page(item, response, judgement, place)
        return item

    def _is_followed(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Does a link of a page go on?"""
        if self._is_skipped(request, response, judgement):
            self._judge.stats.count("links/skipped")
            return False
        if judgement is not None and judgement.refuses_requests:
            self._judge.session.request_filter.linked(request, response)
        return True

    def _is_skipped(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Is this link of a duplicate not to be followed?"""
        carries = self._judge.note_origins(request, response, judgement)
        if judgement is None or not judgement.skips_links or not self._is_deep(response):
            return False
        # Whoever yielded these links before may have failed on the item that this one carries on.
        return judgement.verdict.is_duplicate or not carries

    def _is_deep(self, response: Response) -> bool:
        """Is a page so far from the start that links of a duplicate may be skipped?"""
        depth: int = response.meta.get("depth", 0)
        return depth >= self._judge.config.url_rule_settings.links_min_depth

    async def _by_item(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """One judgement an item."""
        place = 0
        async for output in result:
            if not isinstance(output, Request):
                place += 1
                judgement = await self._judge.judge_item(output, place, response)
                if judgement is not None and judgement.pending is not None:
                    judgement.pending.item_sent()
                    judgement.pending.ended(failed=False)
                self._judge.send_along(output, judgement)
            yield output


class _Places:
    """Where the items of a page stand among each other."""

    def __init__(self) -> None:
        self._number = 0
        self._classes: set[type] = set()

    def of(self, item: Any) -> Place:
        """The place of the next item."""
        self._number += 1
        place = Place(self._number, is_listed=type(item) in self._classes)
        self._classes.add(type(item))
        return place
