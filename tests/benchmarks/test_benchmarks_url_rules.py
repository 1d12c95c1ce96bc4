"""The generated site: a detector, a walker and a crawl confirm its known duplicates."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from lxml import html
from w3lib.url import canonicalize_url

from benchmarks.common.programs import ROOT
from benchmarks.url_rules import learning
from benchmarks.url_rules.crawl import UrlCrawl
from benchmarks.url_rules.pages import SitePages
from benchmarks.url_rules.parts import Content
from benchmarks.url_rules.report import Result, Run, goals, seen_table
from benchmarks.url_rules.request_seen import SeenTimes, Times, fresh_urls
from benchmarks.url_rules.site import UrlSite
from scrapy_neardup import NearDupDetector
from scrapy_neardup._util.urls import site_of
from tests.support.benchmarks import run

pytestmark = pytest.mark.slow

SEEDS = (1, 2, 3)


@pytest.fixture(scope="module", params=SEEDS)
def site(request: pytest.FixtureRequest) -> UrlSite:
    return UrlSite(request.param, 300, 2400)


def select(page: str, path: str) -> list[Any]:
    found: Any = html.fromstring(page).xpath(path)
    return list(found)


def content_at(site: UrlSite, url: str, *, changed: bool = False) -> Content | None:
    found = site.find(url, changed=changed)
    return found.content if found else None


def body_of(pages: SitePages, url: str) -> str:
    answer = pages.page(url) or pages.page(url, changed=True)
    assert answer is not None
    return answer[1]


def walk(pages: SitePages, start: str) -> set[str]:
    """URLs that are met by whoever follows all links."""
    met, waiting = {start}, [start]
    while waiting:
        new = {*select(body_of(pages, waiting.pop()), "//a/@href")} - met
        met |= new
        waiting += new
    return met


def without(url: str, name: str) -> str:
    parts = urlsplit(url)
    query = [(known, value) for known, value in parse_qsl(parts.query) if known != name]
    return parts._replace(query=urlencode(query)).geturl()


def test_as_many_contents_and_urls_as_were_asked_for(site):
    assert len(site.contents) == 300
    assert len({content.id for content in site.contents}) == 300
    assert len(site.urls) == len(set(map(canonicalize_url, site.urls))) == 2400
    # All hosts are of one site.
    assert {site_of(url) for url in site.urls} == {site.domain}
    assert len({urlsplit(url).hostname for url in site.urls}) == 4


def test_the_size_that_is_meant():
    site = UrlSite(4)
    assert (len(site.contents), len(site.urls)) == (2000, 20_000)
    assert max(len(content.urls) for content in site.contents) < 1000
    with pytest.raises(ValueError, match="199 pages do not make a site; 200 do"):
        UrlSite(4, 199)


def test_each_url_leads_to_its_content_however_it_is_written(site):
    for content in site.contents:
        for place, url in enumerate(content.urls):
            found = site.find(canonicalize_url(url))
            assert found is not None
            assert (found.content, found.place) == (content, place)
    assert site.find(site.start_url + "nowhere") is None


def test_links_lead_to_all_urls_and_to_no_other(site):
    assert walk(SitePages(site), site.start_url) == set(site.urls)


def test_links_that_lead_to_what_is_known_are_not_needed(site):
    """Whoever follows one link to each content finds all contents."""
    found, waiting = {site.front.id}, [site.start_url]
    while waiting:
        here = site.find(waiting.pop())
        assert here is not None
        for link in site.links(here):
            there = site.find(link)
            assert there is not None
            if there.content.id not in found:
                found.add(there.content.id)
                waiting.append(link)
    assert len(found) == 300


def test_parameters_matter_in_one_place_and_not_in_another(site):
    """Left out of a URL, some select another page here and the same page there."""
    selecting: defaultdict[str, set[str]] = defaultdict(set)
    idle: defaultdict[str, set[str]] = defaultdict(set)
    for content in site.contents:
        for url in content.urls:
            for name, _ in parse_qsl(urlsplit(url).query):
                if other := content_at(site, without(url, name)):
                    where = idle if other is content else selecting
                    where[name].add(content.section.name)
    assert len(idle.keys() - selecting) >= 6
    assert len([name for name in selecting if idle[name] - selecting[name]]) >= 3


def test_a_seed_is_a_site(site):
    """The same in every process, whatever its hashes; another one has other names."""
    program = (
        "import json, sys; from benchmarks.url_rules.pages import SitePages;"
        "from benchmarks.url_rules.site import UrlSite;"
        "site = UrlSite(int(sys.argv[1]), 300, 2400); pages = SitePages(site);"
        "print(json.dumps([site.urls, [pages.page(url)[1] for url in site.urls[:50]]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(site.seed)],
        capture_output=True,
        cwd=ROOT,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "99"},
    )
    pages = SitePages(site)
    bodies = [body_of(pages, url) for url in site.urls[:50]]
    assert json.loads(done.stdout) == [site.urls, bodies]
    other = UrlSite(site.seed + 1, 300, 2400)
    assert not set(site.urls) & set(other.urls)


@pytest.mark.parametrize("seed", [1, 3])
def test_copies_are_judged_the_same_and_all_others_new(seed):
    site = UrlSite(seed, 200, 500, changes=True)
    pages, detector = SitePages(site), NearDupDetector()
    later = [url for content in site.later for url in content.urls]
    met: set[str] = set()
    bodies = set()
    for url in Random(1).sample(site.urls + later, len(site.urls + later)):
        content = content_at(site, url) or content_at(site, url, changed=True)
        assert content is not None
        bodies.add(body := body_of(pages, url))
        verdict = detector.check(url=url, html=body)
        assert verdict.kind == ("duplicate" if content.id in met else "new"), url
        if original := verdict.duplicate_of:
            known = content_at(site, original) or content_at(site, original, changed=True)
            assert known is content
        met.add(content.id)
    # Copies are no byte-for-byte copies, and links are not all that differs.
    assert len(bodies) == len(site.urls + later)
    footers = Counter(foot for body in bodies for foot in select(body, "//footer/text()"))
    assert footers.total() > 300
    assert footers.most_common(1)[0][1] <= 2


def test_texts_are_as_long_as_they_should_be_and_in_two_languages(site):
    pages, languages = SitePages(site), Counter[str]()
    for content in site.contents:
        if not content.shown:
            body = body_of(pages, content.urls[0])
            languages.update(select(body, "/html/@lang"))
            words = " ".join(select(body, "//p/text()")).split()
            assert content.language != "en" or 80 <= len(words) <= 400
    assert min(languages["en"], languages["zh"]) > 20


def test_canonical_addresses_are_right_or_all_the_front_page(site):
    pages, named = SitePages(site), defaultdict(set)
    for content in site.contents:
        for url in content.urls[:3]:
            for canonical in select(body_of(pages, url), "//link[@rel='canonical']/@href"):
                named[content.section.name].add((content, content_at(site, canonical)))
    wrong = [pairs for pairs in named.values() if any(one is not other for one, other in pairs)]
    assert [{other for _, other in pairs} for pairs in wrong] == [{site.front}]
    assert len(named) >= 4


def test_alternates_are_translations_and_no_copies(site):
    original = next(content for content in site.contents if content.alternates)
    links = select(body_of(SitePages(site), original.urls[0]), "//link[@rel='alternate']")
    languages = {}
    for link in links:
        content = content_at(site, link.get("href"))
        assert content is not None
        languages[link.get("hreflang")] = content.language
    assert languages == {"en": "en", "zh": "zh"}


# --- the change -----------------------------------------------------------------------------


def test_what_meant_nothing_selects_other_pages_from_the_change_on():
    for seed in SEEDS:
        site = UrlSite(seed, 300, 2400, changes=True)
        assert site.urls == UrlSite(seed, 300, 2400).urls
        assert len({content.id for content in (*site.contents, *site.later)}) == 316
        moved = defaultdict(list)
        for content in site.contents:
            for url in content.urls:
                after = content_at(site, url, changed=True)
                if after is not content:
                    assert after in site.later
                    moved[content.section.name].append((content, url))
        assert len(moved) == 2
        for pairs in moved.values():
            names = [{name for name, _ in parse_qsl(urlsplit(url).query)} for _, url in pairs]
            changing = set.intersection(*names)
            plain = [(content, without(url, name)) for content, url in pairs for name in changing]
            meant = [content_at(site, url) is content for content, url in plain]
            assert any(meant)
            assert len(pairs) > 10
        for later in site.later:
            assert all(site.find(url) is None for url in later.urls)


@pytest.mark.parametrize("take", [0, -1])
@pytest.mark.parametrize("moment", [0.1, 0.3, 0.7, 1.5])
def test_all_that_there_is_can_be_found_whenever_it_changes(moment, take):
    """By a crawl that fetches everything, and by one that fetches nothing in vain."""
    site = UrlSite(2, 300, 2400, changes=True)
    everything = {*site.contents, *site.later}
    assert found_by_following(site, moment * 300, take, skips=False) == everything
    assert found_by_following(site, moment * 300, take, skips=True) == everything


def found_by_following(
    site: UrlSite, change_after: float, take: int, *, skips: bool
) -> set[Content]:
    met, waiting, shown = {site.start_url}, [site.start_url], set[Content]()
    answered = 0
    while waiting:
        # The last page that is answered has to know of the change.
        changed = answered >= min(change_after, len(site.contents) - 1)
        found = site.find(waiting.pop(take), changed=changed)
        assert found is not None
        if skips and found.content in shown:
            continue
        answered += 1
        shown.add(found.content)
        new = [link for link in site.links(found, changed=changed) if link not in met]
        met.update(new)
        waiting += new
    return shown


# --- the crawl ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_crawl_with_scrapys_filter_alone_finds_and_fetches_everything(tmp_path):
    figures = tmp_path / "figures.json"
    options = ("--seed", 5, "--pages", 200, "--urls", 300, "--change", "both")
    done = run("url_rules", *options, "--only", "off", "--json", figures, "--docs", tmp_path)
    assert done.returncode == 0, done.stderr
    still, changing = json.loads(figures.read_text("utf-8"))["runs"]
    assert sum(still["fetched"].values()) == 300
    assert still["superfluous"] == 100
    assert still["contents"] == len(still["stored"]) == sum(still["stored"].values()) == 200
    assert still["failed"] == changing["failed"] == 0
    assert still["lost"] == changing["lost"] == []
    # Each URL is new to Scrapy's filter once, and links to it are many.
    assert still["seen"]["asked"]["calls"] == 300 < still["seen"]["whole"]["calls"]
    assert still["seen"]["whole"]["mean"] == pytest.approx(
        still["seen"]["wrapped"]["mean"] + still["seen"]["ours"]["mean"]
    )
    assert changing["contents"] == len(changing["stored"]) == 211
    assert sum(name.startswith("later/") for name in changing["stored"]) == 10
    page = (tmp_path / "learning.md").read_text("utf-8")
    assert "| Scrapy's filter | 300 | 200 | 200 | 100 | 0.0 |" in page
    command = "--seed 5 --change both --pages 200 --urls 300 --only off"
    assert f"benchmarks.url_rules {command}`" in " ".join(page.split())


def test_the_server_answers_a_proxys_request_and_one_with_a_host():
    site = UrlSite(3, 200, 600)
    with learning.served(site, 200, 600, None) as proxy:
        url = site.urls[-1]
        host = urlsplit(url).netloc
        answers = [
            get(proxy, url, {}),
            get(proxy, url.partition(host)[2], {"Host": host}),
        ]
        content = content_at(site, url)
        assert content is not None
        assert answers == [(200, content.id, body_of(SitePages(site), url))] * 2
        assert get(proxy, site.start_url + "nowhere", {})[:2] == (404, None)


def get(proxy: str, target: str, headers: dict[str, str]) -> tuple[int, str | None, str]:
    connection = http.client.HTTPConnection(urlsplit(proxy).netloc, timeout=10)
    try:
        connection.request("GET", target, headers=headers)
        response = connection.getresponse()
        return response.status, response.getheader("X-Content"), response.read().decode()
    finally:
        connection.close()


@pytest.mark.slow
def test_input_that_cannot_be():
    done = run("url_rules", "--pages", 199)
    assert done.returncode == 2
    assert "199 pages do not make a site; 200 do" in done.stderr
    assert run("url_rules", "--set", "x").returncode == 2


# --- the figures ----------------------------------------------------------------------------


def a_run(method: str, fetched: int, stored: int, *, change: bool = False) -> Run:
    """Of a site of 1,000 pages, of which the first were stored."""
    names = [str(number) for number in range(1000)]
    crawl = UrlCrawl(Counter(names), Counter(names[:stored]))
    crawl.fetched["0"] += fetched - 1000
    return Run(7, change, method, method, names, 4000, crawl)


def reached(*runs: Run) -> dict[str, bool | None]:
    return {goal.name.partition(": ")[2]: goal.is_met for goal in goals(Result([*runs]))}


def test_saved_is_the_share_of_fetches_that_scrapys_filter_needs_beyond_the_first():
    on, off = a_run("on", 1400, 1000), a_run("off", 3000, 1000)
    assert Result([on]).saved(on) == pytest.approx(1 - 400 / 4000)
    assert Result([on, off]).saved(on) == pytest.approx(1 - 400 / 2000)


def test_times_are_in_microseconds():
    times = Times.of([0.000_001] * 98 + [0.000_002, 0.001])
    assert times.calls == 100
    assert times.median == pytest.approx(1)
    assert times.mean == pytest.approx((98 + 2 + 1000) / 100)
    # Between the 99th and the last, where numpy's rule puts it: at place 0.99 * 99 from 0.
    assert times.p99 == pytest.approx(2 + 0.01 * 998)


def test_how_long_the_dupefilter_took_is_said_of_crawls_that_learn():
    on, off = a_run("on", 1400, 1000), a_run("off", 3000, 1000)
    whole, wrapped, ours, asked = (Times(n, n / 100, n / 10, n) for n in (700, 600, 500, 40))
    on.crawl.seen = off.crawl.seen = SeenTimes(whole, wrapped, ours, asked)
    rows = seen_table(Result([on, off])).rows
    assert [row[1:] for row in rows] == [
        ("700", "7.00", "70.0", "700"),
        ("600", "6.00", "60.0", "600"),
        ("500", "5.00", "50.0", "500"),
        ("40", "0.400", "4.00", "40.0"),
    ]
    assert rows[0][0] == "seed 7, on: all of it"
    on.crawl.seen = SeenTimes(whole, wrapped, ours, asked, Times(3, 1, 2, 4))
    assert seen_table(Result([on])).rows == [
        *rows,
        ("seed 7, on: all of it, fresh URLs one after the other", "3", "1.00", "2.00", "4.00"),
    ]


def test_fresh_urls_are_those_of_the_site_but_for_a_value(site):
    fresh = [*fresh_urls(site.urls, 500, 1)]
    keys = set(map(canonicalize_url, fresh))
    assert len(keys) == 500
    assert keys.isdisjoint(map(canonicalize_url, site.urls))
    names = {(urlsplit(u).path, *dict(parse_qsl(urlsplit(u).query, True))) for u in site.urls}
    assert {(urlsplit(u).path, *dict(parse_qsl(urlsplit(u).query))) for u in fresh} <= names


def test_what_has_to_be_reached():
    well = reached(
        a_run("on", 1800, 998), a_run("maybedont", 1800, 990), a_run("report", 5000, 1000)
    )
    assert well == {
        "unique pages stored, on": True,
        "unique pages stored, report": True,
        "superfluous fetches saved": True,
        "the same, against maybedont": True,
    }
    badly = reached(a_run("on", 1801, 997), a_run("maybedont", 1800, 1), a_run("report", 0, 999))
    assert set(badly.values()) == {False}
    # Of a site that changes nothing has to be saved, but everything has to be found.
    assert reached(a_run("on", 4000, 997, change=True)) == {"unique pages stored, on": False}
