"""Runs every situation of this package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from filelock import FileLock

from tests.promises.harness import all_situations

SITUATIONS = all_situations()


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the result of each situation; the first test process that asks crawls all of them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / "promises.jsonl"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            path.write_text(_crawled())
    return {line["name"]: line for line in map(json.loads, path.read_text().splitlines())}


def _crawled() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.promises.runner"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("name", list(SITUATIONS))
def test_nothing_is_lost_of(name, outcomes):
    outcome = outcomes[name]
    without, with_addon = (set(outcome[which]["stored"]) for which in ("without", "with"))
    assert len(without) == SITUATIONS[name].contents, outcome["without"]
    missing = sorted(without - with_addon)
    assert missing == [], outcome["with"]
    assert with_addon == without
    assert outcome["with"]["ended"] == outcome["without"]["ended"]


@pytest.mark.parametrize("name", [name for name, each in SITUATIONS.items() if each.finds])
def test_copies_are_found_of(name, outcomes):
    outcome = outcomes[name]
    assert outcome["with"]["found"] >= SITUATIONS[name].finds, outcome["with"]
    # A copy that is dropped is a copy: what was found and not stored adds up.
    assert len(outcome["with"]["stored"]) <= len(outcome["without"]["stored"])
