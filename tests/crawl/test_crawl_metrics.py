"""Metrics of real crawls, read by Prometheus' own parser."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path
from time import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.crawl import LOOPS, run_crawl
from tests.support.documents import ROOT
from tests.support.processes import wait_for
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, page

PAGES = {"/ferry": page(FERRY), "/copy": page(FERRY, frame="2"), "/museum": page(MUSEUM)}


def samples(path: Path) -> dict[tuple[str, ...], float]:
    """The numbers in a file, by the name of the metric and the values of its own labels."""
    found = {}
    for family in text_string_to_metric_families(path.read_text("utf-8")):
        assert family.documentation
        for sample in family.samples:
            assert sample.labels.pop("spider") == "crawl"
            assert sample.name.endswith("_total") == (family.type == "counter")
            found[(sample.name, *sample.labels.values())] = sample.value
    return found


@pytest.mark.parametrize("loop", LOOPS)
def test_metrics_are_written_while_a_crawl_runs_and_when_it_ends(tmp_path, loop):
    path = tmp_path / "textfiles" / "crawl.prom"

    def last() -> bytes:
        """The last page is sent when the file has those before it."""
        wait_for(lambda: samples(path)[("neardup_pages_total", "", "duplicate")] == 1)
        assert samples(path)["neardup_running", ""] == 1
        return PAGES["/museum"].encode()

    with serving({**PAGES, "/museum": Answer(last)}) as site:
        crawl = run_crawl(
            list(map(site.url, PAGES)),
            {
                "NEARDUP_METRICS": str(path.with_name("%(name)s.prom")),
                "NEARDUP_METRICS_INTERVAL": "0.05",
                "CONCURRENT_REQUESTS": 1,
            },
            loop=loop,
        )
    assert crawl.stored == ["ferry", "museum"]
    assert crawl.logged("ERROR") == []
    assert [file.name for file in path.parent.iterdir()] == ["crawl.prom"]
    found = samples(path)
    assert found["neardup_pages_total", "", "new"] == 2
    assert found["neardup_items_total", "", "dropped"] == 1
    assert found["neardup_duplicate_bytes_total", ""] == len(PAGES["/copy"])
    assert found["neardup_running", ""] == 0
    began, written = (found[f"neardup_{what}_time_seconds", ""] for what in ("start", "write"))
    assert time() - 600 < began < written < time()
    documented = re.findall(
        r"^\| `(neardup_\w+)`", (ROOT / "docs" / "monitoring.md").read_text("utf-8"), re.M
    )
    named = re.findall(r"^# HELP (\S+)", path.read_text("utf-8"), re.M)
    assert sorted(documented) == sorted(named)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "argument", "job"),
    [('my "job" \\', "other", 'my "job" \\'), (None, "scrapyd's/1", "scrapyd's/1")],
)
def test_a_job_is_named(tmp_path, folder, argument, job):
    crawl = run_crawl(
        ["data:text/html,"],
        {
            "NEARDUP_METRICS": str(tmp_path / "%(job)s.prom"),
            "JOBDIR": None if folder is None else str(tmp_path / folder),
        },
        arguments={"_job": argument},
    )
    assert crawl.logged("ERROR") == []
    [path] = tmp_path.glob("*.prom")
    assert samples(path)["neardup_responses_total", job] == 1


@pytest.mark.slow
@pytest.mark.parametrize("breaks", ["at the start", "while it runs"])
def test_a_file_that_cannot_be_written_is_reported_once(tmp_path, breaks):
    folder = tmp_path / "textfiles"

    def spoil() -> bytes:
        """Put a file in the place of the folder, which the crawl may create meanwhile."""
        while not folder.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(IsADirectoryError):
                folder.write_text("not a folder")
        return PAGES["/ferry"].encode()

    if breaks == "at the start":
        spoil()
    with serving({**PAGES, "/ferry": Answer(spoil)}) as site:
        crawl = run_crawl(
            list(map(site.url, PAGES)),
            {
                "NEARDUP_METRICS": str(folder / "crawl.prom"),
                "NEARDUP_METRICS_INTERVAL": 0.01,
                "DOWNLOAD_DELAY": 0.2,
                "CONCURRENT_REQUESTS": 1,
            },
        )
    [error] = crawl.logged("ERROR")
    # The folder may also go between two steps of writing.
    why = r"a file is in the place of its folder" if breaks == "at the start" else ".+"
    assert re.fullmatch(
        rf"Cannot write the metrics to {folder}/crawl\.prom: {why} "
        r"\(logged once; retrying every 0\.01 s\)",
        error,
    )
    assert crawl.stored == ["ferry", "museum"]
    assert crawl.stats["finish_reason"] == "finished"


@pytest.mark.parametrize("path", ["{}", "{}/folder/.."])
def test_a_folder_in_the_place_of_the_file_is_named(tmp_path, path):
    (tmp_path / "folder").mkdir()
    path = path.format(tmp_path)
    crawl = run_crawl(["data:text/html,"], {"NEARDUP_METRICS": path})
    [error] = crawl.logged("ERROR")
    assert error == (
        f"Cannot write the metrics to {path}: it is a folder, not a file (logged once; retrying "
        "every 15 s)"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_package_that_is_missing_is_named(tmp_path):
    (tmp_path / "prometheus_client.py").write_text("raise ImportError")
    crawl = run_crawl(
        ["data:text/html,"],
        {"NEARDUP_METRICS": "crawl.prom"},
        environment={"PYTHONPATH": str(tmp_path)},
    )
    [error] = crawl.logged("ERROR")
    assert error == (
        "Cannot start the crawl: NEARDUP_METRICS is 'crawl.prom', which needs a package: "
        'pip install "scrapy-neardup[prometheus]"'
    )
