"""The Scrapy add-on, which enables all components."""

from __future__ import annotations

import os

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from .crawl.judge import NearDupJudge
from .downloadermiddlewares import NearDupDownloaderMiddleware
from .dupefilters import NearDupDupeFilter
from .pipelines import NearDupPipeline
from .spidermiddlewares import NearDupSpiderMiddleware


class Addon:
    """``ADDONS = {"scrapy_neardup.Addon": 500}``.

    Components that the project has ordered or disabled itself keep their order. The spider
    middleware runs near the engine, so that it sees what really leaves the spider. The pipeline
    runs early, so that no other pipeline processes items that are then dropped.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components, except during ``scrapy check``, which must not drop anything."""
        if os.environ.get("SCRAPY_CHECK") == "true":
            return
        for setting, component, order in (
            ("EXTENSIONS", NearDupJudge, 100),
            # Nearer to the engine than Scrapy's own: it sees responses that these have finished.
            ("DOWNLOADER_MIDDLEWARES", NearDupDownloaderMiddleware, 25),
            ("SPIDER_MIDDLEWARES", NearDupSpiderMiddleware, 100),
            ("ITEM_PIPELINES", NearDupPipeline, 100),
        ):
            settings.setdefault_in_component_priority_dict(setting, component, order)
        configured = settings["DUPEFILTER_CLASS"]
        if load_object(configured) is not NearDupDupeFilter:
            # At the priority of the replaced value; at a lower one, that value would stay.
            priority = settings.getpriority("DUPEFILTER_CLASS") or 0
            settings.set("NEARDUP_DUPEFILTER", configured, priority)
            settings.set("DUPEFILTER_CLASS", NearDupDupeFilter, priority)
