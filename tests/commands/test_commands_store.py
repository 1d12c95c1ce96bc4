"""``scrapy neardup store`` and ``scan --store`` as programs."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.hashing.simhash import to_hex
from scrapy_neardup.stores import StoredPage
from scrapy_neardup.stores.exports import FORMAT
from scrapy_neardup.stores.hints import COPY
from scrapy_neardup.stores.sqlite.reading import SqliteReader
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support import warm
from tests.support.json_lines import lines
from tests.support.redis_servers import RedisServer
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, article, page, replaced

ROOT = Path(__file__).parents[2]
NEARDUP = [sys.executable, "-m", "scrapy", "neardup"]

TEXTS = {
    "https://www.a.example/ferry": FERRY,
    "https://a.example/museum?b=2&a=1": MUSEUM,
    "https://b.example/tea": TEA,
}
TIME = 1_700_000_000
ISO = "2023-11-14T22:13:20Z"


def neardup(*arguments: object, stdin: bytes | None = None, cwd: Path = ROOT):
    return warm.run([*NEARDUP[1:], *arguments], stdin=stdin, folder=cwd)


def said(done: Any, exitcode: int = 0) -> str:
    """Standard error of a command that ended as it should."""
    stderr: str = done.stderr.decode()
    assert done.returncode == exitcode, stderr
    return stderr


@contextmanager
def opened(path: Path, namespace: str = "news") -> Iterator[SqliteStore]:
    store = SqliteStore(path, namespace)
    try:
        yield store
    finally:
        store.close()


def held(path: Path, namespace: str = "news") -> list[StoredPage]:
    reader = SqliteReader(path)
    pages = list(reader.pages(namespace))
    reader.close()
    return pages


def urls(path: Path, namespace: str = "news") -> list[str]:
    return [page.signature.url for page in held(path, namespace)]


def secret_of(path: Path, namespace: str = "news") -> bytes:
    return {space.name: space.secret for space in SqliteReader(path).namespaces()}[namespace]


def feed(path: Path, **texts: str) -> Path:
    """A feed of pages, a site for each."""
    records = [{"url": f"https://{name}.example/", "text": text} for name, text in texts.items()]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of three pages, as a crawl of the spider "news" leaves it."""
    path = tmp_path / "pages.sqlite"
    with opened(path) as made:
        detector = NearDupDetector(store=made)
        for number, (url, text) in enumerate(TEXTS.items()):
            made.add(detector.signature(url=url, text=text), TIME + number)
    return path


# Looking


def test_a_store_that_a_crawl_has_open_can_be_looked_at(store, tmp_path):
    pages = held(store)
    with opened(store) as crawl:
        crawl.put_rules({"a.example": b"{}"})
        crawl.note_duplicates(np.array([(1, 3, 4), (2, 3, 4)], COPY), TIME)
        crawl.flush()
        info = lines(neardup("store", "info", store, "--json").stdout)[0]
        shown = neardup("store", "info", f"sqlite:///{store}").stdout.decode()
        listed = neardup("store", "list", store, "--limit", "2").stdout.decode()
        of_site = lines(neardup("store", "list", store, "--site", "b.example", "--json").stdout)
        scanned = neardup(
            "scan", feed(tmp_path / "in", copy=TEA), "-o", "-", "--store", store, "--workers", "0"
        )
        assert len(crawl) == 3
    assert info["store"] == f"sqlite:///{store}"
    [space] = info["namespaces"]
    assert (space["name"], space["pages"], space["unconfirmed"]) == ("news", 3, 0)
    assert (space["rules"], space["known_duplicates"]) == (1, 2)
    assert (space["oldest"], space["newest"]) == (ISO, ISO.replace(":20Z", ":22Z"))
    assert space["recipe"] == pages[0].signature.recipe
    assert set(space["parts"]) == {"tokenizer", "extractor", "idf"}
    for word in ("news", "known duplicates", space["recipe"], ISO, "trafilatura-6", "format 8"):
        assert word in shown
    assert secret_of(store).hex() not in shown
    first = pages[0].signature
    assert listed.splitlines()[0].split("\t") == [
        first.url, ISO, to_hex(first.fingerprint), str(first.n_features)
    ]  # fmt: skip
    assert len(listed.splitlines()) == 2
    assert [line["url"] for line in of_site] == ["https://b.example/tea"]
    assert of_site[0]["confirmed"] is True
    assert lines(scanned.stdout)[0]["duplicate_of"] == "https://b.example/tea"


def test_control_characters_are_not_printed(tmp_path):
    path = tmp_path / "pages.sqlite"
    with opened(path) as made:
        made.add(NearDupDetector(store=made).signature(url="https://a.example/\x1b[2J", text=TEA))
    assert b"\x1b" not in neardup("store", "list", path).stdout


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_list_quietly(tmp_path):
    path = tmp_path / "pages.sqlite"
    with opened(path) as made:
        detector = NearDupDetector(store=made)
        for number in range(2000):
            made.add(detector.signature(url=f"https://a.example/{'x' * 90}{number}", text="a b"))
    with subprocess.Popen(
        [*NEARDUP, "store", "list", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"https://a.example/")
        process.stdout.close()
        assert process.stderr is not None
        stderr = process.stderr.read()
    assert (process.returncode, stderr) == (141, b"")


# What cannot be done

PER_COMMAND = {
    "info": [],
    "list": [],
    "forget": ["https://b.example/tea"],
    "export": ["-o", "OUT"],
    "compact": [],
    "import": ["FEED"],
}


def run_in(folder: Path, command: str, place: str):
    feed(folder / "FEED", tea=TEA)
    return neardup("store", command, place, *PER_COMMAND[command], cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize("command", PER_COMMAND)
def test_a_path_that_is_not_there_is_an_error_and_is_not_made(tmp_path, command):
    for place in ("none.sqlite", "sqlite:///none.sqlite"):
        done = run_in(tmp_path, command, place)
        assert said(done, 1).count("\n") == 1
        assert not list(tmp_path.glob("none*"))
        if command != "import":
            assert "no such file" in said(done, 1)
    assert {file.name for file in tmp_path.iterdir()} <= {"FEED"}


@pytest.mark.parametrize("command", ["forget", "import", "compact"])
def test_what_would_write_is_refused_while_a_crawl_has_the_store(store, tmp_path, command):
    with opened(store):
        done = run_in(tmp_path, command, store.name)
    assert "another process has it open" in said(done, 1)
    assert said(done, 1).count("\n") == 1
    assert urls(store) == list(TEXTS)


def test_scan_cannot_add_while_a_crawl_has_the_store(store, tmp_path):
    arguments = (feed(tmp_path / "in", a=BRIDGE), "-o", "-", "--store", store, "--add")
    with opened(store):
        done = neardup("scan", *arguments)
    assert "another process has it open" in said(done, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "exitcode", "complaint"),
    [
        (["store"], 2, "scrapy neardup store: the following arguments are required: COMMAND"),
        (["store", "lits", "STORE"], 2, "invalid choice: 'lits'"),
        (["store", "list"], 2, "scrapy neardup store list: the following arguments are required"),
        (["store", "list", "STORE", "more"], 2, "'more' is one argument too many"),
        (["store", "list", "STORE", "--jsn"], 2, "no option --jsn; did you mean --json?"),
        (["store", "list", "STORE", "--limit", "x"], 2, "'x' is not a whole number of 0 or more"),
        (["store", "list", "STORE", "--site", "www.a.example"], 2, "that is 'a.example'"),
        (["store", "list", "STORE", "--namespace", "nws"], 2, "must be one of 'empty', 'news'"),
        (
            ["store", "list", "STORE"],
            1,
            "select one of its namespaces with --namespace: empty, news",
        ),
        (["store", "list", "memory"], 2, "STORE is 'memory', but it must be a store that outliv"),
        (["store", "list", "sqlit:///x"], 2, "STORE is 'sqlit:///x', but it must be 'memory', 's"),
        (["store", "list", "."], 1, ".: is a folder; give the store's file in it"),
        (["store", "info", "FEED"], 1, "it is damaged or no store at all"),
        (["store", "info", "CUT"], 1, "put a whole copy in its place"),
        (["store", "forget", "STORE", "--namespace", "news"], 2, "URL is missing: it must"),
        (["store", "compact", "STORE", "--ttl", "0"], 2, "'0' is not a number above 0"),
        (["store", "export", "STORE", "--namespace", "news", "-o", "STORE"], 1, "is an input, and"),
        (["store", "import", "STORE", "none", "--namespace", "news"], 1, "none: No such file"),
        (["store", "import", "STORE", "FEED"], 1, "select one of its namespaces"),
        (
            ["store", "import", "sqlite:///new", "FEED"],
            1,
            "the name of the spider that will use it with",
        ),
        (["scan", "FEED", "-o", "OUT", "--store", "none"], 1, "none: no such file"),
        (["scan", "FEED", "-o", "OUT", "--add"], 2, "--add is given alone, but it must be given"),
        (["scan", "FEED", "-o", "OUT", "--namespace", "x"], 2, "--namespace is given alone"),
    ],
)
def test_errors_are_one_line(store, tmp_path, arguments, exitcode, complaint):
    opened(store, "empty").__enter__().close()
    feed(tmp_path / "FEED", tea=TEA)
    (tmp_path / "CUT").write_bytes(store.read_bytes()[:-5000])
    store.rename(tmp_path / "STORE")
    before = (tmp_path / "STORE").read_bytes()
    done = neardup(*arguments, cwd=tmp_path)
    assert complaint in said(done, exitcode)
    assert said(done, exitcode).count("\n") == 1
    assert done.stdout == b""
    assert (tmp_path / "STORE").read_bytes() == before
    assert not (tmp_path / "OUT").exists()
    assert not (tmp_path / "new").exists()


# Forgetting


def test_pages_are_forgotten_by_any_spelling_of_their_address(store):
    done = neardup(
        "store", "forget", store, "https://a.example/museum?a=1&b=2#top", "--namespace", "news",
        "https://c.example/",
    )  # fmt: skip
    assert "not in the store: https://c.example/" in said(done)
    assert "1 page forgotten, 2 left" in said(done)
    assert urls(store) == ["https://www.a.example/ferry", "https://b.example/tea"]
    with opened(store) as made:
        assert (
            NearDupDetector(store=made).check(url="https://x.example/", text=MUSEUM).kind == "new"
        )


def test_a_site_is_forgotten_and_no_other(store):
    assert "2 pages forgotten, 1 left" in said(
        neardup("store", "forget", store, "--site", "a.example")
    )
    assert urls(store) == ["https://b.example/tea"]
    again = neardup("store", "forget", store, "--site", "a.example", "https://c.example/")
    assert "nothing to forget in namespace news of https://c.example/, site a.example" in said(
        again, 1
    )


def test_an_items_field_is_forgotten_by_the_address_it_was_judged_under(store):
    with opened(store) as made:
        signer = NearDupDetector(store=made).signer
        [signature] = signer.sign(signer.fragment_page("https://d.example/p#item-0", BRIDGE))
        made.add(signature)
    said(neardup("store", "forget", store, "https://d.example/p#item-0"))
    assert urls(store) == list(TEXTS)


def test_what_has_expired_is_forgotten_and_its_room_given_back(store):
    with opened(store) as made:
        detector = NearDupDetector(store=made)
        for number in range(300):
            url = f"https://old.example/{number}"
            made.add(detector.signature(url=url, text=FERRY), TIME)
        made.add(detector.signature(url="https://new.example/", text=BRIDGE))
    opened(store, "other").__enter__().close()
    before = store.stat().st_size
    stderr = said(neardup("store", "compact", store, "--ttl", "86400"))
    assert "namespace news: 304 pages before, 1 after" in stderr
    assert "namespace other: 0 pages before, 0 after" in stderr
    assert urls(store) == ["https://new.example/"]
    after = store.stat().st_size
    assert after < before / 2
    assert f"{before:,} bytes before, {after:,} after" in stderr


# Export and import


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_store_goes_to_another_machine_and_is_the_same_there(store, tmp_path, ending):
    target, there = tmp_path / f"out.jsonl{ending}", tmp_path / "there.sqlite"
    done = neardup("store", "export", store, "-o", target, "--with-secret")
    assert "3 pages of namespace news" in said(done)
    assert f"warning: {target} contains the store's secret" in said(done)
    done = neardup("store", "import", f"sqlite:///{there}", target)
    assert "3 pages read; namespace news of sqlite:///" in said(done)
    assert held(there) == held(store)
    assert secret_of(there) == secret_of(store)
    for file in (target, there):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with opened(there) as made:
        verdict = NearDupDetector(store=made).check(url="https://x.example/", text=TEA)
    assert verdict.duplicate_of == "https://b.example/tea"


def test_rules_are_imported_without_replacing_others(store, tmp_path):
    target, there = tmp_path / "out.jsonl", tmp_path / "there.sqlite"
    with opened(store) as made:
        made.put_rules({"a.example": b"theirs", "b.example": b"theirs"})
    assert "3 pages and 2 rules of namespace news" in said(
        neardup("store", "export", store, "-o", target, "--with-secret")
    )
    with opened(there) as made:
        made.put_rules({"a.example": b"own"})
    done = neardup("store", "import", f"sqlite:///{there}", target)
    assert "3 pages and 2 rules read; namespace news" in said(done)
    with opened(there) as made:
        assert made.rules() == {"a.example": b"own", "b.example": b"theirs"}


def test_export_with_secret_is_private_even_over_an_existing_file(store, tmp_path):
    target = tmp_path / "out.jsonl"
    for file in (target, tmp_path / "out.jsonl.part"):
        file.touch(0o666)
    said(neardup("store", "export", store, "-o", target, "--with-secret"))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_an_export_through_a_pipe(store, tmp_path):
    exported = neardup("store", "export", store, "-o", "-", "--with-secret").stdout
    for number, data in enumerate((exported, gzip.compress(exported))):
        there = tmp_path / f"{number}.sqlite"
        said(neardup("store", "import", f"sqlite:///{there}", "-", stdin=data))
        assert held(there) == held(store)


def test_without_its_secret_an_export_goes_back_where_it_came_from_and_nowhere_else(
    store, tmp_path
):
    target = tmp_path / "out.jsonl"
    done = neardup("store", "export", store, "-o", target)
    assert "warning" not in said(done)
    assert "secret" not in target.read_text().splitlines()[0]
    before = held(store)
    for place in (f"sqlite:///{tmp_path}/new.sqlite", store):
        done = neardup("store", "import", place, target, "--namespace", "other")
        assert "has no secret" in said(done, 1)
        assert "Export them again with --with-secret" in said(done, 1)
    assert not (tmp_path / "new.sqlite").exists()
    said(neardup("store", "compact", store, "--ttl", "1"))
    assert held(store) == []
    said(neardup("store", "import", store, target))
    assert held(store) == before


def test_pages_with_another_secret_are_refused(store, tmp_path):
    target, other = tmp_path / "out.jsonl", tmp_path / "other.sqlite"
    said(neardup("store", "export", store, "-o", target, "--with-secret"))
    with opened(other) as made:
        NearDupDetector(store=made).check(url="https://z.example/", text=BRIDGE)
    before = held(other)
    done = neardup("store", "import", other, target)
    assert "was made with another secret" in said(done, 1)
    assert held(other) == before
    said(neardup("store", "import", other, target, "--namespace", "second"))
    assert (held(other), held(other, "second")) == (before, held(store))


def test_newer_entries_stay(store, tmp_path):
    target = tmp_path / "out.jsonl"
    said(neardup("store", "export", store, "-o", target))
    with opened(store) as made:
        detector = NearDupDetector(store=made)
        made.add(detector.signature(url="https://b.example/tea", text=BRIDGE), TIME + 1000)
        made.forget("https://www.a.example/ferry")
    assert "3 pages read, 2 were there already" in said(neardup("store", "import", store, target))
    newest = held(store)[-1]
    assert (newest.signature.url, newest.stored_at) == ("https://b.example/tea", TIME + 1000)
    assert sorted(urls(store)) == sorted(TEXTS)


def test_unconfirmed_pages_are_not_exported(store, tmp_path):
    with opened(store) as made:
        detector = NearDupDetector(store=made)
        claim = made.claim(detector.signature(url="https://c.example/", text=BRIDGE), Rule())
        made.commit(claim.ticket, confirmed=False)
        made.flush()
        listed = neardup("store", "list", store, "--json").stdout
        done = neardup("store", "export", store, "-o", tmp_path / "out.jsonl")
    assert [line["confirmed"] for line in lines(listed)] == [True, True, True, False]
    assert "1 page left out: not known to be on disk yet" in said(done)
    exported = lines((tmp_path / "out.jsonl").read_bytes())
    assert [line.get("url") for line in exported[1:-1]] == list(TEXTS)


def test_a_damaged_export_is_refused(store, tmp_path):
    target = tmp_path / "out.jsonl"
    said(neardup("store", "export", store, "-o", target, "--with-secret"))
    whole = target.read_text().splitlines(keepends=True)
    later = whole[0].replace(f'export": {FORMAT}', f'export": {FORMAT + 1}')
    for number, (damaged, complaint) in enumerate(
        [
            (whole[:-1], "it is cut off: its last line is missing"),
            ([*whole[:2], whole[2][:-100]], "line 3 is no page of an export"),
            ([later, *whole[1:]], f"it has export format {FORMAT + 1}, from a later scrapy-neard"),
        ]
    ):
        target.write_text("".join(damaged))
        done = neardup("store", "import", f"sqlite:///{tmp_path}/{number}.sqlite", target)
        assert f"{target}: {complaint}" in said(done, 1)
        if number == 0:
            assert "3 pages read; namespace news" in said(done, 1)


@pytest.mark.slow
def test_the_pages_of_an_earlier_crawl_count_as_seen(store, tmp_path):
    words = article(300)
    source = feed(
        tmp_path / "feed.jsonl",
        copy=TEA,
        one=" ".join(words),
        two=" ".join(replaced(words, 0.01)),
    )
    source.write_text(source.read_text() + '{"no": "page"}\n')
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "bridge.html").write_text(page(BRIDGE, "桥"), "utf-8")
    done = neardup("store", "import", store, source, folder, "--workers", "1")
    assert "4 pages: duplicate 2, new 2;" in said(done)
    assert "bad records skipped: 1" in said(done)
    assert urls(store) == [*TEXTS, "https://one.example/", (folder / "bridge.html").as_uri()]
    assert "duplicate 2, revisit 2" in said(neardup("store", "import", store, source, folder))
    assert len(held(store)) == 5


def test_a_new_store_is_made_of_pages(tmp_path):
    place = f"sqlite:///{tmp_path}/new.sqlite"
    source = feed(tmp_path / "in", ferry=FERRY, tea=TEA)
    done = neardup("store", "import", place, source, "--namespace", "news", "--workers", "0")
    assert "has 2 pages" in said(done)
    with opened(tmp_path / "new.sqlite") as made:
        assert NearDupDetector(store=made).check(url="https://x.example/", text=TEA).is_duplicate


def test_fingerprints_alone_are_not_imported(store, tmp_path):
    scanned = tmp_path / "scanned.jsonl.gz"
    source = feed(tmp_path / "in", a=BRIDGE)
    said(neardup("scan", source, "-o", scanned, "--workers", "0"))
    assert scanned.read_bytes().startswith(b"\x1f\x8b")
    done = neardup("store", "import", store, source, scanned)
    assert f"{scanned}: is the output of scan" in said(done, 1)
    assert "scan them with --store and --add" in said(done, 1)
    assert urls(store) == list(TEXTS)


# Scan against a store


def kinds(data: bytes) -> list[tuple[str, str | None]]:
    return [(line["verdict"], line["duplicate_of"]) for line in lines(data)]


def test_a_scan_judges_against_a_store_and_adds_only_when_asked(store, tmp_path):
    words = article(300)
    source = feed(
        tmp_path / "in", copy=TEA, one=" ".join(words), two=" ".join(replaced(words, 0.01))
    )
    expected = [
        ("duplicate", "https://b.example/tea"),
        ("new", None),
        ("duplicate", "https://one.example/"),
    ]
    scan = ("scan", source, "-o", "-", "--store", store, "--workers", "0")
    for options in ([], ["--namespace", "news"], ["--add"]):
        assert urls(store) == list(TEXTS)
        done = neardup(*scan, *options)
        assert kinds(done.stdout) == expected, said(done)
    assert urls(store) == [*TEXTS, "https://one.example/"]
    assert held(store)[-1].is_confirmed
    assert kinds(neardup(*scan).stdout) == [expected[0], ("revisit", None), expected[2]]


def test_a_scan_with_another_tokenizer_is_refused(store, tmp_path):
    source = feed(tmp_path / "in", a=BRIDGE)
    for options in ([], ["--add"]):
        done = neardup(
            "scan", source, "-o", "OUT", "--store", store, "-s", "NEARDUP_TOKENIZER=pairs",
            *options, cwd=tmp_path,
        )  # fmt: skip
        assert "made with tokenizer jieba" in said(done, 1)
        assert said(done, 1).count("\n") == 1
    assert not (tmp_path / "OUT").exists()
    assert urls(store) == list(TEXTS)


@pytest.mark.slow
def test_pages_in_a_redis(store, tmp_path):
    exported, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    said(neardup("store", "export", store, "-o", exported, "--with-secret"))
    source = feed(tmp_path / "in", copy=TEA, bridge=BRIDGE)
    server = RedisServer(tmp_path, requirepass="hush")
    try:
        place = f"redis://:hush@127.0.0.1:{server.port}/0"
        outputs = [
            (neardup("store", "info", place), "The store has no namespace yet"),
            (neardup("store", "list", place), "it has no namespace yet"),
            (neardup("store", "import", place, exported), "3 pages read; namespace news of redis"),
            (neardup("store", "import", place, exported), "3 were there already"),
            (neardup("store", "info", place), "trafilatura-6"),
            (neardup("scan", source, "-o", "-", "--store", place), "give --add; or export it"),
            (
                neardup("scan", source, "-o", "-", "--store", place, "--add", "--workers", "0"),
                '"duplicate_of": "https://b.example/tea"',
            ),
            (
                neardup("store", "list", place, "--site", "bridge.example"),
                "https://bridge.example/",
            ),
            (neardup("store", "forget", place, "https://bridge.example/"), "1 page forgotten, 3"),
            (neardup("store", "export", place, "-o", again, "--with-secret"), "3 pages of namespa"),
            (neardup("store", "compact", place, "--ttl", "1"), "3 pages before, 0 after"),
        ]
    finally:
        server.kill()
    for done, expected in outputs:
        output = (done.stdout + done.stderr).decode()
        assert expected in output
        assert "hush" not in output
    assert lines(again.read_bytes())[1:] == lines(exported.read_bytes())[1:]
    done = neardup("store", "info", place)
    assert said(done, 1).count("\n") == 1
    assert "hush" not in said(done, 1)


def test_full_disk_ends_an_import_with_an_error(store, tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs a limit on the size of files")
    import resource

    size = store.stat().st_size
    texts = {f"p{number}": f"{FERRY} {' '.join(article(40, number))}" for number in range(600)}
    source = feed(tmp_path / "in", **texts)
    done = subprocess.run(
        [*NEARDUP, "store", "import", store, source, "--workers", "0"],
        capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip
    assert f"store sqlite:///{store}: " in said(done, 1)
    assert b"Traceback" not in done.stderr
