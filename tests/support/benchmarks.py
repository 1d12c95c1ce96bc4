"""Runs benchmarks as programs."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.common.programs import ROOT


def run(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``python -m benchmarks.MODULE``; a file or socket that it leaves open is an error."""
    python = [sys.executable, "-W", "error::ResourceWarning", "-m"]
    return subprocess.run(
        [*python, f"benchmarks.{module}", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
        timeout=300,
    )
