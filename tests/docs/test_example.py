"""The example project stores the expected pages, however it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.crawl import LOOPS

PROJECT = Path(__file__).parents[2] / "example_project"


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_the_demo_stores_the_expected_pages(loop, tmp_path):
    result = tmp_path / "result.json"
    options = ["--no-reactor"] if loop == "no reactor" else []
    done = subprocess.run(
        [sys.executable, "-W", "error", str(PROJECT / "demo.py"), "--json", str(result), *options],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the stored pages match website/expected.json") == 2
    assert json.loads(result.read_text("utf-8"))


#: Crawls the example while both of its hosts answer addresses that do not exist with status 200.
_SOFT = """
import json
import demo
from website import pages, server

answer = pages.Website.answer

def soft(website, host, path):
    found = answer(website, host, path)
    if found.status != 404 or path == "/robots.txt":
        return found
    return pages.Answer(b"<title>Not found</title><h1>Not found</h1><p>Gone fishing.</p>")

pages.Website.answer = soft
news, mirror = server.start()
label = demo.labels(news, mirror)
expected = json.loads(demo.EXPECTED.read_text("utf-8"))
found = {n: demo.result(c, label) for n, c in demo.crawl(news, reactor=True, report=None).items()}
print(json.dumps({
    name: [demo.differences(expected[name], each), each["stats"]] for name, each in found.items()
}))
"""


@pytest.mark.slow
def test_one_missing_page_of_the_example_is_taken_for_a_soft_404_and_no_other(tmp_path):
    (tmp_path / "soft_settings.py").write_text(
        "from neardup_example.settings import *\nNEARDUP_SOFT_404 = 'drop'\n", "utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", _SOFT],
        capture_output=True,
        encoding="utf-8",
        cwd=PROJECT,
        env={
            **os.environ,
            "PYTHONUTF8": "1",
            "PYTHONPATH": os.pathsep.join(map(str, (PROJECT, tmp_path, PROJECT.parent))),
            "SCRAPY_SETTINGS_MODULE": "soft_settings",
        },
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1]).values()
    assert [differences for differences, _ in results] == [[], []]
    assert all(stats["neardup/soft_404/soft"] for _, stats in results)
    # One page of the site links to one that is missing.
    assert sum(stats.get("neardup/undecided/soft_404", 0) for _, stats in results) == 1
