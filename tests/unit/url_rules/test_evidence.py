from __future__ import annotations

import json
from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.url_rules.rule import (
    MAX_BEFORE,
    MAX_COUNTED,
    NOTHING_NEW,
    Evidence,
    Key,
    UrlRule,
    is_rarer,
    upper_bound,
)
from scrapy_neardup.url_rules.url_parts import Component


@pytest.mark.parametrize(
    ("share", "contradictions", "enough"),
    # The least number of trials, by solving 1 - 0.05 ** (1 / n) for none, and from tables of the
    # binomial distribution for more.
    [(0.1, 0, 29), (0.05, 0, 59), (0.1, 1, 46), (0.1, 2, 61), (0.05, 1, 93), (0.025, 0, 119)],
)
def test_how_many_trials_it_takes(share, contradictions, enough):
    assert is_rarer(share, contradictions, enough)
    assert not is_rarer(share, contradictions, enough - 1)


@given(st.integers(1, 60), st.data())
def test_the_bound_is_clopper_and_pearsons(trials, data):
    contradictions = data.draw(st.integers(0, trials - 1))
    bound = Fraction(str(upper_bound(contradictions, trials)))

    def likelihood(share: Fraction) -> Fraction:
        return sum(
            (
                comb(trials, k) * share**k * (1 - share) ** (trials - k)
                for k in range(contradictions + 1)
            ),
            Fraction(),
        )

    assert likelihood(bound) <= Fraction(5, 100)
    assert likelihood(bound - Fraction(1, 1000)) > Fraction(5, 100)


@given(st.integers(1000, 5000), st.integers(0, 600))
def test_of_thousands_of_trials_it_is_as_sure_as_a_normal_distribution_says(trials, contradictions):
    # Wilson's bound with continuity correction (Newcombe, Statistics in Medicine 17, 1998, method
    # 4) comes within a hundredth of the exact one.
    z, p, n = NormalDist().inv_cdf(0.95), contradictions / trials, trials
    root = z * sqrt(z * z + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))
    wilson = (2 * n * p + z * z + 1 + root) / (2 * (n + z * z))
    assert upper_bound(contradictions, trials) == pytest.approx(wilson, abs=0.01)


def test_crawl_after_crawl_a_rule_stays_one_that_can_be_contradicted():
    evidence = Evidence()
    for _ in range(100):
        of_crawl = Evidence(agreements=MAX_COUNTED, contradictions=MAX_COUNTED // 30, named=100)
        evidence.add(of_crawl)
        evidence = Evidence(evidence.agreements, evidence.contradictions, evidence.named)
        assert evidence.is_strong(0.1)
    assert evidence.agreements + evidence.contradictions <= 2 * MAX_BEFORE
    for _ in range(2):
        evidence.add(Evidence(contradictions=MAX_COUNTED))
    assert not evidence.is_strong(0.1)


def test_impossible_counts_cost_no_more():
    assert not Evidence(agreements=10**9, contradictions=10**9).is_strong(0.1)


def test_without_trials_nothing_is_known():
    assert upper_bound(0, 0) == 1.0
    assert not Evidence().is_strong(0.99)


def test_one_content_counts_once():
    evidence = Evidence()
    for _ in range(100):
        evidence.agree(7)
        evidence.contradict(7, 8)
        evidence.contradict(8, 7)
    assert (evidence.agreements, evidence.contradictions) == (1, 1)


def test_names_are_half_of_the_evidence_at_most():
    evidence = Evidence()
    for content in range(100):
        evidence.agree_by_canonical_url(content)
    assert evidence.agreements == 0
    for content in range(200, 215):
        evidence.agree(content)
    assert evidence.agreements == 30
    evidence.ignore_canonical_urls()
    assert evidence.agreements == 15


OBSERVED = st.lists(
    st.tuples(st.sampled_from(["fetched", "named", "contradicted"]), st.integers(0, 9)), max_size=20
)


@given(st.lists(OBSERVED, max_size=6))
def test_what_was_counted_in_several_crawls_counts_as_if_in_one(crawls):
    """The crawls meet different contents, one after the other or side by side."""
    one, several, joined = Evidence(), Evidence(), Evidence()
    for number, crawl in enumerate(crawls):
        own = Evidence()
        for what, content in crawl:
            for evidence in (one, several, own):
                count(evidence, what, 10 * number + content)
        several = through_a_store(several)
        joined.add(through_a_store(own))
        assert told(several) == told(joined) == told(one)


@given(st.lists(OBSERVED, min_size=1, max_size=12), st.data())
def test_names_are_never_more_than_half_of_the_evidence(crawls, data):
    """Whatever is met again, and whoever takes over what another one has counted."""
    workers, fetched = [Evidence(), Evidence()], 0
    for crawl in crawls:
        own = data.draw(st.integers(0, 1))
        for what, content in crawl:
            count(workers[own], what, content)
        fetched += len({content for what, content in crawl if what == "fetched"})
        workers[own] = through_a_store(workers[own])
        if data.draw(st.booleans()):
            workers[own].add(workers[1 - own])
            workers[1 - own] = Evidence()
    assert sum(evidence.agreements for evidence in workers) <= 2 * fetched


@given(*[OBSERVED] * 3)
def test_evidence_of_the_same_rule_is_not_counted_twice(before, here, elsewhere):
    """Two workers have continued one crawl, and evidence is passed on repeatedly."""
    own, other = (through_a_store(counted(before)) for _ in range(2))
    for what, content in here:
        count(own, what, 10 + content)
    for what, content in elsewhere:
        count(other, what, 20 + content)
    fetched = max(e.agreements - e.agreements_by_name for e in (own, other))
    named = max(own.named, other.named)
    against = own.contradictions + other.contradictions - counted(before).contradictions
    own.reconcile(through_a_store(other))
    assert told(own) == (fetched + min(named, fetched), against)
    reconciled = told(own)
    own.reconcile(through_a_store(other))
    assert told(own) == reconciled


CONFOUNDERS: list[Key] = [("/shop/*", ("param", name)) for name in "vwx"]


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 3), st.sets(st.sampled_from(CONFOUNDERS))),
        max_size=12,
    ),
    st.sets(st.sampled_from(CONFOUNDERS)),
)
def test_what_was_seen_without_a_culprit_as_well_stays(trials, culprits):
    """Whether a trial counts does not hang on what came of it."""
    evidence, other = Evidence(), Evidence()
    for number, (agreed, content, confounders) in enumerate(trials):
        half = (evidence, other)[number % 2]
        if agreed:
            half.agree(content, confounders)
        else:
            half.contradict(content, -1, confounders)
    evidence.add(other)
    for culprit in culprits:
        evidence.discard_explained_by(culprit)
    stays = [
        {
            content
            for agreed, content, _ in trials
            if agreed == is_agreed
            and all(
                any(
                    culprit not in confounders
                    for a, c, confounders in trials
                    if (a, c) == (agreed, content)
                )
                for culprit in culprits
            )
        }
        for is_agreed in (True, False)
    ]
    assert told(evidence) == tuple(map(len, stays))


def test_only_what_nothing_else_may_explain_is_known_to_be_a_contradiction():
    evidence = Evidence()
    evidence.contradict(1, 2, CONFOUNDERS[:2])
    assert (evidence.contradictions, evidence.is_contradicted) == (1, False)
    evidence.contradict(2, 1, CONFOUNDERS[2:])
    assert (evidence.contradictions, evidence.is_contradicted) == (1, True)
    assert Evidence(contradictions=1).is_contradicted


def counted(observed: list[tuple[str, int]]) -> Evidence:
    evidence = Evidence()
    for what, content in observed:
        count(evidence, what, content)
    return evidence


def count(evidence: Evidence, what: str, content: int) -> None:
    if what == "fetched":
        evidence.agree(content)
    elif what == "named":
        evidence.agree_by_canonical_url(content)
    else:
        evidence.contradict(content, -1)


def through_a_store(evidence: Evidence) -> Evidence:
    rule = UrlRule("example.com", "/shop/*", ("param", "sid"), evidence=evidence)
    return UrlRule.from_bytes(rule.to_bytes()).evidence


def told(evidence: Evidence) -> tuple[int, int]:
    return evidence.agreements, evidence.contradictions


def test_what_is_counted_is_bounded():
    evidence = Evidence()
    for content in range(10 * MAX_COUNTED):
        evidence.agree(content)
        evidence.contradict(content, content + 1)
        evidence.hint(content)
    assert evidence.agreements == MAX_COUNTED
    assert evidence.contradictions <= MAX_COUNTED


TEXTS = st.text(min_size=1, max_size=8)
COMPONENTS: st.SearchStrategy[Component] = st.one_of(
    st.tuples(st.just("param"), TEXTS),
    st.tuples(st.just("param"), TEXTS, st.text(max_size=8)),
    st.tuples(st.just("segment"), st.text(max_size=8), st.sampled_from(["first", "last", "file"])),
    st.tuples(st.just("segment_at"), st.integers(-1, 4)),
    st.tuples(st.just("path_param"), TEXTS),
    st.tuples(st.just("host"), TEXTS),
    st.just(("scheme",)),
    st.just(NOTHING_NEW),
)
RULES = st.builds(
    UrlRule,
    site=TEXTS,
    pattern=st.one_of(st.just(""), TEXTS.map("/".__add__)),
    component=COMPONENTS,
    state=st.sampled_from(["watched", "in_force", "withdrawn", "off"]),
    changed_at=st.integers(0, 2**32 - 1),
    demand=st.integers(1, 8),
    evidence=st.builds(Evidence, *[st.integers(0, 400)] * 3),
)


@given(RULES)
def test_a_rule_comes_out_of_a_store_as_it_went_in(rule):
    other = UrlRule.from_bytes(rule.to_bytes())
    for name in ("site", "pattern", "component", "state", "changed_at", "demand", "name", "text"):
        assert getattr(other, name) == getattr(rule, name)
    assert other.evidence.agreements == rule.evidence.agreements
    assert other.evidence.contradictions == rule.evidence.contradictions
    assert other.evidence.named == rule.evidence.named
    assert other.name.startswith(f"{rule.site} ")


def test_of_what_an_earlier_version_counted_all_was_fetched():
    packed = UrlRule("a", "/b", ("param", "c"), evidence=Evidence(30, 1, 15)).to_bytes()
    earlier = json.loads(packed)
    del earlier["named"]
    for fields in (earlier, {**earlier, "named": -5}):
        evidence = UrlRule.from_bytes(json.dumps(fields).encode()).evidence
        assert (told(evidence), evidence.named) == ((30, 1), 0)


@given(st.lists(RULES, min_size=2, max_size=2))
def test_rules_have_names_of_their_own(rules):
    one, other = rules
    same = (one.site, one.pattern, one.component) == (other.site, other.pattern, other.component)
    blank = any(" " in rule.site or " " in rule.pattern for rule in rules)
    assert blank or (one.name == other.name) == same


@pytest.mark.parametrize(
    "packed", [b"", b"{}", b"[]", b"nonsense", b'{"site": 1}', b"\xff", b'{"site":"a"}']
)
def test_other_bytes_are_no_rule(packed):
    with pytest.raises(ValueError, match=r"rule|JSON|Expecting|decode"):
        UrlRule.from_bytes(packed)


def test_text_of_a_rule():
    rule = UrlRule("example.com", "/shop/*", ("param", "sid"), evidence=Evidence(37, 0))
    assert rule.text == "the parameter sid has no effect under /shop/* on example.com"
    assert rule.evidence_text == (
        "37 contents agree, 0 contradictions, so wrong for at most 7.8% with 95 % confidence"
    )


def test_a_rule_says_how_much_of_it_only_canonical_urls_say():
    rule = UrlRule("example.com", "", ("param", "sid"), evidence=Evidence(37, 0, 12))
    assert rule.evidence_text.startswith(
        "37 contents agree (12 by their canonical URLs alone), 0 contradictions"
    )
