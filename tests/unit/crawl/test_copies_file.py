from __future__ import annotations

import os
from pathlib import Path

import pytest

from scrapy_neardup.crawl.copies.json_lines_file import JsonLinesFile


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_nothing_is_read_of_a_terminal():
    """Else a crawl would warn that it cannot write there, and read /dev/full without end."""
    ours, theirs = os.openpty()
    try:
        os.write(ours, b'{"typed": 1}\n\x04')
        file = JsonLinesFile(Path(os.ttyname(theirs)))
        assert list(file.last_lines(1000)) == []
        file.close()
    finally:
        os.close(ours)
        os.close(theirs)
