"""The judge of a crawl: one for each crawler, shared by all components."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.settings import SETTINGS_PRIORITIES

from .. import signals
from .._util import garbage_collection
from .._util.validation import parse_switch, require_choice
from ..detector import NearDupDetector
from ..exceptions import InvalidOption
from ..reasons import Reason
from ..sources.record import Record
from ..url_rules.rule import UrlRule
from .copies.recorder import CopyRecorder
from .durability.job import Job, claim_and_recover
from .items.built_items import BuiltItems
from .items.item_digests import ItemPosition
from .items.item_tracker import NOT_SENT, ItemJudgement, Judgement
from .items.judged_field import JudgedField
from .items.origins import ITEM_ORIGINS, carries_values
from .monitoring.crawl_log import LAST_WARNING, CrawlStats
from .monitoring.metrics import require_metrics
from .monitoring.start_errors import log_start_error
from .output_files import require_own_files
from .page_signing import load_ahead, require_parts
from .record_judge import RecordJudge
from .requests.request_filter import urls_of
from .responses import item_record, page_record, why_not_judged
from .session import CrawlSession
from .settings import META_KEY, Config, Policy

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

#: Wrong options of requests that are warned of in a crawl, at most.
_MAX_META_PROBLEMS = 10


class NearDupJudge:
    """Scrapy extension that judges responses, items and requests for the other components.

    Scrapy builds extensions before all other components, so these can always find it with
    ``crawler.get_extension``. It has many methods because each of these components has
    questions of its own, which it passes on to who decides.

    :ivar config: the settings of the crawl.
    :ivar stats: counts events, and logs each kind of warning once.
    :ivar built_items: judges items that are built over several pages, where pages are judged.
    :ivar session: the open resources of the crawl: store, workers, feeds, job.
    """

    def __init__(self, crawler: Crawler, config: Config, job: Job | None = None) -> None:
        require_parts(config)
        require_metrics(config)
        require_own_files(crawler, config)
        self.config = config
        self.stats = CrawlStats(crawler)
        self.session = CrawlSession(crawler, config, job, self.stats)
        self._records = RecordJudge(crawler, self.session)
        self._pages: WeakKeyDictionary[Response, Record] = WeakKeyDictionary()
        #: What was wrong with the options of requests, see :data:`_MAX_META_PROBLEMS`.
        self._meta_problems: set[str] = set()
        self.built_items = BuiltItems(
            self._records.judge_origin, self.stats, config.store_settings.max_wait
        )
        self._field: JudgedField | None = None
        if config.item_field is not None:
            self._field = JudgedField(config.item_field, self.stats)
        else:
            self.session.items.on_stored = self.built_items.stored
            self.session.items.on_lost = self.built_items.forget_stored

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the judge from the settings and the spider argument ``neardup``.

        :raises InvalidOption: when one of them has an invalid value.
        :raises NotConfigured: when one of them switches the judge off.
        """
        try:
            config = Config.from_settings(crawler.settings)
            if is_disabled(crawler, config):
                _log_disabled(crawler, config)
                raise NotConfigured
            load_ahead(config)
            job = None if config.job is None else Job(config.job)
            judge = cls(crawler, config, job)
            # Last, so that no error keeps the job.
            claim_and_recover(config, job)
            garbage_collection.collect_before_crawl()
        except InvalidOption as error:
            log_start_error(error)
            raise
        judge.session.connect()
        return judge

    @property
    def detector(self) -> NearDupDetector | None:
        """The detector with its store; ``None`` until the spider is opened."""
        return self.session.detector

    def may_judge(self, request: Request, response: Response) -> bool:
        """Return whether this page, or its items, will be judged if its callback yields any."""
        by_page = self.config.item_field is None
        return not (by_page and why_not_judged(response)) and isinstance(
            self._policy_of(request), Policy
        )

    async def read_ahead(self, response: Response) -> None:
        """Wait until a page that may be judged is read, as far as that does not depend on others.

        The page waits first while the workers are busy.
        """
        await self.session.throttle.turn()
        if self.config.item_field is None and self.session.claims is not None:
            await self.session.claims.read_ahead(self._record_of(response))

    async def judge_page(self, response: Response) -> Judgement | None:
        """Judge a response; count it and return ``None`` when it is not judged."""
        policy = why_not_judged(response) or self._policy_of(response.request)
        if isinstance(policy, str):
            self.pass_page(policy, response)
            return None
        self.stats.count("responses")
        if self.session.holds is not None:
            await self.session.holds.hold(response)
        record = self._record_of(response)
        judgement = await self._records.judge(record, policy, response, learns=True)
        verdict, session = judgement.verdict, self.session
        self.stats.count(f"pages/{verdict.kind}")
        self.stats.count("links_seen", judgement.knows_links)
        self.stats.count("bytes/judged", len(response.body))
        self.stats.count("bytes/duplicate", verdict.is_duplicate * len(response.body))
        self._records.send(signals.page_judged, verdict=verdict, response=response)
        if session.recorder is not None:
            session.recorder.judged(verdict, len(response.body))
        session.visits.note(verdict, urls_of(response.request) if response.request else ())
        if session.copies is not None:
            session.copies.judged(verdict, response)
        if not judgement.knows_links:
            session.request_filter.judged(response, verdict)
        if judgement.refuses_requests and not self._carries_item(response.request):
            assert session.store_client is not None
            mark = session.store_client.store.mark()
            session.request_filter.remember(response.request, verdict, mark)
        session.items.judged(response, judgement.pending)
        self._end(response.request)
        return judgement

    async def judge_item_of_page(
        self, item: Any, response: Response, page: Judgement | None, place: ItemPosition
    ) -> ItemJudgement:
        """Return the judgement that applies to an item: that of its page, or of where it began."""
        policy = self._policy_of(response.request)
        if isinstance(policy, str):
            return ItemJudgement(page)
        return await self.built_items.judge(item, response, page, policy, place)

    def send(
        self, item: Any, response: Response, page: Judgement | None, decided: ItemJudgement
    ) -> None:
        """Note the judgement on an item that leaves the spider."""
        if page is not None and page.refuses_requests and not decided.is_superfluous:
            self.session.request_filter.kept_item(response, page.verdict)
        if decided.share is not None:
            self.session.items.settle_at_end(response, decided.share)
        self.session.items.send(item, decided)

    def pass_page(self, reason: str, response: Response) -> None:
        """Count a response that is not judged."""
        self.session.throttle.settle()
        if self.session.claims is not None and not why_not_judged(response):
            self.session.claims.forget(self._record_of(response))
        self.session.request_filter.passed(response)
        self._end(response.request)
        self.stats.count("responses")
        self.stats.count(f"skipped/{reason}")

    async def judge_item(self, item: Any, place: int, response: Response) -> Judgement | None:
        """Judge an item by its field; return ``None`` when its request switched that off.

        :param place: 1 for the first item of the response. An item from the same place of the same
            page is a revisit, not a duplicate.
        """
        policy = self._policy_of(response.request)
        if isinstance(policy, str):
            self.stats.count(f"skipped/{policy}")
            return None
        assert self._field is not None
        record = item_record(f"{response.url}#item-{place}", item, self._field.name)
        why_not = Reason.NO_FIELD if self._field.is_missing(item) else None
        judgement = await self._records.judge(record, policy, response, why_not=why_not)
        verdict = judgement.verdict
        self.stats.count(f"judged_items/{verdict.kind}")
        self._records.send(signals.item_judged, verdict=verdict, item=item, response=response)
        if self.session.recorder is not None:
            self.session.recorder.judged(verdict)
        if self.session.copies is not None:
            self.session.copies.judged(verdict, response)
        self.session.items.judged(response, judgement.pending)
        return judgement

    def receive(self, item: Any) -> Judgement | None:
        """Return the judgement that was noted for an item; ``None`` where there is none."""
        sent = self.session.items.receive(item)
        self.stats.count("items/unjudged", sent is NOT_SENT)
        return sent.judgement

    def refuses(self, request: Request) -> UrlRule | bool:
        """Decide whether to refuse a request at scheduling; return the rule that does, if any."""
        policy = self._filter_policy(request)
        return policy is not None and self.session.request_filter.refuses(request, policy)

    def should_cancel(self, request: Request) -> UrlRule | bool:
        """Decide whether to cancel a scheduled request; return the rule that does, if any."""
        policy = self._filter_policy(request)
        return self.session.request_filter.should_cancel(request, policy)

    def count_refused(self, request: Request, refusal: UrlRule | bool) -> str:
        """Count, log and record a refused request; return the reason in words."""
        if self.session.copies is not None:
            self.session.copies.refused(request, refusal)
        if isinstance(refusal, UrlRule):
            self.session.request_filter.rules.count_by_rule("skipped", refusal)
            logger.debug("Skipped request because of a URL rule (%s): %s", refusal.text, request)
            return refusal.text
        self.stats.count("requests/refused")
        logger.debug("Refused request that leads to a near-duplicate: %s", request)
        return "it leads to a near-duplicate"

    def failed(self, request: Request) -> None:
        """Note that a request yielded nothing that could be judged."""
        self.session.request_filter.failed(request)
        self._end(request)

    def cancelled(self, request: Request) -> None:
        """Note that a scheduled request was cancelled as superfluous."""
        self._end(request)

    def _record_of(self, response: Response) -> Record:
        """Return the record of a page, which is made when it is read ahead."""
        if response not in self._pages:
            self._pages[response] = page_record(response, is_lazy=self.config.is_lazy)
        return self._pages[response]

    def _end(self, request: Request | None) -> None:
        """Note that the outcome of a request is known, for the pages that are held for it."""
        if self.session.holds is not None:
            self.session.holds.end(request)

    def _policy_of(self, request: Request | None) -> Policy | str:
        """Return the policy for a request, or the reason why it is not judged."""
        options = None if request is None else request.meta.get(META_KEY)
        if options is None:
            return self.config.policy
        if "method" in self.config.parts and isinstance(options, Mapping):
            self._warn_of_thresholds(options)
        try:
            return _policy_with(self.config.policy, options)
        except InvalidOption as error:
            # An exception would lose the page.
            self._warn_of_meta(request, str(error))
            return Reason.BAD_META

    def _warn_of_meta(self, request: Request | None, problem: str) -> None:
        """Warn of wrong options of a request, once for each of the first problems."""
        if problem in self._meta_problems or len(self._meta_problems) == _MAX_META_PROBLEMS:
            return
        self._meta_problems.add(problem)
        is_last = len(self._meta_problems) == _MAX_META_PROBLEMS
        self.stats.warn_once(
            f"{Reason.BAD_META} {problem}",
            "Cannot judge %s, keeping its items: %s (logged once for each such error, counted in "
            "neardup/skipped/bad_meta)%s",
            request,
            problem,
            LAST_WARNING if is_last else "",
        )

    def _warn_of_thresholds(self, options: Mapping[str, Any]) -> None:
        """Warn of thresholds of the rule for a request, although a method judges."""
        for name in ("max_distance", "min_similarity"):
            if name in options:
                self.stats.warn_once(
                    f"meta {name}",
                    "request.meta[%r][%r] has no effect with NEARDUP_METHOD, whose parameters are "
                    "the same for all requests",
                    META_KEY,
                    name,
                )

    def _filter_policy(self, request: Request) -> Policy | None:
        """Return the policy by which a request may be refused; ``None`` where it may not."""
        policy = self._policy_of(request)
        return None if isinstance(policy, str) or self._carries_item(request) else policy

    def _carries_item(self, request: Request | None) -> bool:
        """Return whether it carries an item that began on another page."""
        return self.config.item_field is None and request is not None and carries_values(request)


def copies_of(crawler: Crawler) -> CopyRecorder | None:
    """Return the recorder of copies of this crawl; ``None`` if none is in use."""
    if getattr(crawler, "extensions", None) is None:
        return None
    judge = crawler.get_extension(NearDupJudge)
    return None if judge is None else judge.session.copies


def find_judge(crawler: Crawler) -> NearDupJudge:
    """Return the judge of this crawl.

    :raises NotConfigured: when it is switched off, or was never enabled.
    """
    judge = crawler.get_extension(NearDupJudge)
    if judge is not None:
        return judge
    if is_disabled(crawler, Config.from_settings(crawler.settings)):
        raise NotConfigured
    raise NotConfigured(
        "NearDupJudge is not enabled: add scrapy_neardup.Addon to ADDONS, or "
        "scrapy_neardup.NearDupJudge to EXTENSIONS"
    )


def is_disabled(crawler: Crawler, config: Config) -> bool:
    """Return whether a setting, a spider argument or a command of Scrapy disables the add-on."""
    if _is_inspection(crawler):
        return True
    wish = getattr(crawler.spider, META_KEY, None)
    return not config.enabled or not (wish is None or parse_switch("spider argument neardup", wish))


def _log_disabled(crawler: Crawler, config: Config) -> None:
    """Log what disables the add-on, and what this means."""
    if _is_inspection(crawler):
        logger.info("Pages are not judged in scrapy shell, fetch, view and parse")
        return
    cause = "the spider argument neardup" if config.enabled else "NEARDUP_ENABLED"
    logger.info("Disabled by %s: near-duplicate pages are not judged, and not dropped", cause)


def _is_inspection(crawler: Crawler) -> bool:
    """Return whether this is ``scrapy shell``, ``fetch``, ``view`` or ``parse``.

    They store nothing, and a crawl may have the store open at the same time. ``shell`` is the only
    command that sets LOGSTATS_INTERVAL; the others replace the spider's ``start`` with a function
    of their own.
    """
    by_command = SETTINGS_PRIORITIES["command"]
    is_shell = crawler.settings.getpriority("LOGSTATS_INTERVAL") == by_command
    start = getattr(crawler.spider, "start", None)
    return is_shell or getattr(start, "__module__", "").startswith("scrapy.commands")


def _policy_with(policy: Policy, options: Any) -> Policy | str:
    """Return a policy with the options of a request, or the reason why that is not judged.

    :param options: a mapping, or a switch.
    :raises InvalidOption: when they are neither, or one of them is invalid.
    """
    name = f"request.meta[{META_KEY!r}]"
    if not isinstance(options, Mapping):
        return policy if parse_switch(name, options) else Reason.DISABLED
    policy_options = dict(options)
    try:
        # The option that is not part of the policy.
        require_choice("item_origin", policy_options.pop("item_origin", "auto"), ITEM_ORIGINS)
        return policy.changed(policy_options)
    except InvalidOption as error:
        is_unknown = error.option == "option"
        where = f"an option in {name}" if is_unknown else f"{name}[{error.option!r}]"
        raise error.renamed(where) from None
