"""Commands at their ends: what stays of the output, versions, hints, lines of long runs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

import pytest

from scrapy_neardup import __version__
from scrapy_neardup.commands.support import progress
from tests.support import warm
from tests.support.processes import wait_for
from tests.support.texts import FERRY, MUSEUM

NEARDUP = ["-m", "scrapy", "neardup"]
LINES = "".join(
    json.dumps({"url": f"https://{n}.example/", "text": text}) + "\n"
    for n, text in enumerate((FERRY, MUSEUM, FERRY))
)


def neardup(*arguments, folder):
    return warm.run_text([*NEARDUP, *arguments], folder=folder)


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.csv.gz", "out.parquet"])
def test_nothing_stays_of_an_output_that_is_empty(tmp_path, name):
    (tmp_path / "in").write_text('{"url": "https://a.example/"}\n')
    done = neardup("scan", "in", "-o", name, "--workers", 0, folder=tmp_path)
    assert (done.returncode, "no page in it" in done.stderr) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_what_was_written_before_an_error_stays(tmp_path):
    (tmp_path / "in").write_text(LINES + '{"url": ')
    done = neardup("scan", "in", "-o", "out.csv.gz", "--workers", 0, folder=tmp_path)
    assert done.returncode == 1
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out.csv.gz.part"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", -15), ("SIGHUP", -1), ("SIGINT", 130)])
def test_a_signal_ends_a_command_and_leaves_no_empty_file(tmp_path, number, code):
    command = [sys.executable, *NEARDUP, "scan", "-", "-o", "out.csv", "--workers", "0"]
    sent = getattr(signal, number)
    # Under nohup the tests ignore SIGHUP, and a command would inherit that.
    handler = signal.signal(sent, signal.default_int_handler if code > 0 else signal.SIG_DFL)
    scan = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    signal.signal(sent, handler)
    with scan:
        wait_for((tmp_path / "out.csv.part").exists)
        scan.send_signal(sent)
        _, said = scan.communicate(timeout=60)
    assert (scan.returncode, said) == (code, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--version"], ["store", "info", "--version"]])
def test_the_version(tmp_path, arguments):
    done = neardup(*arguments, folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(f"scrapy-neardup {__version__} (Scrapy ")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["sacn"], 2, "scrapy neardup: .*invalid choice: 'sacn'; did you mean scan?"),
        (["store", "ifno"], 2, "scrapy neardup store: .*'ifno'; did you mean info?"),
        (["scan", "x", "--distnace", "3"], 2, "no option --distnace; did you mean --distance?"),
        (["scan", "--ouptut=y"], 2, "no option --ouptut; did you mean --output?"),
        (["evaluate", "-p", "x"], 2, "there is no option -p"),
        (["scan", "--distance", "3", "x"], 2, "required: -o/--output"),
        (["scan", "x", "-oy", "--workers", "-1", "--", "--y"], 2, "--workers: '-1' is not a"),
        (["scan", "x", "-o", "y", "--scope", "sit"], 2, "--scope: .*'sit'; did you mean site?"),
        (["store", "info", "a.sqlite"], 1, "NEARDUP_STORE = .*neardup store import sqlite:///a.sq"),
        (["rules", "sqlite:///a.sqlite"], 1, "no such file; a crawl with NEARDUP_STORE"),
        (["evaluate", "in", "--pairs", "in"], 1, "it looks like JSON Lines"),
    ],
)  # fmt: skip
def test_an_error_says_the_way_out(tmp_path, arguments, code, said):
    (tmp_path / "in").write_text(LINES)
    done = neardup(*arguments, folder=tmp_path)
    assert done.returncode == code
    assert done.stderr.count("\n") == 1
    assert re.search(said.replace("?", r"\?"), done.stderr), done.stderr


def test_a_long_run_without_a_terminal_prints_rare_lines(monkeypatch, capsys):
    now = iter(range(0, 10_000, 50))
    monkeypatch.setattr(progress, "monotonic", lambda: next(now))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert list(progress.with_progress(range(8), None, "scan", total=8)) == list(range(8))
    said = capsys.readouterr().err.splitlines()
    assert said == ["scan: 2 pages so far, 25%", "scan: 5 pages so far, 62%"]
    with progress.stage_bars() as show:
        for done in range(8):
            show("rows", done, 8)
    assert capsys.readouterr().err.splitlines() == [
        "rows: 1 of 8 tasks so far",
        "rows: 4 of 8 tasks so far",
    ]
