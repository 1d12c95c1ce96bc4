"""Passes each response to the judge before its callback runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from .crawl.items.built_items import ItemPosition
from .crawl.items.item_tracker import ItemJudgement, Judgement
from .crawl.judge import NearDupJudge, find_judge
from .reasons import Reason


class NearDupSpiderMiddleware:
    """Judges pages, passes the judgement on to their items, and skips links of duplicates.

    :raises NotConfigured: when the crawl has no judge.
    """

    def __init__(self, judge: NearDupJudge) -> None:
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDupSpiderMiddleware:
        return cls(find_judge(crawler))

    def process_spider_input(self, response: Response) -> None:
        """Record the values that the request carries, before the callback can change them."""
        if self._judge.config.item_field is None:
            self._judge.built_items.record_carried_values(response)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Judge the page, or each item when ``NEARDUP_ITEM_FIELD`` names a field."""
        by_item = self._judge.config.item_field is not None
        process = self._process_items if by_item else self._process_page
        async for output in process(response, result):
            yield output

    async def _process_page(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Judge the page once, when the callback yields its first item or link."""
        judged = ended = False
        judgement = None
        classes: Counter[type] = Counter()
        try:
            async for output in result:
                if not judged:
                    judged = True
                    judgement = await self._judge.judge_page(response)
                if not isinstance(output, Request):
                    place = ItemPosition(classes.total() + 1, is_listed=type(output) in classes)
                    classes[type(output)] += 1
                    if judgement is not None and judgement.pending is not None:
                        judgement.pending.item_sent()
                    await self._judge.send_from_page(output, response, judgement, place)
                    yield output
                elif self._should_follow(output, response, judgement):
                    yield output
            ended = True
        finally:
            if not judged:
                self._judge.pass_page(
                    Reason.NO_OUTPUT if ended else Reason.CALLBACK_FAILED, response
                )
            if judgement is not None and judgement.pending is not None:
                judgement.pending.ended(failed=not ended)

    def _should_follow(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Decide whether a link of a page is followed; count it if not."""
        carries_values = self._judge.built_items.note_origins(request, response, judgement)
        if judgement is None:
            return True
        min_depth = self._judge.config.url_rule_settings.links_min_depth
        is_deep_enough = response.meta.get("depth", 0) >= min_depth
        # If it is no duplicate, the earlier page with these links may have failed on the item whose
        # values this one carries.
        is_superfluous = judgement.verdict.is_duplicate or not carries_values
        if judgement.skips_links and is_deep_enough and is_superfluous:
            self._judge.stats.count("links/skipped")
            if self._judge.session.copies is not None:
                self._judge.session.copies.skipped_link(request, response)
            return False
        if judgement.refuses_requests:
            self._judge.session.request_filter.linked(request, response)
        return True

    async def _process_items(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Judge each item by its field."""
        place = 0
        async for output in result:
            if not isinstance(output, Request):
                place += 1
                judgement = await self._judge.judge_item(output, place, response)
                if judgement is not None and judgement.pending is not None:
                    judgement.pending.item_sent()
                    judgement.pending.ended(failed=False)
                self._judge.session.items.send(output, ItemJudgement(judgement))
            yield output
