"""A crawl makes garbage collections rarer, and leaves the collector as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from scrapy_neardup._util.garbage_collection import freeze, unfreeze


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.parametrize(
    ("before", "during"),
    [
        pytest.param((700, 10, 10), (5000, 10, 30), id="python's own"),
        pytest.param((700, 10, 99), (5000, 10, 99), id="full ones rarer already"),
        pytest.param((0, 10, 10), (0, 10, 10), id="switched off"),
        pytest.param((50_000, 5, 5), (50_000, 5, 5), id="rarer already"),
    ],
)
def test_thresholds_of_a_crawl(before: tuple[int, int, int], during: tuple[int, int, int]) -> None:
    gc.set_threshold(*before)
    freeze()
    assert (gc.get_threshold(), gc.get_freeze_count() > 0) == (during, True)
    unfreeze()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_the_last_of_several_crawls_restores_them() -> None:
    gc.set_threshold(700, 10, 10)
    freeze()
    freeze()
    unfreeze()
    assert gc.get_threshold()[0] == 5000
    unfreeze()
    assert gc.get_threshold() == (700, 10, 10)


def test_thresholds_that_a_spider_sets_stay() -> None:
    gc.set_threshold(700, 10, 10)
    freeze()
    gc.set_threshold(1234, 5, 6)
    unfreeze()
    assert gc.get_threshold() == (1234, 5, 6)
