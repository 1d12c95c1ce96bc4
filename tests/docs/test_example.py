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
