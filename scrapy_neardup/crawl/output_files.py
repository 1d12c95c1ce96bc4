"""Checks that each file that a crawl writes has a path of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from ..exceptions import InvalidOption
from .monitoring.metrics import metrics_path
from .report_recorder import named_path

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from .settings import Config


def require_own_files(crawler: Crawler, config: Config) -> None:
    """Check that no two settings name the same file, one of which would replace the other.

    :raises InvalidOption: when two do.
    """
    if [config.copies, config.report, config.metrics].count(None) > 1:
        return
    owners: dict[Path, str] = {}
    for setting, given, path in _files(crawler, config):
        real = Path(os.path.realpath(path))
        # Nothing takes the place of a folder, a device or a pipe: whoever writes to it reports it.
        if real in owners and (real.is_file() or not real.exists()):
            expected = f"another file than that of {owners[real]}: both are {real}"
            raise InvalidOption(setting, given, expected)
        owners[real] = setting


def _files(crawler: Crawler, config: Config) -> Iterator[tuple[str, str, Path]]:
    """Yield the settings of files, their values, and the paths that these stand for."""
    assert crawler.spider is not None
    name, now = crawler.spider.name, time()
    if config.copies is not None:
        yield "NEARDUP_COPIES", config.copies, named_path(config.copies, name, now)
    if config.report is not None:
        yield "NEARDUP_REPORT", config.report, named_path(config.report, name, now)
    if config.metrics is not None:
        path = metrics_path(crawler, config.metrics, config.job)
        yield "NEARDUP_METRICS", config.metrics, path
