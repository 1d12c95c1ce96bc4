"""Runs ``find_all`` of seomoz's simhash-cpp, in a process of its own.

Its binding, ``simhash-pybind``, is imported as ``simhash``, as another package is that is compared
with. So it stands in a folder of its own, where :func:`install` puts it, and is imported by nobody
but the process that this file is run in, which prints its processor time and how many pairs it has
found. The set of numbers that it wants is made before time is taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from ..common.programs import ROOT, environment, module_command

PACKAGE = "simhash-pybind"
#: For each Python its own: it is compiled.
FOLDER = ROOT / "benchmarks" / ".cache" / f"find-all-{sys.implementation.cache_tag}"


class Found(NamedTuple):
    """:ivar seconds: of processor time."""

    seconds: float
    pairs: int


def install(folder: Path) -> str:
    """Put the binding into the folder, unless it is there; returns why it cannot be had."""
    if not version_in(folder):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check"),
                *(
                    "--no-deps",
                    "--target",
                    str(folder),
                    "--group",
                    f"{ROOT / 'pyproject.toml'}:find-all",
                ),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return _last_line(done.stderr or done.stdout)
    return trouble_in(folder)


def trouble_in(folder: Path) -> str:
    """Return the reason why the binding in the folder cannot be used; empty if it can."""
    if not version_in(folder):
        return f"{PACKAGE} is not in {folder.name}"
    code = "import sys; sys.path.insert(0, sys.argv[1]); import simhash; simhash.find_all"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False
    )
    return _last_line(done.stderr) if done.returncode else ""


def version_in(folder: Path) -> str:
    """Version of the binding in the folder; empty where there is none."""
    found = distributions(name=PACKAGE, path=[str(folder)])
    return next((one.version for one in found), "")


def find_all(folder: Path, fingerprints: Path, blocks: int, distance: int) -> Found:
    """Search the fingerprints of a file.

    :raises subprocess.CalledProcessError: when it dies, for want of memory for one.
    """
    done = subprocess.run(
        module_command("benchmarks.speed.find_all", folder, fingerprints, blocks, distance),
        env=environment(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return Found(*json.loads(done.stdout))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]


def main() -> None:
    folder, path, blocks, distance = sys.argv[1:]
    sys.path.insert(0, folder)
    simhash = import_module("simhash")
    wanted = set(np.load(path).tolist())
    started = process_time()
    found = simhash.find_all(wanted, int(blocks), int(distance))
    print(json.dumps([process_time() - started, len(found)]))


if __name__ == "__main__":
    main()
