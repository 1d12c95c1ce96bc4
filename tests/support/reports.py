"""Runs the report command, and reads the data in a report."""

from __future__ import annotations

import base64
import json
import subprocess
import zlib
from pathlib import Path
from typing import Any

from tests.support import warm

ROOT = Path(__file__).parents[2]


def neardup(*arguments: object) -> subprocess.CompletedProcess[str]:
    return warm.run_text(["-m", "scrapy", "neardup", *arguments], folder=ROOT)


def data_of(report: Path) -> dict[str, Any]:
    """The data of a page, as its script has them."""
    start = report.read_text("utf-8").partition('<script type="application/json" id="data">')[2]
    data: dict[str, Any] = json.loads(start.partition("</script>")[0])
    return data


def texts_of(report: Path) -> dict[str, str]:
    """The texts that a page holds, by address."""
    data = data_of(report)
    return {
        data["addresses"][int(at)]: zlib.decompress(base64.b64decode(text)).decode()
        for at, text in data["texts"].items()
    }
