"""The judge of a crawl, one for each crawler.

The middleware, the pipeline and the dupefilter share it. It decides, counts and logs; they
act on what it says.
"""

from __future__ import annotations

import gc
import logging
import pickle
from collections import OrderedDict, deque
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from itemadapter.adapter import ItemAdapter
from scrapy import signals as scrapy_signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response, TextResponse

from . import signals
from .config import (
    META_KEY,
    Config,
    Policy,
    as_setting,
    parse_switch,
    request_policy,
    unknown_settings,
)
from .detector import NearDupDetector
from .exceptions import InvalidOption
from .judgement import Verdict
from .page import PageSignature
from .records import Record
from .signing import PageSigning
from .workers import Failure, WorkersFailedError

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider
    from typing_extensions import Self

logger = logging.getLogger(__name__)

#: Items on their way from the middleware to the pipeline; beyond this the oldest are let go
#: (kept and counted as unjudged). Only items that another component replaced or dropped get old.
_MAX_ITEMS_UNDER_WAY = 10_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what is to follow from it."""

    verdict: Verdict
    policy: Policy

    @property
    def skips_links(self) -> bool:
        return self.verdict.is_duplicate and self._acts and self.policy.links == "skip"

    @property
    def refuses_requests(self) -> bool:
        return self.verdict.is_duplicate and self.policy.action == "drop"

    @property
    def _acts(self) -> bool:
        return self.policy.action != "report"


class NearDupJudge:
    """Scrapy extension that holds a crawl's detector and its settings."""

    def __init__(self, crawler: Crawler, config: Config) -> None:
        try:
            self.detector = NearDupDetector(**config.parts)
        except InvalidOption as error:
            raise as_setting(error) from None
        self.config = config
        self._signing = PageSigning(
            {"secret": self.detector.store.secret, **_signer_parts(config)},
            config.page_limits,
            config.workers,
            config.limits,
        )
        self._crawler = crawler
        self._under_way: OrderedDict[int, tuple[Any, deque[Judgement | None]]] = OrderedDict()
        self._known_duplicates: set[bytes] = set()
        self._warned: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the judge from the settings and the spider argument ``neardup``.

        :raises InvalidOption: when either says what cannot be.
        :raises NotConfigured: when one of them switches the judge off.
        """
        config = Config.from_settings(crawler.settings)
        if _is_off(crawler, config):
            logger.info("Off for this run: near-duplicate pages are stored")
            raise NotConfigured
        judge = cls(crawler, config)
        crawler.signals.connect(judge.spider_opened, signal=scrapy_signals.spider_opened)
        crawler.signals.connect(judge.spider_closed, signal=scrapy_signals.spider_closed)
        return judge

    async def judge_page(self, response: Response) -> Judgement | None:
        """Judge a response; ``None`` when it is passed through, which is counted."""
        policy = _not_judged(response) or self._policy_for(response.request)
        if isinstance(policy, str):
            self.pass_page(policy)
            return None
        self._count("responses")
        verdict = await self._judge(_page_record(response), policy)
        self._count(f"pages/{verdict.kind}")
        self._send(signals.page_judged, verdict, response=response)
        judgement = Judgement(verdict, policy)
        if judgement.refuses_requests:
            self._remember_duplicate(response.request)
        return judgement

    def pass_page(self, reason: str) -> None:
        """Count a response that nothing came of, so that there was nothing to judge for."""
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
        verdict = await self._judge(self._item_record(f"{response.url}#item-{place}", item), policy)
        self._count(f"judged_items/{verdict.kind}")
        self._send(signals.item_judged, verdict, item=item, response=response)
        return Judgement(verdict, policy)

    def send_along(self, item: Any, judgement: Judgement | None) -> None:
        """Note the judgement on an item for the pipeline; items themselves stay untouched.

        A spider may send one object several times, so each has a queue.
        """
        self._under_way.setdefault(id(item), (item, deque()))[1].append(judgement)
        if len(self._under_way) > _MAX_ITEMS_UNDER_WAY:
            self._under_way.popitem(last=False)

    def receive(self, item: Any) -> Judgement | None:
        """The judgement that was noted for an item; ``None`` when there is nothing to do."""
        if id(item) not in self._under_way:
            self._count("items/unjudged")
            return None
        noted = self._under_way[id(item)][1]
        judgement = noted.popleft()
        if not noted:
            del self._under_way[id(item)]
        return judgement

    def count_item(self, outcome: str) -> None:
        """Count what became of an item: ``kept``, ``dropped``, ``tagged``, ``reported`` …"""
        self._count(f"items/{outcome}")

    def count_link_skipped(self) -> None:
        """Count a link of a duplicate page that was not followed."""
        self._count("links/skipped")

    def refuses(self, request: Request) -> bool:
        """Is this request known to lead to a page that was dropped as a duplicate?"""
        return (
            bool(self._known_duplicates)
            and isinstance(self._policy_for(request), Policy)
            and self._fingerprint(request) in self._known_duplicates
        )

    def count_request_refused(self) -> None:
        """Count a request that the dupefilter refused for what is known of its URL."""
        self._count("requests/refused")

    def warn_once(self, kind: str, message: str, *args: Any, exc_info: bool = False) -> None:
        """Log the first warning of a kind; the rest are only counted."""
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning(message, *args, exc_info=exc_info)

    def spider_opened(self, spider: Spider) -> None:
        self._signing.start()
        # What is loaded by now stays until the end. Each full collection that walks through it
        # holds the event loop for some 0.1 s, and Scrapy's tasks make them frequent.
        gc.freeze()
        for complaint in unknown_settings(self._crawler.settings):
            logger.warning("%s", complaint)
        policy, rule = self.config.policy, self.config.policy.rule
        logger.info(
            "%s near-duplicate %s: max_distance %d, min_similarity %s, min_features %d, scope %s, "
            "links %s; %s; %d pages known",
            {"drop": "Dropping", "tag": "Tagging", "report": "Reporting"}[policy.action],
            f"items by field {self.config.item_field}" if self.config.item_field else "pages",
            rule.max_distance,
            rule.min_similarity,
            rule.min_features,
            rule.scope,
            policy.links,
            ", ".join(f"{part} {name}" for part, name in self.detector.signer.parts.items()),
            len(self.detector.store),
        )

    def spider_closed(self, spider: Spider) -> None:
        self._signing.stop()
        self._count("equal_bodies", self._signing.spared)
        self._count("workers_lost", self._signing.workers_lost)
        judged = "judged_items" if self.config.item_field else "pages"
        logger.info(
            "Judged %s: %s; undecided for: %s; passed over: %s; items: %s; %d remembered",
            judged.replace("judged_", ""),
            self._summary(judged),
            self._summary("undecided"),
            self._summary("skipped"),
            self._summary("items"),
            len(self.detector.store),
        )

    async def _judge(self, record: Record, policy: Policy) -> Verdict:
        """A verdict whatever happens: a page that something fails on is undecided, and kept."""
        try:
            outcome = await self._signing.sign(record)
            verdict = self._verdict(record, policy, outcome)
        except WorkersFailedError as error:
            verdict = self._undecided(record, Failure("no_worker", str(error)))
        except Exception as error:
            # A store of the user's own may raise anything.
            verdict = self._undecided(record, Failure("failed", repr(error)), exc_info=True)
        if verdict.kind == "undecided":
            self._count(f"undecided/{verdict.reason}")
        return verdict

    def _verdict(self, record: Record, policy: Policy, outcome: PageSignature | Failure) -> Verdict:
        if isinstance(outcome, Failure):
            return self._undecided(record, outcome)
        started = perf_counter()
        verdict = self.detector.check(outcome, rule=policy.rule)
        self._spend(perf_counter() - started)
        return verdict

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

    def _item_record(self, url: str, item: Any) -> Record:
        value = ItemAdapter(item).get(self.config.item_field)
        if isinstance(value, (list, tuple)):
            value = " ".join(map(str, value))
        return Record(url, url, value if isinstance(value, str) else "", "fragment")

    def _policy_for(self, request: Request | None) -> Policy | str:
        """What applies to a request, or the reason why it is not to be judged."""
        wish = None if request is None else request.meta.get(META_KEY)
        try:
            return request_policy(self.config.policy, wish) or "disabled"
        except InvalidOption as error:
            # To raise here would cost the page; it is kept and not judged.
            self.warn_once("bad_meta", "Not judging %s: %s", request, error)
            return "bad_meta"

    def _remember_duplicate(self, request: Request | None) -> None:
        if request is not None:
            self._known_duplicates.add(self._fingerprint(request))
            for url in request.meta.get("redirect_urls", ()):
                self._known_duplicates.add(self._fingerprint(Request(url)))

    def _fingerprint(self, request: Request) -> bytes:
        assert self._crawler.request_fingerprinter
        return self._crawler.request_fingerprinter.fingerprint(request)

    def _send(self, signal: object, verdict: Verdict, **kwargs: Any) -> None:
        self._crawler.signals.send_catch_log(
            signal, verdict=verdict, spider=self._crawler.spider, **kwargs
        )

    def _count(self, name: str, number: int = 1) -> None:
        assert self._crawler.stats
        if number:
            self._crawler.stats.inc_value(f"neardup/{name}", number)

    def _spend(self, seconds: float) -> None:
        assert self._crawler.stats
        spent = self._crawler.stats.get_value("neardup/seconds", 0.0)
        self._crawler.stats.set_value("neardup/seconds", spent + seconds)

    def _summary(self, group: str) -> str:
        assert self._crawler.stats
        prefix = f"neardup/{group}/"
        counts = {
            name.removeprefix(prefix): value
            for name, value in self._crawler.stats.get_stats().items()
            if name.startswith(prefix)
        }
        return ", ".join(f"{name} {counts[name]}" for name in sorted(counts)) or "none"


def find_judge(crawler: Crawler) -> NearDupJudge:
    """The judge of this crawl.

    :raises NotConfigured: when it is switched off, or was never enabled.
    """
    judge = crawler.get_extension(NearDupJudge)
    if judge is not None:
        return judge
    if _is_off(crawler, Config.from_settings(crawler.settings)):
        raise NotConfigured
    raise NotConfigured("it needs the add-on, or scrapy_neardup.NearDupJudge in EXTENSIONS")


def _signer_parts(config: Config) -> dict[str, Any]:
    """What is set of tokenizer, IDF table and extractor, fit for other processes.

    :raises InvalidOption: when one is an object that another process cannot have.
    """
    parts = {name: part for name, part in config.parts.items() if name != "store"}
    for name, part in parts.items():
        if config.workers and not _can_travel(part):
            raise as_setting(
                InvalidOption(
                    name,
                    part,
                    "an import path or an object of an importable module, so that worker "
                    "processes can have it too (or NEARDUP_WORKERS = 0)",
                )
            )
    return parts


def _can_travel(part: Any) -> bool:
    """Can it be pickled here, and found again where the main module is another one?"""
    if getattr(part, "__module__", None) == "__main__":
        return False
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True


def _page_record(response: Response) -> Record:
    """The bytes of a page, and what Scrapy was told of their encoding.

    Decoding is left to whoever reads the page: it can take long, and a label can be wrong.
    """
    return Record(
        id=response.url,
        url=response.url,
        content=response.body,
        kind="html" if isinstance(response, HtmlResponse) else "text",
        content_type=_content_type(response),
        # Given to the response when it was made, by a renderer for instance, whose text was
        # encoded anew; it has no public name. ``response.encoding`` would guess, and decode.
        encoding=getattr(response, "_encoding", None),
    )


def _is_off(crawler: Crawler, config: Config) -> bool:
    """Is it switched off, by the setting or by the spider argument?"""
    wish = getattr(crawler.spider, META_KEY, None)
    return not config.enabled or not (wish is None or parse_switch("spider argument neardup", wish))


def _not_judged(response: Response) -> str | None:
    """Why this response is none of ours, if it is not: only pages of text are judged."""
    if not 200 <= response.status < 300:
        return "status"
    if isinstance(response, HtmlResponse):
        return None
    plain = type(response) is TextResponse and _media_type(response) in ("", "text/plain")
    return None if plain else "not_text"


def _media_type(response: Response) -> str:
    return _content_type(response).partition(";")[0].strip().lower()


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")
