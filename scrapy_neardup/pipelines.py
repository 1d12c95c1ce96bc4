"""Drops or tags items of near-duplicate pages."""

from __future__ import annotations

import logging
from typing import Any

from itemadapter.adapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.pipelines.media import MediaPipeline
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from ._util.escaping import on_one_line
from .crawl.async_bridge import engine_of
from .crawl.items.item_tracker import Judgement
from .crawl.judge import NearDupJudge, find_judge
from .matching.verdict import Verdict

logger = logging.getLogger(__name__)

#: Field that ``NEARDUP_ACTION = "tag"`` sets.
TAG_FIELD = "neardup"
#: Scrapy's line about a dropped item shows the whole item, often a page of text, but not its URL.
#: At this level Scrapy logs nothing; the pipeline logs a line of its own.
_UNLOGGED = "NOTSET"
_DOWNLOADS = (
    "%s before NearDupPipeline (order %s) in ITEM_PIPELINES, so files are downloaded for items "
    "that are then dropped. Set %s order above %s"
)
_PROCESSES = (
    "%s before NearDupPipeline (order %s) in ITEM_PIPELINES, so items are processed that are then "
    "dropped. A pipeline that stores items needs an order above %s"
)


class NearDuplicate(DropItem):
    """An item was dropped because its page is a near-duplicate of a page already kept.

    :ivar url: URL of the item's page.
    :ivar duplicate_of: the original's URL.
    :ivar distance: Hamming distance, 0 to 11; ``None`` with a method.
    :ivar similarity: estimated resemblance, or the method's similarity, 0.0 to 1.0.
    :ivar reason: see :class:`~scrapy_neardup.matching.verdict.Match`.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_description(verdict), log_level=_UNLOGGED)
        self.url = verdict.url
        self.duplicate_of = verdict.duplicate_of
        self.distance = verdict.distance
        self.similarity = verdict.similarity
        self.reason = verdict.reason


class UnchangedPage(DropItem):
    """An item was dropped because its page is stored and has not changed; see NEARDUP_REVISIT.

    :ivar url: URL of the page.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_description(verdict), log_level=_UNLOGGED)
        self.url = verdict.url


class NearDupPipeline:
    """Drops, tags or reports items of near-duplicate pages; see ``NEARDUP_ACTION``.

    :param judge: the crawl's judge; without one, all items pass. A custom pipeline manager may
        build pipelines without ``from_crawler``.
    """

    def __init__(self, judge: NearDupJudge | None = None, crawler: Crawler | None = None) -> None:
        if judge is None:
            logger.warning(
                "NearDupPipeline neither drops nor tags items: it was built without from_crawler()"
            )
        self._judge = judge
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDupPipeline:
        """Build the pipeline with the judge of the crawl.

        :raises NotConfigured: when the crawl has no judge.
        """
        return cls(find_judge(crawler), crawler)

    async def open_spider(self) -> None:
        """Open the store, and log the pipelines that process items before they are dropped.

        :raises Exception: when the store cannot be used, so that the crawl fails.
        """
        if self._judge is None:
            return
        await self._judge.session.open_store()
        if self._crawler is not None and self._judge.config.policy.action == "drop":
            log_pipelines_before(self._crawler, self)

    def process_item(self, item: Any) -> Any:
        """Return the item, or drop it.

        :raises NearDuplicate: when its page is a near-duplicate and the action is ``"drop"``.
        :raises UnchangedPage: when its page is stored and unchanged, ``NEARDUP_REVISIT`` is
            ``"drop"`` and the action is ``"drop"``.
        """
        judge = self._judge
        if judge is None:
            return item
        judgement = judge.receive(item)
        if judgement is None or not judgement.is_superfluous:
            judge.stats.count("items/kept")
            if judgement is not None:
                _tag_containment(judge, item, judgement)
            return item
        verdict = judgement.verdict
        if judgement.policy.action == "report":
            judge.stats.count("items/reported")
            _log(judge, "Would drop", verdict)
        elif judgement.policy.action == "tag":
            _tag(judge, item, verdict)
        else:
            judge.stats.count("items/dropped")
            _log(judge, "Dropped", verdict)
            raise NearDuplicate(verdict) if verdict.is_duplicate else UnchangedPage(verdict)
        _tag_containment(judge, item, judgement)
        return item


def _tag(judge: NearDupJudge, item: Any, verdict: Verdict) -> None:
    tag = {
        "of": verdict.duplicate_of if verdict.is_duplicate else verdict.url,
        "distance": verdict.distance,
        "similarity": verdict.similarity,
    }
    if _set_field(judge, item, TAG_FIELD, tag):
        judge.stats.count("items/tagged")
        _log(judge, "Tagged", verdict)
    else:
        judge.stats.count("items/untagged")


def _tag_containment(judge: NearDupJudge, item: Any, judgement: Judgement) -> None:
    tag = None if judgement.containment is None else judgement.containment.tag
    name = judge.config.containment_field
    if tag is None or name is None:
        return
    is_set = _set_field(judge, item, name, tag)
    judge.stats.count(f"containment/{'tagged' if is_set else 'untagged'}")


def _set_field(judge: NearDupJudge, item: Any, name: str, value: Any) -> bool:
    """Set a field of an item; return whether its class allows it."""
    try:
        ItemAdapter(item)[name] = value
    except Exception:
        # Item classes raise different errors for an unknown field; the item passes unchanged.
        judge.stats.warn_once(
            f"untagged {name}",
            "Cannot tag items of class %s: they have no field %r that can be set",
            type(item).__qualname__,
            name,
        )
        return False
    return True


def _log(judge: NearDupJudge, action: str, verdict: Verdict) -> None:
    if judge.config.item_log_level is not None:
        logger.log(
            judge.config.item_log_level,
            "%s an item of <%s>: %s",
            action,
            on_one_line(verdict.url),
            _description(verdict),
        )


def _description(verdict: Verdict) -> str:
    if not verdict.is_duplicate:
        return "already stored and unchanged"
    distance = "" if verdict.distance is None else f"distance {verdict.distance}, "
    return (
        f"near-duplicate of {on_one_line(str(verdict.duplicate_of))} "
        f"({distance}similarity {verdict.similarity:.2f})"
    )


def log_pipelines_before(crawler: Crawler, pipeline: object) -> None:
    """Warn of pipelines before this one that download files, and log the others at level INFO.

    The others may be there on purpose, for example to clean or drop items.
    """
    manager = getattr(getattr(engine_of(crawler), "scraper", None), "itemproc", None)
    pipelines = list(getattr(manager, "middlewares", ()))
    if pipeline not in pipelines:
        return
    paths = crawler.settings.getwithbase("ITEM_PIPELINES")
    orders = {load_object(path): order for path, order in paths.items() if order is not None}
    own = orders.get(type(pipeline))
    media, others = list[str](), list[str]()
    for other in pipelines[: pipelines.index(pipeline)]:
        shown = f"{global_object_name(type(other))} (order {orders.get(type(other))})"
        (media if isinstance(other, MediaPipeline) else others).append(shown)
    if media:
        logger.warning(_DOWNLOADS, _run(media), own, "its" if len(media) == 1 else "their", own)
    if others:
        logger.info(_PROCESSES, _run(others), own, own)


def _run(names: list[str]) -> str:
    return f"{', '.join(names)} {'runs' if len(names) == 1 else 'run'}"
