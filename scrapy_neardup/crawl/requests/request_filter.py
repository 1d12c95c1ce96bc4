"""What spares a crawl fetches: URLs known to lead to a duplicate, and rules learned from others.

What is skipped by a rule is kept, and fetched after all when the page for whose sake it was
skipped fails or is not stored, or when the rule is withdrawn.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy.typing as npt
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...url_rules.learner import Learner
from ...url_rules.rule import UrlRule
from ..async_bridge import in_thread, start, wait_for
from ..durability.job_state import Job
from ..response_records import why_not_judged
from ..scrapy_versions import engine_of
from ..settings import Policy, UrlRuleSettings
from ..store.client import StoreClient
from . import deferred as held
from .canonical_links import page_links
from .duplicate_urls import DuplicateUrls

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: Seconds between two looks at what other workers learned.
_LOOK_SECONDS = 10.0
#: What is done at once of what follows from a rule: addresses looked at, and requests made.
_LOOKED_AT, _MADE = 100, 20
#: Answers that redirect for good.
_FOR_GOOD = (301, 308)
#: Rules with stats of their own; the rest are counted together.
_MAX_COUNTED_RULES = 100


class RequestFilter:
    """Decides on requests, and learns from what came of them.

    :param plan: what is to be learned, and what is to follow.
    :param count: adds to a stat.
    :param learns: are pages judged? Else there is nothing to learn from.
    :param job: keeps from one run to the next what was skipped.
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
        self._crawler = crawler
        self._plan = plan
        self._count = count
        self._learns = learns and plan.url_rules != "off"
        self._learner: Learner | None = None
        self._known = DuplicateUrls(plan.duplicate_url_ttl, time.time, plan.url_rules_sample_rate)
        #: Requests that duplicates yielded, with the addresses of these.
        self._linked: WeakKeyDictionary[Request, list[str]] = WeakKeyDictionary()
        self._unsaved: dict[str, UrlRule] = {}
        self._counted: set[str] = set()
        self._looked_at = 0.0
        self._job = job
        #: Requests that are to be made after all, as they are or packed.
        self._wanted: deque[Request | bytes] = deque()
        self._makes_requests = True
        self._is_at_work = False

    # --- the store --------------------------------------------------------------------------

    async def open(self, memory: StoreClient) -> None:
        """Begin with what the store knows, and with what the last run of the job held back."""
        store, since = memory.store, self._known.since
        known = await memory.advise(lambda: store.known_duplicates(since), aside=True)
        rules = await memory.advise(store.rules, aside=True) if self._learns else None
        # A store may know a million, and nothing else goes on yet.
        await in_thread(partial(self._begin_with, store.secret, known, rules or {}))

    def _begin_with(
        self, secret: bytes, known: npt.NDArray[Any] | None, rules: Mapping[str, bytes]
    ) -> None:
        if known is not None:
            self._known.open(secret, known)
        if self._learns:
            seed = int.from_bytes(secret[-8:], "little")
            self._learner = Learner(
                self._plan.url_rules_sample_rate, self._plan.cluster_budget, seed
            )
            self._looked_at = time.monotonic()
            self._adopt(rules)
        if self._job is not None:
            self._take_up(self._job)

    def _take_up(self, job: Job) -> None:
        try:
            left = held.read(job.held)
        except (OSError, ValueError) as error:
            # The next run can recover only what is known not to have ended well.
            job.fail()
            why = (isinstance(error, OSError) and error.strerror) or error
            logger.error(
                "%s cannot be read: %s. Requests that rules held back in the last run are never "
                "made again, for requests.seen has them. Stop this run, and start it again with "
                "NEARDUP_RECOVER = True: it makes all requests again, and stores no page again "
                "that has not changed",
                job.held,
                why,
            )
            return
        self._wanted.extend(left.wanted)
        if self._learner is not None and self._plan.url_rules == "on":
            self._learner.resume(left.learned)
        else:
            self._wanted.extend(request for _, request in left.learned.get("kept", ()))

    async def look_around(self, memory: StoreClient) -> None:
        """Tell the store what was learned, and look what others did."""
        store = memory.store
        if (known := self._known.take_unsaved(memory.confirmed)) is not None:
            note = partial(store.note_duplicates, known.rows, known.seen_at)
            if not await _told(memory, note):
                self._known.put_back(known)
        unsaved, self._unsaved = self._unsaved, {}
        packed = {name: rule.to_bytes() for name, rule in unsaved.items()}
        if packed and not await _told(memory, lambda: store.put_rules(packed)):
            self._unsaved = {**unsaved, **self._unsaved}
        is_due = time.monotonic() - self._looked_at > _LOOK_SECONDS
        if store.is_remote and is_due and self._learner is not None:
            self._looked_at = time.monotonic()
            self._adopt(await memory.advise(store.rules) or {})
        self._follow_up()

    def count_learned(self) -> None:
        """Count what was learned by the end of the crawl."""
        if self._learner is not None:
            self._count("url_rules/rules", len(self._learner.in_force))
            self._count("url_rules/let_go", self._learner.let_go)
            self._count("url_rules/unlearned", self._learner.unlearned)

    async def close(self, memory: StoreClient, *, is_clean: bool) -> None:
        """Tell the store the rest.

        :param is_clean: is all that was stored on disk?
        """
        self.stop()
        if self._learner is not None:
            self._unsaved.update((rule.name, rule) for rule in self._learner.in_force)
        self._looked_at = time.monotonic()
        await self.look_around(memory)
        if self._job is not None and self._job.is_ours and is_clean:
            await in_thread(partial(self._leave, self._job))

    def _adopt(self, rules: Mapping[str, bytes]) -> None:
        assert self._learner is not None
        if unread := self._learner.load(rules):
            logger.warning("%d rules in the store cannot be read, and are passed over", unread)

    def _leave(self, job: Job) -> None:
        """Leave to the next run of the job what was held back."""
        left = held.DeferredRequests()
        if self._learner is not None and self._plan.url_rules == "on":
            self._wanted.extend(self._learner.take_wanted())
            left.learned = self._learner.state(self._packed)
        left.wanted = [packed for request in self._wanted if (packed := self._packed(request))]
        try:
            held.write(job.held, left)
        except OSError as error:
            job.fail()
            logger.error("What was held back cannot be kept for the next run: %s", error)

    def _packed(self, request: Request | bytes) -> bytes | None:
        if isinstance(request, bytes):
            return request
        assert self._crawler.spider is not None
        try:
            return held.pack(request, self._crawler.spider)
        except ValueError as error:
            self._let_go(request, error)
            return None

    def _let_go(self, request: object, error: Exception) -> None:
        """Like Scrapy's own queue, which loses what cannot be written as well."""
        logger.warning("A request that was held back is lost, %s: %s", request, error)
        self._count("url_rules/let_go", 1)

    # --- requests ---------------------------------------------------------------------------

    def refuses(self, request: Request, policy: Policy) -> UrlRule | bool:
        """Is it not to be made? By which rule, if it is by one.

        What may mean nothing gets a lower priority, so that fewer fetches teach more, and so do
        copies of what this crawl has not met yet: it may by the time their turn comes.
        """
        if request.method != "GET" or request.body or not _may_skip(request):
            return False
        refusal: UrlRule | bool = False
        if policy.action == "drop":
            standing = self._known.standing(request.url)
            refusal = standing == "superfluous" and not self._explores(request)
            request.priority -= standing == "copy"
        learner = self._learner
        if not (refusal or learner is None) and self._skips(policy):
            decision = learner.decide(request.url)
            request.priority -= decision.delay
            if decision.action == "skip":
                learner.keep(decision, request)
                refusal = decision.rules[0]
        if refusal:
            self.redirected(request)
        return refusal

    def should_cancel(self, request: Request, policy: Policy | None) -> UrlRule | bool:
        """Has it become superfluous since it was scheduled? By which rule, if it has by one.

        If not, it is about to be fetched.

        :param policy: what applies to it; ``None`` when it is not judged.
        """
        if request.method != "GET" or request.callback is NO_CALLBACK:
            return False
        refusal: UrlRule | bool = False
        if policy is not None and not request.body and _may_skip(request):
            refusal = self._is_known(request, policy) or self._skips_by_now(request, policy)
        if refusal:
            self.redirected(request)
        elif self._learner is not None:
            self._learner.begin(request.url)
        return refusal

    def _is_known(self, request: Request, policy: Policy) -> bool:
        """Is it known to lead to a duplicate? It is counted if it is fetched all the same."""
        if policy.action != "drop" or request.url not in self._known:
            return False
        if self._explores(request):
            self._count("requests/explored", 1)
            return False
        return True

    def _explores(self, request: Request) -> bool:
        """Is it one of those that are fetched though they are known, or where such a one led?"""
        return any(map(self._known.explores, _urls(request)))

    def _skips_by_now(self, request: Request, policy: Policy) -> UrlRule | bool:
        """Does a rule hold it back? By which; else it is counted if one would, or explores it."""
        if (learner := self._learner) is None:
            return False
        decision = learner.decide(request.url)
        if decision.action == "skip" and self._skips(policy):
            learner.keep(decision, request)
            return decision.rules[0]
        if decision.action == "skip":
            self._count_by_rule("would_skip", decision.rules[0])
        elif decision.action == "explore" and self._skips(policy):
            self._count_by_rule("explored", decision.rules[0])
        return False

    def count_skipped(self, rule: UrlRule) -> None:
        """Count a request that a rule held back."""
        self._count_by_rule("skipped", rule)

    def redirected(self, request: Request) -> None:
        """If a redirect led to this, which is not fetched again, nothing more comes of that."""
        urls = request.meta.get("redirect_urls")
        if not urls or self._learner is None:
            return
        for url in urls:
            self._learner.redirect(url, request.url)
        self._follow_up()

    def failed(self, request: Request | None) -> None:
        """Nothing came of a request that could be judged."""
        if request is not None and self._learner is not None:
            for url in _urls(request):
                self._learner.fail(url)
            self._follow_up()

    def lost(self, url: str) -> None:
        """A page was judged new, and then it was not stored."""
        if self._learner is not None:
            self._learner.fail(url)
            self._follow_up()

    def idle(self) -> None:
        """No request is left: make those that must be made before the crawl may end."""
        if self._learner is not None and not self._wanted:
            self._learner.end()
        self._follow_up()
        self._make(len(self._wanted))

    def stop(self) -> None:
        """No more requests can be made: the scheduler is closed."""
        self._makes_requests = False

    # --- pages ------------------------------------------------------------------------------

    def judged(self, response: Response, verdict: Verdict) -> None:
        """Learn from a page."""
        learner, request = self._learner, response.request
        self._known.judged(verdict, () if request is None else _urls(request))
        if learner is None or request is None:
            return
        if verdict.kind == "undecided":
            self.failed(request)
            return
        links = page_links(response)
        content = page_key(verdict.duplicate_of or verdict.url)
        for url in dict.fromkeys((response.url, *_urls(request))):
            learner.observe(
                url,
                content,
                is_duplicate=verdict.is_duplicate,
                depth=response.meta.get("depth", 0),
                canonical=links.canonical,
                alternates=links.alternates,
            )
        self._follow_up()

    def passed(self, response: Response) -> None:
        """A response is not judged, or nothing came of it."""
        if response.request is not None and why_not_judged(response) == Reason.NOT_TEXT:
            self._known.passed(_urls(response.request))

    def flooded(self, text: bytes) -> None:
        """A text stands in the place of many pages; see :meth:`.DuplicateUrls.flood`."""
        self._known.flood(text)

    def remember(self, request: Request | None, verdict: Verdict, mark: int) -> None:
        """This request, and those that were redirected to it for good, led to a duplicate.

        A login page is reached by redirects too, but not by permanent ones.

        :param mark: of the store, behind the original.
        """
        if request is not None and request.method == "GET":
            for url in _urls_for_good(request):
                self._known.add(url, verdict, mark)

    def linked(self, request: Request, response: Response) -> None:
        """A duplicate yielded this request; is it new to the crawl, so is the way to it."""
        if response.request is not None:
            self._linked[request] = list(_urls(response.request))
            if request.dont_filter:
                self.is_new(request)

    def is_new(self, request: Request) -> None:
        """A request passed the dupefilter."""
        if (urls := self._linked.pop(request, None)) is not None:
            self._known.leads_on(urls)

    # --- what follows -----------------------------------------------------------------------

    def _skips(self, policy: Policy) -> bool:
        """A duplicate that would be stored all the same is wanted."""
        return self._plan.url_rules == "on" and policy.action == "drop"

    def _follow_up(self) -> None:
        """Say what changed, and make the requests that are wanted after all."""
        if self._learner is not None:
            self._say_changes(self._learner)
            self._wanted.extend(self._learner.take_wanted())
        is_more = self._make(_MADE) or (self._learner is not None and self._learner.has_pending)
        if is_more and not self._is_at_work:
            self._is_at_work = True
            start(self._work())

    def _say_changes(self, learner: Learner) -> None:
        for change in learner.take_changes():
            self._unsaved[change.rule.name] = change.rule
            if change.is_taken_up:
                logger.info("Rule taken up: %s (%s)", change.rule.text, change.evidence)
            else:
                logger.info("Rule withdrawn: %s (%s)", change.rule.text, change.evidence)
                self._count("url_rules/withdrawn", 1)

    async def _work(self) -> None:
        """What follows from rules, bit by bit: pages must not wait for all of it."""
        is_more = True
        try:
            while is_more and self._makes_requests:
                await wait_for(None, 0)
                is_more = False
                if self._learner is not None:
                    is_more = self._learner.process_pending(_LOOKED_AT)
                    self._wanted.extend(self._learner.take_wanted())
                is_more |= self._make(_MADE)
        finally:
            self._is_at_work = False

    def _make(self, most: int) -> bool:
        """Make so many of the requests that are wanted after all; are there more?"""
        engine = engine_of(self._crawler)
        spider = None if engine is None else engine.spider
        if engine is None or spider is None or not self._makes_requests:
            return False
        for _ in range(min(most, len(self._wanted))):
            wanted = self._wanted.popleft()
            try:
                request = wanted if isinstance(wanted, Request) else held.unpack(wanted, spider)
            except ValueError as error:
                self._let_go("from an earlier run", error)
                continue
            self._count("url_rules/refetched", 1)
            engine.crawl(request.replace(dont_filter=True))
        return bool(self._wanted)

    def _count_by_rule(self, what: str, rule: UrlRule) -> None:
        self._count(f"url_rules/{what}", 1)
        if rule.name in self._counted or len(self._counted) < _MAX_COUNTED_RULES:
            self._counted.add(rule.name)
            self._count(f"url_rules/{what}/{rule.name}", 1)
        else:
            self._count(f"url_rules/{what}/others", 1)


async def _told(memory: StoreClient, call: Callable[[], None]) -> bool:
    """Did the store take it?"""

    def told() -> bool:
        call()
        return True

    return bool(await memory.advise(told))


def _may_skip(request: Request) -> bool:
    """May this, which is a ``GET`` without a body, be passed over?"""
    return not request.dont_filter and not request.meta.get("is_start_request")


def _urls(request: Request) -> Iterator[str]:
    """The addresses that led to a request's page."""
    yield request.url
    yield from request.meta.get("redirect_urls") or ()


def _urls_for_good(request: Request) -> Iterator[str]:
    """Those of them from which only permanent redirects led on."""
    yield request.url
    urls, reasons = (request.meta.get(f"redirect_{what}") or () for what in ("urls", "reasons"))
    if len(urls) == len(reasons):
        for url, reason in zip(reversed(urls), reversed(reasons), strict=True):
            if reason not in _FOR_GOOD:
                return
            yield url
