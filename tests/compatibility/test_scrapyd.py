"""A project that is deployed to scrapyd, and a job of it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
import requests

from tests.compatibility.shown import settings_of
from tests.support.processes import wait_for
from tests.support.redis_servers import free_port
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, page

CONFIG = """\
[scrapyd]
http_port = {port}
poll_interval = 0.1
items_dir = items
jobs_dir = jobs
"""
SPIDER = """\
import scrapy


class NewsSpider(scrapy.Spider):
    name = "news"

    def parse(self, response):
        yield {"url": response.url}
"""
PAGES = {"/1": page(FERRY), "/2": page(FERRY, frame="2"), "/3": page(MUSEUM)}


@contextmanager
def scrapyd(folder: Path) -> Iterator[str]:
    """The address of a scrapyd that runs until the block ends."""
    port = free_port()
    (folder / "scrapyd.conf").write_text(CONFIG.format(port=port), "utf-8")
    with (
        (folder / "scrapyd.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "scrapyd"], cwd=folder, stdout=log, stderr=subprocess.STDOUT
        ) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(lambda: _answers(f"{address}/daemonstatus.json"))
            yield address
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=10).ok
    except requests.ConnectionError:
        return False


def egg(settings: dict[str, object], spider: str) -> bytes:
    """Return a project as ``scrapyd-deploy`` packs it."""
    lines = [f"{name} = {value!r}" for name, value in settings.items()]
    files = {
        "EGG-INFO/PKG-INFO": "Metadata-Version: 1.0\nName: project\nVersion: 1.0\n",
        "EGG-INFO/entry_points.txt": "[scrapy]\nsettings = project.settings\n",
        "project/__init__.py": "",
        "project/settings.py": "\n".join(['SPIDER_MODULES = ["project.spiders"]', *lines]),
        "project/spiders/__init__.py": "",
        "project/spiders/news.py": spider,
    }
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


@pytest.mark.slow
def test_jobs_of_a_deployed_project_share_a_store(tmp_path):
    shown = settings_of("scrapyd")
    settings = {**shown, "NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}"}
    with serving(PAGES) as site, scrapyd(tmp_path) as address:
        urls = list(map(site.url, PAGES))
        spider = SPIDER.replace('name = "news"', f'name = "news"\n    start_urls = {urls!r}')
        deployed = requests.post(
            f"{address}/addversion.json",
            data={"project": "project", "version": "1"},
            files={"egg": egg(settings, spider)},
            timeout=60,
        ).json()
        assert deployed["status"] == "ok", deployed
        jobs = [_run(address), _run(address)]
    feeds, logs = (
        [(tmp_path / kind / "project" / "news" / f"{job}.{end}").read_text("utf-8") for job in jobs]
        for kind, end in (("items", "jl"), ("logs", "log"))
    )
    assert "Judged pages: duplicate 1, new 2;" in logs[0]
    stored = [[json.loads(line)["url"] for line in feed.splitlines()] for feed in feeds]
    assert len(stored[0]) == 2
    assert site.url("/3") in stored[0]
    # The second job knows the pages that the first has stored.
    assert "Judged pages: duplicate 1, revisit 2;" in logs[1]


def _run(address: str) -> str:
    """Schedule a job, and return its id when it has ended."""
    job: str = requests.post(
        f"{address}/schedule.json", data={"project": "project", "spider": "news"}, timeout=60
    ).json()["jobid"]

    def is_finished() -> bool:
        jobs = requests.get(f"{address}/listjobs.json?project=project", timeout=60).json()
        return job in [each["id"] for each in jobs["finished"]]

    wait_for(is_finished)
    return job
