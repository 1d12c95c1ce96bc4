"""``scrapy neardup pairs`` as a program."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support import warm
from tests.support.json_lines import lines, stored, stored_reprints
from tests.support.processes import linux, nobody_outlives, send_signal, shown_on_terminal, wait_for
from tests.support.redis_servers import RedisServer
from tests.support.texts import FERRY, MUSEUM, TEA, page

ROOT = Path(__file__).parents[2]
PAIRS = [sys.executable, "-m", "scrapy", "neardup", "pairs"]
TOUCHY = ["-s", "NEARDUP_TOKENIZER=tests.support.parts.touchy"]
REPRINT = f"{FERRY} Book now."


def pairs(*arguments: object, stdin: bytes | None = None, cwd: Path = ROOT):
    return warm.run([*PAIRS[1:], *arguments], stdin=stdin, folder=cwd)


def ids(output: Path | bytes) -> list[tuple[Any, Any]]:
    return sorted((line["id_a"], line["id_b"]) for line in lines(output))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> Path:
    return stored_reprints(tmp_path_factory.mktemp("mixed") / "pages.jsonl")


@contextmanager
def crawled(path: Path, **texts: str) -> Iterator[NearDupDetector]:
    """A store that a crawl has open; on leaving, all is confirmed."""
    store = SqliteStore(path, "news")
    detector = NearDupDetector(store=store)
    for name, text in texts.items():
        detector.store.add(detector.signature(url=f"https://{name}.example/", text=text))
    store.flush()
    yield detector
    store.close()


def test_a_line_for_each_pair_and_for_each_cluster(tmp_path):
    records: list[dict[str, Any]] = [
        {"id": "reprint", "url": "https://b.example/7", "html": page(REPRINT, "Reprint")},
        {"url": "https://a.example/tea", "text": TEA, "title": "茶"},
        {"id": 7, "url": "https://a.example/ferry", "html": page(FERRY, "Ferry")},
        {"id": "copy", "url": "https://c.example/", "html": page(FERRY, "Ferry")},
        {"id": "museum", "url": "https://a.example/m", "text": MUSEUM},
        {"id": "short", "url": "https://d.example/", "html": page("so few words", "Short")},
        {"id": "short too", "url": "https://e.example/", "html": page("so few words", "Short")},
        {"id": "empty", "url": "https://f.example/", "html": "<p></p>"},
        {"id": "empty too", "url": "https://g.example/", "html": "<p></p>"},
    ]
    source = tmp_path / "pages.jsonl.gz"
    source.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    clusters = tmp_path / "clusters.jsonl"
    done = pairs(source, "-o", tmp_path / "pairs.jsonl", "--clusters", clusters)
    assert done.returncode == 0
    assert done.stdout == b""
    found = lines(tmp_path / "pairs.jsonl")
    assert {tuple(line) for line in found} == {
        tuple("id_a url_a id_b url_b distance similarity reason".split())
    }
    assert {(line["id_a"], line["id_b"]): line["reason"] for line in found} == {
        (7, "copy"): "same_text",
        ("reprint", 7): "similar_text",
        ("reprint", "copy"): "similar_text",
        ("short", "short too"): "same_text",
    }
    [similar] = [line for line in found if (line["id_a"], line["id_b"]) == ("reprint", 7)]
    assert (similar["url_a"], similar["url_b"]) == (
        "https://b.example/7",
        "https://a.example/ferry",
    )
    detector = NearDupDetector()
    one, other = (detector.signature(url="page", html=records[place]["html"]) for place in (0, 2))
    assert similar["distance"] == (one.fingerprint ^ other.fingerprint).bit_count()
    assert 0.73 <= similar["similarity"] < 1
    assert lines(clusters) == [
        {
            "pages": 3,
            "ids": ["reprint", 7, "copy"],
            "urls": ["https://b.example/7", "https://a.example/ferry", "https://c.example/"],
        },
        {
            "pages": 2,
            "ids": ["short", "short too"],
            "urls": ["https://d.example/", "https://e.example/"],
        },
    ]
    assert b"7 pages, undecided 2: 4 pairs; " in done.stderr
    assert b"; 2 clusters of 5 pages, the biggest of 3; undecided for: no_text 2; " in done.stderr


@pytest.mark.slow
def test_the_output_is_the_same_for_any_number_of_workers(tmp_path, mixed):
    outputs = []
    for workers in (0, 1, 3):
        targets = tmp_path / f"pairs{workers}", tmp_path / f"clusters{workers}"
        done = pairs(mixed, "-o", targets[0], "--clusters", targets[1], "--workers", workers)
        assert done.returncode == 0
        outputs.append([target.read_bytes() for target in targets])
    assert outputs[0] == outputs[1] == outputs[2]
    assert ids(outputs[0][0]) == [(place - 1, place) for place in range(2, 60, 3)]


def test_it_finds_the_pairs_in_any_order_of_the_pages(tmp_path, mixed):
    source = tmp_path / "reversed"
    source.write_bytes(b"".join(reversed(mixed.read_bytes().splitlines(keepends=True))))
    done = pairs(source, "-o", "-", "--workers", "0")
    assert ids(done.stdout) == [(place, place - 1) for place in range(2, 60, 3)]


def test_options_change_what_is_a_pair(tmp_path):
    source = stored(tmp_path / "in", FERRY, REPRINT, FERRY, MUSEUM)
    for options, expected in (
        ([], [(0, 1), (0, 2), (1, 2)]),
        (["--similarity", "1"], [(0, 2)]),
        (["--min-features", "1000"], []),
        (["--distance", "0"], [(0, 2)]),
        (["--scope", "site"], []),
    ):
        done = pairs(source, "-o", "-", "--workers", "0", *options)
        assert ids(done.stdout) == expected, options


def test_with_no_similarity_asked_for_all_near_fingerprints_are_pairs(mixed):
    done = pairs(mixed, "-o", "-", "--similarity", "0", "--workers", "0")
    texts = [record["text"] for record in lines(mixed)]
    detector = NearDupDetector()
    fingerprints = [detector.signature(url="page", text=text).fingerprint for text in texts]
    assert ids(done.stdout) == [
        (place, other)
        for place in range(60)
        for other in range(place + 1, 60)
        if (fingerprints[place] ^ fingerprints[other]).bit_count() <= 11
    ]


def test_last_page_of_a_url_is_used(tmp_path):
    source = stored(tmp_path / "in", FERRY, FERRY)
    source.write_bytes(source.read_bytes() + stored(tmp_path / "more", TEA).read_bytes())
    done = pairs(source, "-o", "-")
    assert done.stdout == b""
    assert b"2 pages, 1 replaced by a later one with the same URL: 0 pairs; " in done.stderr


def test_a_page_that_cannot_be_read_costs_itself_only(tmp_path):
    source = stored(tmp_path / "in", FERRY, "kill me", "raise an error", FERRY)
    source.write_bytes(source.read_bytes() + b"{}\n")
    done = pairs(source, "-o", "-", "--workers", "2", *TOUCHY)
    assert done.returncode == 0
    assert ids(done.stdout) == [(0, 3)]
    stderr = done.stderr.decode()
    assert "<https://1.example/> is undecided, worker_died: its process ended with -9" in stderr
    assert "2 pages, undecided 2: 1 pair; 1 cluster" in stderr
    assert "; undecided for: worker_died 1, failed 1; " in stderr
    assert "bad records skipped: 1 (no url or id 1)" in stderr


# With a store


def test_the_pages_of_a_store_alone_and_with_others(tmp_path):
    path = tmp_path / "seen.sqlite"
    with crawled(path, ferry=FERRY, reprint=REPRINT, tea=TEA):
        pass
    before = path.read_bytes()
    alone = pairs("--store", path, "-o", "-")
    assert ids(alone.stdout) == [("https://ferry.example/", "https://reprint.example/")]
    assert b"3 pages, 3 remembered: 1 pair; 1 cluster of 2 pages" in alone.stderr
    source = stored(tmp_path / "in", TEA, MUSEUM, MUSEUM)
    done = pairs(source, "--store", path, "--namespace", "news", "-o", "-")
    assert {(line["id_a"], line["id_b"]) for line in lines(done.stdout)} == {
        ("https://ferry.example/", "https://reprint.example/"),
        ("https://tea.example/", 0),
        (1, 2),
    }
    assert path.read_bytes() == before


def test_a_store_that_a_crawl_is_writing(tmp_path):
    path = tmp_path / "seen.sqlite"
    with crawled(path, ferry=FERRY) as detector:
        done = pairs(stored(tmp_path / "in", REPRINT), "--store", path, "-o", "-")
        assert ids(done.stdout) == [("https://ferry.example/", 0)]
        assert detector.check(url="https://0.example/", text=REPRINT).is_duplicate


def test_pages_signed_in_another_way_are_refused(tmp_path):
    path = tmp_path / "seen.sqlite"
    with crawled(path, ferry=FERRY):
        pass
    done = pairs("--store", path, "-o", "out", "-s", "NEARDUP_IDF=none", cwd=tmp_path)
    assert done.returncode == 1
    assert b"idf" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_pages_of_a_redis(tmp_path):
    feed = stored(tmp_path / "in", FERRY, MUSEUM)
    reprints = stored(tmp_path / "more", REPRINT, first=7)
    server = RedisServer(tmp_path)
    try:
        place = f"redis://127.0.0.1:{server.port}/0"
        add = [*PAIRS[:-1], "store", "import", place, str(feed), "--namespace", "news"]
        subprocess.run(add, check=True)
        done = pairs(reprints, "--store", place, "-o", "-")
        after = pairs("--store", place, "-o", "-")
    finally:
        server.kill()
    assert ids(done.stdout) == [("https://0.example/", 7)]
    assert b"2 pages, 2 remembered: 0 pairs" in after.stderr


@pytest.mark.parametrize(
    ("arguments", "exitcode", "complaint"),
    [
        (["PAGES", "-o", "OUT", "--distnace", "3"], 2, "no option --distnace; did you mean --dist"),
        (["PAGES"], 2, "--output is missing: it must be a file or -, unless --clusters or"),
        (["-o", "OUT"], 2, "PAGES is missing: it must be pages, or --store with a store"),
        (
            ["PAGES", "-o", "OUT", "--namespace", "x"],
            2,
            "--namespace is given alone, but it",
        ),
        (["PAGES", "-o", "OUT", "--clusters", "./OUT"], 2, "another file than --output"),
        (["PAGES", "-o", "-", "--clusters", "-"], 2, "another file than --output"),
        (["PAGES", "-o", "OUT", "--distance", "12"], 2, "--distance is 12, but it must be a whole"),
        (["missing", "-o", "OUT"], 1, "missing: No such file"),
        (["--store", "missing", "-o", "OUT"], 1, "missing: no such file"),
        (["CUT", "-o", "OUT"], 1, "CUT: cut off or broken"),
        (["PAGES", "-o", "OUT", "--clusters", "nowhere/OUT"], 1, "nowhere/OUT: cannot be written"),
        (["PAGES", "--clusters", "PAGES"], 1, "PAGES: is an input, and would be overwritten"),
    ],
)
def test_errors_are_one_line(tmp_path, arguments, exitcode, complaint):
    stored(tmp_path / "PAGES", *(f"{FERRY} {seed}" for seed in range(20)))
    (tmp_path / "CUT").write_bytes(gzip.compress((tmp_path / "PAGES").read_bytes())[:-20])
    before = (tmp_path / "PAGES").read_bytes()
    done = pairs(*arguments, cwd=tmp_path)
    assert done.stderr.decode().count("\n") == 1
    assert complaint in done.stderr.decode()
    assert done.returncode == exitcode
    assert not (tmp_path / "OUT").exists()
    assert (tmp_path / "PAGES").read_bytes() == before


@pytest.mark.slow
def test_a_bar_on_a_terminal(tmp_path, mixed):
    shown = shown_on_terminal(*PAIRS, mixed, "-o", tmp_path / "out")
    assert b"60 pages: 20 pairs" in shown
    assert b"read " in shown
    assert "━".encode() in shown


@linux
def test_no_worker_outlives_an_interrupt(tmp_path):
    marker = tmp_path / "hangs"
    source = stored(tmp_path / "in", FERRY, f"hang {marker}")
    target = tmp_path / "out"
    said = tmp_path / "stderr"
    with said.open("w") as stderr:
        process = subprocess.Popen(
            [*PAIRS, source, "-o", target, "--workers", "1", "--timeout", "999", *TOUCHY],
            stderr=stderr, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
    wait_for(marker.exists)
    with nobody_outlives(process, least=3):
        send_signal(process, signal.SIGINT)
        assert process.wait(60) == 130
    assert said.read_text() == ""
    assert not target.exists()


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_quietly(tmp_path):
    source = stored(tmp_path / "in", *(FERRY for _ in range(100)))
    with subprocess.Popen(
        [*PAIRS, source, "-o", "-", "--workers", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        stderr = process.stderr.read()
    assert process.returncode == 141
    assert stderr == b""
