"""Starts the benchmarks' browser, or skips the test where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.common import browser as real

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@contextmanager
def browser(folder: Path) -> Iterator[Chrome]:
    """A browser with an empty profile, whose downloads go to ``folder / "downloads"``."""
    try:
        with real.browser(folder) as chrome:
            yield chrome
    except real.NoBrowser as error:
        pytest.skip(str(error))
