"""The parts of the report: decisions, columns, kept texts, and the HTML document."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.exceptions import InputError
from scrapy_neardup.report.decisions import Decision, DecisionReader, UrlTable
from scrapy_neardup.report.document import Columns, Origin, render_report, report_script, safe_json

ASSETS = files("scrapy_neardup.report") / "assets"
WORDS = json.loads((ASSETS / "words.json").read_text("utf-8"))
SCRIPT = report_script()
TEMPLATE = (ASSETS / "report.html").read_text("utf-8")
ORIGIN = Origin("scan", "verdicts.jsonl", 0)

anything = st.text(st.characters(codec=None))
decisions = st.builds(
    Decision,
    url=anything.filter(bool),
    verdict=st.sampled_from(["new", "duplicate", "revisit", "undecided"]),
    reason=anything,
    id=st.none() | anything.filter(bool) | st.integers(),
    duplicate_of=st.none() | anything.filter(bool),
    duplicate_of_id=st.none() | anything.filter(bool) | st.integers(),
    look_alike=st.none() | anything.filter(bool),
    look_alike_id=st.none() | anything.filter(bool) | st.integers(),
    objection=st.none() | anything.filter(bool),
    distance=st.none() | st.integers(0, 64),
    similarity=st.none() | st.floats(0, 1),
    title=anything,
    bytes=st.none() | st.integers(0, 2**53),
    time=st.none() | st.integers(0, 2**40),
)


@given(decisions)
def test_a_decision_comes_back_from_its_line(decision):
    assert Decision.from_line(decision.line()) == decision
    assert "\n" not in decision.line()


@pytest.mark.parametrize(
    "changed",
    [
        {"url": None},
        {"url": 7},
        {"verdict": "guilty"},
        {"distance": -1},
        {"distance": True},
        {"distance": "5"},
        {"similarity": 1.5},
        {"similarity": float("nan")},
        {"time": 2**41},
        {"id": [1]},
    ],
)
def test_invalid_decision_is_refused_with_its_line(tmp_path, changed):
    good = {"url": "https://a.example/", "verdict": "new", "reason": "no_match", "more": 1}
    path = tmp_path / "verdicts.jsonl"
    path.write_text(f"{json.dumps(good)}\n\n{json.dumps({**good, **changed})}\n")
    with pytest.raises(InputError, match="line 3 is no verdict"):
        list(DecisionReader([str(path)]))


@pytest.mark.parametrize("line", ["[]", "nonsense", '{"url": "https://a.example/"', "[" * 10**5])
def test_other_lines_are_refused(tmp_path, line):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match="line 1 is no verdict"):
        list(DecisionReader([str(path)]))


@given(st.lists(decisions))
def test_columns_hold_what_was_decided(given_):
    columns = Columns()
    for decision in given_:
        columns.add(decision)
    data = json.loads(safe_json(columns.packed(ORIGIN, None)))
    listed, addresses, words = data["columns"], data["addresses"], data["words"]
    rows = list(zip(*(listed[name] for name in listed), strict=True))
    assert len(rows) == len(given_) == len(columns)
    for decision, row in zip(given_, rows, strict=True):
        values = dict(zip(listed, row, strict=True))
        assert addresses[values["page"]] == decision.url
        original = values["original"]
        other = decision.look_alike or decision.duplicate_of
        assert (None if original is None else addresses[original]) == other
        assert words["objection"][values["objection"]] == (decision.objection or "")
        assert words["verdict"][values["verdict"]] == decision.verdict
        assert words["reason"][values["reason"]] == decision.reason
        for name in ("distance", "similarity", "bytes", "time"):
            assert values[name] == getattr(decision, name)
    assert sum(total[2] for total in data["totals"]) == len(given_)
    assert sum(total[3] for total in data["totals"]) == sum(d.bytes or 0 for d in given_)


def test_decisions_beyond_the_limit_are_counted_and_not_listed():
    columns = Columns(most_pairs=2, most_others=3)
    for number in range(10):
        page = f"https://a.example/{number}"
        columns.add(Decision(page, "new", "no_match", bytes=1))
        columns.add(Decision(f"{page}/print", "duplicate", "same_text", duplicate_of=page, bytes=2))
    data = columns.packed(ORIGIN, None)
    assert len(data["columns"]["page"]) == 5
    assert data["totals"] == [["new", "no_match", 10, 10], ["duplicate", "same_text", 10, 20]]
    assert len(columns.paired) == 4


def test_only_texts_of_pairs_are_packed():
    columns = Columns()
    columns.add(Decision("https://a.example/1", "new", "no_match"))
    columns.add(Decision("https://a.example/2", "new", "no_match"))
    pair = Decision(
        "https://a.example/3", "duplicate", "same_text", duplicate_of="https://a.example/1"
    )
    columns.add(pair)
    data = columns.packed(ORIGIN, lambda url: url[-1].encode())
    assert {
        data["addresses"][at]: base64.b64decode(text) for at, text in data["texts"].items()
    } == {
        "https://a.example/1": b"1",
        "https://a.example/3": b"3",
    }


def test_kept_texts_are_bounded_and_the_oldest_dropped():
    texts = UrlTable(most_bytes=100)
    for number in range(10):
        texts.put(f"https://a.example/{number}", bytes([number]) * 30)
    # The same address again takes the place of what it had, and is the newest then.
    texts.put("https://a.example/7", b"again")
    texts.put("https://a.example/10", b"x" * 40)
    kept = {n for n in range(11) if texts.get(f"https://a.example/{n}") is not None}
    assert kept == {7, 9, 10} | ({8} if 5 + 30 + 40 + 30 <= 100 else set())
    assert texts.get("https://a.example/7") == b"again"
    assert texts.dropped == 8
    texts.put("https://a.example/huge", b"x" * 101)
    assert texts.get("https://a.example/huge") is None
    texts.put("https://half.example/\ud83d", b"half")
    assert texts.get("https://half.example/\ud83d") == b"half"
    texts.close()


values = st.recursive(
    st.none() | st.integers() | anything,
    lambda inner: st.lists(inner) | st.dictionaries(anything, inner),
)


@given(values)
def test_json_in_the_page_says_the_same_and_cannot_break_out(value):
    text = safe_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")
    text.encode()


class Page(HTMLParser):
    """Collects the scripts and styles of a page, and the attributes of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.content: dict[str, str] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self._at = ""

    def handle_starttag(self, tag, attrs):
        given_ = dict(attrs)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._at = f"{tag} {given_.get('id') or ''}".strip() if tag in ("script", "style") else ""

    def handle_endtag(self, tag):
        self._at = ""

    def handle_data(self, data):
        if self._at:
            self.content[self._at] = self.content.get(self._at, "") + data


def parsed(title: str) -> Page:
    columns = Columns()
    columns.add(Decision("https://a.example/", "new", "no_match", title=title))
    page = Page()
    page.feed(render_report(columns.packed(ORIGIN, None)))
    return page


@pytest.mark.parametrize("title", ["Harmless", "</script><script>alert(1)</script><!--"])
def test_the_policy_names_the_one_script_and_the_one_style(title):
    page = parsed(title)
    assert set(page.content) == {"style", "script words", "script data", "script"}
    [policy] = [v for _, name, v in page.attributes if name == "content" and "default-src" in v]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for name, rule in (("script", "script-src"), ("style", "style-src")):
        digest = hashlib.sha256(page.content[name].encode()).digest()
        assert rules.pop(rule) == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert not rules
    assert json.loads(page.content["script data"])["titles"] == {"0": title}


def test_the_page_names_no_other_place_and_handles_no_event_inline():
    for tag, name, value in parsed("A page").attributes:
        assert not name.startswith("on")
        assert name != "style"
        assert name != "src"
        assert name != "href" or value.startswith("#"), tag
    assert not re.search(r"\.(inner|outer)HTML|insertAdjacentHTML", SCRIPT)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|eval|import)\b\(", SCRIPT)


def test_every_string_has_both_languages_with_the_same_gaps():
    for key, both in WORDS.items():
        english, chinese = both
        assert english.strip(), key
        assert chinese.strip(), key
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), key
        assert re.search(r"[一-鿿]", chinese) or chinese == english or "{n}" in chinese, key


def test_every_string_that_is_used_is_there_and_no_other():
    used = set(re.findall(r'data-(?:t|label)="(\w+)"', TEMPLATE))
    used |= set(re.findall(r'\bt\(\s*"([\w.]+)"', SCRIPT))
    assert used <= set(WORDS)
    # Some are chosen between before they are looked up.
    used |= set(re.findall(r'"(\w+)"', SCRIPT)) & set(WORDS)
    prefixes = set(re.findall(r"`(\w+)\.\$\{", SCRIPT)) | {"verdict", "reason", "objection"}
    assert {key for key in set(WORDS) - used if key.partition(".")[0] not in prefixes} == set()


def test_every_reason_has_words():
    reference = (files("scrapy_neardup") / ".." / "docs" / "settings.md").read_text("utf-8")
    table = reference.partition("## What a verdict says")[2].partition("## ")[0]
    cells = re.findall(r"^\| `\w+` \| (.*?) \|", table, re.M)
    reasons = {reason for cell in cells for reason in re.findall(r"`(\w+)`", cell)}
    assert len(reasons) > 15
    assert {f"reason.{reason}" for reason in reasons} <= set(WORDS)
