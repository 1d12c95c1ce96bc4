"""Between the downloader and the spider: pages wait here while the workers have enough to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from .extensions import NearDupJudge, find_judge

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class NearDupDownloaderMiddleware:
    """Holds pages back, so that Scrapy's downloader sends no more requests than it may.

    It stands nearest the engine and sees only what is not asked for again.

    :raises NotConfigured: when the crawl has no judge, or the judge no workers.
    """

    def __init__(self, judge: NearDupJudge) -> None:
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        judge = find_judge(crawler)
        if not judge.config.workers:
            raise NotConfigured
        return cls(judge)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Hand on the same response, later where it is a page that is likely to be judged.

        What a component asks for itself, such as robots.txt or a picture, never comes to a spider.
        """
        if request.callback is not NO_CALLBACK and self._judge.may_judge(request, response):
            await self._judge.throttle.turn()
        return response
