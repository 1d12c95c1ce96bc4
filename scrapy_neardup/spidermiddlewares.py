"""Passes each response to the judge before its callback runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from .crawl.items.held_items import HeldItems
from .crawl.items.item_digests import ItemPosition
from .crawl.items.item_tracker import ItemJudgement, Judgement
from .crawl.judge import NearDupJudge, find_judge
from .crawl.requests.inline_downloads import CallbackRun
from .reasons import Reason


class NearDupSpiderMiddleware:
    """Judges pages, passes the judgement on to their items, and skips links of duplicates.

    :raises NotConfigured: when the crawl has no judge.
    """

    def __init__(self, judge: NearDupJudge) -> None:
        self._judge = judge
        #: The callbacks that were called and have yielded nothing yet.
        self._runs: WeakKeyDictionary[Response, CallbackRun] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDupSpiderMiddleware:
        return cls(find_judge(crawler))

    def process_spider_input(self, response: Response) -> None:
        """Record what the request carries, and that its callback runs from here on."""
        if self._judge.config.item_field is None:
            # The callback can change them.
            self._judge.built_items.record_carried_values(response)
            # A coroutine ends before its output is processed.
            self._runs[response] = CallbackRun()
            self._runs[response].start()

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Note that a callback failed that is no generator: it has no output to be processed."""
        if (run := self._runs.pop(response, None)) is not None:
            run.stop()
            self._judge.pass_page(Reason.CALLBACK_FAILED, response)

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
        run = self._runs.pop(response, None) or CallbackRun()
        run.stop()
        visit = _PageVisit(self._judge, response, run)
        is_complete = False
        try:
            async for output in self._outputs_of(visit, result):
                yield output
            is_complete = True
        finally:
            visit.end(failed=not is_complete)

    async def _outputs_of(
        self, visit: _PageVisit, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Yield the items of a page, each with its judgement, and the links to follow."""
        failure = None
        try:
            async for output in visit.run.outputs_of(result):
                await visit.begin()
                if isinstance(output, Request):
                    if self._should_follow(output, visit.response, visit.judgement):
                        yield output
                elif (decided := await visit.decide(output)) is not None:
                    visit.send(output, decided)
                    yield output
        except Exception as error:
            failure = error
        for item, decided in visit.held.release():
            visit.send(item, decided)
            yield item
        if failure is not None:
            raise failure

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


class _PageVisit:
    """One visit of a page, whose items are judged one after the other.

    :ivar judgement: on the page; ``None`` until its callback yields something.
    """

    def __init__(self, judge: NearDupJudge, response: Response, run: CallbackRun) -> None:
        self._judge = judge
        self.run = run
        self._classes: Counter[type] = Counter()
        self._has_begun = False
        self.response = response
        self.judgement: Judgement | None = None
        self.held = HeldItems(None, judge.built_items.kept)

    async def begin(self) -> None:
        """Judge the page, unless that was done."""
        if not self._has_begun:
            self._has_begun = True
            self.judgement = await self._judge.judge_page(self.response)
            self.held = HeldItems(self.judgement, self._judge.built_items.kept)

    async def decide(self, item: Any) -> ItemJudgement | None:
        """Return the judgement on an item; ``None`` where it is held back."""
        place = ItemPosition(
            self._classes.total() + 1,
            is_listed=type(item) in self._classes,
            may_hold_more=self.run.has_downloaded,
        )
        self._classes[type(item)] += 1
        if self.judgement is not None and self.judgement.pending is not None:
            self.judgement.pending.item_sent()
        found = await self._judge.judge_item_of_page(item, self.response, self.judgement, place)
        return self.held.decide(item, found)

    def send(self, item: Any, decided: ItemJudgement) -> None:
        """Send an item on to the pipelines, with its judgement."""
        self._judge.send(item, self.response, self.judgement, decided)

    def end(self, *, failed: bool) -> None:
        """Note that the callback has ended."""
        if not self._has_begun:
            reason = Reason.CALLBACK_FAILED if failed else Reason.NO_OUTPUT
            self._judge.pass_page(reason, self.response)
        if self.judgement is not None and self.judgement.pending is not None:
            self.judgement.pending.ended(failed=failed)
