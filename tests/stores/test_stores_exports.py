"""The format of store exports: written lines are read back, others are rejected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_neardup import NearDupDetector
from scrapy_neardup.exceptions import InputError
from scrapy_neardup.signatures.quick_sketch import SIZE
from scrapy_neardup.stores import StoredPage
from scrapy_neardup.stores.exports import ExportReader, Head, end_line, is_export, page_line
from tests.stores.test_stores import signatures
from tests.support.texts import FERRY

HEAD = Head("news", "one", {"tokenizer": "jieba", "idf": "多"}, bytes(range(32)))


def written(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


#: Parts that some pages have and others have not.
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "facts": st.binary(min_size=8, max_size=8),
        "passages": st.binary(min_size=16, max_size=16),
        "quick_sketch": st.binary(min_size=SIZE, max_size=SIZE),
    },
)
PAGES = st.builds(lambda page, parts: replace(page, **parts), signatures(), PARTS)


@given(st.lists(PAGES, max_size=4), st.text(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_come_back_as_they_were(tmp_path, pages, url, stored_at):
    sent = [
        StoredPage(replace(page, url=url, key=key, title=((url,), ("\ud800", "茶"))), stored_at)
        for page, key in zip(pages, [url, url + "#", "", url], strict=False)
    ]
    path = written(tmp_path / "e", HEAD.line(), *map(page_line, sent), end_line(len(sent)))
    export = ExportReader(path)
    assert export.head == HEAD
    assert list(export) == sent


@given(st.dictionaries(st.text(), st.binary(), max_size=4))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rules_come_back_as_they_were(tmp_path, rules):
    rules |= {"\ud800 茶": b"\0\xff"}
    export = ExportReader(written(tmp_path / "e", HEAD.line(), end_line(0, rules)))
    assert (list(export), export.rules) == ([], rules)


@pytest.mark.parametrize("rules", [[], {"a": 1}, {"a": "no base64!"}])
def test_rules_that_no_store_could_keep_are_refused(tmp_path, rules):
    end = json.dumps({"end_of_export": 0, "rules": rules})
    with pytest.raises(InputError, match="line 2 is no page of an export"):
        list(ExportReader(written(tmp_path / "e", HEAD.line(), end)))


def test_a_head_without_a_secret_has_none(tmp_path):
    head = replace(HEAD, secret=None)
    assert "secret" not in head.line()
    assert ExportReader(written(tmp_path / "e", head.line())).head == head


def test_it_is_known_by_its_beginning():
    assert is_export(HEAD.line().encode())
    assert not is_export(page_line(StoredPage(signature(), 0)).encode())


def signature():
    return NearDupDetector().signature(url="https://a.example/", text=FERRY, title="Ferry")


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("url", None, "None is no string"),
        ("site", 3, "3 is no string"),
        ("title", [["a", 1]], "1 is no string"),
        ("fingerprint", "12", "sixteen hexadecimal digits"),
        ("n_features", -1, "-1 is no whole number from 0 to 4294967295"),
        ("n_text", 2**32, "4294967296 is no whole number"),
        ("n_shown", True, "True is no whole number"),
        ("stored_at", 1.5, "1.5 is no whole number"),
        ("sketch", "AAAA", "3 bytes where there must be 384"),
        ("quick_sketch", "AAAA", "3 bytes where there must be 68"),
        ("sketch", "no base64!", "line 2 is no page of an export"),
        ("text_digest", "", "0 bytes where there must be 16"),
        ("key", 1, "1 is no string"),
    ],
)
def test_what_no_store_could_keep_is_refused(tmp_path, field, value: Any, complaint):
    fields = json.loads(page_line(StoredPage(signature(), 0)))
    export = ExportReader(
        written(tmp_path / "e", HEAD.line(), json.dumps({**fields, field: value}), end_line(1))
    )
    with pytest.raises(InputError) as caught:
        list(export)
    assert str(caught.value).startswith(f"{tmp_path / 'e'}: line 2 is no page of an export (")
    assert complaint in str(caught.value)


@pytest.mark.parametrize("field", ["url", "sketch", "stored_at"])
def test_what_is_missing_is_named(tmp_path, field):
    fields = json.loads(page_line(StoredPage(signature(), 0)))
    del fields[field]
    with pytest.raises(InputError, match=f"line 2 is no page of an export \\('{field}' is miss"):
        list(ExportReader(written(tmp_path / "e", HEAD.line(), json.dumps(fields))))


@pytest.mark.parametrize(
    "head", ["", "{}", "[]", "no JSON", HEAD.line().replace("AAEC", "!"), '{"url": "x"}']
)
def test_what_is_no_export_is_refused(tmp_path, head):
    with pytest.raises(InputError, match="it is no export of a store"):
        ExportReader(written(tmp_path / "e", head))
