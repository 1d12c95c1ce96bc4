"""Filters requests that are expected to yield nothing new.

Their URLs are known to lead to a duplicate, or are the same as another one by a learned rule.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from ...matching.verdict import Verdict
from ...reasons import Reason
from ...url_rules.rule import UrlRule
from ..async_bridge import in_thread
from ..durability.job import Job
from ..responses import why_not_judged
from ..settings import Policy, UrlRuleSettings
from ..store_client import StoreClient
from .duplicate_urls import DuplicateUrls
from .url_rule_filter import UrlRuleFilter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_PERMANENT_REDIRECTS = (301, 308)


class RequestFilter:
    """Decides which requests are filtered, and learns from their responses.

    It has a method for each event of a crawl that concerns more than one of its parts.

    :param count: adds to a stat.
    :param learns: see :class:`UrlRuleFilter`, also for ``job``.
    :ivar duplicate_urls: the URLs that led to a duplicate.
    :ivar rules: what was learned of URLs that were never fetched.
    """

    def __init__(
        self,
        crawler: Crawler,
        plan: UrlRuleSettings,
        count: Callable[[str, int], None],
        *,
        learns: bool,
        job: Job | None = None,
    ) -> None:
        self._count = count
        self.duplicate_urls = DuplicateUrls(
            plan.duplicate_url_ttl, time.time, plan.url_rules_sample_rate
        )
        self.rules = UrlRuleFilter(crawler, plan, count, learns=learns, job=job)
        #: Requests that duplicates yielded, with the URLs of these.
        self._linked: WeakKeyDictionary[Request, list[str]] = WeakKeyDictionary()
        #: Duplicates of which an item was kept.
        self._keeping: WeakSet[Response] = WeakSet()

    # --- the store --------------------------------------------------------------------------

    async def open(self, client: StoreClient) -> None:
        """Load what the store knows, and the requests that the last run of the job left."""
        store, since = client.store, self.duplicate_urls.since
        known = await client.advise(lambda: store.known_duplicates(since), aside=True)
        rules = await client.advise(store.rules, aside=True) if self.rules.learns else None

        def load() -> None:
            if known is not None:
                self.duplicate_urls.open(store.secret, known)
            self.rules.open(store.secret, rules or {})
            self.rules.queue.load()

        # A store may know a million URLs, and nothing else goes on yet.
        await in_thread(load)

    async def sync(self, client: StoreClient) -> None:
        """Save what was learned, and load what other workers learned."""
        if (unsaved := self.duplicate_urls.take_unsaved(client.confirmed)) is not None:
            note = partial(client.store.note_duplicates, unsaved.rows, unsaved.seen_at)
            if not await client.note(note):
                self.duplicate_urls.put_back(unsaved)
        await self.rules.sync(client)

    async def close(self, client: StoreClient, *, is_clean: bool) -> None:
        """Save the rest.

        :param is_clean: whether all that was stored is on disk.
        """
        self.rules.queue.stop()
        self.rules.close()
        await self.sync(client)
        if is_clean:
            await in_thread(self.rules.queue.save)

    # --- requests ---------------------------------------------------------------------------

    def refuses(self, request: Request, policy: Policy) -> UrlRule | bool:
        """Decide whether a request is not to be scheduled, and return the rule if one says so.

        A request whose URL may bring nothing new gets a lower priority: fewer fetches teach more
        then, and the original of a known duplicate may have been met by its turn.
        """
        if request.method != "GET" or request.body or not _may_skip(request):
            return False
        refusal: UrlRule | bool = False
        if policy.action == "drop":
            status = self.duplicate_urls.status_of(request.url)
            refusal = status == "superfluous" and not self._explores(request)
            request.priority -= status == "copy"
        refusal = refusal or self.rules.refuse(request, policy) or False
        if refusal:
            self.redirected(request)
        return refusal

    def should_cancel(self, request: Request, policy: Policy | None) -> UrlRule | bool:
        """Decide whether a scheduled request has become superfluous, and return the rule if any.

        If not, it is about to be fetched.

        :param policy: what applies to it; ``None`` when it is not judged.
        """
        if request.method != "GET" or request.callback is NO_CALLBACK:
            return False
        refusal: UrlRule | bool = False
        if policy is not None and not request.body and _may_skip(request):
            if policy.action == "drop" and request.url in self.duplicate_urls:
                refusal = not self._explores(request)
                self._count("requests/explored", not refusal)
            refusal = refusal or self.rules.cancel(request, policy) or False
        if refusal:
            self.redirected(request)
        elif self.rules.learns:
            self.rules.learner.begin(request.url)
        return refusal

    def _explores(self, request: Request) -> bool:
        """Decide whether it, or what redirected to it, is in the share that is fetched."""
        return any(map(self.duplicate_urls.explores, urls_of(request)))

    def redirected(self, request: Request) -> None:
        """Note that this request is not made, if URLs redirect to it."""
        if urls := request.meta.get("redirect_urls"):
            self.rules.redirect(urls, request.url)

    def failed(self, request: Request | None) -> None:
        """Note that a request yielded nothing that could be judged."""
        if request is not None:
            self.rules.fail(urls_of(request))

    def idle(self) -> None:
        """Make the requests that must be made before the crawl may end."""
        if not self.rules.queue:
            self.rules.learner.end()
        self.rules.process()
        self.rules.queue.make(len(self.rules.queue))

    # --- pages ------------------------------------------------------------------------------

    def judged(self, response: Response, verdict: Verdict) -> None:
        """Learn from a page."""
        request = response.request
        urls = () if request is None else tuple(urls_of(request))
        self.duplicate_urls.judged(verdict, urls)
        if verdict.kind == "undecided":
            self.rules.fail(urls)
        elif urls:
            self.rules.learn(response, dict.fromkeys((response.url, *urls)), verdict)

    def kept_item(self, response: Response, verdict: Verdict) -> None:
        """Learn that a duplicate yielded an item of its own, so that its URL is fetched again."""
        if response.request is None or response in self._keeping:
            return
        self._keeping.add(response)
        urls = tuple(urls_of(response.request))
        self.duplicate_urls.keep_fetching_urls(urls)
        own = replace(verdict, kind="new", duplicate_of=None)
        self.rules.learn(response, dict.fromkeys((response.url, *urls)), own)

    def passed(self, response: Response) -> None:
        """Note that a response is not judged, or that its callback yielded nothing."""
        self.failed(response.request)
        if response.request is not None and why_not_judged(response) == Reason.NOT_TEXT:
            self.duplicate_urls.passed(urls_of(response.request))

    def remember(self, request: Request | None, verdict: Verdict, mark: int) -> None:
        """Note that a request, and what redirects to it permanently, led to a duplicate.

        Login pages are reached by redirects too, but not by permanent ones.

        :param mark: of the store, behind the original.
        """
        if request is not None and request.method == "GET":
            for url in _permanent_urls(request):
                self.duplicate_urls.add(url, verdict, mark)

    def linked(self, request: Request, response: Response) -> None:
        """Note that a duplicate yielded this request.

        If it is new to the crawl, the duplicate is fetched again in later crawls.
        """
        if response.request is not None:
            self._linked[request] = list(urls_of(response.request))
            if request.dont_filter:
                self.is_new(request)

    def is_new(self, request: Request) -> None:
        """Note that a request passed the dupefilter."""
        if (urls := self._linked.pop(request, None)) is not None:
            self.duplicate_urls.keep_fetching_urls(urls)


def _may_skip(request: Request) -> bool:
    return not request.dont_filter and not request.meta.get("is_start_request")


def urls_of(request: Request) -> Iterator[str]:
    """Yield the URL of a request, and those that redirected to it."""
    yield request.url
    yield from request.meta.get("redirect_urls") or ()


def _permanent_urls(request: Request) -> Iterator[str]:
    """Yield the URL of a request, and those from which only permanent redirects led to it."""
    yield request.url
    urls, reasons = (request.meta.get(f"redirect_{what}") or () for what in ("urls", "reasons"))
    if len(urls) == len(reasons):
        for url, reason in zip(reversed(urls), reversed(reasons), strict=True):
            if reason not in _PERMANENT_REDIRECTS:
                return
            yield url
