from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.hashing.minhash import SHINGLE_UNITS
from scrapy_neardup.methods import METHODS
from tests.support import own_methods, warm
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, TEA, page


def compare(*arguments: object, cwd: Path | None = None):
    command = ["-m", "scrapy", "neardup", "compare", *arguments]
    return warm.run_text(command, folder=cwd, environment={"COLUMNS": "200"})


def figures(done) -> dict[str, list[str]]:
    """Rows of the tables: what stands in the first column, and the rest."""
    assert done.returncode == 0, done.stderr
    rows = (re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines())
    return {row[0]: row[1:] for row in rows if len(row) > 1}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, html: str) -> Path:
        path = tmp_path / name
        path.write_text(html, "utf-8")
        return path

    return write


def test_two_files_that_are_copies(written):
    text = f"{FERRY} {MUSEUM}"
    changed = text.replace("about the lighthouse", "because the lighthouse")
    a = written("a.html", page(text, "Ferry"))
    b = written("b.html", page(changed, "Ferry"))
    done = compare(a, b)
    assert "Duplicates (similar_text)" in done.stdout
    rows = figures(done)
    assert rows["title"] == ["Ferry", "Ferry"]
    assert rows["about"] == ["5.0", "0.0"] or float(rows["about"][0]) > float(rows["about"][1])
    words = {name: len(re.findall(r"\w+", text)) for name, text in
             (("a", text), ("b", changed))}  # fmt: skip
    assert [int(n) for n in rows["words"]] == [words["a"] + 1, words["b"] + 1]  # and the heading


def test_two_small_texts_alone_say_little_of_their_site(written):
    a = written("a.html", page(FERRY, "Ferry"))
    other = FERRY.replace("three crowns", "four crowns").replace("takes an hour", "takes it all")
    b = written("b.html", page(other, "Ferry"))
    done = compare(a, b)
    assert "Not duplicates (text_differs)" in done.stdout
    found, asked_for = figures(done)["resemblance, estimated"]
    assert 0.73 < float(found) < 0.92
    assert asked_for == "at least 0.92"
    done = compare(a, written("c.html", page(other, "Print: Ferry")))
    assert "Not duplicates (site_unknown)" in done.stdout
    assert "--learn" in done.stdout
    assert figures(done)["resemblance, estimated"][1] == "at least 1"
    of_two_sites = ("--url-a", "https://a.example/", "--url-b", "https://b.example/")
    assert "Duplicates (similar_text)" in compare(a, b, *of_two_sites).stdout


def test_the_exact_resemblance_is_that_of_runs_of_words(written):
    words = [f"word{chr(97 + n)}" for n in range(26)]
    a = written("a.html", f"<title>t</title><p>{' '.join(words)}</p>")
    b = written("b.html", f"<title>t</title><p>{' '.join(words)} more</p>")
    rows = figures(compare(a, b))
    runs = 26 - SHINGLE_UNITS + 1
    assert rows["resemblance, exact"] == [f"{runs / (runs + 1):.2f}"]
    assert rows["containment, exact"] == ["1.00"]
    assert float(rows["resemblance, estimated"][0]) == pytest.approx(runs / (runs + 1), abs=0.1)


TWO_SITES = ["--url-a", "https://a.example/1", "--url-b", "https://b.example/2"]


@pytest.mark.parametrize(
    ("pages", "options", "reason"),
    [
        ((page(FERRY, "X200"), page(FERRY, "X300")), [], "Not duplicates (title_differs)"),
        ((page(FERRY, "A"), page(FERRY, "A")), [*TWO_SITES, "--scope", "site"], "(other_site)"),
        ((page(FERRY, "A"), page(MUSEUM, "A")), [*TWO_SITES, "--distance", "0"], "(far)"),
        ((page(FERRY, "A"), page(MUSEUM, "B")), [*TWO_SITES, "--min-features", "999"], "(few_feat"),
        ((page(FERRY, "X200"), page(FERRY, "X300")), TWO_SITES, "Duplicates (similar_text)"),
        (("<p></p>", page(FERRY, "A")), [], "Undecided (no_text)"),
        ((page(FERRY), page(FERRY)), ["--url-a", "x:1", "--url-b", "x:1#b"], "Both have one URL"),
    ],
)
def test_the_reason_is_named(written, pages, options, reason):
    a, b = (written(f"{n}.html", html) for n, html in enumerate(pages))
    done = compare(a, b, *options)
    assert done.returncode == 0
    assert reason in done.stdout


def test_two_addresses(written):
    packed = gzip.compress(page(TEA, "Tea").encode())
    pages: dict[str, Answer | str] = {
        "/tea": page(TEA, "Tea"),
        "/moved": Answer(status=302, headers={"Location": "/packed"}),
        "/packed": Answer(packed, headers={"Content-Encoding": "gzip"}),
    }
    with serving(pages) as site:
        done = compare(site.url("/tea"), site.url("/moved"))
        assert "Duplicates (same_" in done.stdout
        assert figures(done)["url"] == [site.url("/tea"), site.url("/packed")]
        mixed = compare(site.url("/tea"), written("tea.html", page(TEA, "Tea")))
        assert "Duplicates (same_" in mixed.stdout


@pytest.mark.slow
def test_an_address_without_a_page(tmp_path):
    secret = tmp_path / "secret.html"
    secret.write_text("<p>of this machine</p>")
    pages: dict[str, Answer | str] = {
        "/": page(TEA),
        "/image": Answer(b"\x89PNG", "image/png"),
        "/file": Answer(status=302, headers={"Location": secret.as_uri()}),
        "/ftp": Answer(status=302, headers={"Location": "ftp://127.0.0.1/x"}),
        "/loop": Answer(status=302, headers={"Location": "/loop"}),
        "/cut": Answer("half", headers={"Content-Length": "8"}),
        "/bomb": Answer(gzip.compress(bytes(20 * 2**20)), headers={"Content-Encoding": "gzip"}),
    }
    complaints = {
        "/none": "answers with status 404",
        "/image": "is image/png, not a page",
        "/file": "status 302",
        "/ftp": "unknown url type: ftp",
        "/loop": "status 302",
        "/cut": "is cut off",
        "/bomb": "is larger than 16 MiB",
    }
    with serving(pages) as site:
        for path, complaint in complaints.items():
            done = compare(site.url("/"), site.url(path))
            assert (done.returncode, done.stdout) == (1, ""), path
            assert done.stderr.count("\n") == 1
            assert complaint in done.stderr
    done = compare(site.url("/"), site.url("/"))
    assert done.returncode == 1
    assert "cannot be fetched" in done.stderr


@pytest.mark.slow
def test_stored_pages_by_their_ids(tmp_path):
    records = [
        {"id": 1, "url": "https://a.example/1", "text": FERRY},
        {"id": "two", "url": "https://b.example/2", "html": page(FERRY)},
        {"url": "https://b.example/3", "text": TEA},
    ]
    stored = tmp_path / "pages.jsonl"
    stored.write_text("\n".join(map(json.dumps, records)))
    assert "Duplicates (" in compare("two", 1, "--from", stored).stdout
    assert "Duplicates (" in compare("two", 1, "--from", stored, "--learn").stdout
    assert "Not duplicates (" in compare("two", "https://b.example/3", "--from", stored).stdout
    missing = compare("two", "three", "--from", stored)
    assert missing.returncode == 1
    assert "no page has the id or URL three" in missing.stderr
    many = compare(stored, stored)
    assert many.returncode == 1
    assert "more than one page" in many.stderr


def test_control_characters_of_pages_are_not_printed(written):
    a = written("a.html", page(FERRY, "\x1b[31mred\x1b[0m [bold]title[/bold]"))
    done = compare(a, a)
    assert "\x1b" not in done.stdout
    assert "[bold]title[/bold]" in done.stdout


def test_what_other_methods_say(written):
    text = f"{FERRY} {MUSEUM}"
    a = written("a.html", page(text, "Ferry"))
    b = written("b.html", page(text.replace("three crowns", "four crowns"), "Ferry"))
    rows = figures(compare(a, b, "--words", 0, "--methods", "all"))
    verdicts = {name: rows[name][-1] for name in METHODS}
    assert verdicts["exact"] == "new"
    assert verdicts["words"] == verdicts["nilsimsa"] == verdicts["tags"] == "duplicate"
    # The same fingerprints as those of the rule.
    assert rows["simhash"][:2] == [digits[:18] for digits in rows["fingerprint"]]


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(("Great fun on the boat", "Great fun on the boat!"), id="both too short"),
        pytest.param(("Great fun", FERRY), id="a too short"),
        pytest.param((" ", FERRY), id="a empty"),
    ],
)
def test_methods_say_of_short_texts_what_a_scan_says(tmp_path, texts):
    pages = [
        {"id": name, "url": f"https://{name}.example/", "text": text}
        for name, text in zip("ab", texts, strict=True)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(map("{}\n".format, map(json.dumps, pages))))
    rows = figures(compare("a", "b", "--from", path, "--methods", "all", "--words", 0))
    for name in METHODS:
        detector = NearDupDetector(method=name)
        verdicts = [detector.check(url=each["url"], text=each["text"]).kind for each in pages]
        assert rows[name][-1] == verdicts[1], name


def test_a_method_that_fails_is_named(written):
    a = written("a.html", page(MUSEUM, "Museum"))
    rows = figures(compare(a, a, "--methods", f"{own_methods.__name__}.FailingValue"))
    assert rows[f"{own_methods.__name__}.FailingValue"][-1] == "undecided"


def test_files_of_any_kind(tmp_path):
    a, b = tmp_path / "a.pdf", tmp_path / "b.csv"
    body = b"%PDF-1.4 " + random.Random(1).randbytes(9000)
    a.write_bytes(body)
    b.write_bytes(body[:5000] + b"\r\n" + body[5000:])
    rows = figures(compare(a, b, "--files"))
    assert {name: rows[name][-1] for name in METHODS if name in rows} == {
        "exact": "new",
        "nilsimsa": "duplicate",
        "manber": "duplicate",
        "tags": "duplicate",
    }
    done = compare(a, b)
    assert "a.pdf: is a PDF file" in done.stderr
    assert "--files compares two files of any kind" in done.stderr


def test_a_page_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "in.jsonl"
    records = [{"id": name, "text": text} for name, text in (("a", FERRY), ("b", "x " * 400_000))]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    done = compare("a", "b", "--from", path)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.endswith(
        "compare: b: the page has at least 800,000 characters of text; the limit is 750,000"
    )


def test_learning_needs_pages(written):
    a = written("a.html", page(FERRY, "Ferry"))
    done = compare(a, a, "--learn")
    assert done.returncode == 2
    assert "--learn is given alone, but it must be given with --from" in done.stderr


def test_options_of_pages_are_refused_for_files(written):
    a = written("a.html", page(FERRY, "Ferry"))
    done = compare(a, a, "--files", "--learn")
    assert done.returncode == 2
    assert "--learn is given with --files" in done.stderr


def test_containment_is_of_the_second_in_the_first(written):
    quoted = written("quoted.html", page(f"{FERRY} {MUSEUM}", "All"))
    quote = written("quote.html", page(MUSEUM, "All"))
    of_quote, of_all = (
        float(figures(compare(*pair, "--methods", "manber:one_in=4"))["manber:one_in=4"][2])
        for pair in ((quoted, quote), (quote, quoted))
    )
    assert of_quote > 0.8 > 0.6 > of_all


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("nlsimsa", "--methods is 'nlsimsa', but it must be 'nilsimsa', or another of exact"),
        ("simhash:7", "--methods simhash: bits is 7, but it must be 32, 64 or 128"),
    ],
)
def test_a_method_that_does_not_exist_is_refused(written, method, message):
    a = written("a.html", page(FERRY, "Ferry"))
    done = compare(a, a, "--methods", method)
    assert done.returncode == 2
    assert message in done.stderr
