"""URL rules learned from simulated sites, without a crawl."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from scrapy_neardup.url_rules import comparisons, decisions, known_urls, rule_set
from scrapy_neardup.url_rules import learner as learner_module
from scrapy_neardup.url_rules.evidence_collector import EvidenceCollector
from scrapy_neardup.url_rules.known_urls import SkippedUrl, SkippedUrls
from scrapy_neardup.url_rules.learner import Learner
from scrapy_neardup.url_rules.path_patterns import PathPatterns
from scrapy_neardup.url_rules.rule import NOTHING_NEW, Evidence, Key, UrlRule
from scrapy_neardup.url_rules.rule_set import MAX_RULES
from scrapy_neardup.url_rules.url_parts import UrlReducer, parse_url

pytestmark = pytest.mark.slow

SITE = "http://example.com"
RULE = "the parameter sid has no effect under /shop/item on example.com"


class World:
    """Fetches what is not skipped from a site that is a function from URL to content."""

    def __init__(self, content_of: Callable[[str], str], sample_rate: float = 0.0, **options: Any):
        self.learner = Learner(sample_rate=sample_rate, now=lambda: 1_800_000_000, **options)
        self.content_of = content_of
        self.fetched: list[str] = []
        self.skipped: list[str] = []
        self.originals: dict[str, str] = {}
        self.changes: list[tuple[str, bool]] = []

    def visit(self, urls: Iterable[str], **says: Any) -> None:
        for url in urls:
            decision = self.learner.decide(url)
            if decision.action == "skip":
                self.skipped.append(url)
                self.learner.keep(decision, url)
            else:
                self.fetch(url, **says)
            self._refetch()

    def fetch(self, url: str, **says: Any) -> None:
        self.fetch_only(url, **says)
        all_processed(self.learner)

    def fetch_only(self, url: str, **says: Any) -> None:
        """Fetch; what follows from changes of rules is still to be done."""
        self.learner.begin(url)
        self.fetched.append(url)
        content = self.content_of(url)
        is_new = content not in self.originals
        self.originals.setdefault(content, url)
        depth = says.pop("depth", len(self.fetched) % 3)
        self.learner.observe(
            url, self.originals[content], is_duplicate=not is_new, depth=depth, **says
        )
        for change in self.learner.take_changes():
            self.changes.append((change.rule.text, change.is_taken_up))

    def end(self) -> None:
        while self.learner.end():
            self._refetch()

    def _refetch(self) -> None:
        for url in self.learner.take_refetches():
            self.fetch(url)

    @property
    def texts(self) -> set[str]:
        return {rule.text for rule in self.learner.in_force}

    def would_skip(self, url: str) -> bool:
        return self.learner.decide(url).action == "skip"


def all_processed(learner: Learner) -> None:
    """Process all that follows from changes of rules, which a crawl does bit by bit."""
    while learner.process_pending(100):
        pass


def by_id(url: str) -> str:
    """Pages that hang on the parameter id alone."""
    return dict(parse_qsl(urlsplit(url).query))["id"]


def sessions(numbers: Iterable[int], path: str = "/shop/item") -> list[str]:
    return [f"{SITE}{path}?id={number}&sid={copy}{number}" for number in numbers for copy in "ab"]


def test_irrelevant_parameter_is_left_out():
    world = World(by_id)
    world.visit(sessions(range(28)))
    assert world.texts == set()
    assert not world.would_skip(f"{SITE}/shop/item?sid=c&id=3")
    world.visit(sessions([28]))
    assert world.texts == {"the parameter sid has no effect under /shop/item on example.com"}
    assert world.would_skip(f"{SITE}/shop/item?sid=c&id=3")
    assert world.would_skip(f"{SITE}/shop/item?id=3")
    assert not world.would_skip(f"{SITE}/shop/item?sid=c&id=1000")
    assert not world.would_skip(f"{SITE}/shop/other?sid=c&id=3")


def test_decisions_do_not_hang_on_the_order_of_parameters():
    one, other = World(by_id), World(by_id)
    for number in range(40):
        one.visit(f"{SITE}/shop/item?id={number}&sid={copy}" for copy in "xy")
        other.visit([f"{SITE}/shop/item?sid=x&id={number}", f"{SITE}/shop/item?id={number}&sid=y"])
    assert len(one.fetched) == len(other.fetched)
    assert one.texts == other.texts != set()


def test_parameter_that_selects_pages_stays():
    world = World(lambda url: url)
    world.visit(f"{SITE}/posts?page={number}" for number in range(300))
    assert world.texts == set()
    assert len(world.fetched) == 300


def test_one_content_behind_everything_proves_nothing_of_a_parameter():
    world = World(lambda url: "log in, please")
    world.visit((f"{SITE}/a/{number}?id={number}" for number in range(300)), depth=1)
    assert world.texts == set()


def test_one_contradiction_more_takes_more_agreements():
    world = World(lambda url: url if "id=0" in url else by_id(url))
    world.visit(sessions(range(40)))
    assert world.texts == set()
    world.visit(sessions(range(40, 46)))
    assert len(world.texts) == 1


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("/print/news/{}", "the first segment /print/ has no effect under /news/*"),
        ("/news/{}/print", "the last segment /print/ has no effect under /news/*"),
        ("/news/{}/", "a trailing slash has no effect under /news/*"),
        ("/news/{}/index.html", "the last segment /index.html/ has no effect under /news/*"),
        ("/news/{};jsessionid={}9", "the path parameter jsessionid has no effect under /news/*"),
        ("/s{}9/news/{}", "segment 1 of the path has no effect under /news/*"),
        ("/news/{}?start=0", "start=0 has no effect under /news/*"),
    ],
)
def test_irrelevant_part_is_left_out(form, text):
    def content(url: str) -> str:
        plain = url.replace("/print", "").partition(";")[0].replace("index.html", "")
        plain = plain.removesuffix("?start=0").rstrip("/")
        return plain.rpartition("/")[2]

    world = World(content)
    for number in range(100, 140):
        world.visit([f"{SITE}/news/{number}", SITE + form.format(number, number)])
        if "start" in form:
            # It means something with other values.
            world.visit([f"{SITE}/news/{number}?start={number % 5}0"])
    assert f"{text} on example.com" in world.texts
    assert world.skipped


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("http://www.example.com", "http://example.com", "the host www. shows the same"),
        ("http://www.example.com", "http://m.example.com", "the host m. shows the same"),
        ("http://example.com", "https://example.com", "http and https show the same"),
    ],
)
def test_names_of_a_host_and_schemes(one, other, text):
    world = World(lambda url: url.partition("example.com")[2])
    for number in range(40):
        world.visit([f"{one}/news/{number}", f"{other}/news/{number}"])
    assert f"{text} under /news/* on example.com" in world.texts
    assert len(world.skipped) > 5


def test_part_irrelevant_under_many_paths_is_irrelevant_elsewhere_unless_contradicted():
    def content(url: str) -> str:
        return url if "/docs/" in url else url.partition("?")[0]

    world = World(content)
    for number in range(40):
        for path in "news", "blog", "docs", "shop", "help":
            world.visit(f"{SITE}/{path}/{number}?v={v}" for v in range(3))
    world.visit(f"{SITE}/{path}/70?v=0" for path in ("news", "docs"))
    assert "the parameter v has no effect under any path on example.com" in world.texts
    assert world.would_skip(f"{SITE}/news/70?v=1")
    assert not world.would_skip(f"{SITE}/docs/70?v=1")
    # A path of which nothing is known has to bear it out first.
    world.visit(f"{SITE}/faq/{number}?v={v}" for number in range(2) for v in range(2))
    assert not world.would_skip(f"{SITE}/faq/1?v=2")
    world.visit(f"{SITE}/faq/{number}?v={v}" for number in range(2, 4) for v in range(2))
    assert world.would_skip(f"{SITE}/faq/1?v=2")


def of_version(url: str) -> str:
    """Pages under /docs hang on the parameter v as well; /lite below a path shows the same."""
    parts = urlsplit(url)
    version = parts.query if parts.path.startswith("/docs/") else ""
    return f"{parts.path.removesuffix('/lite')} {version}"


def versions_in_three_sections() -> list[str]:
    """Two of each page, next to one another."""
    return [
        f"{SITE}/{section}/{number}?v={version}"
        for section in ("news", "shop", "help")
        for number in range(20)
        for version in (1, 2)
    ]


def where_v_means_nothing() -> World:
    """Everywhere, as far as is known."""
    world = World(of_version)
    world.visit(versions_in_three_sections())
    assert world.texts >= {"the parameter v has no effect under any path on example.com"}
    return world


def test_relevant_part_contradicts_no_part_removed_with_it():
    world = where_v_means_nothing()
    # A page's versions, and a copy of one of them: while v is left out, it may be of the wrong one.
    for number in range(12):
        ends = ("", "?v=1", "/lite?v=1") if number % 4 else ("", "?v=1", "/lite")
        world.visit(f"{SITE}/docs/{number}{end}" for end in ends)
    # That v matters under /docs/* is known for long, and under /docs/*/lite from now on.
    world.visit(f"{SITE}/docs/{n}{end}" for n in range(12, 20) for end in ("", "/lite?v=1"))
    world.visit(f"{SITE}/docs/{number}/lite?v=2" for number in range(12))
    world.visit(f"{SITE}/docs/{number}{end}" for number in range(20, 46) for end in ("", "/lite"))
    assert world.texts >= {"the last segment /lite/ has no effect under /docs/* on example.com"}
    world.visit(f"{SITE}/docs/{number}?v={version}" for number in range(99) for version in (1, 2))
    assert {f"/docs/{number} v={version}" for number in range(99) for version in (1, 2)} <= {
        *world.originals
    }


def test_parts_of_both_urls_are_no_difference():
    world = where_v_means_nothing()
    # Of what pattern v is left out depends on whether /lite is left out before.
    urls = (f"{SITE}/docs/{n}{end}" for n in range(20) for end in ("?v=1", "/lite?v=1", "?v=2"))
    for url in urls:
        world.visit([url])
        rule = world.learner._sites["example.com"].rules.by_key.get(("/docs/*", ("param", "v")))
        assert rule is None or rule.evidence.agreements == 0
    assert rule is not None
    assert rule.evidence.contradictions == 20


@pytest.mark.parametrize("together", ["012", "01"])
def test_evidence_of_parts_that_change_together_ends_with_one_of_them(together):
    def content_of(url: str) -> str:
        """In the first pages under /docs nothing hangs on v and sid, in others both do."""
        parts = urlsplit(url)
        selects = parts.path.startswith("/docs/") and parts.path > "/docs/2"
        return f"{parts.path} {parts.query}" if selects else parts.path

    world = World(content_of)
    urls = versions_in_three_sections()
    world.visit(f"{url}&sid=of{place}" for place, url in enumerate(urls))
    assert world.texts >= {
        f"the parameter {name} has no effect under any path on example.com" for name in ("v", "sid")
    }
    for number in "012":
        version = 2 if number in together else 1
        world.visit([f"{SITE}/docs/{number}?v=1&sid=1", f"{SITE}/docs/{number}?v={version}&sid=2"])
    world.visit(f"{SITE}/docs/7?v=1&sid={sid}" for sid in (1, 2))
    assert world.skipped[-1:] == [f"{SITE}/docs/7?v=1&sid=2"]
    # So few agreements, and most of them with v: when that falls, too little speaks for sid.
    for version in (1, 2):
        world.fetch(f"{SITE}/docs/8?v={version}&sid=1")
    world._refetch()
    assert f"{SITE}/docs/7?v=1&sid=2" in world.fetched


def test_rule_without_valid_evidence_is_not_in_force():
    def content_of(url: str) -> str:
        number = by_id(url)
        return number if number < "9" else url

    world = World(content_of)
    world.visit(
        f"{SITE}/shop/item?id={n}&x={copy}{n}&y={copy}{n}" for n in range(80) for copy in "ab"
    )
    texts = {f"the parameter {name} has no effect under /shop/item on example.com" for name in "xy"}
    assert world.texts == texts
    for copy in "ab":
        world.fetch(f"{SITE}/shop/item?id=99&x={copy}&y=1")
    assert world.texts == set()
    assert {(text, False) for text in texts} <= {*world.changes}


def test_skipped_urls_are_refetched_when_merged_patterns_disagree():
    def content_of(url: str) -> str:
        parts = urlsplit(url)
        return url if parts.path.startswith("/shop/aa") else f"{parts.path} {by_id(url)}"

    world = World(content_of)
    world.visit(
        url for path in ("/news", "/help", "/talk") for url in sessions(range(20), f"{path}/item")
    )
    world.visit([*sessions(range(3), "/shop/zz"), *sessions(range(3), "/shop/aa")])
    world.visit(f"{SITE}/shop/zz?id=7&sid={sid}" for sid in (1, 2))
    assert world.skipped[-1:] == [f"{SITE}/shop/zz?id=7&sid=2"]
    world.visit(f"{SITE}/shop/b{chr(97 + number)}?id=1" for number in range(26))
    assert f"{SITE}/shop/zz?id=7&sid=2" in world.fetched


def new_rules() -> rule_set.RuleSet:
    return rule_set.RuleSet("example.com", rule_set.CrawlState(0.0, None, 0, lambda: 1_800_000_000))


LITE: Key = "/docs/*", ("segment", "lite", "last")
V: Key = "/docs/*", ("param", "v")


def test_relevant_part_explains_a_trial():
    rules = new_rules()
    collector = EvidenceCollector(rules)
    collector.hint(LITE, 1)
    collector.agree(LITE, 1, 1, confounders=[V])
    collector.contradict(V, (1, 2), 1, brings_new=False)
    collector.agree(LITE, 2, 1, confounders=[V])
    collector.contradict_with_confounders(LITE, (2, 3), 1, [V])
    assert told(rules, LITE) == (0, 0)
    collector.agree(LITE, 2, 1)
    collector.contradict(LITE, (2, 3), 1, brings_new=False)
    assert told(rules, LITE) == told(rules, ("", LITE[1])) == (1, 1)


def test_what_was_left_out_of_one_url_may_stand_in_both():
    world = World(by_id)
    world.visit([f"{SITE}/?id=1"])
    [site] = world.learner._sites.values()
    one, other = (
        comparisons._Observation(1, number, number, number, False, ((*key, text),))
        for number, key, text in ((1, LITE, "lite"), (2, V, "1"))
    )
    site._comparisons._count(V, one, other)
    assert V not in site.rules.by_key
    site._comparisons._count(LITE, other, other._replace(left_out=()))
    assert told(site.rules, LITE) == (1, 0)


def test_suspected_part_is_cleared_when_another_one_matters():
    rules = new_rules()
    collector = EvidenceCollector(rules)
    sid: Key = "/docs/*", ("param", "sid")
    for number in range(3):
        collector.contradict_one_of([sid, V], (number, -1), 1, brings_new=False)
    assert told(rules, sid) == (0, 1)
    collector.contradict(V, (1, 2), 1, brings_new=False)
    assert (told(rules, sid), told(rules, V)) == ((0, 0), (0, 1))


def test_confounders_are_bounded_like_rules():
    rules = new_rules()
    collector = EvidenceCollector(rules)
    for number in range(3 * MAX_RULES):
        collector.agree(LITE, number, 1, confounders=[("/docs/*", ("param", f"p{number}"))])
    assert len(collector._confounders) <= MAX_RULES


def told(rules: rule_set.RuleSet, key: Key) -> tuple[int, int]:
    evidence = rules.by_key[key].evidence
    return evidence.agreements, evidence.contradictions


def test_a_value_that_was_never_fetched_is_tried_first():
    world = World(by_id)
    for number in range(40):
        world.visit(f"{SITE}/list?id={number}&sort={by}" for by in ("date", "name"))
    assert world.would_skip(f"{SITE}/list?id=35&sort=name")
    assert not world.would_skip(f"{SITE}/list?id=7&sort=price")
    world.visit([f"{SITE}/list?id=7&sort=price"])
    assert world.would_skip(f"{SITE}/list?id=8&sort=price")


def test_parameter_that_starts_to_matter_withdraws_its_rule():
    changed: set[str] = set()

    def content(url: str) -> str:
        return url if changed else by_id(url)

    world = World(content, sample_rate=0.05)
    world.visit(sessions(range(100)))
    assert len(world.skipped) > 20
    changed.add("now")
    world.visit(f"{SITE}/shop/item?id={number}&sid=new{number}" for number in range(100))
    world.end()
    text = "the parameter sid has no effect under /shop/item on example.com"
    assert (text, False) in world.changes
    assert {f"{SITE}/shop/item?id={n}&sid=new{n}" for n in range(100)} <= set(world.fetched)


def test_withdrawn_rule_needs_twice_the_evidence_all_new():
    world = World(lambda url: url if "odd" in url else by_id(url), sample_rate=1.0)
    text = "the parameter sid has no effect under /shop/item on example.com"
    world.visit([*sessions(range(60)), f"{SITE}/shop/item?id=3&sid=odd"])
    assert world.changes == [(text, True), (text, False)]
    world.visit(sessions(range(1000, 1058)))
    assert world.texts == set()
    world.visit(sessions([1058]))
    assert world.texts == {text}


def test_samples_are_the_same_in_every_run():
    def skipped(seed: int) -> list[str]:
        world = World(by_id, sample_rate=0.2, seed=seed)
        world.visit(sessions(range(200)))
        return world.skipped

    assert skipped(1) == skipped(1) != skipped(2)
    share = 1 - len(skipped(1)) / (200 - 29)
    assert 0.1 < share < 0.3


def test_parameter_of_unknown_effect_lowers_priority():
    world = World(lambda url: url.partition("&")[0])

    def delay(path: str) -> int:
        return world.learner.decide(f"{SITE}{path}").delay

    world.visit([f"{SITE}/"])
    assert [delay(p) for p in ("/list", "/list?page=1", "/list?page=1&sort=a")] == [0, 1, 2]
    world.visit([f"{SITE}/list?page=1", f"{SITE}/list?page=2"])
    # Contents were seen to hang on the page.
    assert [delay(p) for p in ("/list?page=3", "/list?page=3&sort=a")] == [0, 1]


def test_segment_of_unknown_effect_lowers_priority():
    world = World(lambda url: url.removesuffix("/print"))
    pages = [f"{SITE}/news/{number}" for number in (1, 2)]

    def delays(learner: Learner) -> list[int]:
        return [learner.decide(f"{SITE}/news/9{end}").delay for end in ("", "/print", "/x")]

    assert delays(world.learner) == [0, 0, 0]
    world.visit([pages[0], f"{pages[0]}/print"])
    # Whatever the last segment is, it may mean nothing.
    assert delays(world.learner) == [0, 1, 1]
    # From its second page on, a text is one that comes again.
    world.visit([pages[1], f"{pages[1]}/print"])
    assert delays(world.learner) == [0, 2, 1]
    # That it was seen in an earlier crawl counts as well.
    off = UrlRule("example.com", "/news/*", ("segment", "print", "last"), "off", 1)
    off.evidence = Evidence(40)
    later = Learner()
    later.load({off.name: off.to_bytes()})
    assert delays(later) == [0, 1, 0]


def test_what_something_speaks_for_is_known_while_rules_are_forgotten(monkeypatch):
    monkeypatch.setattr(rule_set, "MAX_RULES", 10)
    rules = new_rules()
    collector = EvidenceCollector(rules)
    for number in range(30):
        key = "/news", ("segment", f"x{number}", "last")
        for content in (1, 2):
            collector.agree(key, content, number)
        for content in range(4 * (number < 5)):
            collector.hint(key, content)
        rules.reevaluate()
        idle = {key[1] for key in rules.by_key if rules.by_key[key].evidence.is_one_sided}
        assert idle
        assert idle <= rules.agreed
        # Nothing is kept of what is forgotten.
        assert len(rules.agreed) <= len(rules.by_key)


def test_urls_are_fetched_when_one_of_two_rules_is_withdrawn():
    world = World(by_id)
    world.visit(sessions(range(30)))
    world.visit([f"{SITE}/shop/item?id={n}&v={v}" for n in range(200, 229) for v in "ab"])
    between = f"{SITE}/shop/item?id=5&v=a"
    assert world.texts == {RULE, RULE.replace("sid", "v")}
    assert world.would_skip(between)
    off = UrlRule("example.com", "/shop/item", ("param", "sid"), "off", 2_000_000_000)
    world.learner.load({off.name: off.to_bytes()})
    # What was fetched, with a session, is still reduced by the rule.
    assert world.learner.has_pending
    assert not world.would_skip(between)


def waiting_for_one(copies: str) -> World:
    """The rule is in force, and one URL is being fetched, and others are skipped for it."""
    world = World(by_id)
    world.visit(sessions(range(30)))
    world.learner.begin(f"{SITE}/shop/item?id=500&sid=1")
    for copy in copies:
        url = f"{SITE}/shop/item?id=500&sid={copy}"
        decision = world.learner.decide(url)
        assert decision.action == "skip"
        world.learner.keep(decision, url)
    return world


def test_failed_fetch_is_replaced():
    learner = waiting_for_one("23").learner
    assert learner.take_refetches() == []
    learner.fail(f"{SITE}/shop/item?id=500&sid=1")
    [refetched] = learner.take_refetches()
    assert refetched == f"{SITE}/shop/item?id=500&sid=2"
    # It stands for the other one now.
    learner.fail(refetched)
    assert learner.take_refetches() == [f"{SITE}/shop/item?id=500&sid=3"]


def test_lost_fetch_blocks_no_request():
    learner = waiting_for_one("23").learner
    assert learner.end()
    # Not what is tried of each rule before the end, which would be more.
    assert learner.take_refetches() == [f"{SITE}/shop/item?id=500&sid=2"]


def test_some_requests_of_each_rule_are_tested_before_the_end():
    late = World(lambda url: url if "last" in url else by_id(url))
    late.visit(sessions(range(60)))
    late.visit([f"{SITE}/shop/item?id={number}&sid=last{number}" for number in range(10)])
    assert not any("last" in url for url in late.fetched)
    late.end()
    assert sum("last" in url for url in late.fetched) == 10


# --- spaces without end -----------------------------------------------------------------


def test_a_calendar_without_end_is_left():
    world = World(lambda url: "no events")
    world.visit(f"{SITE}/calendar/{2000 + n}/{n}" for n in range(31))
    assert world.texts == {"nothing new under /calendar/*/* on example.com"}
    assert world.would_skip(f"{SITE}/calendar/2999/1")
    assert not world.would_skip(f"{SITE}/calendar/2999")
    assert not world.would_skip(f"{SITE}/calendar/2999/1?view=week")


def test_a_page_that_is_new_opens_it_again():
    world = World(lambda url: "party" if "3001" in url else "no events", sample_rate=1.0)
    world.visit(f"{SITE}/calendar/{2000 + n}/{n}" for n in range(40))
    assert world.texts
    world.visit([f"{SITE}/calendar/3001/1"])
    assert world.texts == set()
    world.visit(f"{SITE}/calendar/{4000 + n}/{n}" for n in range(50))
    assert world.texts == set()
    world.visit(f"{SITE}/calendar/{5000 + n}/{n}" for n in range(20))
    assert world.texts


def test_copies_of_many_pages_are_no_calendar():
    world = World(lambda url: str(int(url.rpartition("/")[2]) * 37 % 101))
    world.visit(f"{SITE}/pages/{number}" for number in range(404))
    assert world.texts == set()


def test_one_level_is_no_depth():
    world = World(lambda url: "no events")
    world.visit((f"{SITE}/calendar/{2000 + n}/{n}" for n in range(100)), depth=2)
    assert world.texts == set()


def test_a_budget_slows_down_and_then_skips():
    world = World(lambda url: "shop", cluster_budget=10)
    world.visit([f"{SITE}/shop?color={n}" for n in range(10)], depth=1)
    before = world.learner.decide(f"{SITE}/shop?color=x").delay
    world.visit([f"{SITE}/shop?color=10"], depth=1)
    assert world.learner.decide(f"{SITE}/shop?color=x").delay == before + 10
    world.visit([f"{SITE}/shop?color={n}" for n in range(11, 21)], depth=1)
    assert world.would_skip(f"{SITE}/shop?color=x")
    assert not world.would_skip(f"{SITE}/shop?size=x")


# --- what pages say ---------------------------------------------------------------------


def names(world: World, numbers: Iterable[int]) -> None:
    """Pages that name another URL as canonical."""
    for number in numbers:
        url = f"{SITE}/news/{number}?ref=x"
        world.visit([url], canonical=f"{SITE}/news/{number}")


def test_canonical_urls_are_half_of_the_evidence():
    world = World(lambda url: url.partition("?")[0])
    names(world, range(100))
    assert world.texts == set()
    world.visit(f"{SITE}/news/{number}" for number in range(14))
    assert world.texts == set()
    world.visit([f"{SITE}/news/14"])
    assert world.texts == {"the parameter ref has no effect under /news/* on example.com"}


@pytest.mark.parametrize("wrong", [range(50, 53), range(3)])
def test_a_canonical_url_that_is_always_the_same_is_ignored(wrong):
    world = World(lambda url: url.partition("?")[0])
    for number in range(100):
        name = f"{SITE}/" if number in wrong else f"{SITE}/news/{number}"
        world.visit([f"{SITE}/news/{number}?ref=x"], canonical=name)
    world.visit(f"{SITE}/news/{number}" for number in range(20))
    assert world.texts == set()


def test_what_pages_name_as_canonical_comes_first():
    world = World(lambda url: url.partition("?")[0].replace("www.", ""))

    def delay(url: str) -> int:
        return world.learner.decide(url).delay

    www = SITE.replace("//", "//www.")
    assert delay(f"{www}/news/1?ref=x") == delay(f"{SITE}/news/1?ref=x") == 0
    world.visit([f"{SITE}/news/1?ref=x"], canonical=f"{www}/news/1")
    assert delay(f"{www}/news/1") == 0
    # A host of its own, and one that no page names; else it is the other way round.
    assert delay(f"{www}/news/2") == delay(f"{SITE}/news/2") == 1
    assert delay(f"{SITE.replace('//', '//m.')}/news/2") == 2
    world.visit([f"{www}/news/2"], canonical=f"{www}/news/2")
    assert delay(f"{www}/news/3?ref=x") == delay(f"{SITE}/news/3?ref=x") == 2


def test_the_canonical_one_stands_for_what_fails():
    world = waiting_for_one("234")
    world.visit([f"{SITE}/shop/item?id=501&sid=1"], canonical=f"{SITE}/shop/item?id=500&sid=3")
    world.learner.fail(f"{SITE}/shop/item?id=500&sid=1")
    assert world.learner.take_refetches() == [f"{SITE}/shop/item?id=500&sid=3"]


def test_other_languages_are_no_duplicates():
    world = World(lambda url: url.partition("?")[0])
    for number in range(60):
        page = f"{SITE}/news/{number}"
        both = [f"{page}?lang=de", f"{page}?lang=fr"]
        world.visit(both, alternates=both)
    assert world.texts == set()
    assert len(world.fetched) == 120


# --- rules from elsewhere ---------------------------------------------------------------


def stored(world: World) -> dict[str, bytes]:
    return {rule.name: rule.to_bytes() for rule in world.learner.in_force}


def test_rules_come_from_earlier_crawls():
    world = World(by_id)
    world.visit(sessions(range(29)))
    later = World(by_id)
    assert later.learner.load(stored(world)) == 0
    later.visit(sessions(range(500, 510)))
    # Some values of the parameter are tried first.
    assert later.skipped == [f"{SITE}/shop/item?id={n}&sid=b{n}" for n in range(505, 510)]


def named_by_100(fetched: int, rules: Mapping[str, bytes]) -> World:
    """A crawl in which 100 pages name their canonical URLs, and some of those are fetched."""
    world = World(lambda url: url.partition("?")[0])
    world.learner.load(rules)
    names(world, range(100))
    world.visit(f"{SITE}/news/{number}" for number in range(fetched))
    return world


def test_from_crawl_to_crawl_canonical_urls_stay_half_of_the_evidence():
    world = named_by_100(15, {})
    for _ in range(3):
        [rule] = world.learner.in_force
        assert rule.evidence.agreements == 30
        world = named_by_100(0, stored(world))


def test_canonical_urls_are_half_of_what_two_workers_know():
    one, other = named_by_100(15, {}), named_by_100(10, {})
    assert other.texts == set()
    other.learner.load(stored(one))
    all_processed(other.learner)
    [rule] = other.learner.in_force
    assert rule.evidence.agreements == 2 * 15


def test_what_two_workers_began_from_counts_once():
    world = World(by_id)
    world.visit(sessions(range(40)))
    before = stored(world)
    workers = [World(by_id), World(by_id)]
    for number, worker in enumerate(workers):
        worker.learner.load(before)
        worker.visit(sessions(range(100 * number + 100, 100 * number + 105)))
    for _ in range(3):
        # Switched off and on again by the operator, or said once more by another worker.
        told = {name: UrlRule.from_bytes(packed) for name, packed in stored(workers[1]).items()}
        for one in told.values():
            one.changed_at = 1 + max(r.changed_at for r in workers[0].learner.in_force)
        workers[0].learner.load({name: one.to_bytes() for name, one in told.items()})
        all_processed(workers[0].learner)
    [rule] = workers[0].learner.in_force
    # It came in force by 29, and each worker met five more.
    assert rule.evidence.agreements == 29 + 5


@pytest.mark.parametrize("is_loaded_first", [True, False])
def test_what_canonical_urls_said_elsewhere_is_not_believed_either(is_loaded_first):
    rules = stored(named_by_100(15, {}))
    later = World(lambda url: url.partition("?")[0])
    later.learner.load(rules if is_loaded_first else {})
    for number in range(200, 203):
        later.visit([f"{SITE}/news/{number}?ref=x"], canonical=f"{SITE}/")
    later.learner.load(rules)
    [rule] = later.learner.in_force
    assert rule.evidence.agreements == 15


def test_disabled_rule_stays_disabled():
    world = World(by_id)
    world.visit(sessions(range(29)))
    [rule] = world.learner.in_force
    rule.state, rule.changed_at = "off", rule.changed_at + 1
    later = World(by_id)
    later.learner.load({rule.name: rule.to_bytes()})
    later.visit(sessions(range(100)))
    assert later.texts == set()
    # In a crawl that runs as well.
    running = World(by_id)
    running.visit(sessions(range(40)))
    assert running.skipped
    running.learner.load({rule.name: rule.to_bytes()})
    all_processed(running.learner)
    assert running.texts == set()
    assert set(running.learner.take_refetches()) == set(running.skipped)


def test_unreadable_rules_are_ignored():
    world = World(by_id)
    assert world.learner.load({"x": b"nonsense", "y": b""}) == 2


# --- bit by bit -------------------------------------------------------------------------


@pytest.fixture
def reductions(monkeypatch):
    """Count the URLs that are reduced, as the only entry of a list."""
    made, reduce = [0], UrlReducer.reduce

    def counted(self: UrlReducer, parts: Any, digest: int) -> Any:
        made[0] += 1
        return reduce(self, parts, digest)

    monkeypatch.setattr(UrlReducer, "reduce", counted)
    return made


def test_no_change_of_rules_updates_all_urls_at_once(reductions):
    world = World(lambda url: url if changed else by_id(url), sample_rate=1.0)
    changed: set[str] = set()
    at_once, in_all = 0, 0

    def visit(urls: Iterable[str]) -> None:
        nonlocal at_once, in_all
        for url in urls:
            reductions[0] = 0
            world.fetch_only(url)
            at_once = max(at_once, reductions[0])
            is_more = True
            while is_more:
                reductions[0] = 0
                is_more = world.learner.process_pending(10)
                at_once = max(at_once, reductions[0])
                in_all += reductions[0]

    visit(sessions(range(300, 900)))
    changed.add("now")
    visit(f"{SITE}/shop/item?id={number}&sid=c" for number in range(300, 310))
    assert (RULE, True) in world.changes
    assert (RULE, False) in world.changes
    # What was visited is reduced again, and never more than a few URLs at once.
    assert in_all > 1000
    assert at_once < 50


def test_withdrawn_rule_skips_nothing_during_the_update():
    changed: set[str] = set()
    world = World(lambda url: url if changed else by_id(url))
    world.visit(sessions(range(100)))
    learner = world.learner
    assert world.would_skip(f"{SITE}/shop/item?id=99")
    changed.add("now")
    world.fetch_only(f"{SITE}/shop/item?id=99&sid=c")
    assert (RULE, False) in world.changes
    assert not any(world.would_skip(f"{SITE}/shop/item?id={number}") for number in range(100))
    assert learner.take_refetches() == []
    all_processed(learner)
    assert set(learner.take_refetches()) == set(world.skipped)


def test_failure_during_an_update_leaves_no_trace():
    world = World(by_id)
    world.visit(sessions(range(29)))
    learner = world.learner
    ids = range(110, 120)
    for number in ids:
        learner.begin(f"{SITE}/shop/item?id={number}&sid=a&v=1")
    for number in ids:
        url = f"{SITE}/shop/item?id={number}&sid=b&v=1"
        learner.keep(learner.decide(url), url)
    views = [f"{SITE}/shop/item?id={number}&v={v}" for number in range(200, 229) for v in "ab"]
    world.visit(views[:-1])
    world.fetch_only(views[-1])
    assert world.changes[-1] == (RULE.replace("sid", "v"), True)
    # What was skipped is reduced by the old rules, and what it was skipped for by the new ones.
    learner.process_pending(80)
    for number in ids:
        learner.fail(f"{SITE}/shop/item?id={number}&sid=a&v=1")
    all_processed(learner)
    assert len(learner.take_refetches()) == 10


# --- from one run to the next -----------------------------------------------------------


def went_on(world: World, *, with_rules: bool = True) -> World:
    """The next run."""
    later = World(world.content_of)
    later.learner.load(stored(world) if with_rules else {})
    later.learner.resume(world.learner.state(lambda request: request))
    all_processed(later.learner)
    return later


def test_known_and_skipped_urls_survive_a_resume():
    world = World(by_id)
    world.visit(sessions(range(60)))
    later = went_on(world)
    assert later.learner.take_refetches() == []
    assert later.would_skip(f"{SITE}/shop/item?id=3&sid=z")
    later.learner.fail(f"{SITE}/shop/item?id=50&sid=a50")
    assert later.learner.take_refetches() == [f"{SITE}/shop/item?id=50&sid=b50"]
    # What was tried before the end is not tried again.
    world.end()
    assert not went_on(world).learner.end()


def test_skipped_urls_without_a_rule_are_refetched_in_the_next_run():
    world = World(by_id)
    world.visit(sessions(range(60)))
    later = went_on(world, with_rules=False)
    assert set(later.learner.take_refetches()) == set(world.skipped)


def test_lost_fetches_count_as_failed_in_the_next_run():
    later = went_on(waiting_for_one("23"))
    assert later.learner.take_refetches() == []
    assert later.learner.end()
    assert later.learner.take_refetches() == [f"{SITE}/shop/item?id=500&sid=2"]


def test_what_cannot_be_packed_is_left_out():
    world = World(by_id)
    world.visit(sessions(range(60)))
    assert world.skipped
    assert world.learner.state(lambda request: None)["kept"] == []


# --- bounds -----------------------------------------------------------------------------


def sizes(learner: Learner) -> int:
    """Return the number of things that are kept of all sites together."""
    return sum(
        len(site.urls.visited)
        + len(site.urls.skipped)
        + len(site.rules.by_key)
        + len(site._comparisons._by_skeleton)
        + len(site._comparisons._met)
        + len(site._comparisons._segments)
        + len(site.urls.patterns._places)
        for site in learner._sites.values()
    )


def test_memory_is_bounded_whatever_urls_come(monkeypatch):
    monkeypatch.setattr(known_urls, "MAX_URLS", 100)
    monkeypatch.setattr(decisions, "_MAX_REMEMBERED", 200)
    monkeypatch.setattr(comparisons, "_MAX_TEXTS", 200)
    monkeypatch.setattr(comparisons, "MAX_SKELETONS", 800)
    random = Random(0)
    world = World(lambda url: f"{random.randrange(50)}")

    def urls() -> Iterable[str]:
        for number in range(1500):
            names = "&".join(f"p{number}x{n}={n}" for n in range(8))
            yield f"{SITE}/{number % 7}/x?{names}"
            yield f"{SITE}/{chr(97 + number % 26)}{number}/{number}?q={number}"

    world.visit(urls())
    [site] = world.learner._sites.values()
    assert len(site.urls.visited) <= 100
    assert len(site.rules.by_key) <= 2 * MAX_RULES
    assert len(site._collector._confounders) <= MAX_RULES
    assert len(site._comparisons._by_skeleton) <= 800
    assert len(site._comparisons._met) <= 200
    assert len(site.decisions._values) <= 200


def test_hostile_urls_cost_no_more_than_a_counter():
    world = World(lambda url: "same")
    hostile = [
        f"{SITE}/{'a' * 65536}",
        f"{SITE}/%zz",
        f"{SITE}/?{'a&' * 1000}",
        f"{SITE}/{'a/' * 1000}",
    ]
    world.visit(hostile)
    assert len(world.fetched) == 4
    assert sizes(world.learner) == 0
    assert world.learner.urls_ignored == 8  # begun, and observed


def test_least_recent_sites_are_forgotten(monkeypatch):
    monkeypatch.setattr(learner_module, "MAX_SITES", 10)
    monkeypatch.setattr(learner_module, "_CHECKED_EVERY", 50)
    world = World(lambda url: url)
    world.visit(f"http://site{number}.example/" for number in range(200))
    assert len(world.learner._sites) <= 10 + 50


def test_surplus_skipped_requests_are_dropped_surest_rule_first(monkeypatch):
    monkeypatch.setattr(learner_module, "MAX_SKIPPED", 100)
    monkeypatch.setattr(learner_module, "_STEP", 20)
    monkeypatch.setattr(learner_module, "_CHECKED_EVERY", 50)
    world = World(by_id)
    world.visit(sessions(range(500)))
    kept = sum(len(site.urls.skipped) for site in world.learner._sites.values())
    assert kept <= 150
    assert world.learner.dropped == len(world.skipped) - kept > 0


def test_the_surest_is_let_go_first():
    skipped = SkippedUrls()
    for agreements in (40, 90, 60):
        rule = UrlRule("e", "/", ("param", "p"), evidence=Evidence(agreements))
        parts = parse_url(f"{SITE}/{agreements}")
        assert parts is not None
        digest = parts.digest
        reduced = UrlReducer(PathPatterns(), lambda pattern, component: False, ()).reduce(
            parts, digest
        )
        skipped.add(SkippedUrl(parts, digest, reduced, (rule,), agreements))
    assert skipped.drop(1) == 1
    assert {one.request for one in skipped} == {40, 60}


def test_the_rule_for_a_whole_shape_is_one_like_others():
    world = World(lambda url: "no events")
    world.visit(f"{SITE}/calendar/{2000 + n}/{n}" for n in range(31))
    [rule] = world.learner.in_force
    assert rule.component == NOTHING_NEW
    assert UrlRule.from_bytes(rule.to_bytes()).pattern == "/calendar/*/*"
