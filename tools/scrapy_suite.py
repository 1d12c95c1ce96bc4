"""Run Scrapy's own tests with the add-on in the default settings; say which fail because of it.

The tests come with the source distribution of the installed Scrapy. What fails with the add-on is
run again, with it and without it: a test that fails twice with it and passes without it is a
difference. Each must be in DIFFERENCES, with its reason. ``make scrapy-suite`` runs all tests.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import scrapy

if TYPE_CHECKING:
    import pytest

#: Tests that may fail with the add-on, as regular expressions on their ids, and why.
DIFFERENCES = {
    r"::test_closed_signal_call$": (
        "sends spider_opened and spider_closed by send_catch_log(), which awaits no handler; the "
        "engine awaits them"
    ),
    r"::test_open_spider_error_on_faulty_pipeline": (
        "another pipeline's open_spider() raises, and Scrapy never awaits the coroutines of the "
        "rest; pytest reports each as an error, and the crawl ends as without the add-on"
    ),
}
_SETTINGS = Path("scrapy", "settings", "default_settings.py")
_NO_ADDONS = "ADDONS: dict[str, int] = {}\n"
_ADDONS = 'ADDONS: dict[str, int] = {"scrapy_neardup.Addon": 500}\n'
#: Names the file to which the ids of failed tests go.
_FAILED = "SCRAPY_SUITE_FAILED"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed: this module is a plugin of the pytest that it starts."""
    if report.failed and (path := os.environ.get(_FAILED)):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(report.nodeid + "\n")


def main() -> None:
    """Run the tests, and exit with status 1 if any differs without a reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=["tests"], help="tests/test_x.py …")
    parser.add_argument("--folder", type=Path, default=Path(".scrapy-suite"), help="for the source")
    parser.add_argument("--numprocesses", default="2", help="of pytest-xdist")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    sources = {name: folder / name / f"scrapy-{scrapy.__version__}" for name in ("with", "without")}
    _unpack(folder, sources)
    failed = _run(sources["with"], arguments.tests, arguments.numprocesses)
    # One at a time, for what only failed because much else ran.
    again = _run(sources["with"], sorted(failed), "0") if failed else set()
    differ = again - _run(sources["without"], sorted(again), "0") if again else set()
    unexplained = 0
    for test in sorted(differ):
        reasons = [why for pattern, why in DIFFERENCES.items() if re.search(pattern, test)]
        unexplained += not reasons
        print(f"{test}: {reasons[0] if reasons else 'FAILS WITH THE ADD-ON'}")
    print(
        f"Scrapy {scrapy.__version__}: with the add-on {len(failed)} tests failed, "
        f"{len(again)} twice; {len(differ)} of these pass without it, "
        f"{unexplained} for an unknown reason"
    )
    sys.exit(unexplained > 0)


def _unpack(folder: Path, sources: dict[str, Path]) -> None:
    """Bring the source, twice, once with the add-on in its default settings."""
    archive = folder / f"scrapy-{scrapy.__version__}.tar.gz"
    if not archive.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        wanted = ["--no-binary", "scrapy", f"scrapy=={scrapy.__version__}"]
        subprocess.run([*pip, *wanted, "--dest", folder], check=True)
    for source in sources.values():
        if not source.exists():
            with tarfile.open(archive) as packed:
                packed.extractall(source.parent, filter="data")
    settings = sources["with"] / _SETTINGS
    text = settings.read_text("utf-8").replace(_NO_ADDONS, _ADDONS)
    if _ADDONS not in text:
        raise SystemExit(f"{settings} has no line {_NO_ADDONS!r}")
    settings.write_text(text, "utf-8")


def _run(source: Path, tests: list[str], processes: str) -> set[str]:
    """The ids of the tests that fail with this source."""
    failed = source.with_name("failed.txt")
    failed.write_text("")
    options = ["-q", "-p", "scrapy_suite", "-p", "no:cacheprovider", "--timeout=300", "--tb=short"]
    options += [f"--numprocesses={processes}", "-m", "not requires_internet"]
    path = os.pathsep.join([str(source), str(Path(__file__).parent.absolute())])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=source,
        env={**os.environ, "PYTHONPATH": path, _FAILED: str(failed)},
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with status {done.returncode}")
    return set(failed.read_text("utf-8").splitlines())


if __name__ == "__main__":
    main()
