"""The written corpora: rejected files, contents, and the gate on their figures."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks.corpora.articles import read_article, read_articles
from benchmarks.corpora.disguises import DISGUISES, disguised_page
from benchmarks.corpora.forms import form_page, read_form, read_forms
from benchmarks.corpora.text_files import BadFile
from benchmarks.quality import (
    copies,
)
from benchmarks.quality import forms as forms_quality
from benchmarks.quality.copies import CopyFigures, Outcome
from benchmarks.quality.figures import half_of_name
from benchmarks.quality.forms import SITUATIONS, FormFigures, KindDrops
from benchmarks.quality.written_corpora import CORPORA
from tests.support.benchmarks import run

FORM = """\
language: en
kind: gate-pass
site: Quarry Works
address: /pass/{code}
title: Gate pass
fields: code, name

# Gate pass {code}
The bearer of this pass, {name}, may enter the quarry by the western gate on working days.
## Rules
- Wear a helmet beyond the yellow line
| Issued to | {name} |
---
"""
NAMES = ("Ada Birch", "Ben Cole", "Cy Dean", "Di Egan", "Ed Fry", "Flo Gunn", "Gil Hay", "Ida Jupp")
ROWS = [f"P-{number} | {name}" for number, name in enumerate(NAMES)]
ARTICLE = """\
language: en
title: The weir at Tolland
site: River Notes
author: J. Pell
date: 2024-03-02

The weir at Tolland was built of oak and stone when the mill still ground barley for the town.
## Repairs
Two carpenters replace its planks every seventh summer, and the village watches from the bank.
"""


def written(folder, text, name="en-gate-pass.txt"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def form_text(rows=ROWS):
    return FORM + "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (form_text().replace("kind: gate-pass\n", ""), 6, "expected a header with a value"),
        (form_text().replace("site: ", "place: "), 3, "expected a header with a value"),
        (form_text().replace("fields: code, name\n\n", "fields: code, name\n"), 7, "blank line"),
        (form_text().replace("# Gate", "Gate", 1), 8, "does not start with a heading"),
        (form_text().replace("bearer of", "bearer {of}"), 9, "{of} is not a field"),
        (form_text().replace("---\n", ""), 20, "no line ---"),
        (form_text([*ROWS[:7], "P-7"]), 21, "1 values, but 2 fields"),
        (form_text(ROWS[:7]), 20, "7 rows of values, not 8"),
        (form_text([*ROWS[:7], "P-0 | Ida Jupp"]), 21, "another row has the address /pass/P-0"),
    ],
)
def test_a_bad_form_is_refused_by_name_and_line(tmp_path, text, line, reason):
    path = written(tmp_path, text)
    with pytest.raises(BadFile) as refused:
        read_form(path)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ARTICLE.replace("author: J. Pell\n", ""), 5),
        (ARTICLE.partition("\n\n")[0] + "\n\n", 6),
        (ARTICLE + "```\ncode\n", 11),
    ],
)
def test_a_bad_article_is_refused_by_name_and_line(tmp_path, text, line):
    path = written(tmp_path, text)
    with pytest.raises(BadFile, match=rf"en-gate-pass\.txt, line {line}: "):
        read_article(path)


def test_a_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "en-gate-pass.txt"
    path.write_bytes(form_text().replace("Ada", "Adé").encode("latin-1"))
    with pytest.raises(BadFile, match="not UTF-8"):
        read_form(path)


def test_a_kind_has_eight_different_pages():
    for form in read_forms():
        pages = [form_page(form, number, "www.site.example") for number in range(8)]
        assert len({page.url for page in pages}) == 8, form.name
        # The address alone makes no other content.
        assert len({page.html for page in pages}) == 8, form.name


def test_a_form_is_filled_all_over(tmp_path):
    form = read_form(written(tmp_path, form_text()))
    page = form_page(form, 3, "www.site.example", folder="/o1")
    assert page.url == "https://www.site.example/o1/pass/P-3"
    assert "<h1" in page.html
    assert "Gate pass P-3</h1>" in page.html
    assert page.html.count("Di Egan") == 2
    assert "{" not in page.html


def test_all_pages_of_one_site_have_its_frame():
    one, other = read_forms()[:2]
    frames = [
        form_page(form, 0, "www.site.example", frame=one).html.partition("<h1")[0].rpartition("</")
        for form in (one, other)
    ]
    assert frames[0][0].partition("<body>")[2] == frames[1][0].partition("<body>")[2]


def test_there_are_all_articles_and_many_disguises():
    assert len(read_articles()) == 16
    assert len(DISGUISES) > 100


def test_a_disguise_is_the_same_at_every_call():
    article = read_articles()[1]
    assert disguised_page("typos-5-percent", article) == disguised_page("typos-5-percent", article)


def test_form_figures_count_pages_by_situation_and_half():
    first = next(name for name in map(str, range(9)) if half_of_name(name) == 0)
    second = next(name for name in map(str, range(9)) if half_of_name(name) == 1)
    figures = FormFigures(
        (KindDrops(first, (1, 2, 3, 4), b""), KindDrops(second, (0, 0, 0, 8), b""))
    )
    shares = [[figures.dropped(s, half) for half in (None, 0, 1)] for s in SITUATIONS]
    assert shares[0] == [(1, 4), (1, 2), (0, 2)]
    assert shares[3] == [(12, 16), (4, 8), (8, 8)]
    assert {figure.sense for figure in figures.figures().values()} == {"at most"}
    assert len(figures.figures()) == 12
    assert figures.listing()[2:] == [f"  {first}: 1, 2, 3, 4", f"  {second}: 0, 0, 0, 8"]


def test_copies_are_counted_by_the_mean_over_disguises():
    outcomes = [Outcome("a", "x", "", b""), Outcome("b", "x", "", b"")]
    outcomes += [Outcome("b", article, "new, no_match", b"") for article in "yz"]
    figures = CopyFigures(tuple(outcomes))
    assert figures.found() == pytest.approx((1 + 1 / 3) / 2)
    assert figures.by_disguise() == {"a": (1, 1), "b": (1, 3)}
    halves = [figures.found(half) for half in (0, 1)]
    assert len(figures.by_disguise(0)) + len(figures.by_disguise(1)) == 2
    assert halves[half_of_name("b")] != 0
    assert figures.listing()[2].startswith("  b  found 0.333 (1/3)  y: new, no_match")


def test_the_twelve_other_kinds_are_of_the_language_as_far_as_possible():
    forms = read_forms()
    english = next(form for form in forms if form.language == "en")
    arabic = next(form for form in forms if form.language == "ar")
    others = forms_quality._others(english, forms)
    assert len({form.name for form in others} - {english.name}) == 12
    assert {form.language for form in others} == {"en"}
    languages = [form.language for form in forms_quality._others(arabic, forms)]
    assert languages[0] == "ar"
    assert len(languages) == 12
    assert "ar" not in languages[1:]


def test_an_equal_copy_is_found_and_another_article_is_not():
    one, other = read_articles()[1:3]
    page, signature = copies._original(one)
    copy = replace(page, url="https://b.example/x")
    assert copies._trouble(signature, copy) == ""
    assert copies._trouble(signature, copies._original(other)[0]) != ""


@pytest.fixture
def corpora(tmp_path):
    """A folder of two forms and one article."""
    for folder in ("forms", "articles"):
        (tmp_path / folder).mkdir()
    written(tmp_path / "forms", form_text())
    written(tmp_path / "forms", form_text().replace("quarry", "harbour"), "en-berth-pass.txt")
    text = (CORPORA / "articles/en-review-kettle.txt").read_text(encoding="utf-8")
    written(tmp_path / "articles", text, "en-review-kettle.txt")
    return tmp_path


def measure(folder, *arguments):
    options = ("--corpora-only", "--corpora", folder, "--corpora-floors", folder / "floors.json")
    return run("quality", *options, *arguments)


@pytest.mark.slow
def test_the_gate_fails_when_a_figure_falls(corpora):
    first = measure(corpora, "--update", "--list", "--json", corpora / "report.json")
    assert first.returncode == 0, first.stderr
    report = json.loads((corpora / "report.json").read_text(encoding="utf-8"))
    found = report["corpora figures"]["copies, all: found"]
    assert 0.5 < found < 1
    assert "eight pages of a site" in first.stdout
    assert "many-homoglyphs" in first.stdout

    floors = json.loads((corpora / "floors.json").read_text(encoding="utf-8"))
    floors["at least"]["copies, all: found"] = round(found + 0.01, 4)
    floors["at most"]["forms, eight pages of a site, all: dropped"] = -0.01
    (corpora / "floors.json").write_text(json.dumps(floors), encoding="utf-8")
    fallen = measure(corpora, "--gate")
    assert fallen.returncode == 1
    assert "\ncopies, all: found: " in fallen.stderr
    assert "\nforms, eight pages of a site, all: dropped: " in fallen.stderr

    written(corpora / "forms", form_text().replace("helmet", "hat"))
    other = measure(corpora, "--gate")
    assert other.returncode == 2
    assert "the floors were measured on data" in other.stderr


def test_a_bad_file_ends_the_run_with_one_line(tmp_path):
    (tmp_path / "forms").mkdir()
    path = written(tmp_path / "forms", form_text(ROWS[:3]))
    ended = measure(tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[1:] == [f"{path}, line 16: 3 rows of values, not 8"]
