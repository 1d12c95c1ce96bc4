"""Between the spider and the engine: each page is judged before anything of it goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.http import Request, Response

from .built_items import Place
from .extensions import NearDupJudge, find_judge
from .following import Judgement

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
        ended = False
        page: _Page | None = None
        items = _ItemsOfPage()
        try:
            async for output in result:
                page = page or _Page(await self._judge.judge_page(response))
                if not isinstance(output, Request):
                    for item, place in items.add(output, waits=page.is_superfluous):
                        yield await self._sent(item, place, response, page.judgement)
                elif self._is_followed(output, response, page.judgement):
                    yield output
            ended = True
            for item, place in items.rest():
                yield await self._sent(item, place, response, page and page.judgement)
        except Exception:
            # What the callback yielded before it failed goes on as it does without us.
            for item, place in items.rest():
                yield await self._sent(item, place, response, page and page.judgement)
            raise
        finally:
            if page is None:
                self._judge.pass_page("no_output" if ended else "callback_failed", response)
            elif page.judgement is not None and page.judgement.outcome is not None:
                page.judgement.outcome.ended(failed=not ended)

    async def _sent(
        self, item: Any, place: Place, response: Response, judgement: Judgement | None
    ) -> Any:
        """The item, of which it is noted what decides on it."""
        if judgement is not None and judgement.outcome is not None:
            judgement.outcome.item_sent()
        await self._judge.send_from_page(item, response, judgement, place)
        return item

    def _is_followed(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Does a link of a page go on?"""
        if self._is_skipped(request, response, judgement):
            self._judge.count_link_skipped()
            return False
        if judgement is not None and judgement.refuses_requests:
            self._judge.sparing.linked(request, response)
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
        return depth >= self._judge.config.learning.links_min_depth

    async def _by_item(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """One judgement an item."""
        place = 0
        async for output in result:
            if not isinstance(output, Request):
                place += 1
                judgement = await self._judge.judge_item(output, place, response)
                if judgement is not None and judgement.outcome is not None:
                    judgement.outcome.item_sent()
                    judgement.outcome.ended(failed=False)
                self._judge.send_along(output, judgement)
            yield output


class _Page(NamedTuple):
    """A page that has yielded something, and the judgement on it, if it was judged."""

    judgement: Judgement | None

    @property
    def is_superfluous(self) -> bool:
        return self.judgement is not None and self.judgement.is_superfluous


class _ItemsOfPage:
    """The items of a page in their order, and whether it yields several of one class.

    Of a page that is stored already, the first item of each class waits until that is known.
    """

    def __init__(self) -> None:
        self._number = 0
        #: The first item of each class, and its number, while it waits.
        self._first: dict[type, tuple[Any, int] | None] = {}

    def add(self, item: Any, *, waits: bool) -> Iterator[tuple[Any, Place]]:
        """One more item; those that need not wait any longer, and their places."""
        self._number += 1
        kind = type(item)
        if kind in self._first:
            if (first := self._first[kind]) is not None:
                self._first[kind] = None
                yield first[0], Place(first[1], is_listed=True)
            yield item, Place(self._number, is_listed=True)
        elif waits:
            self._first[kind] = item, self._number
        else:
            self._first[kind] = None
            yield item, Place(self._number)

    def rest(self) -> Iterator[tuple[Any, Place]]:
        """Those that still wait: no more items come."""
        for kind, first in self._first.items():
            if first is not None:
                self._first[kind] = None
                yield first[0], Place(first[1])
