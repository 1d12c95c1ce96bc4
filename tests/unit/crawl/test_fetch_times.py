"""Values that say when an item was made are known by being of now."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import count
from time import time

import pytest

from scrapy_neardup.crawl.items.fetch_times import is_of_fetch

NOW = datetime.now(timezone.utc)
LOCAL = datetime.now()
#: The values differ between the processes of a test run, so the tests are numbered.
BERLIN = NOW.astimezone(timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    "value",
    [
        NOW.isoformat(),
        LOCAL.isoformat(),
        str(NOW),
        str(NOW.replace(tzinfo=None)),
        NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
        NOW.strftime("%Y-%m-%d %H:%M"),
        BERLIN.strftime("%Y-%m-%dT%H:%M:%S%z"),
        NOW.date().isoformat(),
        str(time()),
        str(int(time())),
        str(int(time() * 1000)),
        (NOW - timedelta(minutes=50)).isoformat(),
    ],
    ids=count(),
)
def test_times_of_now_are_of_the_fetch(value):
    assert is_of_fetch(value.casefold())


@pytest.mark.parametrize(
    "value",
    [
        (NOW - timedelta(hours=30)).isoformat(),
        (NOW + timedelta(hours=30)).isoformat(),
        (NOW - timedelta(days=2)).date().isoformat(),
        "2026-13-45t99:99",
        "0000-00-00",
        "1234567890",
        "4006381333931",
        "19:30",
        "2026",
        "",
        f"{NOW.isoformat()} and more",
        "9" * 10_000,
    ],
    ids=count(),
)
def test_other_values_are_not(value):
    assert not is_of_fetch(value.casefold())
