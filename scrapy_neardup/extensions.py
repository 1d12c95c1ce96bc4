"""The Scrapy extension that judges pages."""

from .crawl.judge import NearDupJudge

__all__ = ["NearDupJudge"]
