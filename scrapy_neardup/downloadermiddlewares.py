"""Cancels superfluous downloads, and slows down for the workers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from .crawl.judge import NearDupJudge, find_judge
from .crawl.response_records import why_not_judged
from .url_rules.rule import UrlRule

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from scrapy.crawler import Crawler
    from typing_extensions import Self


logger = logging.getLogger(__name__)


class SuperfluousRequest(IgnoreRequest):
    """A request was not made: when its turn came, it was known to bring nothing new.

    Its errback hears of it, as of all that is ignored.

    :ivar rule: says why, in words.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class NearDupDownloaderMiddleware:
    """Leaves out requests that have become superfluous since they were scheduled.

    And it holds pages back, so that Scrapy's downloader sends no more requests than it may. It
    stands nearest the engine and sees only what is not asked for again.

    :raises NotConfigured: when the crawl has no judge.
    """

    def __init__(self, judge: NearDupJudge) -> None:
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(find_judge(crawler))

    def process_request(self, request: Request) -> None:
        """Let a request be made.

        :raises SuperfluousRequest: when it would bring nothing new.
        """
        refusal = self._judge.should_cancel(request)
        if isinstance(refusal, UrlRule):
            self._judge.session.request_filter.count_skipped(refusal)
            logger.debug("Skipped request, for %s: %s", refusal.text, request)
            raise SuperfluousRequest(refusal.text)
        if refusal:
            self._judge.stats.count("requests/refused")
            logger.debug("Refused request, it leads to a near-duplicate: %s", request)
            raise SuperfluousRequest("it leads to a near-duplicate")

    async def process_response(self, request: Request, response: Response) -> Response:
        """Hand on the same response, later where it is a page that is likely to be judged.

        What a component asks for itself, such as robots.txt or a picture, never comes to a spider.
        """
        if request.callback is not NO_CALLBACK:
            if self._judge.may_judge(request, response):
                await self._judge.session.throttle.turn()
            elif why_not_judged(response):
                self._judge.session.request_filter.failed(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """A request came to nothing."""
        if not isinstance(exception, SuperfluousRequest):
            self._judge.session.request_filter.failed(request)
