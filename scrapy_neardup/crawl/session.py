"""The session of a crawl: opens the store, starts the workers, confirms pages, closes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Container
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Request
from scrapy.utils.asyncio import create_looping_call

from .._util import garbage_collection
from ..detector import NearDupDetector
from ..exceptions import SignatureMismatch, StoreError
from ..stores import Store
from .async_bridge import engine_of, in_thread, start
from .backpressure import Throttle
from .containment import CrawlContainment
from .copies.canonical_holds import CanonicalHolds
from .copies.recorder import CopyRecorder
from .durability.feeds import FORGOTTEN_NEXT, ITEMS_LOST, PAGES_LOST, Feeds, warn_of_overwriting
from .durability.job import Job, JobJournal
from .items.item_tracker import ItemTracker
from .monitoring.crawl_log import CrawlLog, CrawlStats
from .monitoring.metrics import MetricsFile
from .monitoring.scripted_sites import ScriptedSites
from .monitoring.spider_logger import SpiderLogger
from .monitoring.start_errors import close_unstarted, log_start_error
from .monitoring.store_outcome import StoreOutcome
from .monitoring.visit_log import VisitLog
from .page_claims import PageClaims
from .page_signing import PageSigning
from .report_recorder import ReportRecorder
from .requests.request_filter import RequestFilter
from .setting_names import warnings_of
from .settings import Config
from .soft_404.detector import Soft404Detector
from .store_client import StoreClient, open_detector

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider

logger = logging.getLogger(__name__)

#: Interval in which written feeds are synchronised; a kill loses the confirmation of that much.
_TICK_SECONDS = 2.0


class CrawlSession:
    """The open resources of one crawl, from ``open_spider`` to ``engine_stopped``.

    :ivar detector: ``None`` until the store is open.
    :ivar store_client: ``None`` until the spider is opened, as are ``signing`` and ``claims``.
    :ivar recorder: ``None`` without a report.
    :ivar metrics: ``None`` unless ``NEARDUP_METRICS`` is set.
    :ivar copies: ``None`` without ``NEARDUP_COPIES`` and ``NEARDUP_ITEM_FIELDS``.
    :ivar containment: ``None`` unless ``NEARDUP_CONTAINMENT`` is set.
    :ivar holds: ``None`` unless ``NEARDUP_PREFER`` is ``"canonical"``.
    :ivar soft_404: ``None`` unless ``NEARDUP_SOFT_404`` is set.
    :ivar journal: ``None`` without a job.
    """

    def __init__(
        self, crawler: Crawler, config: Config, job: Job | None, stats: CrawlStats
    ) -> None:
        self.config = config
        self.stats = stats
        self.detector: NearDupDetector | None = None
        self.store_client: StoreClient | None = None
        self.signing: PageSigning | None = None
        self.claims: PageClaims | None = None
        self.recorder: ReportRecorder | None = None
        self.metrics: MetricsFile | None = None
        self.copies: CopyRecorder | None = None
        self.job = job
        self.journal: JobJournal | None = None
        self.items = ItemTracker(self._active_requests, by_item=config.item_field is not None)
        self.throttle = Throttle(config.workers)
        self.containment: CrawlContainment | None = None
        if config.containment is not None:
            self.containment = CrawlContainment(config.containment)
        learns = config.item_field is None
        self.request_filter = RequestFilter(
            crawler, config.url_rule_settings, stats.count, learns=learns, job=job
        )
        self.log = CrawlLog(config, crawler)
        self._logger = SpiderLogger(logger, crawler)
        self._outcome = StoreOutcome(stats, self._logger)
        self._outlives = config.store_settings.outlives_crawl
        self.visits = VisitLog(is_kept=self._outlives)
        self.scripted_sites = ScriptedSites(stats)
        self.holds: CanonicalHolds | None = None
        if config.prefer == "canonical" and config.item_field is None:
            max_wait = config.store_settings.max_wait
            self.holds = CanonicalHolds(crawler, max_wait, stats.count)
        self.soft_404: Soft404Detector | None = None
        if config.policy.soft_404 != "off":
            self.soft_404 = Soft404Detector(crawler, config, stats, self._forget)
        self._crawler = crawler
        self._feeds: Feeds | None = None
        self._ticking: Any = None
        self._is_closing = False
        self._has_failed = False

    def connect(self) -> None:
        """Connect to Scrapy's signals."""
        if self.soft_404 is not None:
            self.soft_404.connect()
        for handler, signal in (
            (self._spider_opened, signals.spider_opened),
            (self._item_scraped, signals.item_scraped),
            (self.items.lost, signals.item_dropped),
            (self.items.lost, signals.item_error),
            (self._feeds_closed, signals.feed_exporter_closed),
            (self.request_filter.idle, signals.spider_idle),
            (self._spider_closed, signals.spider_closed),
            (self._engine_stopped, signals.engine_stopped),
        ):
            self._crawler.signals.connect(handler, signal=signal)

    @property
    def confirms_at_once(self) -> bool:
        """Whether a page is confirmed as soon as it is committed, because there are no feeds."""
        return self._feeds is None

    def _active_requests(self) -> Container[Request]:
        """Return the requests whose responses or items Scrapy is still processing."""
        slot = getattr(getattr(engine_of(self._crawler), "scraper", None), "slot", None)
        return () if slot is None else slot.active

    async def open_store(self) -> None:
        """Open the store while pipelines are opened: if one of them raises, the crawl fails.

        :raises Exception: when the store cannot be used; it has been logged.
        """
        assert self._crawler.spider is not None
        try:
            detector = await open_detector(self.config, self._crawler.spider.name)
        except Exception as error:
            self._has_failed = True
            await close_unstarted(self._crawler, error, "neardup_store")
            raise
        if self._has_failed:
            await in_thread(detector.store.close)
        else:
            self.detector = detector

    async def _spider_opened(self, spider: Spider) -> None:
        """Start the workers; open the store if no pipeline did.

        :raises CloseSpider: when the store cannot be used, or anything else fails.
        """
        if self._has_failed:
            return
        reason = "neardup_store"
        try:
            if self.detector is None:
                self.detector = await open_detector(self.config, spider.name)
            await self._begin_job(self.detector.store)
            reason = "neardup_start"
            await self._start(self.detector, spider.name)
        except Exception as error:
            # Scrapy would go on, and without the filter all duplicates would be stored.
            log_start_error(error)
            await self._undo_start()
            self._close_spider(reason)
            raise CloseSpider(reason) from error

    async def _start(self, detector: NearDupDetector, spider_name: str) -> None:
        """Start all that works on the opened store, and log that the crawl begins."""
        store = detector.store
        note = (lambda key: None) if self.journal is None else self.journal.note
        max_wait = self.config.store_settings.max_wait
        self.store_client = StoreClient(detector, max_wait, self._store_failed, note)
        if self._feeds is not None:
            self._feeds.watch(self.store_client.unconfirmed, self._feed_lost)
        await self.request_filter.open(self.store_client)
        if self.config.report is not None:
            self.recorder = ReportRecorder(self.config, self.config.report, spider_name)
        urls = self.request_filter.duplicate_urls
        kept = self.store_client if self._outlives else None
        self.copies = await CopyRecorder.opened(self.config, spider_name, urls, self.stats, kept)
        if self.copies is not None:
            self._crawler.signals.connect(self.copies.received, signal=signals.response_received)
        self.signing = PageSigning(self.config, store.secret, self.throttle, self.recorder)
        # All pages of a later crawl may be unchanged; then no page has to be read.
        if not self._outlives:
            self.signing.start()
        self.claims = PageClaims(self.config, self.signing, self.store_client)
        self._ticking = create_looping_call(lambda: start(self._tick()))
        self._ticking.start(_TICK_SECONDS, now=False)
        for warning in warnings_of(self._crawler.settings, self.config):
            self._logger.warning("%s", warning)
        self.stats.count("store/forgotten", store.forgotten)
        self.log.begin(detector)
        self.metrics = MetricsFile.begun(self._crawler, self.config, self.log.floods.named)
        garbage_collection.freeze()

    async def _undo_start(self) -> None:
        """Close what a failed start has opened, so that nothing more is judged or recorded."""
        if self._ticking is not None:
            self._ticking.stop()
        if self.signing is not None:
            self.signing.pool.stop()
        if self.copies is not None:
            await self.copies.close()
        if self.job is not None:
            self.job.fail()
            self.job.end()
        if self.store_client is not None:
            await self.store_client.close()
        elif self.detector is not None:
            await in_thread(self.detector.store.close)
        self.detector = self.store_client = self.signing = self.claims = self.copies = None

    def _item_scraped(self, item: Any, response: Any, spider: Spider) -> None:
        """Note that an item has passed all pipelines: it is stored unless a feed rejects it."""
        if self._feeds is None or self._feeds.export(item, spider):
            self.items.stored(item, response)
        else:
            self.items.lost(item, response)

    def _feeds_closed(self) -> None:
        """Warn of feeds that could not be stored."""
        if self.store_client is not None and self._feeds is not None and not self._feeds.are_stored:
            self._logger.warning(FORGOTTEN_NEXT if self._outlives else ITEMS_LOST)

    def _feed_lost(self, since: int) -> None:
        """Make pages count as not stored whose items a feed has lost, so that copies are stored."""
        assert self.store_client is not None
        self.items.lose_stored()
        if n_lost := self.store_client.lose(since):
            self._logger.warning(PAGES_LOST, n_lost)

    async def settle_store(self) -> None:
        """Record what waits for the store, when no more items come.

        Called before the spider is closed, so that its monitors find all stats.
        """
        if self.store_client is not None:
            self.items.end_inactive()
            await self._outcome.settle(self.store_client)

    async def _spider_closed(self, spider: Spider) -> None:
        if self.soft_404 is not None:
            await self.soft_404.close()
        client, signing = self.store_client, self.signing
        if signing is None or client is None:
            # Another component failed to start.
            self._has_failed = True
            if self.job is not None:
                self.job.end()
            if self.detector is not None:
                await in_thread(self.detector.store.close)
            return
        self._ticking.stop()
        signing.pool.stop()
        if self.config.is_lazy and self.claims is not None:
            self.stats.count("read_in_full", self.claims.n_read)
            self.stats.count("bodies_evicted", self.claims.n_evicted)
        if self.containment is not None:
            self.stats.count("containment/dropped", self.containment.n_dropped)
        if self.claims is not None:
            self.stats.count("unchanged_bodies", self.claims.n_unchanged)
        self.stats.count("equal_bodies", signing.reused)
        self.stats.count("workers_lost", signing.pool.lost)
        self.stats.count("waits", client.waits)
        self.request_filter.rules.count_learned()
        assert self._crawler.stats
        self._crawler.stats.set_value("neardup/seconds", client.calls.seconds)
        report = None if self.recorder is None else self.recorder.path
        self.log.end(self._crawler.stats, client, report)

    async def _engine_stopped(self) -> None:
        """Close the store: feeds have been closed by now."""
        client = self.store_client
        if client is None:
            return
        garbage_collection.unfreeze()
        self.items.end_all()
        if self.copies is not None:
            await self.copies.close()
        are_stored = await self._write_feeds(closed=True)
        if are_stored:
            client.confirm(client.store.mark())
        await self.request_filter.close(client, is_clean=are_stored)
        await self._note_visits(client)
        if self.copies is not None:
            await self.copies.save_best_urls()
        await self._outcome.close(client, confirmed=are_stored)
        if self.job is not None:
            self.job.end(is_clean=are_stored)
        if self.recorder is not None:
            better_urls = {} if self.copies is None else self.copies.contents.better_urls()
            await in_thread(partial(self.recorder.finish, better_urls))
        if self.metrics is not None:
            await self.metrics.end()

    async def _begin_job(self, store: Store) -> None:
        """Begin a run of the job; forget the pages whose items the feeds of this run overwrite.

        :raises OSError: when the job's journal cannot be read or written.
        :raises StoreError: when the store fails to forget them.
        """
        self._feeds = Feeds.of(self._crawler)
        targets = {} if self._feeds is None else self._feeds.targets()
        if self.job is None:
            await in_thread(partial(warn_of_overwriting, targets, store))
            return
        self.job.begin()
        if self.job.is_recovered and self._feeds is not None:
            self._feeds.move_cut_ones_aside()
        self.journal = await in_thread(partial(JobJournal, self.job, store.secret))
        forgotten = await in_thread(partial(self.journal.begin, store, targets))
        self.stats.count("store/overwritten", forgotten)

    async def _tick(self) -> None:
        """Check the store for errors, write the feeds to disk, and confirm what is there."""
        client = self.store_client
        assert client is not None
        self.items.end_inactive()
        if client.store.problem is not None:
            self._store_failed(StoreError(client.store.name, f"{client.store.problem}; retrying"))
        if self.copies is not None:
            # Before the store learns which requests to refuse.
            await self.copies.synchronise()
        await self.request_filter.sync(client)
        await self._note_visits(client)
        if self.copies is not None:
            await self.copies.save_best_urls()
        mark = client.store.mark()
        if await self._write_feeds():
            client.confirm(mark)

    async def _note_visits(self, client: StoreClient) -> None:
        visits = self.visits.take()
        note = partial(client.store.note_visits, visits)
        if visits.size and not await client.note(note):
            self.visits.put_back(visits)

    async def _write_feeds(self, *, closed: bool = False) -> bool:
        """Write to disk what the feeds hold; return whether all items so far are there.

        :param closed: whether all feeds have been closed.
        """
        if self._feeds is None:
            return True
        save = None if self.journal is None else self.journal.saving()
        try:
            return await self._feeds.write(save, closed=closed)
        except OSError as error:
            self.stats.warn_once(
                "feed", "Cannot write a feed; its pages stay unconfirmed: %s", error
            )
            return False

    async def _forget(self, keys: Collection[str]) -> None:
        """Forget pages that turned out to be soft 404s, by their keys."""
        if self.copies is not None:
            self.copies.show_nothing(keys)
        if (client := self.store_client) is not None:
            await client.advise(lambda: [client.store.forget(key) for key in keys])

    def _store_failed(self, error: StoreError) -> None:
        self.stats.count("store/errors")
        # To go on would keep every page, as the store will never be this crawl's.
        is_taken = isinstance(error.__cause__, SignatureMismatch)
        if is_taken or self.config.store_settings.on_store_error == "stop":
            if not self._is_closing:
                self._logger.error("Closing the spider: %s", error)
            self._close_spider("neardup_store")
        else:
            self.stats.warn_once(
                "store",
                "%s; keeping pages, which will be recorded once the store recovers "
                "(logged once, counted in neardup/store/errors)",
                error,
            )

    def _close_spider(self, reason: str) -> None:
        assert self._crawler.engine is not None
        if not self._is_closing:
            self._is_closing = True
            start(self._crawler.engine.close_spider_async(reason=reason))
