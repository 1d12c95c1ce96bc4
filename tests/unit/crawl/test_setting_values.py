from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_neardup.crawl.settings import Config
from scrapy_neardup.exceptions import InvalidOption
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.text.idf import write_table


def config_of(**given: Any) -> Config:
    return Config.from_settings(Settings(given))


@pytest.mark.parametrize("name", ["COPIES", "FILES_INDEX", "METRICS", "REPORT"])
def test_a_path_may_be_an_object(name):
    given = config_of(**{f"NEARDUP_{name}": Path("out") / "file"})
    assert given == config_of(**{f"NEARDUP_{name}": "out/file"})


@pytest.mark.parametrize("name", ["COPIES", "FILES_INDEX", "METRICS", "REPORT"])
def test_what_is_no_path_is_refused(name):
    with pytest.raises(InvalidOption, match=f"^NEARDUP_{name} is 5, but it must be a path"):
        config_of(**{f"NEARDUP_{name}": 5})


def test_a_table_may_be_a_path_object(tmp_path):
    file = tmp_path / "own.gz"
    write_table(file, "own", 7, {"tea": 3})
    parts = config_of(NEARDUP_IDF=file).parts
    as_text = config_of(NEARDUP_IDF=str(file)).parts
    made, expected = (Signer(secret=bytes(16), **each).recipe for each in (parts, as_text))
    assert made == expected


def test_placeholders_of_a_path_object_are_checked():
    with pytest.raises(InvalidOption, match=r"^NEARDUP_REPORT is 'out/%\(nam\)s', but it must"):
        config_of(NEARDUP_REPORT=Path("out/%(nam)s"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Path("pages.sqlite"), "an address: 'sqlite:///pages.sqlite'"),
        (Path("/var/pages.sqlite"), "an address: 'sqlite:////var/pages.sqlite'"),
        (5, "an address, such as 'memory', 'sqlite:///path' or 'redis://host:port/db', or a "),
        (MemoryStore, "an address, such as "),
    ],
)
def test_what_is_no_store_is_refused_with_an_address(value, expected):
    with pytest.raises(InvalidOption) as caught:
        config_of(NEARDUP_STORE=value)
    start = f"NEARDUP_STORE is {value!r}, but it must be {expected}"
    assert str(caught.value).startswith(start)


def test_a_store_may_be_an_object():
    store = MemoryStore()
    assert config_of(NEARDUP_STORE=store).store_settings.store is store
