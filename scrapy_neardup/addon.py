"""The Scrapy add-on, which enables all components."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from .crawl.judge import NearDupJudge
from .downloadermiddlewares import NearDupDownloaderMiddleware
from .dupefilters import NearDupDupeFilter
from .pipelines import NearDupPipeline
from .spidermiddlewares import NearDupSpiderMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """``ADDONS = {"scrapy_neardup.Addon": 500}``.

    Components that the project has placed or disabled itself stay as they are. The middleware
    stands near the engine, so that it judges by what really leaves the spider; the pipeline
    stands early, so that what is dropped costs no other pipeline any work.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components; not during ``scrapy check``, which must not drop anything."""
        if os.environ.get("SCRAPY_CHECK") == "true":
            return
        for setting, component, order in (
            ("EXTENSIONS", NearDupJudge, 100),
            # Before Scrapy's own, so that it sees responses when they are done with.
            ("DOWNLOADER_MIDDLEWARES", NearDupDownloaderMiddleware, 25),
            ("SPIDER_MIDDLEWARES", NearDupSpiderMiddleware, 100),
            ("ITEM_PIPELINES", NearDupPipeline, 100),
        ):
            settings.setdefault_in_component_priority_dict(setting, component, order)
        _wrap_dupefilter(settings)


def _wrap_dupefilter(settings: BaseSettings) -> None:
    configured = settings["DUPEFILTER_CLASS"]
    if load_object(configured) is not NearDupDupeFilter:
        # At the priority of the value that is replaced, or a project's own would win.
        priority = settings.getpriority("DUPEFILTER_CLASS") or 0
        settings.set("NEARDUP_DUPEFILTER", configured, priority)
        settings.set("DUPEFILTER_CLASS", NearDupDupeFilter, priority)
