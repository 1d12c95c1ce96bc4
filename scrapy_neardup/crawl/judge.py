"""The judge of a crawl, one for each crawler.

The middleware, the pipeline and the dupefilter share it. It decides, counts and logs; they
act on what it says.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Container
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from scrapy import signals as scrapy_signals
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.http import Request, Response
from scrapy.utils.asyncio import create_looping_call

from .. import signals
from ..detector import NearDupDetector
from ..exceptions import InvalidOption, StoreError
from ..matching.stored_items import NO_ITEMS
from ..matching.verdict import Verdict
from ..signatures.signature import PageSignature
from ..sources.record import Record
from ..stores import Claim, Store, Ticket, open_store
from ..url_rules.rule import UrlRule
from ..workers import Failure, WorkersFailedError
from .async_bridge import in_thread, start
from .backpressure import Throttle
from .feed_durability import Feeds
from .items.built_items import BuiltItems, Place
from .items.item_origins import ItemOrigin, has_origins
from .items.item_tracker import ItemTracker, Judgement
from .items.pending_claim import PendingClaim
from .job_journal import JobJournal, begun
from .job_state import Job, recover_where_asked
from .monitoring.crawl_log import CrawlLog
from .monitoring.start_errors import close_unstarted, log_start_error
from .page_signing import PageSigning, require_parts
from .report_recorder import ReportRecorder
from .requests.request_filter import RequestFilter
from .response_records import item_record, page_record, why_not_judged
from .scrapy_versions import engine_of
from .settings import META_KEY, Config, Policy, item_origin, request_policy, unknown_settings
from .store_client import StoreClient
from .switches import is_off

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider
    from typing_extensions import Self

logger = logging.getLogger(__name__)

#: Between two looks at what the feeds have on disk: what a kill may cost.
_TICK_SECONDS = 2.0
#: Crawls of this process that have begun and not ended.
_n_crawls = 0
_UNWRITTEN = "A feed cannot be written, its pages stay unconfirmed: %s"


class NearDupJudge:
    """Scrapy extension that holds a crawl's detector and its settings."""

    def __init__(self, crawler: Crawler, config: Config, job: Job | None = None) -> None:
        require_parts(config)
        self.config = config
        #: What is judged with; ``None`` until the spider is opened.
        self.detector: NearDupDetector | None = None
        #: Where pages wait before they come to their callbacks.
        self.throttle = Throttle(config.workers)
        #: Filters requests that are expected to yield nothing new.
        self.request_filter = RequestFilter(
            crawler, config.learning, self._count, learns=config.item_field is None, job=job
        )
        self._crawler = crawler
        self._job = job
        self._journal: JobJournal | None = None
        self._signing: PageSigning | None = None
        self._memory: StoreClient | None = None
        self._feeds: Feeds | None = None
        self._reporting: ReportRecorder | None = None
        self._log = CrawlLog(config)
        self._ticking: Any = None
        self._built_items = BuiltItems(self._judge_origin, self._count, self.warn_once)
        self._items = ItemTracker(
            by_item=config.item_field is not None, on_stored=self._built_items.stored
        )
        self._warned: set[str] = set()
        self._is_closing = False
        self._has_failed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the judge from the settings and the spider argument ``neardup``.

        :raises InvalidOption: when either says what cannot be.
        :raises NotConfigured: when one of them switches the judge off.
        """
        try:
            config = Config.from_settings(crawler.settings)
            if is_off(crawler, config):
                logger.info("Off for this run: near-duplicate pages are stored")
                raise NotConfigured
            job = None if config.job is None else Job(config.job)
            recover_where_asked(config, job)
            judge = cls(crawler, config, job)
        except InvalidOption as error:
            log_start_error(error)
            raise
        for handler, signal in (
            (judge.spider_opened, scrapy_signals.spider_opened),
            (judge.item_scraped, scrapy_signals.item_scraped),
            (judge._items.lost, scrapy_signals.item_dropped),
            (judge._items.lost, scrapy_signals.item_error),
            (judge.feeds_closed, scrapy_signals.feed_exporter_closed),
            (judge.request_filter.idle, scrapy_signals.spider_idle),
            (judge.spider_closed, scrapy_signals.spider_closed),
            (judge.engine_stopped, scrapy_signals.engine_stopped),
        ):
            crawler.signals.connect(handler, signal=signal)
        return judge

    def may_judge(self, request: Request, response: Response) -> bool:
        """Will this page, or its items, be judged if its callback yields anything?"""
        by_page = self.config.item_field is None
        return not (by_page and why_not_judged(response)) and isinstance(
            self._policy_for(request), Policy
        )

    async def judge_page(self, response: Response) -> Judgement | None:
        """Judge a response; ``None`` when it is passed through, which is counted."""
        policy = why_not_judged(response) or self._policy_for(response.request)
        if isinstance(policy, str):
            self.pass_page(policy, response)
            return None
        self._count("responses")
        judgement = await self._judge(page_record(response), policy, ref(response))
        self._count(f"pages/{judgement.verdict.kind}")
        self._count("links_seen", judgement.knows_links)
        self._count("bytes/judged", len(response.body))
        self._count("bytes/duplicate", judgement.verdict.is_duplicate * len(response.body))
        self._send(signals.page_judged, verdict=judgement.verdict, response=response)
        if self._reporting is not None:
            self._reporting.judged(judgement.verdict, len(response.body))
        if not judgement.knows_links:
            self.request_filter.judged(response, judgement.verdict)
        if judgement.refuses_requests and not self._carries_on(response.request):
            assert self._memory is not None
            mark = self._memory.store.mark()
            self.request_filter.remember(response.request, judgement.verdict, mark)
        if judgement.pending is not None:
            self._items.judged(response, judgement.pending, self._active_requests())
        return judgement

    def arrived(self, response: Response) -> None:
        """A response comes to its callback, with values that its request carries."""
        if self.config.item_field is None:
            self._built_items.arrived(response, self._item_origin(response.request))

    def note_origins(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Note on a request of a page which pages its values are from; does it carry any?"""
        judged_by = self._item_origin(request)
        return self._built_items.note_origins(request, response, judgement, judged_by)

    async def send_from_page(
        self, item: Any, response: Response, page: Judgement | None, place: Place
    ) -> None:
        """Note on an item what decides on it: its page, or the page where it began."""
        policy = self._policy_for(response.request)
        if isinstance(policy, str):
            self._items.send(item, page)
            return
        decided = await self._built_items.judge(item, response, page, policy, place)
        if decided.share is not None:
            self._items.shares(response, decided.share, self._active_requests())
        self._items.send(item, decided.judgement, decided.items, decided.share, decided.digest)

    def pass_page(self, reason: str, response: Response | None = None) -> None:
        """Count a response that nothing came of, so that there was nothing to judge for."""
        self.throttle.settle()
        self.request_filter.failed(None if response is None else response.request)
        if response is not None:
            self.request_filter.passed(response)
        self._count("responses")
        self._count(f"skipped/{reason}")

    async def judge_item(self, item: Any, place: int, response: Response) -> Judgement | None:
        """Judge an item by its field; ``None`` when its request switched that off.

        :param place: 1 for the first item of the response. An item is taken for the same again,
            not for a duplicate, when it comes from the same place of the same page.
        """
        policy = self._policy_for(response.request)
        if isinstance(policy, str):
            self._count(f"skipped/{policy}")
            return None
        field = self.config.item_field
        assert field is not None
        record = item_record(f"{response.url}#item-{place}", item, field)
        judgement = await self._judge(record, policy)
        self._count(f"judged_items/{judgement.verdict.kind}")
        self._send(signals.item_judged, verdict=judgement.verdict, item=item, response=response)
        if self._reporting is not None:
            self._reporting.judged(judgement.verdict)
        if judgement.pending is not None:
            self._items.judged(response, judgement.pending, self._active_requests())
        return judgement

    def send_along(self, item: Any, judgement: Judgement | None) -> None:
        """Note the judgement on an item for the pipeline."""
        self._items.send(item, judgement)

    def receive(self, item: Any) -> Judgement | None:
        """The judgement that was noted for an item; ``None`` when there is nothing to do."""
        try:
            return self._items.receive(item)
        except KeyError:
            self._count("items/unjudged")
            return None

    def count_item(self, outcome: str) -> None:
        """Count what became of an item: ``kept``, ``dropped``, ``tagged``, ``reported`` …"""
        self._count(f"items/{outcome}")

    def count_link_skipped(self) -> None:
        """Count a link of a duplicate page that was not followed."""
        self._count("links/skipped")

    def refuses(self, request: Request) -> UrlRule | bool:
        """Is this request known to bring nothing new? By which rule, if it is by one."""
        policy = self._policy_for(request)
        if not isinstance(policy, Policy) or self._carries_on(request):
            return False
        return self.request_filter.refuses(request, policy)

    def should_cancel(self, request: Request) -> UrlRule | bool:
        """It is about to be fetched. Is it superfluous by now? By which rule, if it is by one."""
        policy = self._policy_for(request)
        if isinstance(policy, Policy) and not self._carries_on(request):
            return self.request_filter.should_cancel(request, policy)
        return self.request_filter.should_cancel(request, None)

    def count_request_refused(self) -> None:
        """Count a request that the dupefilter refused for what is known of its URL."""
        self._count("requests/refused")

    def warn_once(self, kind: str, message: str, *args: Any, exc_info: bool = False) -> None:
        """Log the first warning of a kind; the rest are only counted."""
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning(message, *args, exc_info=exc_info)

    async def open_store(self) -> None:
        """Open the store while pipelines are opened: Scrapy fails a crawl for what they raise.

        :raises Exception: when the store cannot be used; that was logged.
        """
        assert self._crawler.spider is not None
        try:
            detector = await self._open(self._crawler.spider)
        except Exception as error:
            self._has_failed = True
            await close_unstarted(self._crawler, error, "neardup_store")
            raise
        if self._has_failed:
            await in_thread(detector.store.close)
        else:
            self.detector = detector

    async def spider_opened(self, spider: Spider) -> None:
        """Start the workers; open the store if no pipeline did.

        :raises CloseSpider: when the store cannot be used.
        """
        if self._has_failed:
            return
        try:
            if self.detector is None:
                self.detector = await self._open(spider)
            await self._begin_job(self.detector.store)
        except Exception as error:
            self.detector = None
            log_start_error(error)
            self._close_spider("neardup_store")
            raise CloseSpider("neardup_store") from error
        plan = self.config.memory
        note = (lambda key: None) if self._journal is None else self._journal.note
        self._memory = StoreClient(self.detector, plan.max_wait, self._store_failed, note)
        await self.request_filter.open(self._memory)
        self._reporting = ReportRecorder.of(self.config, spider.name)
        self._signing = PageSigning(
            {"secret": self.detector.store.secret, **self.config.parts},
            self.config.page_limits,
            self.config.workers,
            self.config.limits,
            self.throttle,
            reporting=self._reporting,
        )
        self._signing.start()
        self._ticking = create_looping_call(lambda: start(self._look_around()))
        self._ticking.start(_TICK_SECONDS, now=False)
        _freeze()
        for complaint in unknown_settings(self._crawler.settings):
            logger.warning("%s", complaint)
        if forgotten := self.detector.store.forgotten:
            self._count("store/forgotten", forgotten)
        self._log.begin(self.detector)

    def item_scraped(self, item: Any, response: Any, spider: Spider) -> None:
        """An item has passed all pipelines, and is stored unless a feed does not take it."""
        if self._feeds is None or self._feeds.export(item, spider):
            self._items.stored(item, response)
        else:
            self._items.lost(item, response)

    def feeds_closed(self) -> None:
        """Not all that was committed is on disk when a feed could not be stored."""
        if self._memory is None or self._feeds is None:
            return
        if not self._feeds.are_stored:
            logger.warning(
                "A feed could not be stored: pages committed since the last time that all feeds "
                "were on disk will be forgotten, so that they are stored again"
            )

    async def spider_closed(self, spider: Spider) -> None:
        if self._signing is None or self._memory is None:
            # Another component has failed to start.
            self._has_failed = True
            if self.detector is not None:
                await in_thread(self.detector.store.close)
            return
        self._ticking.stop()
        self._signing.stop()
        self._count("equal_bodies", self._signing.spared)
        self._count("workers_lost", self._signing.workers_lost)
        self._count("waits", self._memory.waits)
        self.request_filter.count_learned()
        assert self._crawler.stats
        self._crawler.stats.set_value("neardup/seconds", self._memory.seconds)
        report = None if self._reporting is None else self._reporting.path
        self._log.end(self._crawler.stats, self._memory.store, report)

    async def engine_stopped(self) -> None:
        """The last that is heard of a crawl: feeds have been closed by now."""
        if self._memory is None:
            return
        _unfreeze()
        self._items.end_all()
        are_stored = self._feeds is None or await self._are_on_disk(self._feeds)
        if are_stored:
            self._memory.confirm(self._memory.mark())
        await self.request_filter.close(self._memory, is_clean=are_stored)
        try:
            await self._memory.close(confirmed=are_stored)
        except StoreError as error:
            logger.error("Not all pages could be remembered: %s", error)
        self._count("store/added_later", self._memory.added)
        lost = self._memory.let_go + self._memory.backlog
        self._count("store/not_remembered", lost)
        if lost:
            logger.error("%d pages were stored that the store did not come to know of", lost)
        if self._job is not None and are_stored:
            self._job.end()
        if self._reporting is not None:
            await in_thread(self._reporting.finish)

    async def _open(self, spider: Spider) -> NearDupDetector:
        """The detector with its store, which may take long to open."""
        plan = self.config.memory
        if not isinstance(plan.store, str):
            return NearDupDetector(**self.config.parts, store=plan.store)
        namespace = plan.namespace
        if namespace is None and plan.store != "memory":
            namespace = spider.name
        address: str = plan.store
        return await in_thread(
            lambda: NearDupDetector(
                **self.config.parts,
                store=open_store(address, namespace, plan.ttl, self.config.policy.rule.scope),
            )
        )

    async def _begin_job(self, store: Store) -> None:
        """Begin a run of the job; pages are forgotten whose items this run's feeds cut off.

        :raises OSError: when the job's journal cannot be read or written.
        :raises StoreError: when the store does not forget them.
        """
        self._feeds = Feeds.of(self._crawler)
        if self._job is None or not self._job.begin():
            return
        targets = [] if self._feeds is None else self._feeds.targets()
        try:
            self._journal, forgotten = await in_thread(partial(begun, self._job, store, targets))
        except BaseException:
            self._job.fail()
            self._job.end()
            await in_thread(store.close)
            raise
        self._count("store/overwritten", forgotten)

    async def _look_around(self) -> None:
        """From time to time: does the store write, and what do feeds have on disk?"""
        assert self._memory is not None
        store = self._memory.store
        self._items.let_go(self._active_requests())
        if store.problem is not None:
            self._store_failed(StoreError(store.name, f"{store.problem}; it is tried again"))
        await self.request_filter.sync(self._memory)
        mark = self._memory.mark()
        if self._feeds is None:
            self._memory.confirm(mark)
            return
        save = None if self._journal is None else self._journal.saving()
        try:
            synchronise = self._feeds.flush()
            if synchronise is not None:
                await in_thread(synchronise)
                if save is not None:
                    await in_thread(save)
                self._memory.confirm(mark)
        except OSError as error:
            self.warn_once("feed", _UNWRITTEN, error)

    async def _are_on_disk(self, feeds: Feeds) -> bool:
        """Are the feeds, which have been closed? The system may still have to write them."""
        try:
            if feeds.are_stored:
                await in_thread(feeds.complete())
                if self._journal is not None:
                    await in_thread(self._journal.saving())
        except OSError as error:
            self.warn_once("feed", _UNWRITTEN, error)
            return False
        return feeds.are_stored

    async def _judge_origin(self, signature: PageSignature, policy: Policy) -> Judgement:
        """The judgement on a page for an item that began on it; nothing is counted for the page."""
        claim = Claim(Verdict("undecided", signature.url, "failed"))
        try:
            assert self._memory is not None
            claim = await self._memory.claim(signature, policy.rule)
        except Exception as error:
            # The page was signed in another way in an earlier run, or the store fails.
            self.warn_once(
                "origin", "Cannot judge where an item of %s began: %r", signature.url, error
            )
        return self._judgement(claim, policy, signature)

    async def _judge(
        self, record: Record, policy: Policy, page: ReferenceType[Response] | None = None
    ) -> Judgement:
        """A judgement whatever happens: a page that something fails on is undecided, and kept.

        :param page: to learn from when its outcome is known.
        """
        signature = None
        try:
            signature, claim = await self._claim(record, policy)
        except WorkersFailedError as error:
            claim = Claim(self._undecided(record, Failure("no_worker", str(error))))
        except Exception as error:
            # A store of the user's own may raise anything.
            failure = Failure("failed", repr(error))
            claim = Claim(self._undecided(record, failure, exc_info=True))
        if claim.verdict.kind == "undecided":
            self._count(f"undecided/{claim.verdict.reason}")
        elif claim.verdict.kind == "revisit":
            self._count(f"revisits/{claim.verdict.reason}")
        memory = self._memory
        text = None if memory is None else memory.text_digest(claim.ticket)
        if (cluster := self._log.judged(claim.verdict, text)) is not None:
            self._send(signals.duplicate_flood_detected, cluster=cluster)
        shown = claim.verdict.original_text or text
        if shown is not None and self._log.is_flood(claim.verdict, text):
            self.request_filter.flooded(shown)
        return self._judgement(claim, policy, signature, page)

    def _judgement(
        self,
        claim: Claim,
        policy: Policy,
        signature: PageSignature | None,
        page: ReferenceType[Response] | None = None,
    ) -> Judgement:
        """What follows from a claim; one that nothing hangs on is released."""
        if self._was_stored_before(claim):
            policy = replace(policy, revisit="drop")
        judgement = Judgement(claim.verdict, policy, signature=signature, items=claim.items)
        if claim.ticket is None:
            return judgement
        assert self._memory is not None
        if judgement.is_superfluous:
            self._memory.settle(claim.ticket, None)
            return judgement
        settle = partial(self._settle, claim.ticket, judgement, page)
        return replace(judgement, pending=PendingClaim(settle))

    def _was_stored_before(self, claim: Claim) -> bool:
        """Is everything fetched again, and was this page stored by the job before that?"""
        if self._journal is None or self._job is None or not self._job.is_recovered:
            return False
        assert self._memory is not None
        key = self._memory.key(claim.ticket)
        return claim.verdict.kind == "revisit" and key is not None and key in self._journal

    async def _claim(self, record: Record, policy: Policy) -> tuple[PageSignature | None, Claim]:
        if self._signing is None or self._memory is None:
            raise WorkersFailedError("the store was not opened")
        signature = await self._signing.sign(record)
        if isinstance(signature, Failure):
            return None, Claim(self._undecided(record, signature))
        claim = await self._memory.claim(signature, policy.rule)
        if claim.verdict.reason == "waited":
            self._undecided(record, Failure("waited", "a near-duplicate's storing takes too long"))
        return signature, claim

    def _settle(
        self,
        ticket: Ticket,
        judgement: Judgement,
        page: ReferenceType[Response] | None,
        items: int | None,
    ) -> None:
        """The outcome of a claim is known."""
        assert self._memory is not None
        if items is None:
            self.request_filter.lost(judgement.verdict.url)
        if judgement.knows_links:
            self._learn_late(judgement.verdict, page, items)
            # A page of the same links is remembered already.
            items = items or None
        self._memory.settle(ticket, items, confirmed=self._feeds is None)
        if self._feeds is None and not self._memory.store.is_remote:
            self._memory.confirm(self._memory.mark())

    def _learn_late(
        self, verdict: Verdict, page: ReferenceType[Response] | None, items: int | None
    ) -> None:
        """Learn from a page that is a copy only if it yielded no item either."""
        response = None if page is None else page()
        if response is None:
            return
        if items == NO_ITEMS:
            verdict = replace(verdict, kind="duplicate", duplicate_of=verdict.links_seen_at)
        self.request_filter.judged(response, verdict)

    def _active_requests(self) -> Container[Request]:
        """Requests whose responses are in their callbacks, or their items in the pipelines."""
        slot = getattr(getattr(engine_of(self._crawler), "scraper", None), "slot", None)
        return () if slot is None else slot.active

    def _store_failed(self, error: StoreError) -> None:
        self._count("store/errors")
        if self.config.memory.on_store_error == "stop":
            logger.error("Closing the spider: %s", error)
            self._close_spider("neardup_store")
        else:
            self.warn_once(
                "store",
                "%s; pages are kept, and remembered when it is back (more of this is counted)",
                error,
            )

    def _close_spider(self, reason: str) -> None:
        assert self._crawler.engine is not None
        if not self._is_closing:
            self._is_closing = True
            start(self._crawler.engine.close_spider_async(reason=reason))

    def _undecided(self, record: Record, why: Failure, *, exc_info: bool = False) -> Verdict:
        self.warn_once(
            why.reason,
            "Cannot judge <%s>, it is kept: %s, %s (the first of its kind; all are counted)",
            record.url,
            why.reason,
            why.detail,
            exc_info=exc_info,
        )
        return Verdict("undecided", record.url, why.reason)

    def _policy_for(self, request: Request | None) -> Policy | str:
        """What applies to a request, or the reason why it is not to be judged."""
        wish = None if request is None else request.meta.get(META_KEY)
        if wish is None:
            return self.config.policy
        try:
            return request_policy(self.config.policy, wish) or "disabled"
        except InvalidOption as error:
            # To raise here would cost the page; it is kept and not judged.
            self.warn_once("bad_meta", "Not judging %s: %s", request, error)
            return "bad_meta"

    def _carries_on(self, request: Request | None) -> bool:
        """Does it carry an item on that began on another page, and that nothing else yields?"""
        if request is None or self.config.item_field is not None:
            return False
        return self._item_origin(request) != "own" and has_origins(request)

    def _item_origin(self, request: Request | None) -> ItemOrigin:
        """What a request says of where its items begin."""
        wish = None if request is None else request.meta.get(META_KEY)
        try:
            return item_origin(wish)
        except InvalidOption:
            return "auto"  # said when the page is judged

    def _send(self, signal: object, **kwargs: Any) -> None:
        self._crawler.signals.send_catch_log(signal, spider=self._crawler.spider, **kwargs)

    def _count(self, name: str, number: int = 1) -> None:
        assert self._crawler.stats
        if number:
            self._crawler.stats.inc_value(f"neardup/{name}", number)


def _freeze() -> None:
    """What is loaded by now stays until the end of the crawl.

    Each full collection that walks through it holds the event loop for some 0.1 s, and Scrapy's
    tasks make them frequent.
    """
    global _n_crawls  # noqa: PLW0603 (one garbage collector for all)
    _n_crawls += 1
    # Of a crawl before this one: it would be frozen as well, and stay.
    gc.collect()
    gc.freeze()


def _unfreeze() -> None:
    """When no crawl is left, what they had may be collected."""
    global _n_crawls  # noqa: PLW0603
    _n_crawls -= 1
    if not _n_crawls:
        gc.unfreeze()


def find_judge(crawler: Crawler) -> NearDupJudge:
    """The judge of this crawl.

    :raises NotConfigured: when it is switched off, or was never enabled.
    """
    judge = crawler.get_extension(NearDupJudge)
    if judge is not None:
        return judge
    if is_off(crawler, Config.from_settings(crawler.settings)):
        raise NotConfigured
    raise NotConfigured("it needs the add-on, or scrapy_neardup.NearDupJudge in EXTENSIONS")
