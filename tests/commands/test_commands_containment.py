"""``scrapy neardup scan --containment``: quotes are named beside the verdicts."""

from __future__ import annotations

import pytest

from tests.support.json_lines import lines as verdicts
from tests.support.json_lines import stored
from tests.support.texts import FERRY, MUSEUM, article

from .test_commands_scan import kinds, scan


def text(seed: int, words: int = 400) -> str:
    return " ".join(article(words, seed=seed))


def test_a_quote_is_named_with_its_share(tmp_path):
    quoted, other = text(1), text(2)
    # Three quarters of the third page are the first one; the fourth page is a part of the second.
    pages = stored(tmp_path / "in.jsonl", quoted, other, f"{quoted} {text(3, 133)}", other[:1200])
    done = scan(pages, "-o", "-", "--containment")
    first, second, third, fourth = verdicts(done.stdout)
    for line in (first, second):
        assert {line["contained_in"], line["contains"], line["share"]} == {None}
    assert (third["contains_id"], third["contained_in"]) == (0, None)
    assert third["share"] > 0.9
    assert (fourth["contained_in_id"], fourth["contains"]) == (1, None)
    assert fourth["share"] > 0.9
    assert b"2 pages contained in another, or containing one" in done.stderr
    # The verdicts are those without the option.
    assert kinds(done.stdout) == kinds(scan(pages, "-o", "-").stdout)


@pytest.mark.slow
def test_pages_quote_those_of_a_library_only(tmp_path):
    quoted = text(1)
    # At another address: a page is not compared with what it was before.
    old = stored(tmp_path / "old.jsonl", FERRY, MUSEUM, quoted)
    new = stored(tmp_path / "new.jsonl", f"{text(4)} {quoted}", f"{text(5)} {text(4)}")
    found = verdicts(scan("--library", old, new, "-o", "-", "--containment").stdout)
    assert [line["contains_id"] for line in found] == [2, None]


@pytest.mark.slow
def test_a_share_may_be_given(tmp_path):
    pages = stored(tmp_path / "in.jsonl", text(1), f"{text(1)[:600]} {text(2)}")
    shares = [
        verdicts(scan(pages, "-o", "-", "--containment", least).stdout)[1]["share"]
        for least in ("0.1", "0.9")
    ]
    assert shares[0] > 0.1
    assert shares[1] is None
    refused = scan(pages, "-o", "-", "--containment", "0")
    assert refused.returncode == 2
    assert b"'0' is not a number above 0, at most 1" in refused.stderr
