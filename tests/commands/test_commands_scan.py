"""``scrapy neardup scan`` as a program, also with pages that harm its workers."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.hashing.simhash import from_hex
from tests.support import warm
from tests.support.json_lines import lines, stored, stored_reprints
from tests.support.processes import (
    children_of,
    linux,
    nobody_outlives,
    send_signal,
    shown_on_terminal,
    wait_for,
    workers_of,
)
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, article, page

ROOT = Path(__file__).parents[2]
SCAN = [sys.executable, "-m", "scrapy", "neardup", "scan"]
TOUCHY = ["-s", "NEARDUP_TOKENIZER=tests.support.parts.touchy"]


def scan(*arguments: object, stdin: bytes | None = None, cwd: Path = ROOT):
    return warm.run([*SCAN[1:], *arguments], stdin=stdin, folder=cwd)


def kinds(output: Path | bytes) -> list[str]:
    return [f"{line['verdict']} {line['reason']}" for line in lines(output)]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> Path:
    return stored_reprints(tmp_path_factory.mktemp("mixed") / "pages.jsonl")


def test_a_line_for_each_page(tmp_path):
    pages = [
        {"id": "ferry", "url": "https://a.example/ferry", "html": page(FERRY, "Ferry")},
        {"id": 7, "url": "https://b.example/7", "html": page(FERRY + " Book now.", "Reprint")},
        {"url": "https://a.example/tea", "text": TEA, "title": "茶"},
        {"id": "again", "url": "https://a.example/ferry", "html": page(MUSEUM, "Museum")},
        {"id": "reprint", "url": "https://c.example/", "text": MUSEUM},
        {"url": "https://a.example/empty", "html": "<p></p>"},
        {"url": "https://a.example/short", "text": "so few words"},
    ]
    source = tmp_path / "pages.jsonl.gz"
    source.write_bytes(gzip.compress("\n".join(map(json.dumps, pages)).encode()))
    done = scan(source, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0
    assert done.stdout == b""
    found = lines(tmp_path / "out.jsonl")
    assert [list(line) for line in found] == 7 * [
        (
            "id url verdict duplicate_of duplicate_of_id look_alike look_alike_id distance "
            "similarity reason objection fingerprint"
        ).split()
    ]
    assert [(line["id"], line["verdict"], line["duplicate_of_id"]) for line in found] == [
        ("ferry", "new", None),
        (7, "duplicate", "ferry"),
        ("https://a.example/tea", "new", None),
        ("again", "revisit", None),
        ("reprint", "duplicate", "again"),
        ("https://a.example/empty", "undecided", None),
        ("https://a.example/short", "undecided", None),
    ]
    assert found[1]["duplicate_of"] == "https://a.example/ferry"
    assert found[5]["fingerprint"] is None
    tea = NearDupDetector().signature(url="https://a.example/tea", text=TEA)
    assert from_hex(found[2]["fingerprint"]) == tea.fingerprint
    assert found[1]["similarity"] < 1
    assert b"7 pages: new 2, duplicate 2, undecided 2, revisit 1" in done.stderr


def test_the_id_of_an_original_is_whatever_was_given(tmp_path):
    # Not every JSON number fits a database's, nor is every string one that UTF-8 can write.
    ids = [2**70, "half a \ud83d", "", -1]
    texts = [FERRY, MUSEUM, TEA, " ".join(article(200))]
    pages = [
        {"id": id_, "url": f"https://{n}.example/\udca9", "text": text}
        for n, (id_, text) in enumerate(zip(ids, texts, strict=True))
    ]
    copies = [{"url": f"https://copy.example/{n}", "text": text} for n, text in enumerate(texts)]
    source = tmp_path / "pages.jsonl"
    source.write_text("\n".join(map(json.dumps, [*pages, *copies])))
    found = lines(scan(source, "-o", "-").stdout)
    assert [line["duplicate_of_id"] for line in found] == [None] * 4 + ids


@pytest.mark.slow
def test_the_output_is_the_same_for_any_number_of_workers(tmp_path, mixed):
    outputs = []
    for workers in (0, 1, 3):
        target = tmp_path / f"{workers}.jsonl"
        assert scan(mixed, "-o", target, "--workers", workers).returncode == 0
        outputs.append(target.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]
    assert kinds(outputs[0]).count("duplicate similar_text") == 20


def test_options_change_the_verdicts(tmp_path):
    reprint = FERRY.replace("three crowns", "four crowns")
    source = stored(tmp_path / "in", FERRY, reprint, FERRY)
    for options, expected in (
        ([], ["duplicate", "duplicate"]),
        (["--similarity", "1"], ["new", "duplicate"]),
        (["--min-features", "1000"], ["undecided", "undecided"]),
        (["--scope", "site"], ["new", "new"]),
    ):
        done = scan(source, "-o", "-", "--workers", "0", *options)
        assert [line["verdict"] for line in lines(done.stdout)][1:] == expected


@pytest.mark.slow
def test_project_settings_apply_and_options_take_precedence(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "scrapy.cfg").write_text("[settings]\ndefault = its_settings\n")
    (project / "its_settings.py").write_text(
        "NEARDUP_MIN_SIMILARITY = 1.0\nNEARDUP_TOKENIZER = 'its_tokens.spaces'\nNEARDUP_MINI = 1\n"
    )
    (project / "its_tokens.py").write_text("def spaces(text): return text.split('e')\n")
    source = stored(tmp_path / "in", FERRY, FERRY + " More than that is not known.")
    plain = scan(source, "-o", "-", "--workers", "1", cwd=tmp_path)
    strict = scan(source, "-o", "-", "--workers", "1", cwd=project)
    loose = scan(source, "-o", "-", "--workers", "1", "--similarity", "0.5", cwd=project)
    assert [kinds(done.stdout)[1] for done in (plain, strict, loose)] == [
        "duplicate similar_text",
        "new no_match",
        "duplicate similar_text",
    ]
    assert lines(plain.stdout)[0]["fingerprint"] != lines(strict.stdout)[0]["fingerprint"]
    assert b"is not a known setting" in strict.stderr


def test_bad_records_are_counted_and_cost_nothing_else(tmp_path):
    source = stored(tmp_path / "in", FERRY, TEA)
    source.write_bytes(b"{}\n" + source.read_bytes().replace(b"\n", b"\nnot JSON\n", 1))
    done = scan(source, "-o", "-", "--workers", "0")
    assert done.returncode == 0
    assert len(lines(done.stdout)) == 2
    assert b"bad records skipped: 2 (no url or id 1, not JSON 1); first " in done.stderr
    assert b"in, line 1 (no url or id); " in done.stderr
    assert b"in, line 3 (not JSON)" in done.stderr


@pytest.mark.slow
def test_standard_input_to_standard_output(tmp_path):
    data = stored(tmp_path / "in", FERRY, BRIDGE).read_bytes()
    done = scan("-", "-o", "-", stdin=data)
    assert kinds(done.stdout) == ["new no_match"] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "exitcode", "complaint"),
    [
        (["PAGES", "-o", "OUT", "--distnace", "3"], 2, "no option --distnace; did you mean --dist"),
        (["PAGES", "-o", "OUT", "--dist", "3"], 2, "no option --dist; did you mean --distance?"),
        (["PAGES", "-o", "OUT", "-x"], 2, "there is no option -x"),
        (["PAGES"], 2, "required: -o/--output"),
        (["PAGES", "-o", "OUT", "--distance", "12"], 2, "--distance is 12, but it must be a whole"),
        (["PAGES", "-o", "OUT", "--similarity", "nan"], 2, "--similarity is nan, but it must be"),
        (["PAGES", "-o", "OUT", "--workers", "-1"], 2, "'-1' is not a whole number of 0 or more"),
        (["PAGES", "-o", "OUT", "--timeout", "0"], 2, "'0' is not a number above 0"),
        (["PAGES", "-o", "OUT", "-s", "NEARDUP_IDF=no.gz"], 2, "NEARDUP_IDF is 'no.gz', but it"),
        (["missing", "-o", "OUT"], 1, "missing: No such file"),
        (["CUT", "-o", "OUT"], 1, "CUT: cut off or broken"),
        (["EMPTY", "-o", "OUT"], 1, "EMPTY: empty"),
        (["PAGES", "-o", "nowhere/OUT"], 1, "nowhere/OUT: cannot be written: No such file"),
        (["PAGES", "-o", "PAGES"], 1, "PAGES: is an input, and would be overwritten"),
    ],
)
def test_errors_are_one_line(tmp_path, arguments, exitcode, complaint):
    stored(tmp_path / "PAGES", *(f"{FERRY} {seed}" for seed in range(200)))
    (tmp_path / "CUT").write_bytes(gzip.compress((tmp_path / "PAGES").read_bytes())[:-20])
    (tmp_path / "EMPTY").touch()
    before = (tmp_path / "PAGES").read_bytes()
    done = scan(*arguments, cwd=tmp_path)
    assert done.returncode == exitcode
    assert done.stderr.decode().count("\n") == 1
    assert complaint in done.stderr.decode()
    assert not (tmp_path / "OUT").exists()
    assert (tmp_path / "PAGES").read_bytes() == before


def test_an_output_of_before_is_replaced_only_by_a_whole_one(tmp_path):
    source = stored(tmp_path / "in", *(FERRY for _ in range(100)))
    target = tmp_path / "out"
    target.write_text("of before")
    cut = tmp_path / "cut"
    cut.write_bytes(gzip.compress(source.read_bytes())[:-1])
    assert scan(cut, "-o", target, "--workers", "0").returncode == 1
    assert target.read_text() == "of before"
    assert scan(source, "-o", target, "--workers", "0").returncode == 0
    assert len(lines(target)) == 100
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "cut"}


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    source = stored(tmp_path / "in", FERRY)
    assert scan(source, "-o", os.devnull, "--workers", "0").returncode == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "a sub-command is required: scan, pairs, compare, evaluate, report, idf"),
        (["scna"], "invalid choice: 'scna'"),
        (["--nolog", "scan", "x", "-o", "y"], "there is no option --nolog; options follow"),
        (["--versoin"], "there is no option --versoin; did you mean --version?"),
    ],
)
def test_the_command_itself(arguments, complaint):
    done = subprocess.run([*SCAN[:-1], *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert complaint in done.stderr


@pytest.mark.slow
def test_a_bar_on_a_terminal(tmp_path, mixed):
    shown = shown_on_terminal(*SCAN, mixed, "-o", tmp_path / "out")
    assert b"60 pages: " in shown
    assert "━".encode() in shown


# What pages do to workers


@pytest.mark.slow
def test_page_that_kills_or_hangs_its_worker_affects_only_itself(tmp_path):
    hang = f"hang {tmp_path / 'marker'}"
    texts = FERRY, "kill me", TEA, hang, "raise an error", MUSEUM, "print this", FERRY
    source = stored(tmp_path / "in", *texts)
    done = scan(source, "-o", "-", "--workers", "2", "--timeout", "3", *TOUCHY)
    assert done.returncode == 0
    assert kinds(done.stdout) == [
        "new no_match",
        "undecided worker_died",
        "undecided few_features",
        "undecided timeout",
        "undecided failed",
        "new no_match",
        "undecided few_features",
        "duplicate same_text",
    ]
    stderr = done.stderr.decode()
    assert "<https://1.example/> is undecided, worker_died: its process ended with -9" in stderr
    assert "<https://3.example/> is undecided, timeout: it took more than 3 s" in stderr
    assert "<https://4.example/> is undecided, failed: ZeroDivisionError" in stderr


def test_a_page_whose_worker_was_killed_once_is_tried_again(tmp_path):
    marker = tmp_path / "killed"
    source = stored(tmp_path / "in", f"once {marker} {FERRY}", MUSEUM)
    done = scan(source, "-o", "-", "--workers", "1", *TOUCHY)
    assert marker.exists()
    assert kinds(done.stdout) == ["new no_match", "new no_match"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such limit")
def test_a_page_that_wants_too_much_memory(tmp_path):
    done = scan(stored(tmp_path / "in", "hoard it", FERRY), "-o", "-", "--workers", "1", *TOUCHY)
    assert kinds(done.stdout) == ["undecided out_of_memory", "new no_match"]
    assert b"MemoryError" in done.stderr


def test_workers_that_cannot_start(tmp_path):
    (tmp_path / "its_tokens.py").write_text(
        "import sys\n"
        "if sys.argv[0] == '-c':\n"
        "    raise RuntimeError('not here')\n"
        "def words(text): return text.split()\n"
    )
    source = stored(tmp_path / "in", FERRY)
    done = scan(source, "-o", "out", "-s", "NEARDUP_TOKENIZER=its_tokens.words", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        done.stderr
        == b"scrapy neardup scan: the setup of a worker failed: RuntimeError('not here')\n"
    )


@pytest.mark.slow
@linux
@pytest.mark.parametrize("helpers", ["workers", "all"])
def test_workers_killed_while_they_wait_are_replaced(tmp_path, helpers):
    data = stored(tmp_path / "in", *(" ".join(article(seed=n)) for n in range(40))).read_bytes()
    first, rest = data.split(b"\n", 1)
    with subprocess.Popen(
        [*SCAN, "-", "-o", "-", "--workers", "2"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(first + b"\n")
        process.stdin.flush()
        wait_for(lambda: workers_of(process.pid))
        server = children_of(process.pid) if helpers == "all" else []
        for helper in [*server, *workers_of(process.pid)]:
            os.kill(helper, signal.SIGKILL)
        output, _ = process.communicate(rest)
    assert process.returncode == 0
    assert kinds(output) == ["new no_match"] * 40


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    ("ending", "exitcode"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)],
    ids=["Ctrl-C", "SIGTERM", "SIGKILL"],
)
def test_no_worker_outlives_the_scan(tmp_path, ending, exitcode):
    markers = [tmp_path / "hangs", tmp_path / "hangs-too"]
    source = stored(tmp_path / "in", FERRY, *(f"hang {marker}" for marker in markers))
    target = tmp_path / "out"
    said = tmp_path / "stderr"
    with said.open("w") as stderr:
        process = subprocess.Popen(
            [*SCAN, source, "-o", target, "--workers", "2", "--timeout", "999", *TOUCHY],
            stderr=stderr, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
    wait_for(lambda: all(marker.exists() for marker in markers))
    with nobody_outlives(process, least=4):
        send_signal(process, ending)
        assert process.wait(60) == exitcode
    assert said.read_text() == ""
    assert not target.exists()


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_scan_quietly(mixed):
    with subprocess.Popen(
        [*SCAN, mixed, mixed, "-o", "-", "--workers", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        stderr = process.stderr.read()
    assert process.returncode == 141
    assert stderr == b""


@pytest.mark.slow
def test_lazy_extraction_gives_the_same_verdicts_and_reads_less(tmp_path):
    def html(text: str, title: str, frame: str) -> str:
        paragraphs = "".join(f"<p>{clause}</p>" for clause in re.split("(?<=[.,;]) ", text))
        return f"<html><head><title>{title}</title></head><body>{frame}{paragraphs}</body></html>"

    frame = "<div>Another site prints the news of all islands</div>"
    pages = [html(text, name, "") for text, name in ((FERRY, "Ferry"), (MUSEUM, "Museum"))]
    pages += [html(FERRY, "Ferry", frame), html(TEA, "Tea", ""), pages[1]]
    source = tmp_path / "pages.jsonl"
    with source.open("w", encoding="utf-8") as file:
        for number, page_ in enumerate(pages):
            record = {"id": number, "url": f"https://{number}.example/", "html": page_}
            file.write(json.dumps(record) + "\n")
    full = scan(source, "-o", "-", "--workers", "1")
    lazy = scan(source, "-o", "-", "--workers", "1", "-s", "NEARDUP_EXTRACTION=lazy")
    read = [line.pop("fingerprint") is not None for line in lines(lazy.stdout)]
    assert read == [False, False, True, False, True]
    assert kinds(lazy.stdout) == kinds(full.stdout)
    originals = [[line["duplicate_of_id"] for line in lines(o.stdout)] for o in (full, lazy)]
    assert originals == [[None, None, 0, None, 1]] * 2
