"""``scrapy neardup rules`` as a program, and its export read by duplicate-url-discarder."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
import tldextract.tldextract
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
from hypothesis import given, settings
from hypothesis import strategies as st
from tldextract import TLDExtract

from benchmarks.url_rules.site import UrlSite
from scrapy_neardup.commands.support.url_discarder import convert
from scrapy_neardup.url_rules.learner import Learner
from scrapy_neardup.url_rules.rule import Evidence, State, UrlRule
from scrapy_neardup.url_rules.url_parts import Component
from tests.commands.test_commands_store import ISO, TIME, neardup, opened, said
from tests.support.json_lines import lines
from tests.support.redis_servers import RedisServer

SITE = "example.com"


def rule(
    *component: str | int,
    family: str = "",
    state: State = "in_force",
    agreements: int = 40,
    contradictions: int = 0,
    named: int = 0,
    site: str = SITE,
) -> UrlRule:
    evidence = Evidence(agreements, contradictions, named)
    return UrlRule(site, family, component, state, TIME, evidence=evidence)


SORT = rule("param", "sort", family="/shop/*")
SESSION = rule("param", "sid", agreements=70)
START = rule("param", "start", "0", family="/list", state="withdrawn", contradictions=2)
PATH_SESSION = rule("path_param", "jsessionid", family="/a")
OTHER = rule("param", "ref", site="b.example", state="watched", agreements=3)
RULES = [SORT, SESSION, START, PATH_SESSION, OTHER]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "pages.sqlite"
    with opened(path) as made:
        made.put_rules({one.name: one.to_bytes() for one in RULES})
    return path


def held(path: Path) -> dict[str, UrlRule]:
    with opened(path) as store:
        return {name: UrlRule.from_bytes(body) for name, body in store.rules().items()}


# --- the command ---


def test_the_rules_are_listed_with_their_evidence(store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    with opened(store):
        done = neardup("rules", store)
    said(done)
    shown = done.stdout.decode()
    rows = [line for line in shown.splitlines() if line.startswith("  example.com param")]
    assert rows[0].split() == [*SESSION.name.split(), "in", "force", "70", "0", "4.2%", ISO]
    assert rows[1].split() == [*SORT.name.split(), "in", "force", "40", "0", "7.3%", ISO]
    assert rows[2].split()[-4:] == ["40", "2", "14.3%", ISO]
    assert "5 rules (3 in force, 0 off, 1 withdrawn, 1 watched)" in shown


def test_json_says_all_that_is_known_of_them(store):
    told = lines(neardup("rules", store, "--json").stdout)
    assert [line["rule"] for line in told] == [
        SESSION.name, SORT.name, PATH_SESSION.name, START.name, OTHER.name
    ]  # fmt: skip
    assert told[1] == {
        "rule": "example.com param sort /shop/*",
        "text": "the parameter sort has no effect under /shop/* on example.com",
        "site": "example.com",
        "family": "/shop/*",
        "kind": "param",
        "name": "sort",
        "value": None,
        "place": None,
        "state": "in_force",
        "agreements": 40,
        "contradictions": 0,
        "named": 0,
        "changed_at": ISO,
        "demand": 1,
        "wrong_at_most": 0.073,
    }
    of_site = lines(neardup("rules", store, "--json", "--site", "b.example").stdout)
    assert [line["rule"] for line in of_site] == [OTHER.name]


def test_evidence_of_canonical_urls_is_listed_separately(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    half, some = rule("param", "a", agreements=30, named=100), rule("param", "b", named=7)
    with opened(tmp_path / "pages.sqlite") as made:
        made.put_rules({one.name: one.to_bytes() for one in (half, some)})
    shown = neardup("rules", tmp_path / "pages.sqlite").stdout.decode()
    assert "30 (15 named)" in shown
    assert "40 (7 named)" in shown
    told = lines(neardup("rules", tmp_path / "pages.sqlite", "--json").stdout)
    assert [(line["agreements"], line["named"]) for line in told] == [(30, 15), (40, 7)]


def test_a_store_without_rules_has_none(tmp_path):
    with opened(tmp_path / "pages.sqlite"):
        pass
    done = neardup("rules", tmp_path / "pages.sqlite")
    assert "0 rules" in done.stdout.decode()
    assert neardup("rules", tmp_path / "pages.sqlite", "--json").stdout == b""


def test_unreadable_rules_are_counted(store):
    with opened(store) as made:
        made.put_rules({"a": b"{}", "b": b"\xff", "c": b'{"kind": "of a later version"}'})
    done = neardup("rules", store)
    assert "3 rules cannot be read" in said(done)
    assert "5 rules" in done.stdout.decode()


def test_control_characters_are_not_printed(tmp_path):
    evil = rule("param", "\x1b[2J")
    with opened(tmp_path / "pages.sqlite") as made:
        made.put_rules({evil.name: evil.to_bytes()})
    for option in ([], ["--json"], ["--off", evil.name]):
        done = neardup("rules", tmp_path / "pages.sqlite", *option)
        assert b"\x1b" not in done.stdout + done.stderr


def test_a_rule_is_switched_off_and_on_again(store):
    off = neardup("rules", store, "--off", SORT.name, "--off", SESSION.name)
    assert f"off: {SORT.name} (the parameter sort has no effect under /shop/*" in said(off)
    assert off.stdout == b""
    rules = held(store)
    assert {name for name, one in rules.items() if one.state == "off"} == {SORT.name, SESSION.name}
    assert rules[SORT.name].changed_at > TIME
    assert rules[SORT.name].evidence.agreements == 40
    assert f"on again: {SORT.name}" in said(neardup("rules", store, "--on", SORT.name))
    rules = held(store)
    # It is taken up again by its evidence, as any.
    assert (rules[SORT.name].state, rules[SORT.name].is_proven) == ("watched", True)
    assert rules[SESSION.name].state == "off"
    assert rules[START.name].state == "withdrawn"


def test_rules_of_a_redis_are_switched_off_while_crawls_go_on(redis_server: RedisServer):
    from scrapy_neardup.stores.redis.store import RedisStore

    crawl = RedisStore(redis_server.address, "news")
    crawl.put_rules({one.name: one.to_bytes() for one in RULES})
    said(neardup("rules", redis_server.address, "--off", SORT.name))
    assert UrlRule.from_bytes(crawl.rules()[SORT.name]).state == "off"
    told = lines(neardup("rules", redis_server.address, "--json").stdout)
    assert [line["state"] for line in told] == [
        "in_force", "in_force", "off", "withdrawn", "watched",
    ]  # fmt: skip
    crawl.close()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--off", "sort"], "but it must be the name of a rule that is not switched off"),
        (["--off", "foo"], "There is no such rule; `scrapy neardup rules STORE` lists them"),
        (["--on", "foo"], "is switched off. There is no such rule; `scrapy neardup rules STORE`"),
        (["--off", "example.com param sort /shop"], "such as 'example.com param sort /shop/*'"),
        (["--on", SORT.name], "--on is 'example.com param sort /shop/*', but"),
    ],
)
def test_unknown_rule_name_is_refused(store, options, problem):
    before = store.read_bytes()
    told = said(neardup("rules", store, *options), 2)
    assert problem in told
    assert ("no such rule" in told) == (options[1] != SORT.name)
    assert store.read_bytes() == before


def test_a_file_that_a_crawl_has_open_is_not_changed(store):
    with opened(store):
        assert "another process has it open" in said(neardup("rules", store, "--off", SORT.name), 1)
    assert held(store)[SORT.name].state == "in_force"


def test_the_rules_in_force_are_exported(store, tmp_path):
    done = neardup("rules", store, "--export", tmp_path / "rules.json")
    told = said(done)
    assert "2 rules in force, as 2 of duplicate-url-discarder; 1 rule could not be" in told
    assert f"1: it cannot remove path parameters ({PATH_SESSION.name})" in told
    assert json.loads((tmp_path / "rules.json").read_text()) == [
        {
            "args": ["sid"],
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {"include": ["example.com"]},
        },
        {
            "args": ["sort"],
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {
                "include": ["example.com/shop/*|"],
                "exclude": ["example.com/*/*/*", "example.com/shop/|"],
            },
        },
    ]
    assert neardup("rules", store, "--export", "-").stdout == (tmp_path / "rules.json").read_bytes()
    assert "is an input" in said(neardup("rules", store, "--export", store), 1)


# --- what it writes, as it is read ---


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """url-matcher asks for the newest list of suffixes, which the tests need not."""
    monkeypatch.setattr(tldextract.tldextract, "extract", TLDExtract(suffix_list_urls=()))
    logging.getLogger("duplicate_url_discarder").setLevel(logging.WARNING)


def discarder(path: Path, *rules: UrlRule) -> UrlCanonicalizer:
    path.write_text(json.dumps(convert(rules).rules))
    return UrlCanonicalizer([path])


def reasons(*rules: UrlRule) -> list[str]:
    return [reason for _, reason in convert(rules).refused]


def same(url: str) -> str:
    """Without a path it is the front page."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path or "/"))


def path_of(url: str) -> tuple[str, ...]:
    path = urlsplit(url).path[1:]
    return tuple(path.split("/")) if path else ()


def with_path(url: str, segments: tuple[str, ...]) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path="/" + "/".join(segments)))


def is_of(segments: tuple[str, ...], family: str) -> bool:
    """By the terms of the learned rules: a ``*`` is one segment, and not an empty one."""
    wanted = tuple(family[1:].split("/")) if family != "/" else ()
    # The path / has no segments, or an empty one when one has been taken away before it.
    return (
        not family
        or (family == "/" and segments == ("",))
        or (
            len(wanted) == len(segments)
            and all(w == s or (w == "*" and s != "") for w, s in zip(wanted, segments, strict=True))
        )
    )


def left(one: UrlRule, url: str) -> Iterator[str]:
    """Yield the URLs that a rule may make of one, applied once; none where it does not apply."""
    kind, *words = one.component
    segments = path_of(url)
    if kind == "param" and is_of(segments, one.pattern):
        parts = urlsplit(url)
        pieces = parts.query.split("&")
        kept = [
            piece
            for piece in pieces
            if piece.partition("=")[0] != words[0]
            or (len(words) == 2 and piece.partition("=")[2] != words[1])
        ]
        if kept != pieces:
            yield urlunsplit(parts._replace(query="&".join(kept)))
    for place, text in enumerate(segments):
        rest = (*segments[:place], *segments[place + 1 :])
        last = place == len(segments) - 1
        where = "last" if last else "inner" if place else "first"
        goes = (kind == "segment" and (text, where) == tuple(words)) or (
            kind == "segment_at" and text and words[0] == (-1 if last else place)
        )
        if goes and is_of(rest, one.pattern):
            yield with_path(url, rest)


SEGMENTS = st.sampled_from(["a", "b", "print", "shop", ""])
FAMILIES = st.lists(st.sampled_from(["*", "*", "a", "shop"]), max_size=3).map(
    lambda segments: "/" + "/".join(segments)
)
COMPONENTS: st.SearchStrategy[Component] = st.one_of(
    st.tuples(st.just("param"), st.sampled_from(["x", "y"])),
    st.tuples(st.just("param"), st.sampled_from(["x", "y"]), st.sampled_from(["0", "1"])),
    st.tuples(
        st.just("segment"),
        st.sampled_from(["print", "a", ""]),
        st.sampled_from(["first", "inner", "last"]),
    ),
    st.tuples(st.just("segment_at"), st.integers(-1, 2)),
)
LEARNED = st.builds(
    lambda component, family, state, against: rule(
        *component, family=family, state=state, contradictions=against
    ),
    COMPONENTS,
    st.one_of(st.just(""), FAMILIES),
    st.sampled_from(["in_force", "in_force", "in_force", "withdrawn", "watched", "off"]),
    st.sampled_from([0, 0, 2]),
)
QUERIES = st.lists(st.sampled_from(["x=0", "x=1", "x=5", "y=1", "z=1"]), unique=True, max_size=3)
URLS = st.builds(
    lambda host, segments, query: urlunsplit(
        ("https", host, "/" + "/".join(segments), "&".join(query), "")
    ),
    st.sampled_from(["example.com", "www.example.com", "m.example.com", "other.example"]),
    st.lists(SEGMENTS, max_size=4),
    QUERIES,
)


def in_force(rules: list[UrlRule]) -> list[UrlRule]:
    """Of each component and family the first, and none that is switched off everywhere."""
    off = {one.component for one in rules if one.state == "off" and not one.pattern}
    return [one for one in rules if one.state == "in_force" and one.component not in off]


def exceptions(rules: list[UrlRule], one: UrlRule) -> list[UrlRule]:
    return [
        other
        for other in rules
        if other.component == one.component
        and other.pattern
        and (
            other.state in ("withdrawn", "off")
            or (other.state == "watched" and other.evidence.contradictions)
        )
    ]


def reachable(rules: list[UrlRule], url: str) -> set[str]:
    """All that rules may leave of a URL that is of none of their exceptions, by brute force."""
    found, new = set(), {url}
    applied = [
        one
        for one in in_force(rules)
        if not any(set(left(other, url)) for other in exceptions(rules, one))
    ]
    while new:
        found |= new
        new = {rest for known in new for one in applied for rest in left(one, known)} - found
    return found


@given(st.lists(LEARNED, max_size=5, unique_by=lambda one: one.name), st.lists(URLS, max_size=30))
@settings(max_examples=300)
def test_no_exported_rule_reaches_further_than_what_was_learned(tmp_path_factory, rules, urls):
    made = discarder(tmp_path_factory.mktemp("rules") / "rules.json", *rules)
    for url in urls:
        assert same(made.process_url(url)) in reachable(rules, url)


@given(LEARNED, st.lists(URLS, max_size=30))
@settings(max_examples=300)
def test_an_exported_rule_reaches_as_far_on_the_site_itself(tmp_path_factory, one, urls):
    done = convert([one])
    made = discarder(tmp_path_factory.mktemp("rules") / "rules.json", one)
    for url in urls:
        applies = urlsplit(url).hostname in (SITE, f"www.{SITE}") and one in done.converted
        if applies and (rest := set(left(one, url))) and not is_odd(one, url):
            assert same(made.process_url(url)) in rest


def is_odd(one: UrlRule, url: str) -> bool:
    """Return whether a path has an empty segment within, or twice the one that a rule removes."""
    segments = path_of(url)
    is_repeated = one.component[0] == "segment" and segments.count(str(one.component[1])) > 1
    return "" in segments[:-1] or is_repeated


def test_www_and_trailing_slashes_go_together_or_not_at_all(tmp_path):
    www, slash = rule("host", "www"), rule("segment", "", "last")
    [reason] = reasons(www)
    assert reason == "it removes both www. and trailing slashes on a whole site"
    assert reasons(slash) == [reason]
    assert reasons(www, slash) == []
    made = discarder(tmp_path / "rules.json", www, slash)
    assert made.process_url("https://www.example.com/a/") == "https://example.com/a"
    withdrawn = rule("segment", "", "last", family="/a", state="withdrawn")
    assert reasons(www, slash, withdrawn) == [reason, reason]
    assert len(reasons(rule("host", "www", contradictions=1, agreements=90), slash)) == 2


@pytest.mark.parametrize(
    ("component", "family", "reason"),
    [
        (("path_param", "s"), "/a", "it cannot remove path parameters"),
        (("scheme",), "", "it cannot unify http and https"),
        (("host", "m"), "", "it removes www. only together with trailing slashes"),
        (("nothing_new",), "/calendar/*?month", "it has no rules for families that bring nothing"),
        (("param", "v", "0"), "/a", "it removes a parameter whatever its value"),
        (("segment", "*", "last"), "/a", "a * in its patterns matches anything"),
        (("segment", "index.html", "file"), "/a/", "it cannot keep the slash before"),
        (("segment", "print", "last"), "", "it counts segments from the first one only"),
        (("segment_at", -1), "", "it counts segments from the first one only"),
    ],
)
def test_what_cannot_be_expressed_is_said_with_its_reason(component, family, reason):
    [(refused, why)] = convert([rule(*component, family=family)]).refused
    assert refused.component == component
    assert why.startswith(reason)


@pytest.mark.parametrize(
    ("component", "family", "path", "expected"),
    [
        (("segment", "p", "inner"), "/a/b", "/a/p/b", "/a/b"),
        (("segment", "p", "inner"), "/a/b", "/p/a/b", "/p/a/b"),
        (("segment", "p", "inner"), "/a/b", "/a/b/p", "/a/b/p"),
        (("segment", "p", "first"), "/a/*", "/p/a/7", "/a/7"),
        (("segment", "p", "first"), "/a/*", "/a/p/7", "/a/p/7"),
        (("segment", "p", "first"), "/", "/p/", "/"),
        (("segment", "p", "first"), "/", "/p", "/p"),
        (("segment", "p", "first"), "", "/p/a/7", "/a/7"),
        (("segment", "p", "last"), "/a/*", "/a/7/p", "/a/7"),
        (("segment", "p", "last"), "/", "/p", ""),
        (("segment", "", "last"), "/a/*", "/a/7/", "/a/7"),
        (("segment_at", 0), "/a", "/x/a", "/a"),
        (("segment_at", 0), "/a", "/x/b", "/x/b"),
        (("segment_at", 1), "", "/a/x/b", "/a/b"),
        (("segment_at", 1), "", "/a/x", "/a/x"),
        (("segment_at", -1), "/a", "/a/x", "/a"),
        (("segment_at", -1), "/a", "/a/", "/a/"),
        (("segment_at", -1), "/a", "/a/x/y", "/a/x/y"),
    ],
)
def test_segments_are_taken_out_where_they_may_be(tmp_path, component, family, path, expected):
    made = discarder(tmp_path / "rules.json", rule(*component, family=family))
    assert made.process_url(f"https://example.com{path}?q") == f"https://example.com{expected}?q"


def test_where_a_rule_fails_it_is_left_out(tmp_path):
    failed = rule("param", "v", family="/shop/*", state="withdrawn")
    made = discarder(tmp_path / "rules.json", rule("param", "v"), failed)
    assert made.process_url("https://example.com/a?v=1") == "https://example.com/a"
    for url in ("https://example.com/shop/1?v=1", "https://m.example.com/shop/1?v=1"):
        assert made.process_url(url) == url
    doubtful = rule("param", "v", family="/shop/*", state="watched", contradictions=1)
    unmet = rule("param", "v", family="/shop/*", state="watched")
    for other, rest in ((doubtful, "?v=1"), (unmet, "")):
        made = discarder(tmp_path / "rules.json", rule("param", "v"), other)
        assert made.process_url("https://example.com/shop/1?v=1").endswith(f"/shop/1{rest}")
    everywhere = rule("param", "v", family="/*/*", state="withdrawn")
    assert reasons(rule("param", "v", family="/shop/*"), everywhere) == [
        "its patterns cannot exclude the paths where the rule fails"
    ]


def test_two_segments_are_not_taken_out_of_one_path(tmp_path):
    first = rule("segment", "print", "first", family="/shop/*", agreements=90)
    last = rule("segment_at", -1, family="/print/shop")
    inner = rule("segment", "p", "inner", family="/a/*/*")
    reason = "it would remove two segments of a path instead of one"
    assert [(r.component, why) for r, why in convert([last, first, inner]).refused] == [
        (inner.component, reason),
        (last.component, reason),
    ]
    made = discarder(tmp_path / "rules.json", last, first, inner)
    assert made.process_url("https://example.com/print/shop/1") == "https://example.com/shop/1"
    # What holds everywhere says what holds in a family, and is not applied twice.
    everywhere = rule("segment", "print", "first")
    assert reasons(everywhere, first) == []
    made = discarder(tmp_path / "rules.json", everywhere, first)
    assert made.process_url("https://example.com/print/print/1") == "https://example.com/print/1"


def test_rule_with_unknown_exceptions_is_not_exported():
    general = rule("param", "v", contradictions=2, agreements=200)
    one, other = (rule("param", "v", family=f, state="withdrawn") for f in ("/a", "/b"))
    assert reasons(general, one) == ["the exceptions to the rule are not in the store"]
    assert reasons(general, one, other) == []


def test_a_rule_that_is_switched_off_everywhere_is_off_in_each_family():
    off = rule("param", "v", state="off")
    assert convert([off, rule("param", "v", family="/a")]).rules == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_exported_rules_merge_no_contents(tmp_path, seed):
    """All the way: learned, kept in a store, exported by the command, and read."""
    site = UrlSite(seed, 400, 4000)
    contents = {url: found.content for url in site.urls if (found := site.find(url))}
    with opened(tmp_path / "pages.sqlite") as store:
        store.put_rules({one.name: one.to_bytes() for one in learned(contents, seed)})
    said(neardup("rules", tmp_path / "pages.sqlite", "--export", tmp_path / "rules.json"))
    made = UrlCanonicalizer([tmp_path / "rules.json"])
    led_to: defaultdict[str, set[object]] = defaultdict(set)
    for url, content in contents.items():
        led_to[made.process_url(url)].add(content)
    assert max(map(len, led_to.values())) == 1
    assert len(led_to) < 0.8 * len(contents)


def learned(contents: dict[str, Any], seed: int) -> list[UrlRule]:
    """The rules in force after a crawl of all these URLs."""
    learner, met = Learner(seed=seed), set()
    for url in Random(seed).sample(sorted(contents), len(contents)):
        if learner.decide(url).action != "skip":
            name = contents[url].id
            learner.begin(url)
            learner.observe(url, name, is_duplicate=name in met)
            met.add(name)
    return learner.in_force
