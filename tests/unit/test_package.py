"""Importing the package; ``lint-imports`` checks the layers."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_the_detector_works_where_scrapy_cannot_be_imported():
    program = (
        "import sys\n"
        "sys.modules['scrapy'] = sys.modules['twisted'] = None\n"
        "from scrapy_neardup import NearDupDetector\n"
        "detector = NearDupDetector()\n"
        "print(detector.check(url='https://a.example/', html='<p>我来到北京清华大学</p>').kind)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "undecided"


def test_the_package_offers_what_it_names():
    import scrapy_neardup

    assert all(hasattr(scrapy_neardup, name) for name in scrapy_neardup.__all__)
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = scrapy_neardup.NoSuchThing
