from __future__ import annotations

import pytest

from tests.support.browser import browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def chrome(folder):
    with browser(folder) as running:
        yield running
