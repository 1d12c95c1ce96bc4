"""Cancels superfluous downloads, and has pages read before their callbacks run."""

from __future__ import annotations

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from .crawl.items.request_contents import note_arguments
from .crawl.judge import NearDupJudge, find_judge
from .crawl.requests.inline_downloads import InlineDownloads
from .crawl.responses import why_not_judged


class SuperfluousRequest(IgnoreRequest):
    """A request was cancelled: when it was about to be sent, it was known to bring nothing new.

    Scrapy calls its errback, as for every ignored request.

    :ivar rule: the reason, in words.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class NearDupDownloaderMiddleware:
    """Cancels requests that have become superfluous since they were scheduled.

    It also has pages read before their callbacks run; they wait while the workers are busy, so that
    Scrapy's downloader sends fewer requests. It runs nearest to the engine, so it sees no response
    that is retried or redirected.

    :raises NotConfigured: when the crawl has no judge.
    """

    def __init__(self, judge: NearDupJudge) -> None:
        self._judge = judge
        self._inline = InlineDownloads()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDupDownloaderMiddleware:
        middleware = cls(find_judge(crawler))
        scheduled = middleware._inline.scheduled
        crawler.signals.connect(scheduled, signals.request_scheduled, weak=False)
        return middleware

    def process_request(self, request: Request) -> None:
        """Let a request pass.

        :raises SuperfluousRequest: when it would bring nothing new.
        """
        if refusal := self._judge.should_cancel(request):
            raise SuperfluousRequest(self._judge.count_refused(request, refusal))
        note_arguments(request)
        self._inline.sent(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the same response; a page once it was read, so that its verdict needs no wait.

        Requests of components, such as for robots.txt or images, never reach a spider.
        """
        if request.callback is not NO_CALLBACK:
            if self._judge.may_judge(request, response):
                await self._judge.read_ahead(response)
            elif why_not_judged(response):
                self._judge.failed(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that a request failed."""
        if isinstance(exception, SuperfluousRequest):
            self._judge.cancelled(request)
        else:
            self._judge.failed(request)
