"""Runs ``python -m benchmarks.speed``."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    runpy.run_module("benchmarks.speed", run_name="__main__", alter_sys=True)
