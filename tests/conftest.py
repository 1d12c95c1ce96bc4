from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import settings

# Speed is measured in benchmarks/, never asserted here.
settings.register_profile("default", deadline=None)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test is a failed one")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.config.getoption("--no-skips") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but --no-skips was given: {report.longrepr}"
    return report
