"""Warns of pipelines that run before the one of this package."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.pipelines.media import MediaPipeline
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from ..async_bridge import engine_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_DOWNLOADS = (
    "%s before NearDupPipeline (order %s) in ITEM_PIPELINES, so files are downloaded for items "
    "that are then dropped. Set %s order above %s"
)
_PROCESSES = (
    "%s before NearDupPipeline (order %s) in ITEM_PIPELINES, so items are processed that are then "
    "dropped. A pipeline that stores items needs an order above %s"
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
