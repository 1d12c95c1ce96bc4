"""Files pipelines in real crawls, over real HTTP."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import LOOPS, SCRAPY, Crawl, run_crawl
from tests.support.server import Answer, Site, serving

PIPELINE = "scrapy_neardup.pipelines.NearDupFilesPipeline"
NAMED = "tests.support.file_pipelines.NamedFiles"
SLOW = "tests.support.file_pipelines.SlowFiles"
DYING = "tests.support.file_pipelines.DyingFiles"
PDF = b"%PDF-1.4 " + random.Random(1).randbytes(5000)
OTHER = b"%PDF-1.4 " + random.Random(2).randbytes(5000)
INDEX = ".neardup-files.sqlite"


def answer(body: bytes) -> Answer:
    return Answer(body, "application/octet-stream")


def crawl(
    site: Site,
    folder: Path,
    paths: list[str],
    pipeline: str = PIPELINE,
    loop: str = "reactor",
    **settings: Any,
) -> Crawl:
    """Crawl one item with one file for each path."""
    return run_crawl(
        ["data:text/html,list"],
        {
            "ADDONS": {},
            "ITEM_PIPELINES": {pipeline: 300},
            "FILES_STORE": str(folder),
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            **settings,
        },
        start_items=[{"path": path, "file_urls": [site.url(path)], "files": []} for path in paths],
        spider="tests.support.file_pipelines.FilesSpider",
        loop=loop,
    )


def files(done: Crawl) -> dict[str, dict[str, Any]]:
    """Return the entries of the items for their files, by path of the URL."""
    return {item["path"]: item["files"][0] for item in done.items if item["files"]}


def on_disk(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and INDEX not in path.name
    }


def require_contents(done: Crawl, folder: Path, pages: Mapping[str, Answer | str]) -> None:
    """Check that each item's file is on disk with what its URL has."""
    stored = on_disk(folder)
    for path, info in files(done).items():
        page = pages[path]
        assert isinstance(page, Answer)
        assert stored[info["path"]] == page.body, path
        assert info["checksum"] == hashlib.md5(stored[info["path"]]).hexdigest()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.smoke
def test_equal_files_are_stored_once(tmp_path, loop):
    pages = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF), "/c.pdf": answer(OTHER)}
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), loop=loop)
    found = files(done)
    assert sorted(on_disk(tmp_path).values()) == sorted([PDF, OTHER])
    require_contents(done, tmp_path, pages)
    [copy] = [info for info in found.values() if info["status"] == "duplicate"]
    assert copy["duplicate_of"] == copy["path"] == found["/a.pdf"]["path"]
    assert copy["path"] == found["/b.pdf"]["path"]
    assert "duplicate_of" not in found["/c.pdf"]
    assert found["/c.pdf"]["status"] == "downloaded"
    assert done.counts("files/") | {"waits": 0} == {
        "stored": 2,
        "duplicates": 1,
        "duplicate_bytes": len(PDF),
        "waits": 0,
    }
    assert done.stats["file_status_count/duplicate"] == 1
    assert done.stats["file_count"] == 3
    [line] = [text for text in done.logged("DEBUG") if "Did not store" in text]
    assert line.endswith(f"equal to {copy['path']}")


def table(changed: int = 0) -> bytes:
    rows = [f"{n},product {n},{n * 7919 % 1000}.50,{n * 104729 % 977} in stock" for n in range(800)]
    for number in range(changed):
        rows[number * 97 % 800] = f"{number},sold out,0.00,0 in stock"
    return "\n".join(rows).encode()


def test_nearly_equal_file_is_stored_and_tagged(tmp_path):
    pages = {"/1.csv": answer(table()), "/2.csv": answer(table(8)), "/x.bin": answer(OTHER)}
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), CONCURRENT_REQUESTS=1)
    found = files(done)
    require_contents(done, tmp_path, pages)
    assert len(on_disk(tmp_path)) == 3
    [tagged] = [path for path, info in found.items() if "near_duplicate_of" in info]
    other = {"/1.csv": "/2.csv", "/2.csv": "/1.csv"}[tagged]
    assert found[tagged]["near_duplicate_of"] == found[other]["path"]
    assert 0.5 <= found[tagged]["similarity"] < 1
    assert found[tagged]["status"] == "downloaded"
    assert done.counts("files/") == {"stored": 3, "near_duplicates": 1}


def test_large_files_are_compared_for_equality_only(tmp_path):
    pages = {"/1.csv": answer(table()), "/2.csv": answer(table(8)), "/3.csv": answer(table())}
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), NEARDUP_FILES_MAX_BYTES=1000)
    counts = done.counts("files/")
    assert (counts["stored"], counts["duplicates"], counts["exact_only"]) == (2, 1, 3)
    assert "near_duplicates" not in counts


@pytest.mark.parametrize("pipeline", [NAMED, SLOW])
def test_copy_is_stored_if_the_first_cannot_be(tmp_path, pipeline):
    if pipeline == SLOW and SCRAPY < (2, 15):
        pytest.skip("needs Scrapy 2.15")
    (tmp_path / "blocked").write_text("a file where a folder should be")
    broken = "/a?to=blocked/broken" if pipeline == NAMED else "/a?to=broken"
    pages = {broken: answer(PDF), "/b?to=b": answer(PDF), "/c?to=c": answer(PDF)}
    store = str(tmp_path) if pipeline == NAMED else f"slow://{tmp_path}"
    with serving(pages, together=3) as site:
        done = crawl(site, tmp_path, list(pages), pipeline, FILES_STORE=store)
    # The broken one is not lost either if another came first.
    assert {"/b?to=b", "/c?to=c"} <= set(files(done))
    assert {info["path"] for info in files(done).values()} <= {"b", "c"}
    require_contents(done, tmp_path, pages)
    assert done.counts("files/")["stored"] == 1


def test_equal_files_at_once_wait_for_the_first(tmp_path):
    if SCRAPY < (2, 15):
        pytest.skip("needs Scrapy 2.15")
    pages = {f"/{n}?to={n}": answer(PDF) for n in range(8)}
    with serving(pages, together=8) as site:
        store = f"slow://{tmp_path}"
        done = crawl(site, tmp_path, list(pages), SLOW, FILES_STORE=store)
    assert len(on_disk(tmp_path)) == 1
    require_contents(done, tmp_path, pages)
    assert done.counts("files/")["duplicates"] == 7
    assert done.counts("files/")["waits"] == 7


@pytest.mark.slow
def test_next_run_knows_the_files(tmp_path):
    pages = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF)}
    with serving(pages) as site:
        first = crawl(site, tmp_path, ["/a.pdf"])
        second = crawl(site, tmp_path, ["/b.pdf"])
        third = crawl(site, tmp_path, ["/a.pdf", "/b.pdf"])
        assert site.hits == {"/a.pdf": 1, "/b.pdf": 1}
    assert list(on_disk(tmp_path).values()) == [PDF]
    path = files(first)["/a.pdf"]["path"]
    assert files(second)["/b.pdf"]["duplicate_of"] == path
    assert files(third)["/a.pdf"] == {**files(first)["/a.pdf"], "status": "uptodate"}
    assert files(third)["/b.pdf"] == {**files(second)["/b.pdf"], "status": "uptodate"}
    assert "1 are known" in second.logged("INFO")[0]


@pytest.mark.slow
def test_index_in_the_job_directory_serves_stores_elsewhere(tmp_path):
    if SCRAPY < (2, 15):
        pytest.skip("needs Scrapy 2.15")
    pages = {"/a?to=a": answer(PDF), "/b?to=b": answer(PDF)}
    settings: dict[str, Any] = {
        "FILES_STORE": f"slow://{tmp_path / 'files'}",
        "JOBDIR": str(tmp_path / "job"),
    }
    with serving(pages) as site:
        crawl(site, tmp_path, ["/a?to=a"], SLOW, **settings)
        second = crawl(site, tmp_path, ["/b?to=b"], SLOW, **settings)
    assert files(second)["/b?to=b"]["duplicate_of"] == "a"
    assert (tmp_path / "job" / "neardup-files.sqlite").exists()
    assert set(on_disk(tmp_path / "files")) == {"a"}


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["removed", "overwritten", "cut"])
def test_original_that_is_gone_is_no_original(tmp_path, damage):
    pages = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF)}
    with serving(pages) as site:
        first = crawl(site, tmp_path, ["/a.pdf"])
        path = tmp_path / files(first)["/a.pdf"]["path"]
        if damage == "removed":
            path.unlink()
        else:
            path.write_bytes(OTHER if damage == "overwritten" else PDF[:100])
        second = crawl(site, tmp_path, ["/b.pdf"])
        assert files(second)["/b.pdf"]["status"] == "downloaded"
        require_contents(second, tmp_path, pages)
        # And it is known from then on.
        third = crawl(site, tmp_path, ["/b.pdf"])
    assert files(third)["/b.pdf"]["status"] == "uptodate"


@pytest.mark.parametrize("damage", ["begun", pytest.param("cut off", marks=pytest.mark.slow)])
def test_damaged_file_of_a_url_is_stored_again(tmp_path, damage):
    path = "/a?to=a"
    pages = {path: answer(PDF)}
    with serving(pages) as site:
        if damage == "begun":
            # The crawl's process ends without a result.
            with pytest.raises(AssertionError):
                crawl(site, tmp_path, [path], DYING, FILES_STORE=f"dying://{tmp_path}")
        else:
            crawl(site, tmp_path, [path], NAMED)
            (tmp_path / "a").write_bytes(PDF[:100])
        assert on_disk(tmp_path) == {"a": PDF[:100]}
        second = crawl(site, tmp_path, [path], NAMED)
        assert files(second)[path]["status"] == "downloaded"
        assert second.counts("files/")["damaged"] == 1
        require_contents(second, tmp_path, pages)
        third = crawl(site, tmp_path, [path], NAMED)
    assert files(third)[path]["status"] == "uptodate"


@pytest.mark.slow
def test_copy_is_stored_when_its_original_vanishes_later(tmp_path):
    pages = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF)}
    with serving(pages) as site:
        crawl(site, tmp_path, ["/a.pdf"])
        second = crawl(site, tmp_path, ["/b.pdf"])
        (tmp_path / files(second)["/b.pdf"]["path"]).unlink()
        third = crawl(site, tmp_path, ["/b.pdf"])
    assert files(third)["/b.pdf"]["status"] == "downloaded"
    require_contents(third, tmp_path, pages)


def expire(folder: Path) -> None:
    """Make all files and links a year old."""
    for path in folder.rglob("*"):
        os.utime(path, (1.7e9, 1.7e9))
    connection = sqlite3.connect(folder / INDEX)
    connection.execute("UPDATE links SET checked = 1.7e9")
    connection.commit()
    connection.close()


@pytest.mark.slow
def test_changed_file_does_not_overwrite_what_others_refer_to(tmp_path):
    before = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF)}
    after = {"/a.pdf": answer(OTHER), "/b.pdf": answer(PDF)}
    pages = dict[str, Answer | str](before)
    with serving(pages) as site:
        crawl(site, tmp_path, ["/a.pdf"])
        second = crawl(site, tmp_path, ["/b.pdf"])
        expire(tmp_path)
        pages.update(after)
        third = crawl(site, tmp_path, ["/a.pdf"])
        # The second run's item is as true as ever.
        require_contents(second, tmp_path, before)
        require_contents(third, tmp_path, after)
        assert third.counts("files/")["moved"] == 1
        fourth = crawl(site, tmp_path, ["/a.pdf", "/b.pdf"])
        require_contents(fourth, tmp_path, after)
        assert files(fourth)["/a.pdf"] == {**files(third)["/a.pdf"], "status": "uptodate"}
        assert files(fourth)["/b.pdf"]["duplicate_of"] == files(second)["/b.pdf"]["path"]
        expire(tmp_path)
        pages.update({"/a.pdf": answer(PDF + OTHER)})
        fifth = crawl(site, tmp_path, ["/a.pdf", "/b.pdf"])
    require_contents(fifth, tmp_path, {**after, "/a.pdf": answer(PDF + OTHER)})
    require_contents(second, tmp_path, before)


@pytest.mark.slow
def test_unchanged_file_is_not_written_again(tmp_path):
    pages = {"/a.pdf": answer(PDF)}
    with serving(pages) as site:
        first = crawl(site, tmp_path, ["/a.pdf"])
        expire(tmp_path)
        second = crawl(site, tmp_path, ["/a.pdf"])
        third = crawl(site, tmp_path, ["/a.pdf"])
        assert site.hits["/a.pdf"] == 2
    assert files(second) == files(first)
    assert second.counts("files/") == {"unchanged": 1}
    assert files(third)["/a.pdf"]["status"] == "uptodate"
    path = tmp_path / files(first)["/a.pdf"]["path"]
    assert path.stat().st_mtime == 1.7e9


@pytest.mark.parametrize("pipeline", [NAMED, SLOW])
def test_two_contents_at_one_path_lose_no_copy(tmp_path, pipeline):
    if pipeline == SLOW and SCRAPY < (2, 15):
        pytest.skip("needs Scrapy 2.15")
    store = str(tmp_path) if pipeline == NAMED else f"slow://{tmp_path}"
    pages = {
        "/a?to=report": answer(PDF),
        "/a2?to=copy": answer(PDF),
        "/b?to=report": answer(OTHER),
        "/b2?to=other": answer(OTHER),
    }
    with serving(pages, together=4) as site:
        done = crawl(site, tmp_path, list(pages), pipeline, FILES_STORE=store)
    stored = on_disk(tmp_path)
    found = files(done)
    # Without a copy that refers to it, the path's first content is overwritten, as in Scrapy.
    for path in "/a2?to=copy", "/b2?to=other":
        assert stored[found[path]["path"]] == pages[path].body
    assert set(stored.values()) == {PDF, OTHER}


@pytest.mark.slow
def test_cached_responses_and_redirects(tmp_path):
    pages = {
        "/a.pdf": answer(PDF),
        "/moved.pdf": Answer(status=302, headers={"Location": "/a.pdf"}),
        "/gone.pdf": Answer(status=404),
        "/empty.pdf": answer(b""),
    }
    settings: dict[str, Any] = {
        "MEDIA_ALLOW_REDIRECTS": True,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(tmp_path / "cache"),
        "FILES_EXPIRES": 0,
    }
    with serving(pages) as site:
        first = crawl(site, tmp_path / "files", list(pages), **settings)
        assert set(files(first)) == {"/a.pdf", "/moved.pdf"}
        assert len(on_disk(tmp_path / "files")) == 1
        second = crawl(site, tmp_path / "files", list(pages), **settings)
    assert {info["status"] for info in files(second).values()} == {"cached", "duplicate"}
    assert len(on_disk(tmp_path / "files")) == 1


def test_transformed_files_are_no_originals(tmp_path):
    pages = {"/a?to=a": answer(PDF), "/b?to=b": answer(PDF)}
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), "tests.support.file_pipelines.StampedFiles")
    assert on_disk(tmp_path) == {"a": b"stamp " + PDF, "b": b"stamp " + PDF}
    assert done.counts("files/")["unconfirmed"] == 2
    [warning] = done.logged("WARNING")
    assert warning.startswith("The files store does not tell the MD5 digest of")


@pytest.mark.slow
def test_disabled_pipeline_is_scrapys(tmp_path):
    pages = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF)}
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), NEARDUP_ENABLED=False)
    assert list(on_disk(tmp_path).values()) == [PDF, PDF]
    assert done.counts() == {}
    assert not (tmp_path / INDEX).exists()


@pytest.mark.slow
def test_works_beside_the_addon_with_another_result_field(tmp_path):
    pages = {"/a.pdf": answer(PDF), "/b.pdf": answer(PDF)}
    settings: dict[str, Any] = {
        "ADDONS": {"scrapy_neardup.Addon": 500},
        "FILES_RESULT_FIELD": "documents",
        "NEARDUP_FILES_INDEXX": "x",
    }
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), **settings)
    statuses = sorted(item["documents"][0]["status"] for item in done.items)
    assert statuses == ["downloaded", "duplicate"]
    [warning] = [text for text in done.logged("WARNING") if "FILES_INDEXX" in text]
    assert warning.endswith("did you mean NEARDUP_FILES_INDEX?")


@pytest.mark.parametrize("content", ["no database, but long enough to be one" * 50, "cut", "other"])
def test_damaged_index_stops_the_start(tmp_path, content):
    index = tmp_path / INDEX
    pages = {"/a.pdf": answer(PDF)}
    with serving(pages) as site:
        if content == "cut":
            crawl(site, tmp_path, ["/a.pdf"])
            index.write_bytes(index.read_bytes()[:9000])
        elif content == "other":
            connection = sqlite3.connect(index)
            connection.execute("CREATE TABLE other(x)")
            connection.close()
        else:
            index.write_text(content)
        done = crawl(site, tmp_path, ["/a.pdf"])
    assert done.items == []
    [error] = done.logged("ERROR")
    assert error.startswith(f"Cannot start the crawl: store {index}: ")
    assert ("give another path" if content == "other" else "remove it") in error


def test_wrong_setting_is_named(tmp_path):
    with serving({}) as site:
        done = crawl(site, tmp_path, [], NEARDUP_FILES_MIN_SIMILARITY=7)
    [error] = done.logged("ERROR")
    assert "NEARDUP_FILES_MIN_SIMILARITY is 7" in error


def test_files_are_stored_while_the_index_fails(tmp_path):
    pages = {f"/{n}?to={n}": answer(PDF) for n in range(3)}
    with serving(pages) as site:
        done = crawl(site, tmp_path, list(pages), "tests.support.file_pipelines.FilesWithoutIndex")
    assert on_disk(tmp_path) == {"0": PDF, "1": PDF, "2": PDF}
    require_contents(done, tmp_path, pages)
    assert done.counts("files/")["index_errors"] >= 6
    [warning] = done.logged("WARNING")
    assert warning.startswith(f"Index of files, store {tmp_path / INDEX}: it has format 0")


@pytest.mark.slow
def test_spellings_of_a_path_are_one_file(tmp_path):
    before = {"/a?to=x/a": answer(PDF), "/b?to=b": answer(PDF)}
    after = {"/c?to=/x//y/../a": answer(OTHER), "/d?to=d": answer(OTHER)}
    with serving({**before, **after}) as site:
        crawl(site, tmp_path, ["/a?to=x/a"], NAMED)
        first = crawl(site, tmp_path, ["/b?to=b"], NAMED)
        second = crawl(site, tmp_path, list(after), NAMED, FILES_EXPIRES=0)
    require_contents(first, tmp_path, before)
    assert set(on_disk(tmp_path).values()) == {PDF, OTHER}
    assert files(first)["/b?to=b"]["duplicate_of"] == "x/a"
    for path, info in files(second).items():
        assert on_disk(tmp_path)[info["path"]] == OTHER, path
