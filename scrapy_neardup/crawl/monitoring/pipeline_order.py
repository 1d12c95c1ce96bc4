"""Logs the item pipelines that run before ours, and so process items that ours then drops."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.pipelines.media import MediaPipeline
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from ..scrapy_versions import engine_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")


def log_pipelines_before(crawler: Crawler, pipeline: object) -> None:
    """Warn of pipelines before this one that download files, and log the others at level INFO.

    The others may be there on purpose, for example to clean or drop items.
    """
    manager = getattr(getattr(engine_of(crawler), "scraper", None), "itemproc", None)
    pipelines = list(getattr(manager, "middlewares", ()))
    if not any(other is pipeline for other in pipelines):
        return
    orders = _orders(crawler)
    own = orders.get(type(pipeline))
    before = pipelines[: next(n for n, other in enumerate(pipelines) if other is pipeline)]
    media = [other for other in before if isinstance(other, MediaPipeline)]
    if media:
        logger.warning(
            "%s before NearDupPipeline (order %s) in ITEM_PIPELINES, so files are downloaded for "
            "items that are then dropped. Set %s order above %s",
            _listing(media, orders),
            own,
            "its" if len(media) == 1 else "their",
            own,
        )
    if others := [other for other in before if other not in media]:
        logger.info(
            "%s before NearDupPipeline (order %s) in ITEM_PIPELINES, so items are processed that "
            "are then dropped. A pipeline that stores items needs an order above %s",
            _listing(others, orders),
            own,
            own,
        )


def _listing(pipelines: list[Any], orders: dict[Any, int]) -> str:
    names = [
        f"{global_object_name(type(pipeline))} (order {orders.get(type(pipeline))})"
        for pipeline in pipelines
    ]
    return f"{', '.join(names)} {'runs' if len(names) == 1 else 'run'}"


def _orders(crawler: Crawler) -> dict[Any, int]:
    """Return the order of each pipeline by its class."""
    pipelines = crawler.settings.getwithbase("ITEM_PIPELINES")
    return {load_object(path): order for path, order in pipelines.items() if order is not None}
