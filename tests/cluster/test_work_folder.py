"""Runs meet files that are not as they left them, and workers that are elsewhere."""

from __future__ import annotations

import json
import pickle
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup import cluster
from scrapy_neardup.cluster import Options, Sequential, WorkFolderDamaged, WorkFolderTaken
from scrapy_neardup.cluster.folder import WorkFolder, file_system
from scrapy_neardup.cluster.inputs import find_input, read_split
from scrapy_neardup.exceptions import InputError
from scrapy_neardup.sources.record import BadRecords
from tests.support.texts import article, page

pytest.importorskip("distributed")

OPTIONS = Options(partitions=2, split_bytes=4000)


def stored(path: Path, seeds: range) -> Path:
    texts = [" ".join(article(60, seed=seed // 2)) for seed in seeds]
    records = [{"id": n, "url": f"https://{n}.example/", "text": t} for n, t in enumerate(texts)]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return stored(tmp_path / "pages.jsonl", range(40))


def run(pages: Path | str, work: Path | str, engine: Any = None) -> list[tuple[Any, Any]]:
    found = cluster.pairs([str(pages)], str(work), engine=engine or Sequential(), options=OPTIONS)
    return [(line["id_a"], line["id_b"]) for line in found.pair_lines()]


class StopsBefore(Sequential):
    """An engine that fails when it comes to a stage."""

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def run(self, tasks: Any) -> Any:
        if tasks and tasks[0].stage == self._stage:
            raise ConnectionError
        return super().run(tasks)


def begun(pages: Path, work: Path) -> Path:
    """The folder of a run that stopped before the stage ``joined``."""
    with pytest.raises(ConnectionError):
        run(pages, work, StopsBefore("joined"))
    [folder] = [path for path in work.iterdir() if path.is_dir()]
    return folder


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def no_object(path: Path) -> None:
    path.write_text("[]")


def no_report(path: Path) -> None:
    path.write_text("{}")


@pytest.mark.parametrize(
    ("name", "harm", "problem"),
    [
        ("signed/000000.json", emptied, "is damaged"),
        ("signed/000000.json", no_object, "is damaged"),
        ("signed/000000.json", no_report, "is damaged"),
        ("signed/000000.arrow", emptied, "is damaged"),
        ("proposed-0/000000.arrow", cut, "is damaged"),
        ("proposed-0/000000.arrow", Path.unlink, "is missing"),
        ("../run.json", no_object, "is damaged"),
        ("../run.json", emptied, "is damaged"),
    ],
)
def test_a_damaged_file_is_named(
    pages: Path, tmp_path: Path, name: str, harm: Callable[[Path], object], problem: str
) -> None:
    work = tmp_path / "work"
    harm(begun(pages, work) / name)
    with pytest.raises(WorkFolderDamaged, match=problem) as error:
        run(pages, work)
    assert Path(name).name in str(error.value)
    assert "remove it and run again" in str(error.value)
    # As it comes from a worker.
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_other_files_beside_reports_do_no_harm(pages: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    folder = begun(pages, work)
    (folder / "signed" / "._000000.json").write_text("x")
    (folder / "signed" / "notes.json").write_text("x")
    assert len(run(pages, work)) == 20


def test_a_run_without_its_description_goes_on_and_another_is_refused(
    pages: Path, tmp_path: Path
) -> None:
    work, other = tmp_path / "work", stored(tmp_path / "other.jsonl", range(100, 110))
    folder = begun(pages, work)
    (work / "run.json").unlink()
    with pytest.raises(WorkFolderTaken, match=f"is not empty, and no run began .*{folder.name}"):
        run(other, work)
    assert len(run(pages, work)) == 20


def test_a_folder_with_something_else_is_not_used(pages: Path, tmp_path: Path) -> None:
    work = tmp_path / "home"
    work.mkdir()
    (work / "letter.txt").write_text("mine")
    with pytest.raises(WorkFolderTaken, match=r"is not empty.*letter\.txt"):
        run(pages, work)
    assert [path.name for path in work.iterdir()] == ["letter.txt"]


def test_two_runs_that_begin_at_once_do_not_mix(pages: Path, tmp_path: Path, monkeypatch) -> None:
    """Both find the folder empty; each has files of its own."""
    work, other = tmp_path / "work", stored(tmp_path / "other.jsonl", range(100, 110))
    write, outcomes = WorkFolder.write_json, []

    def write_after_the_other(self: WorkFolder, name: str, value: Any) -> None:
        if name == "run.json":
            monkeypatch.setattr(WorkFolder, "write_json", write)
            outcomes.append(run(other, work))
        write(self, name, value)

    monkeypatch.setattr(WorkFolder, "write_json", write_after_the_other)
    outcomes.append(run(pages, work))
    assert [len(found) for found in outcomes] == [5, 20]


def test_workers_in_another_folder_read_the_same_files(
    pages: Path, tmp_path: Path, monkeypatch
) -> None:
    """Each task runs as on a worker: from its pickle, in a folder with a file of the same name."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    stored(elsewhere / "pages.jsonl", range(100, 110))

    class Elsewhere(Sequential):
        def run(self, tasks: Any) -> Any:
            for task in tasks:
                monkeypatch.chdir(elsewhere)
                report = pickle.loads(pickle.dumps(task)).run()
                monkeypatch.chdir(tmp_path)
                yield task.number, report

    monkeypatch.chdir(tmp_path)
    assert len(run("pages.jsonl", "work", Elsewhere())) == 20
    assert [path.name for path in elsewhere.iterdir()] == ["pages.jsonl"]


def test_a_page_that_a_worker_cannot_see_fails_the_task(tmp_path: Path) -> None:
    """It would be missing from the output, and the folder would say that all is done."""
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.html").write_text("<p>text</p>")
    (folder / "link.html").symlink_to("nowhere")
    [split] = find_input([str(folder)]).splits
    bad = BadRecords()
    assert len(list(read_split(split, None, bad, Counter()))) == 3
    assert bad == {"No such file or directory": 1}
    (folder / "1.html").unlink()
    with pytest.raises(InputError, match=r"1\.html: No such file .*, for a worker; all of them"):
        list(read_split(split, None, bad, Counter()))
    shutil.rmtree(folder)


@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
def test_names_of_a_folder_are_addresses_of_their_own(tmp_path: Path, scheme: str) -> None:
    names = ["q?a#0.html", "q?a#1.html", "100%.html", "%31.html", "1.html", "a b.html"]
    source = f"{scheme}{tmp_path}/h#1"
    system, root = file_system(source)
    system.makedirs(root)
    for name in names:
        system.pipe_file(f"{root}/{name}", page(name, name).encode())
    splits = find_input([source]).splits
    found = [
        record for split in splits for record in read_split(split, None, BadRecords(), Counter())
    ]
    assert sorted(record.id for record in found) == sorted(names)
    urls = {record.url for record in found}
    assert len(urls) == len(names)
    assert not any("#" in url or "?" in url or " " in url for url in urls)


@pytest.mark.parametrize("name", ["x::y.jsonl", "file:z.jsonl", "memory:z.jsonl"])
def test_a_name_without_slashes_is_a_path(tmp_path: Path, monkeypatch, name: str) -> None:
    stored(tmp_path / name, range(6))
    monkeypatch.chdir(tmp_path)
    assert len(run(name, f"work::{name}")) == 3
    assert (tmp_path / f"work::{name}").is_dir()
