"""What spares a crawl fetches: URLs known to lead to a duplicate, and rules learned from others.

What is skipped by a rule is kept, and fetched after all when the page for whose sake it was
skipped fails or is not stored, or when the rule is withdrawn.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK

from .config import LearningPlan, Policy
from .judgement import Verdict
from .known_urls import KnownUrls
from .learning.learner import Learner
from .learning.rules import UrlRule
from .links import page_links
from .remembering import CrawlMemory
from .urls import page_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: Seconds between two looks at what other workers learned.
_LOOK_SECONDS = 30.0
#: Rules with stats of their own; the rest are counted together.
_MAX_COUNTED_RULES = 100


class Sparing:
    """Decides on requests, and learns from what came of them.

    :param plan: what is to be learned, and what is to follow.
    :param learns: are pages judged? Else there is nothing to learn from.
    :param count: adds to a stat.
    """

    def __init__(
        self,
        crawler: Crawler,
        plan: LearningPlan,
        count: Callable[[str, int], None],
        *,
        learns: bool,
    ) -> None:
        self._crawler = crawler
        self._plan = plan
        self._count = count
        self._learns = learns and plan.learn != "off"
        self._learner: Learner | None = None
        self._known = KnownUrls(plan.known_ttl, time.time)
        self._unsaved: dict[str, UrlRule] = {}
        self._counted: set[str] = set()
        self._looked_at = 0.0

    # --- the store --------------------------------------------------------------------------

    async def open(self, memory: CrawlMemory) -> None:
        """Begin with what the store knows."""
        store = memory.store
        since = self._known.since
        known = await memory.advise(lambda: store.known_duplicates(since))
        if known is not None:
            self._known.open(store.secret, known)
        if self._learns:
            seed = int.from_bytes(store.secret[-8:], "little")
            self._learner = Learner(self._plan.explore, self._plan.cluster_budget, seed)
            await self._load(memory)

    async def look_around(self, memory: CrawlMemory) -> None:
        """Tell the store what was learned, and look what others did."""
        store = memory.store
        digests = self._known.take_unsaved(memory.confirmed)
        seen_at = int(time.time())
        if len(digests) and not await _told(
            memory, lambda: store.note_duplicates(digests, seen_at)
        ):
            self._known.put_back(digests)
        unsaved, self._unsaved = self._unsaved, {}
        packed = {name: rule.to_bytes() for name, rule in unsaved.items()}
        if packed and not await _told(memory, lambda: store.put_rules(packed)):
            self._unsaved = {**unsaved, **self._unsaved}
        if store.is_remote and time.monotonic() - self._looked_at > _LOOK_SECONDS:
            await self._load(memory)
            self._follow_up()

    async def close(self, memory: CrawlMemory) -> None:
        """Tell the store the rest, and say what came of it."""
        if self._learner is not None:
            in_force = self._learner.in_force
            self._unsaved.update((rule.name, rule) for rule in in_force)
            self._count("learn/rules", len(in_force))
            self._count("learn/let_go", self._learner.let_go)
            self._count("learn/unlearned", self._learner.unlearned)
        self._looked_at = time.monotonic()
        await self.look_around(memory)

    async def _load(self, memory: CrawlMemory) -> None:
        assert self._learner is not None
        self._looked_at = time.monotonic()
        rules = await memory.advise(memory.store.rules)
        if rules and (unread := self._learner.load(rules)):
            logger.warning("%d rules in the store cannot be read, and are passed over", unread)

    # --- requests ---------------------------------------------------------------------------

    def refuses(self, request: Request, policy: Policy) -> UrlRule | bool:
        """Is it not to be made? By which rule, if it is by one.

        What may mean nothing gets a lower priority, so that fewer fetches teach more.
        """
        for_other = request.meta.get("redirect_urls") is not None
        refusal: UrlRule | bool = self._leads_to_duplicate(request)
        if not refusal and self._skips(policy) and self._may_skip(request):
            assert self._learner is not None
            decision = self._learner.decide(request.url)
            request.priority -= decision.delay
            if decision.action == "skip":
                self._learner.keep(request.url, decision.rules, request)
                refusal = decision.rules[0]
        if refusal and for_other:
            self.redirected(request)
        return refusal

    def begins(self, request: Request, policy: Policy | None) -> UrlRule | None:
        """It is about to be fetched, unless it has become superfluous since it was scheduled.

        :param policy: what applies to it; ``None`` when it is not judged.
        """
        learner = self._learner
        if learner is None or request.method != "GET" or request.callback is NO_CALLBACK:
            return None
        if policy is not None and self._may_skip(request):
            decision = learner.decide(request.url)
            if decision.action == "skip" and self._skips(policy):
                learner.keep(request.url, decision.rules, request)
                return decision.rules[0]
            if decision.action == "skip":
                self._count_by_rule("would_skip", decision.rules[0])
            elif decision.action == "explore" and self._skips(policy):
                self._count_by_rule("explored", decision.rules[0])
        learner.begin(request.url)
        return None

    def count_skipped(self, rule: UrlRule) -> None:
        """Count a request that a rule held back."""
        self._count_by_rule("skipped", rule)

    def redirected(self, request: Request) -> None:
        """A redirect led to what is not fetched again."""
        for url in request.meta.get("redirect_urls", ()):
            if self._learner is not None:
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
        if self._learner is not None and self._learner.end():
            self._follow_up()

    # --- pages ------------------------------------------------------------------------------

    def judged(self, response: Response, verdict: Verdict) -> None:
        """Learn from a page."""
        learner, request = self._learner, response.request
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

    def remember(self, request: Request | None, mark: int) -> None:
        """This request, and those that were redirected to it, led to a duplicate.

        :param mark: of the store, behind the original.
        """
        if request is not None and request.method == "GET":
            for url in _urls(request):
                self._known.add(url, mark)

    # --- what follows -----------------------------------------------------------------------

    def _leads_to_duplicate(self, request: Request) -> bool:
        return request.method == "GET" and not request.body and request.url in self._known

    def _may_skip(self, request: Request) -> bool:
        return (
            self._learner is not None
            and request.method == "GET"
            and not request.dont_filter
            and not request.body
            and not request.meta.get("is_start_request")
        )

    def _skips(self, policy: Policy) -> bool:
        """A duplicate that would be stored all the same is wanted."""
        return self._plan.learn == "on" and policy.action == "drop"

    def _follow_up(self) -> None:
        """Say what changed, and make the requests that are wanted after all."""
        assert self._learner is not None
        for change in self._learner.take_changes():
            self._unsaved[change.rule.name] = change.rule
            if change.is_taken_up:
                logger.info("Rule taken up: %s (%s)", change.rule.text, change.evidence)
            else:
                logger.info("Rule withdrawn: %s (%s)", change.rule.text, change.evidence)
                self._count("learn/withdrawn", 1)
        engine = self._crawler.engine
        for request in self._learner.take_wanted():
            if engine is not None and engine.spider is not None:
                self._count("learn/refetched", 1)
                engine.crawl(request.replace(dont_filter=True))

    def _count_by_rule(self, what: str, rule: UrlRule) -> None:
        self._count(f"learn/{what}", 1)
        if rule.name in self._counted or len(self._counted) < _MAX_COUNTED_RULES:
            self._counted.add(rule.name)
            self._count(f"learn/{what}/{rule.name}", 1)
        else:
            self._count(f"learn/{what}/others", 1)


async def _told(memory: CrawlMemory, call: Callable[[], None]) -> bool:
    """Did the store take it?"""

    def told() -> bool:
        call()
        return True

    return bool(await memory.advise(told))


def _urls(request: Request) -> Iterator[str]:
    """The addresses that led to a request's page."""
    yield request.url
    yield from request.meta.get("redirect_urls", ())
