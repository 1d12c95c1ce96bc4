"""Pipelines that run before NearDupPipeline, in real crawls."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from scrapy_neardup.crawl.monitoring.pipeline_order import log_pipelines_before
from tests.support.crawl import run_crawl
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, page

PAGES = {"/1": page(FERRY), "/2": page(FERRY, frame="print"), "/3": page(MUSEUM)}
FILES = "scrapy.pipelines.files.FilesPipeline"
CLEANING = "tests.support.crawl.Replacing"


def crawl(folder: Any, pipelines: dict[str, int], **settings: Any) -> tuple[list[str], list[str]]:
    """Return the warnings and the other messages before the first page."""
    settings = {"ITEM_PIPELINES": pipelines, "FILES_STORE": str(folder), **settings}
    with serving(PAGES) as site:
        done = run_crawl([site.url(path) for path in PAGES], settings)
    about = " in ITEM_PIPELINES, so "
    warnings, others = (
        [line for line in done.logged(level) if about in line] for level in ("WARNING", "INFO")
    )
    return warnings, others


def test_downloading_pipeline_before_ours_causes_a_warning(tmp_path):
    [warning], others = crawl(tmp_path, {FILES: 1, CLEANING: 2})
    assert warning.startswith(f"{FILES} (order 1) runs before NearDupPipeline (order 100)")
    assert warning.endswith("Set its order above 100")
    [other] = others
    assert other.startswith(f"{CLEANING} (order 2) runs before NearDupPipeline (order 100)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pipelines", "settings"),
    [
        ({FILES: 300, CLEANING: 101}, {}),
        ({FILES: 1}, {"NEARDUP_ACTION": "tag"}),
        ({FILES: 1}, {"NEARDUP_ENABLED": False}),
        ({FILES: 1, "scrapy_neardup.pipelines.NearDupPipeline": 0}, {}),
    ],
    ids=["after", "tagging", "disabled", "moved"],
)
def test_harmless_pipelines_are_not_logged(tmp_path, pipelines, settings):
    assert crawl(tmp_path, pipelines, **settings) == ([], [])


def test_a_crawler_without_an_engine_has_no_pipelines(caplog):
    log_pipelines_before(get_crawler(), object())
    assert not caplog.records
