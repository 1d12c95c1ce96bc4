"""Skipped requests survive a stop: real crawls with JOBDIR, stopped and resumed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.test_crawl_url_rules import ON, Pages, ids_of, items, unique
from tests.support import warm
from tests.support.crawl import run_crawl
from tests.support.processes import linux
from tests.support.server import Answer, Site, serving

AWAY = Answer("Sorry.", status=503)
#: Of so many pages, 29 contents have taught the rule, and a third of the rest has been decided on.
STOP = {"CLOSESPIDER_PAGECOUNT": 100}
#: Whatever the rule says of them, they are other pages; those that come last among them.
HIDDEN = {f"/item?id={number}&sid={copy}{number}": number for number in range(25) for copy in "ab"}


def with_hidden_pages() -> Pages:
    pages = items(60)
    for place, path in enumerate(HIDDEN):
        pages[path] = unique(1000 + place)
    return pages


def settings_of(folder: Path, **more: Any) -> dict[str, Any]:
    return {**ON, "JOBDIR": str(folder / "job"), **more}


def is_all(stored: list[str]) -> bool:
    """Return whether each content is stored, and each hidden page."""
    shown = {path for path in stored if f"/{path}" not in HIDDEN}
    return ids_of(shown) == set(range(60)) and {f"/{path}" for path in stored} >= set(HIDDEN)


@pytest.mark.slow
def test_skipped_requests_are_made_when_the_next_run_withdraws_their_rule(tmp_path):
    with serving(with_hidden_pages()) as site:
        first = run_crawl([site.url()], settings_of(tmp_path, **STOP))
        assert first.stats["finish_reason"] == "closespider_pagecount"
        assert first.stats["neardup/url_rules/skipped"] > 10
        assert {f"/{path}" for path in first.stored}.isdisjoint(HIDDEN)
        second = run_crawl([site.url()], settings_of(tmp_path))
    assert second.stats["neardup/url_rules/withdrawn"] == 1
    assert is_all(first.stored + second.stored)


@pytest.mark.slow
def test_skipped_requests_are_made_when_the_fetched_page_fails_in_the_next_run(tmp_path):
    pages = items(60)
    for number in range(1, 31, 2):
        pages[f"/item?id={number}&sid=c{number}"] = AWAY
    with serving(pages) as site:
        first = run_crawl([site.url()], settings_of(tmp_path, **STOP, RETRY_TIMES=99))
        assert first.stats["neardup/url_rules/skipped"] > 10
        second = run_crawl([site.url()], settings_of(tmp_path, RETRY_TIMES=0))
    assert ids_of(first.stored + second.stored) == set(range(60))
    # One copy of each, for the sake of what failed; the others stay where they are.
    assert 10 < second.stats["neardup/url_rules/refetched"] < 30


@pytest.mark.slow
def test_fetched_pages_represent_others_in_the_next_run(tmp_path):
    with serving(items(60)) as site:
        first = run_crawl([site.url()], settings_of(tmp_path, **STOP))
        fetched = sum(site.hits.values())
        second = run_crawl([site.url()], settings_of(tmp_path))
    assert ids_of(first.stored + second.stored) == set(range(60))
    # Of what was met in the first run, only some are tried before the end.
    assert second.stats["neardup/url_rules/refetched"] <= 6
    assert sum(site.hits.values()) - fetched < 60


@pytest.mark.slow
@pytest.mark.parametrize("learn", ["off", "report"])
def test_skipped_requests_are_made_by_a_run_without_skipping(tmp_path, learn):
    with serving(with_hidden_pages()) as site:
        first = run_crawl([site.url()], settings_of(tmp_path, **STOP))
        second = run_crawl([site.url()], settings_of(tmp_path, NEARDUP_URL_RULES=learn))
        assert (
            second.stats["neardup/url_rules/refetched"] == first.stats["neardup/url_rules/skipped"]
        )
        third = run_crawl([site.url()], settings_of(tmp_path))
    assert is_all(first.stored + second.stored)
    assert "neardup/url_rules/refetched" not in third.stats


def killing(site: Site, pages: Pages, after: int) -> Pages:
    """The same pages; after so many answers the crawl dies."""

    def answer(body: Answer | str) -> Answer:
        assert isinstance(body, str)

        def said() -> str:
            if sum(site.hits.values()) == after:
                for pid in warm.running():
                    os.kill(pid, signal.SIGKILL)
            return body

        return Answer(lambda: said().encode())

    return {path: answer(body) for path, body in pages.items()}


@pytest.mark.slow
@linux
def test_skipped_requests_are_found_again_after_a_kill(tmp_path):
    feeds = {str(tmp_path / "items.jsonl"): {"format": "jsonlines"}}
    settings = settings_of(tmp_path, FEEDS=feeds)
    pages = with_hidden_pages()
    with serving(pages) as site:
        run_crawl([site.url()], {**settings, **STOP})
        assert (tmp_path / "job/neardup.held").exists()
        site.hits.clear()
        site.pages = killing(site, pages, after=20)
        with pytest.raises(AssertionError):
            run_crawl([site.url()], settings)
        site.pages = pages
        last = run_crawl([site.url()], {**settings, "NEARDUP_RECOVER": True})
    assert list((tmp_path / "job").glob("unclean-*/neardup.held"))
    assert any("all requests are made again" in line for line in last.logged("WARNING"))
    lines = (tmp_path / "items.jsonl").read_bytes().splitlines()
    assert is_all([json.loads(line)["path"] for line in lines])


@pytest.mark.slow
def test_recovery_helps_when_the_file_cannot_be_read(tmp_path):
    # Whatever it learns, a run asks for the file; without a pace it is over soon.
    settings = settings_of(tmp_path, NEARDUP_URL_RULES="off", DOWNLOAD_DELAY=0)
    file = tmp_path / "job/neardup.held"
    with serving(with_hidden_pages()) as site:
        first = run_crawl([site.url()], settings_of(tmp_path, **STOP))
        file.write_bytes(b"broken")
        second = run_crawl([site.url()], settings)
        assert not is_all(first.stored + second.stored)
        third = run_crawl([site.url()], {**settings, "NEARDUP_RECOVER": True})
    [error] = second.logged("ERROR")
    assert error.startswith(f"{file} cannot be read: it is damaged (")
    assert "start it again with NEARDUP_RECOVER = True" in error
    stored = first.stored + second.stored + third.stored
    assert is_all(stored)
    assert len(stored) == len(set(stored))
