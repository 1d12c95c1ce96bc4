from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.learning.addresses import Component
from scrapy_neardup.learning.evidence import MAX_COUNTED, Evidence, is_rarer, upper_bound
from scrapy_neardup.learning.rules import NOTHING_NEW, UrlRule


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
        evidence.agree_by_name(content)
    assert evidence.agreements == 0
    for content in range(200, 215):
        evidence.agree(content)
    assert evidence.agreements == 30
    evidence.disbelieve_names()
    assert evidence.agreements == 15


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
    family=st.one_of(st.just(""), TEXTS.map("/".__add__)),
    component=COMPONENTS,
    state=st.sampled_from(["watched", "in_force", "withdrawn", "off"]),
    changed_at=st.integers(0, 2**32 - 1),
    demand=st.integers(1, 8),
    evidence=st.builds(Evidence, st.integers(0, 400), st.integers(0, 400)),
)


@given(RULES)
def test_a_rule_comes_out_of_a_store_as_it_went_in(rule):
    other = UrlRule.from_bytes(rule.to_bytes())
    for name in ("site", "family", "component", "state", "changed_at", "demand", "name", "text"):
        assert getattr(other, name) == getattr(rule, name)
    assert other.evidence.agreements == rule.evidence.agreements
    assert other.evidence.contradictions == rule.evidence.contradictions
    assert other.name.startswith(f"{rule.site} ")


@given(st.lists(RULES, min_size=2, max_size=2))
def test_rules_have_names_of_their_own(rules):
    one, other = rules
    same = (one.site, one.family, one.component) == (other.site, other.family, other.component)
    blank = any(" " in rule.site or " " in rule.family for rule in rules)
    assert blank or (one.name == other.name) == same


@pytest.mark.parametrize(
    "packed", [b"", b"{}", b"[]", b"nonsense", b'{"site": 1}', b"\xff", b'{"site":"a"}']
)
def test_other_bytes_are_no_rule(packed):
    with pytest.raises(ValueError, match=r"rule|JSON|Expecting|decode"):
        UrlRule.from_bytes(packed)


def test_a_rule_says_what_it_says():
    rule = UrlRule("example.com", "/shop/*", ("param", "sid"), evidence=Evidence(37, 0))
    assert rule.text == "the parameter sid means nothing under /shop/* on example.com"
    assert rule.evidence_text == (
        "37 contents agree, 0 contradictions, so wrong for at most 7.8% with 95 % confidence"
    )
