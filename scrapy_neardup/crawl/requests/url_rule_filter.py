"""Skips requests by rules that are learned from other URLs of their sites."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from scrapy.http import Request, Response

from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...url_rules.learner import Learner
from ...url_rules.rule import UrlRule
from ..durability.job import Job
from ..responses import page_links
from ..settings import Policy, UrlRuleSettings
from ..store_client import StoreClient
from .refetch_queue import RefetchQueue

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: Seconds after which the rules of other workers are loaded again.
_LOAD_SECONDS = 10.0
#: Rules with stats of their own; the others are counted together.
_MAX_COUNTED_RULES = 100


class UrlRuleFilter:
    """Decides by rules which requests are skipped, and learns from responses.

    What is skipped is kept, and fetched when the page for which it was skipped fails or is not
    stored, or when the rule is withdrawn.

    :param count: adds to a stat.
    :param learns: are pages judged? Else there is nothing to learn from.
    :param job: keeps from one run to the next what was skipped.
    :ivar learns: else all requests are made, and nothing is learned.
    :ivar queue: makes skipped requests after all.
    """

    def __init__(
        self,
        crawler: Crawler,
        plan: UrlRuleSettings,
        count: Callable[[str, int], None],
        *,
        learns: bool,
        job: Job | None,
    ) -> None:
        self.learns = learns and plan.url_rules != "off"
        self._is_on = self.learns and plan.url_rules == "on"
        self.learner = Learner(plan.url_rules_sample_rate, plan.cluster_budget)
        self.queue = RefetchQueue(crawler, count, self.learner, job, skips=self._is_on)
        self._count = count
        self._unsaved: dict[str, UrlRule] = {}
        self._counted: set[str] = set()
        self._loaded_at = time.monotonic()

    def open(self, secret: bytes, rules: Mapping[str, bytes]) -> None:
        """Take over the rules of a store.

        :param secret: of the store; it selects the share of superfluous requests that is made.
        """
        self.learner.crawl.seed = int.from_bytes(secret[-8:], "little")
        self._load(rules)

    def _load(self, rules: Mapping[str, bytes]) -> None:
        if unread := self.learner.load(rules):
            logger.warning("%d rules in the store cannot be read, and are ignored", unread)

    async def sync(self, client: StoreClient) -> None:
        """Save the rules that were learned, and load those of other workers."""
        store, now = client.store, time.monotonic()
        unsaved, self._unsaved = self._unsaved, {}
        packed = {name: rule.to_bytes() for name, rule in unsaved.items()}
        put = partial(store.put_rules, packed)
        if packed and not await client.advise(partial(returning_true, put)):
            self._unsaved = {**unsaved, **self._unsaved}
        if self.learns and store.is_remote and now - self._loaded_at > _LOAD_SECONDS:
            self._loaded_at = now
            self._load(await client.advise(store.rules) or {})
        self.process()

    def close(self) -> None:
        """Let the next call of :meth:`sync` save all rules in force, and load none."""
        self._unsaved.update((rule.name, rule) for rule in self.learner.in_force)
        self._loaded_at = time.monotonic()

    def count_learned(self) -> None:
        """Count what was learned by the end of the crawl."""
        if not self.learns:
            return
        self._count("url_rules/rules", len(self.learner.in_force))
        self._count("url_rules/let_go", self.learner.dropped)
        self._count("url_rules/unlearned", self.learner.urls_ignored)

    def refuse(self, request: Request, policy: Policy) -> UrlRule | None:
        """Return the rule by which a request is skipped, or lower its priority."""
        if not self._skips(policy):
            return None
        decision = self.learner.decide(request.url)
        request.priority -= decision.delay
        if decision.action != "skip":
            return None
        self.learner.keep(decision, request)
        return decision.rules[0]

    def cancel(self, request: Request, policy: Policy) -> UrlRule | None:
        """Return the rule by which a scheduled request is skipped; else count why it is not."""
        if not self.learns:
            return None
        decision, skips = self.learner.decide(request.url), self._skips(policy)
        if decision.action == "skip" and skips:
            self.learner.keep(decision, request)
            return decision.rules[0]
        if decision.action == "skip":
            self.count_by_rule("would_skip", decision.rules[0])
        elif decision.action == "explore" and skips:
            self.count_by_rule("explored", decision.rules[0])
        return None

    def begin(self, url: str) -> None:
        """Note that a URL is being fetched."""
        if self.learns:
            self.learner.begin(url)

    def fail(self, urls: Iterable[str]) -> None:
        """Note that fetches of these URLs yielded nothing."""
        for url in urls:
            self.learner.fail(url)
        self.process()

    def redirect(self, urls: Iterable[str], target: str) -> None:
        """Note that these URLs redirect to one that is not fetched."""
        for url in urls:
            self.learner.redirect(url, target)
        self.process()

    def learn(self, response: Response, urls: Iterable[str], verdict: Verdict) -> None:
        """Learn from a page.

        :param urls: all that led to it.
        """
        if not self.learns:
            return
        links = page_links(response)
        content = page_key(verdict.duplicate_of or verdict.url)
        for url in urls:
            self.learner.observe(
                url,
                content,
                is_duplicate=verdict.is_duplicate,
                depth=response.meta.get("depth", 0),
                canonical=links.canonical,
                alternates=links.alternates,
            )
        self.process()

    def process(self) -> None:
        """Log changes of rules, and make the requests that must be made for them."""
        for change in self.learner.take_changes():
            self._unsaved[change.rule.name] = change.rule
            if change.is_taken_up:
                logger.info("URL rule comes into force: %s (%s)", change.rule.text, change.evidence)
            else:
                logger.info("URL rule withdrawn: %s (%s)", change.rule.text, change.evidence)
                self._count("url_rules/withdrawn", 1)
        self.queue.process()

    def count_by_rule(self, what: str, rule: UrlRule) -> None:
        """Add to a stat, and to that of a rule."""
        self._count(f"url_rules/{what}", 1)
        if rule.name in self._counted or len(self._counted) < _MAX_COUNTED_RULES:
            self._counted.add(rule.name)
            self._count(f"url_rules/{what}/{rule.name}", 1)
        else:
            self._count(f"url_rules/{what}/others", 1)

    def _skips(self, policy: Policy) -> bool:
        """Decide whether requests are skipped: not where duplicates are stored."""
        return self._is_on and policy.action == "drop"


def returning_true(call: Callable[[], None]) -> bool:
    """Call a function that returns nothing, and return ``True`` if it raises no error."""
    call()
    return True
