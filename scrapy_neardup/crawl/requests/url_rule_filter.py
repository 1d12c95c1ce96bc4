"""Skips requests by rules that are learned from other URLs of their sites.

Skipped requests are made after all when the page for which they were skipped fails, or a rule is
withdrawn: a few at a time, in this run or in the next. Scrapy's ``requests.seen`` contains them,
and its queue does not, so without a file of their own they would be lost at the end of a run. The
file is written when a run ends cleanly; after another end the job is recovered as a whole, see
:mod:`~scrapy_neardup.crawl.durability.job`.
"""

from __future__ import annotations

import logging
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.http import Request, Response
from scrapy.utils.request import request_from_dict

from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...url_rules.learner import Learner
from ...url_rules.rule import UrlRule
from ..async_bridge import engine_of, start, wait_for
from ..durability.job import Job
from ..responses import page_links
from ..settings import Policy, UrlRuleSettings
from ..store_client import StoreClient

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: Seconds after which the rules of other workers are loaded again.
_LOAD_SECONDS = 10.0
#: Rules with stats of their own; the others are counted together.
_MAX_COUNTED_RULES = 100
#: What is done at once: URLs that are updated after changes of rules, and requests that are made.
_UPDATED_AT_ONCE, _MADE_AT_ONCE = 100, 20
#: Format of the file for the next run.
_VERSION = 1


class UrlRuleFilter:
    """Decides by rules which requests are skipped, and learns from responses.

    What is skipped is kept, and fetched when the page for which it was skipped fails or is not
    stored, or when the rule is withdrawn.

    :param count: adds to a stat.
    :param learns: whether pages are judged. Else there is nothing to learn from.
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
        if packed and not await client.note(put):
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
        request = response.request
        referer = b"" if request is None else request.headers.get("Referer") or b""
        for url in urls:
            self.learner.observe(
                url,
                content,
                is_duplicate=verdict.is_duplicate,
                depth=response.meta.get("depth", 0),
                parent=referer.decode("latin-1") if verdict.kind == "new" else None,
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


class RefetchQueue:
    """Requests that were skipped and must be made.

    :param count: adds to a stat.
    :param learner: the source of requests.
    :param skips: else requests that the last run of the job skipped are made.
    :param job: keeps from one run to the next what was skipped.
    """

    def __init__(
        self,
        crawler: Crawler,
        count: Callable[[str, int], None],
        learner: Learner,
        job: Job | None,
        *,
        skips: bool,
    ) -> None:
        self._learner = learner
        self._crawler = crawler
        self._count = count
        self._job = job
        self._skips = skips
        #: Requests, as they are or packed.
        self._requests: deque[Request | bytes] = deque()
        self._is_stopped = False
        self._is_working = False

    def __len__(self) -> int:
        return len(self._requests)

    def load(self) -> None:
        """Take over what the last run of the job left."""
        if self._job is None:
            return
        try:
            learned, refetches = read_left(self._job.held)
        except (OSError, ValueError) as error:
            # The next run can only recover from a run that is not marked as ended cleanly.
            self._job.fail()
            logger.error(
                "%s cannot be read: %s. Requests that URL rules skipped in the last run are lost, "
                "as requests.seen contains them. Stop this run, and start it again with "
                "NEARDUP_RECOVER = True: it makes all requests again, and stores no unchanged "
                "page again",
                self._job.held,
                (isinstance(error, OSError) and error.strerror) or error,
            )
            return
        self._requests.extend(refetches)
        if self._skips:
            self._learner.resume(learned)
        else:
            self._requests.extend(request for _, request in learned.get("kept", ()))

    def save(self) -> None:
        """Leave what was not made, and what was skipped, to the next run of the job."""
        if self._job is None or not self._job.is_ours:
            return
        learned: dict[str, Any] = {}
        if self._skips:
            self._requests.extend(self._learner.take_refetches())
            learned = self._learner.state(self._packed)
        refetches = [packed for request in self._requests if (packed := self._packed(request))]
        try:
            write_left(self._job.held, learned, refetches)
        except OSError as error:
            self._job.fail()
            logger.error("Skipped requests cannot be kept for the next run: %s", error)

    def stop(self) -> None:
        """Make no more requests: the scheduler is closed."""
        self._is_stopped = True

    def process(self) -> None:
        """Make some requests, and the others in later turns of the event loop."""
        self._requests.extend(self._learner.take_refetches())
        is_more = self.make(_MADE_AT_ONCE) or self._learner.has_pending
        if is_more and not self._is_working:
            self._is_working = True
            start(self._work())

    def make(self, most: int) -> bool:
        """Make so many requests, at most, and return whether there are more."""
        engine = engine_of(self._crawler)
        spider = None if engine is None else engine.spider
        if engine is None or spider is None or self._is_stopped:
            return False
        for _ in range(min(most, len(self._requests))):
            request = self._requests.popleft()
            if isinstance(request, bytes):
                try:
                    request = request_from_dict(pickle.loads(request), spider=spider)
                except ValueError as error:  # the spider has no such callback any more
                    self._drop("from an earlier run", error)
                    continue
            self._count("url_rules/refetched", 1)
            engine.crawl(request.replace(dont_filter=True))
        return bool(self._requests)

    async def _work(self) -> None:
        """Process all that is left, a part in each turn of the event loop: pages must not wait."""
        is_more = True
        try:
            while is_more and not self._is_stopped:
                await wait_for(None, 0)
                is_more = self._learner.process_pending(_UPDATED_AT_ONCE)
                self._requests.extend(self._learner.take_refetches())
                is_more |= self.make(_MADE_AT_ONCE)
        finally:
            self._is_working = False

    def _packed(self, request: Request | bytes) -> bytes | None:
        """Return a request as bytes, packed as by Scrapy's own disk queues."""
        if isinstance(request, bytes):
            return request
        assert self._crawler.spider is not None
        try:
            return pickle.dumps(request.to_dict(spider=self._crawler.spider), protocol=4)
        except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
            self._drop(request, error)  # its callback is a lambda, for example
            return None

    def _drop(self, request: object, error: Exception) -> None:
        """Drop what cannot be packed, as Scrapy's own queues do."""
        logger.warning("A skipped request is lost, %s: %s", request, error)
        self._count("url_rules/let_go", 1)


def read_left(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """Return what the last run left; nothing where there is no such file.

    :returns: see :meth:`~scrapy_neardup.url_rules.learner.Learner.state`, with packed requests; and
        packed requests that must be made.
    :raises OSError: when the file cannot be read.
    :raises ValueError: when it is damaged, or of another format.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}, []
    try:
        version, learned, refetches = pickle.loads(content)
    except Exception as error:  # whatever broken bytes make of the unpickler
        raise ValueError(f"it is damaged ({error!r})") from error
    if version != _VERSION:
        raise ValueError(
            f"it has format {version!r}, from another scrapy-neardup than this one, which reads "
            f"format {_VERSION}"
        )
    return learned, refetches


def write_left(path: Path, learned: dict[str, Any], refetches: list[bytes]) -> None:
    """Replace what the last run left, atomically; see :func:`read_left`.

    :raises OSError: when it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        pickle.dump((_VERSION, learned, refetches), file, protocol=4)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
