from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from scrapy_neardup.commands import idf
from scrapy_neardup.commands.idf import DocumentFrequencies
from scrapy_neardup.text.idf import read_table, token_hashes
from tests.support import warm


def neardup(*arguments: object, cwd: Path):
    return warm.run_text(["-m", "scrapy", "neardup", *arguments], folder=cwd)


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Eight pages: ``tea`` on all, ``pot`` on two, ``cup`` on one, and a copy of the last."""
    texts = [
        f"tea {'pot ' * (n < 2) * 3}{'cup ' * (n == 0)}no{'abcdefgh'[n]} {n}" for n in range(8)
    ]
    path = tmp_path / "pages.jsonl"
    with path.open("w") as file:
        for number, text in enumerate([*texts, texts[-1], ""]):
            file.write(json.dumps({"url": f"https://a.example/{number}", "text": text}) + "\n")
    return path


def weight(table, token: str) -> int:
    [found] = table.weights(token_hashes([token]))
    return int(found)


@pytest.mark.parametrize("workers", [0, 2])
def test_weights_are_logarithms_of_document_frequencies(tmp_path, pages, workers):
    done = neardup("idf", "train", pages, "-o", "tea.txt.gz", "--workers", workers, cwd=tmp_path)
    assert done.returncode == 0
    table = read_table(tmp_path / "tea.txt.gz")
    assert table.name == "tea"
    assert len(table) == 3 + 8
    assert weight(table, "tea") == 1
    assert weight(table, "pot") == round(16 * math.log(8 / 2))
    assert weight(table, "cup") == round(16 * math.log(8 / 1))
    assert weight(table, "never seen") == 16 * 5
    assert f"11 tokens from 8 pages (1 more were copies), digest {table.digest}" in done.stderr
    assert "warning: a table of fewer than 200 pages" in done.stderr


@pytest.mark.slow
def test_the_table_can_be_used(tmp_path, pages):
    assert neardup("idf", "train", pages, "-o", "tea.gz", cwd=tmp_path).returncode == 0
    outputs = [
        neardup("scan", pages, "-o", "-", "-s", f"NEARDUP_IDF={name}", cwd=tmp_path).stdout
        for name in ("none", "tea.gz")
    ]
    flat, trained = (
        [json.loads(line)["fingerprint"] for line in output.splitlines()] for output in outputs
    )
    assert len(flat) == len(trained) == 10
    assert flat[0] != trained[0]


def test_tokens_that_a_table_cannot_contain():
    counts = DocumentFrequencies()
    for page in (["tea", "b2b", "7", "two words", "\ud800"], ["pot", "x\x1cy"]):
        counts.add(page)
    assert set(counts.weights()) == {"tea", "pot"}


def test_common_tokens_survive_when_rare_ones_are_forgotten(monkeypatch):
    monkeypatch.setattr(idf, "_MAX_COUNTED", 3000)
    bounded, whole = DocumentFrequencies(), DocumentFrequencies()
    for number in range(5000):
        words = ["".join(chr(97 + int(digit)) for digit in str(number))]
        words += [f"every-{'x' * n}" for n in range(2, 40) if number % n == 0]
        bounded.add(words)
        monkeypatch.setattr(idf, "_MAX_COUNTED", 10**9)
        whole.add(words)
        monkeypatch.setattr(idf, "_MAX_COUNTED", 3000)
    assert len(bounded._counts) <= 3000 < len(whole._counts)
    assert bounded.weights() == whole.weights()


@pytest.mark.parametrize(
    ("arguments", "exitcode", "complaint"),
    [
        (["pages.jsonl", "-o", "tea.txt"], 1, "tea.txt: the name of a table ends in .gz"),
        (["pages.jsonl", "-o", "no/tea.gz"], 1, "no/tea.gz: cannot be written"),
        (["empty.jsonl", "-o", "tea.gz"], 1, "empty.jsonl: no page with a text in it"),
        (["pages.jsonl", "-o", "tea.gz", "--pages", "3"], 2, "there is no option --pages"),
    ],
)
def test_errors_are_one_line(tmp_path, pages, arguments, exitcode, complaint):
    (tmp_path / "empty.jsonl").write_text('{"url": "u", "text": ""}\n')
    done = neardup("idf", "train", *arguments, "--workers", "0", cwd=tmp_path)
    assert done.returncode == exitcode
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr
    assert not (tmp_path / "tea.gz").exists()
