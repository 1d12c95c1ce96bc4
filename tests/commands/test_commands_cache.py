"""``--cache`` of the commands: no page is read twice, and none is taken for another."""

from __future__ import annotations

import contextlib
import json
import random
import re
import sqlite3
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.reports import texts_of
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, article, page

#: Records what it is called with; as a tokenizer, as an extractor, and as one that always fails.
COUNTED = """
def tokens(text):
    with open("tokens", "a") as file:
        file.write("*")
    return text.split()

def extract(html, tree):
    with open("extracted", "a") as file:
        file.write("*")
    return tree.text_content()

def fail(html, tree):
    with open("failed", "a") as file:
        file.write("*")
    raise ZeroDivisionError

def part_of(step, html, tree):
    return tree.text_content()[::step]
"""
#: A method; the number of words is its version, which its author does not tell.
FIRST_WORDS = """
from dataclasses import dataclass
from typing import ClassVar
from scrapy_neardup.methods import Method

@dataclass(frozen=True, kw_only=True)
class FirstWords(Method):
    name: ClassVar[str] = "first_words"
    min_similarity: float = 1.0

    def value(self, content):
        return " ".join(content.split()[1:{}]).encode()

    def similarity(self, new, known):
        return float(new == known)

    def keys(self, value):
        return [hash(value)]
"""
EXTRACTOR = ("-s", "NEARDUP_EXTRACTOR=counted.extract")
PAGES = [
    {"id": "ferry", "url": "https://a.example/ferry", "html": page(FERRY, "Ferry")},
    {"id": "reprint", "url": "https://b.example/7", "html": page(FERRY + " Book now.", "Reprint")},
    {"url": "https://a.example/tea", "text": TEA, "title": "茶 half \ud83d"},
    {"url": "https://c.example/tea", "text": TEA + "欢迎光临。", "title": "茶 half \ud83d"},
    {"url": "https://a.example/museum", "html": page(MUSEUM, "Museum")},
    {"url": "https://a.example/empty", "html": "<p></p>"},
    {"url": "https://a.example/big", "html": page("large " * 9000, "Big")},
]
LIMIT = ("-s", "NEARDUP_MAX_BODY_BYTES=50000")


def write(path: Path, pages: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in pages), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "pages.jsonl", PAGES)
    (tmp_path / "counted.py").write_text(COUNTED)
    return tmp_path


def neardup(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["-m", "scrapy", "neardup", *arguments]
    # A file that changes twice in a second may pass for the same one.
    return warm.run_text(command, folder=folder, environment={"PYTHONDONTWRITEBYTECODE": "1"})


def scan(folder: Path, *more: object, cache: str | None = "cache", workers: int = 0) -> str:
    """Scan the pages, and return the output."""
    given = () if cache is None else ("--cache", cache)
    arguments = ("pages.jsonl", "-o", "-", "--workers", workers, *given, *more)
    done = neardup(folder, "scan", *arguments)
    assert done.returncode == 0, done.stderr
    (folder / "stderr").write_text(done.stderr)
    return done.stdout


def found_and_read(stderr: str) -> tuple[int, int]:
    [counts] = re.findall(r"pages\.sqlite: (\d+) pages? in the cache, (\d+) pages? read", stderr)
    return int(counts[0]), int(counts[1])


def counts(folder: Path) -> tuple[int, int]:
    """Return how many pages the last scan found in the cache, and how many it read."""
    return found_and_read((folder / "stderr").read_text())


def calls(folder: Path, name: str) -> int:
    return len((folder / name).read_text())


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.slow
def test_a_second_scan_reads_nothing_and_gives_the_same(folder, workers):
    options = (*EXTRACTOR, *LIMIT)
    without = scan(folder, *options, cache=None)
    assert '"too_large"' in without
    before = calls(folder, "extracted")
    assert scan(folder, *options, workers=workers) == without
    assert counts(folder) == (0, 7)
    read = calls(folder, "extracted")
    assert read > before
    assert scan(folder, *options, workers=workers) == without
    assert counts(folder) == (7, 0)
    assert calls(folder, "extracted") == read


@pytest.mark.slow
def test_lazy_pages_are_kept_both_as_read_quickly_and_in_full(folder):
    pytest.importorskip("selectolax")
    lazy = ("-s", "NEARDUP_EXTRACTION=lazy")
    without = scan(folder, *lazy, cache=None)
    for expected in ((0, 9), (9, 0)):
        assert scan(folder, *lazy) == without
        assert counts(folder) == expected
    # Those that were read in full for a lazy scan have other signatures than those of a full one.
    scan(folder)
    assert counts(folder) == (0, 7)


@pytest.mark.slow
def test_pages_that_changed_are_read_again(folder):
    scan(folder)
    changed = [dict(record) for record in PAGES]
    changed[0]["html"] = page(BRIDGE, "Ferry")
    changed[1]["url"] += "/moved"
    changed[2]["title"] = "tea"
    changed[4]["id"] = "of which nothing depends"
    write(folder / "pages.jsonl", changed)
    without = scan(folder, cache=None)
    assert scan(folder) == without
    assert counts(folder) == (4, 3)


def change_nothing(folder: Path) -> None:
    pass


def change_the_tokenizer(folder: Path) -> None:
    (folder / "counted.py").write_text(COUNTED.replace("text.split()", "text.split()[::2]"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "options"),
    [
        (change_nothing, ()),
        (change_nothing, ("-s", "NEARDUP_TOKENIZER=counted.tokens", *EXTRACTOR)),
        (change_nothing, ("-s", "NEARDUP_IDF=none", "-s", "NEARDUP_TOKENIZER=counted.tokens")),
        (change_nothing, ("-s", "NEARDUP_TOKENIZER=counted.tokens", *LIMIT)),
        # Its author forgot to give it another version.
        (change_the_tokenizer, ("-s", "NEARDUP_TOKENIZER=counted.tokens")),
    ],
)
def test_signatures_of_another_recipe_are_not_used(folder, change, options):
    scan(folder, "-s", "NEARDUP_TOKENIZER=counted.tokens")
    change(folder)
    assert scan(folder, *options) == scan(folder, *options, cache=None)
    scan(folder, *options)
    assert counts(folder) == (7, 0)


@pytest.mark.slow
def test_values_of_a_method_that_was_edited_are_not_used(folder):
    for number in (1000, 6):
        (folder / "own.py").write_text(FIRST_WORDS.format(number))
        method = ("--method", "own.FirstWords")
        assert scan(folder, *method) == scan(folder, *method, cache=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "source", "values"),
    [
        ("NEARDUP_TOKENIZER", 'import re\npart = re.compile(r"{}").findall', (r"\w+", r"\w\w")),
        (
            "NEARDUP_EXTRACTOR",
            "from functools import partial\nfrom counted import part_of\n"
            "part = partial(part_of, {})",
            (1, 2),
        ),
    ],
)
def test_the_module_that_an_import_path_names_counts(folder, option, source, values):
    # The part is an object of another module, which does not change.
    part = ("-s", f"{option}=own.part")
    for value in values:
        (folder / "own.py").write_text(source.format(value))
        assert scan(folder, *part) == scan(folder, *part, cache=None)
    scan(folder, *part)
    assert counts(folder) == (7, 0)


@pytest.mark.slow
def test_quotes_are_found_in_cached_pages(folder):
    text = " ".join(article(400, seed=1))
    # The cache keeps texts in UTF-8, which has no lone surrogates.
    quoted = {"url": "https://d.example/1", "text": text.replace("a", "\ud83d")}
    quoting = {"url": "https://d.example/2", "text": f"{quoted['text'][:2000]} {text}"}
    write(folder / "pages.jsonl", [*PAGES, quoted, quoting])
    without = scan(folder, "--containment", *LIMIT, cache=None)
    assert '"contains_id": "https://d.example/1"' in without
    # In what a scan with the option has kept, and in what one without it has kept.
    for cache, first in (("cache", ("--containment",)), ("other", ())):
        scan(folder, *LIMIT, *first, cache=cache)
        assert counts(folder) == (0, 9)
        assert scan(folder, "--containment", *LIMIT, cache=cache) == without
        assert counts(folder) == (9, 0)


@pytest.mark.slow
def test_the_secret_of_a_store_is_part_of_the_recipe(folder):
    scan(folder)
    store = ("--store", "sqlite:///seen.sqlite")
    done = neardup(
        folder, "store", "import", store[1], "pages.jsonl", "--namespace", "n", "--workers", 0
    )
    assert done.returncode == 0, done.stderr
    without = scan(folder, *store, cache=None)
    for expected in ((0, 7), (7, 0)):
        assert scan(folder, *store) == without
        assert counts(folder) == expected


@pytest.mark.slow
def test_failures_of_the_moment_are_not_kept(folder):
    failing = ("-s", "NEARDUP_EXTRACTOR=counted.fail")
    assert '"extraction_failed"' in scan(folder, *failing)
    failed = calls(folder, "failed")
    scan(folder, *failing)
    assert calls(folder, "failed") == 2 * failed


def without_seconds(text: str) -> str:
    return re.sub(r"\d+\.\d s", "", text)


@pytest.mark.slow
def test_pairs_evaluate_and_report_read_nothing_after_a_scan(folder):
    (folder / "verdicts.jsonl").write_text(scan(folder))
    rows = ["id_a,id_b,label", "ferry,reprint,duplicate"]
    (folder / "known.csv").write_text("\n".join(rows))
    for number, arguments in (
        (7, ("pairs", "pages.jsonl", "-o", "-")),
        (7, ("evaluate", "pages.jsonl", "--pairs", "known.csv")),
        (4, ("report", "verdicts.jsonl", "-o", "report.html", "--pages", "pages.jsonl")),
    ):
        outputs, texts = [], []
        for cache in ((), ("--cache", "cache")):
            done = neardup(folder, *arguments, "--workers", 0, *cache)
            assert done.returncode == 0, done.stderr
            outputs.append(done.stdout)
            if arguments[0] == "report":
                texts.append(texts_of(folder / "report.html"))
        assert found_and_read(done.stderr) == (number, 0)
        assert outputs[0] == outputs[1]
    assert len(texts[0]) == 4
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_a_report_keeps_the_texts_that_it_reads(folder):
    (folder / "verdicts.jsonl").write_text(scan(folder, cache=None))
    options = ("--pages", "pages.jsonl", "--workers", 0, "--cache", "cache")
    for expected in ((0, 4), (4, 0)):
        done = neardup(folder, "report", "verdicts.jsonl", "-o", "report.html", *options)
        assert found_and_read(done.stderr) == expected
        assert len(texts_of(folder / "report.html")) == 4


@pytest.mark.slow
def test_a_scan_that_ends_early_keeps_what_it_read(folder):
    whole = (folder / "pages.jsonl").read_text()
    (folder / "pages.jsonl").write_text(whole + '{"url": "https://a.exam')
    arguments = ("pages.jsonl", "-o", "-", "--workers", 0, "--cache", "cache")
    done = neardup(folder, "scan", *arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    (folder / "pages.jsonl").write_text(whole)
    scan(folder)
    assert counts(folder) == (7, 0)


@pytest.mark.slow
def test_two_scans_at_once_share_a_cache(folder):
    write(folder / "pages.jsonl", [{**PAGES[0], "url": f"https://{n}.example/"} for n in range(40)])
    without = scan(folder, cache=None)
    arguments = ("scan", "pages.jsonl", "-o", "-", "--workers", 1, "--cache", "cache")
    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(lambda _: neardup(folder, *arguments), range(2)))
    assert [(one.returncode, one.stdout) for one in done] == 2 * [(0, without)]
    scan(folder)
    assert counts(folder) == (40, 0)


def replace_by_text(path: Path) -> None:
    path.write_text("no database\n" * 1000)


def replace_by_another_database(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE signatures (key, value)")


def replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def damage_a_name(path: Path) -> None:
    data = path.read_bytes()
    assert b"tablesignatures" in data
    path.write_bytes(data.replace(b"tablesignatures", b"table\xffignatures", 1))


def damage_the_first_page(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:103] + b"\xff" + data[104:])


def damage_the_format(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:47] + b"\x7f" + data[48:])


REMEDY = "; remove the file, or name another folder"


@pytest.mark.parametrize(
    ("damage", "end"),
    [
        (replace_by_text, REMEDY),
        (replace_by_another_database, REMEDY),
        (replace_by_a_folder, ""),
        (damage_a_name, f"it is damaged{REMEDY}"),
        (damage_the_first_page, f"malformed{REMEDY}"),
        (damage_the_format, "; if this comes again, remove the file"),
    ],
)
def test_a_file_that_is_no_cache_is_an_error_of_one_line(
    folder, damage: Callable[[Path], None], end
):
    scan(folder)
    damage(folder / "cache" / "pages.sqlite")
    done = neardup(folder, "scan", "pages.jsonl", "-o", "-", "--cache", "cache")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("scrapy neardup scan: cache/pages.sqlite: the cache cannot be used: ")
    assert line.endswith(end)


@pytest.mark.parametrize("command", ["scan", "pairs"])
def test_an_empty_name_is_not_the_current_folder(folder, command):
    before = sorted(folder.iterdir())
    done = neardup(folder, command, "pages.jsonl", "-o", "-", "--cache", "")
    assert done.returncode == 2
    assert "argument --cache: '' is not the path of a folder" in done.stderr
    assert sorted(folder.iterdir()) == before


def test_a_folder_that_cannot_be_made_is_an_error_of_one_line(folder):
    done = neardup(folder, "scan", "pages.jsonl", "-o", "-", "--cache", "nowhere/cache")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


@pytest.mark.slow
def test_damaged_values_are_read_again(folder):
    without = scan(folder)
    with contextlib.closing(sqlite3.connect(folder / "cache" / "pages.sqlite")) as connection:
        # The last byte of a fingerprint, within a value that is otherwise whole.
        connection.execute(
            "UPDATE signatures SET value = substr(value, 1, 8) || x'55' || substr(value, 10)"
        )
        connection.execute("UPDATE signatures SET value = CAST(value AS BLOB)")
        connection.commit()
    for expected in ((0, 7), (7, 0)):
        assert scan(folder) == without
        assert counts(folder) == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_file_never_gives_another_result(folder, seed):
    without = scan(folder)
    path, rng = folder / "cache" / "pages.sqlite", random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([20, 400])):
        data[rng.randrange(100, len(data))] = rng.randrange(256)
    path.write_bytes(data)
    done = neardup(folder, "scan", "pages.jsonl", "-o", "-", "--workers", 0, "--cache", "cache")
    assert "Traceback" not in done.stderr
    assert done.stdout == without or (done.returncode, done.stdout) == (1, "")


def test_texts_are_their_owners_alone(folder):
    scan(folder)
    assert (folder / "cache").stat().st_mode & 0o077 == 0
    assert (folder / "cache" / "pages.sqlite").stat().st_mode & 0o077 == 0
