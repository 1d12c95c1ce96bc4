from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.support.redis_servers import RedisServer

#: Folders whose tests bear a marker of the same name: ``pytest -m unit``.
FOLDERS = (
    *("benchmarks", "browser", "cluster", "commands", "compatibility", "crawl", "docs"),
    *("promises", "redis", "stores", "unit", "workers"),
)

# Speed is measured in benchmarks/, never asserted here. For more examples:
# ``--hypothesis-profile=thorough``.
settings.register_profile("default", deadline=None, max_examples=30)
settings.register_profile("few", deadline=None, max_examples=5)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test is a failed one")


def pytest_configure(config: pytest.Config) -> None:
    # The background of a script ignores Ctrl-C, and so would the programs that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for folder in FOLDERS:
        config.addinivalue_line("markers", f"{folder}: a test in tests/{folder}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        item.add_marker(getattr(pytest.mark, folder))
        if folder in ("benchmarks", "browser", "compatibility"):
            # Few changes can break them, and they start browsers and servers of others.
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail")
    # What an older Scrapy does not have cannot be brought.
    if (
        skipped
        and "needs Scrapy" not in str(report.longrepr)
        and item.config.getoption("--no-skips")
    ):
        report.outcome = "failed"
        report.longrepr = f"skipped, but --no-skips was given: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def _redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    from tests.support.redis_servers import RedisServer

    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def afterwards() -> Iterator[ExitStack]:
    """A stack of calls that are made after the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def redis_server(_redis_server: RedisServer) -> RedisServer:
    """A Redis that holds nothing."""
    with _redis_server.client as client:
        client.flushall()
    return _redis_server
