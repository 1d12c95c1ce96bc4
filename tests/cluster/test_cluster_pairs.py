from __future__ import annotations

import base64
import gzip
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from scrapy_neardup import InvalidOption, Rule, cluster
from scrapy_neardup.cluster import Options, Report, Sequential, Task, WorkFolderTaken
from scrapy_neardup.cluster.inputs import find_input, read_split, row_group_ranges
from scrapy_neardup.exceptions import InputError
from scrapy_neardup.signatures.signer import OFFLINE_KEY, Signer
from scrapy_neardup.sources.readers import PageReader
from scrapy_neardup.sources.record import BadRecords
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.workers import sign_record

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Pages of twenty sites: texts, copies of them, edited ones, and some at one address."""
    chance = random.Random(5)
    words = [f"{one}{other}" for one in ("ka", "lo", "mi", "ne", "ru") for other in range(300)]
    texts = [chance.choices(words, k=chance.randint(25, 200)) for _ in range(40)]
    path = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    with path.open("w") as file:
        for number in range(240):
            text = list(chance.choice(texts))
            for _ in range(chance.choice([0, 0, 1, 2, 30])):
                text[chance.randrange(len(text))] = chance.choice(words)
            address = number if number % 12 else 12 * (number // 36)
            url = f"https://site{number % 20}.example/{address}"
            record = {
                "id": number,
                "url": url,
                "title": chance.choice("AB"),
                "text": " ".join(text),
            }
            file.write(json.dumps(record) + "\n")
        file.write(json.dumps({"url": "https://site1.example/empty", "text": ""}) + "\n")
        file.write(json.dumps({"title": "neither url nor id"}) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def expected(pages: str) -> set[tuple[Any, ...]]:
    return _pairs_of_one_process(pages, Rule())


def _pairs_of_one_process(
    pages: str, rule: Rule, method: str | None = None
) -> set[tuple[Any, ...]]:
    store, signer = MemoryStore(OFFLINE_KEY), Signer(secret=OFFLINE_KEY, method=method)
    if signer.method is not None:
        store.use_method(signer.method)
    ids = {}
    for record in PageReader([pages]):
        signature = sign_record(signer, record)
        if signature.n_features:
            store.add(signature)
            ids[record.url] = record.id
    found = {
        (*(ids[page.url] for page in pair.pages), pair.match.distance, pair.match.reason)
        for pair in store.pairs(rule)
    }
    assert len(found) > 3
    return found


def _pairs(found: cluster.Found) -> set[tuple[Any, ...]]:
    lines = list(found.pair_lines())
    pairs = {(line["id_a"], line["id_b"], line["distance"], line["reason"]) for line in lines}
    assert len(pairs) == len(lines) == found.pairs
    return pairs


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(partitions=1, split_bytes=60_000),
        Options(partitions=7, passes=3, split_bytes=60_000),
    ],
)
def test_pairs_and_clusters_are_those_of_one_process(
    pages: str, expected: set[tuple[Any, ...]], options: Options, tmp_path: Path
) -> None:
    found = cluster.pairs([pages], str(tmp_path / "work"), engine=Sequential(), options=options)
    assert _pairs(found) == expected
    assert found.undecided == {"no_text": 1}
    assert found.bad.total() == 1
    [place] = found.bad.first.values()
    assert place.startswith(f"{pages}, line ")
    # Each page that goes has a near-duplicate that stays; all that is in no pair stays.
    lines = list(found.cluster_lines())
    assert sum(line["pages"] for line in lines) == found.members
    kept = [line["id"] for line in found.kept_lines()]
    members = {id_ for line in lines for id_ in line["ids"]}
    pairs = list(found.pair_lines())
    stands_for = {line["id_b"] for line in pairs if line["id_a"] in kept}
    stands_for |= {line["id_b"] for line in pairs if line["reason"] != "similar_text"}
    dropped = members - set(kept)
    assert dropped == stands_for
    assert {line["ids"][0] for line in lines} <= set(kept)
    assert "https://site1.example/empty" in kept
    assert len(kept) == found.kept == found.pages + 1 - len(dropped)


@pytest.mark.slow
def test_files_by_url_and_archives_in_parts(pages: str, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    with system.open("/in/pages.warc.gz", "wb") as file:
        for line in Path(pages).read_text().splitlines()[:240]:
            file.write(gzip.compress(_response(json.loads(line))))
    options = Options(partitions=2, split_bytes=20_000)
    work = "memory://work"
    found = cluster.pairs(["memory://in/*.warc.gz"], work, engine=Sequential(), options=options)
    assert found.plan.n_splits > 3
    whole = cluster.pairs(
        ["memory://in/pages.warc.gz"], str(tmp_path / "work"), engine=Sequential()
    )
    assert whole.plan.n_splits == 1
    assert list(found.pair_lines()) == list(whole.pair_lines())
    assert list(found.kept_lines()) == list(whole.kept_lines())
    assert found.pages == whole.pages > 200


@pytest.mark.slow
def test_parquet_in_parts(pages: str, expected: set[tuple[Any, ...]], tmp_path: Path) -> None:
    records = [json.loads(line) for line in Path(pages).read_text().splitlines()]
    table = pa.table(
        {
            "key": [record.get("id") for record in records],
            "url": [record.get("url") for record in records],
            "title": [record.get("title") for record in records],
            "body": [record.get("text") for record in records],
        }
    )
    system = fsspec.filesystem("memory")
    for rows, name in ((20, "small"), (1000, "large")):
        with system.open(f"/parquet/{name}.parquet", "wb") as file:
            parquet.write_table(table, file, row_group_size=rows)
    columns = {"id": "key", "text": "body"}
    options = Options(partitions=2, split_bytes=20_000)

    def run(name: str, columns: dict[str, str]) -> cluster.Found:
        source, work = f"memory://parquet/{name}.parquet", str(tmp_path / name)
        return cluster.pairs([source], work, engine=Sequential(), columns=columns, options=options)

    small, large = run("small", columns), run("large", columns)
    assert 3 < small.plan.n_splits < 13
    assert large.plan.n_splits == 1
    for found in (small, large):
        assert _pairs(found) == expected
        assert found.undecided == {"no_text": 1}
        assert found.bad.total() == 1
    assert list(small.kept_lines()) == list(large.kept_lines())
    # A run goes on with the same columns only.
    assert _pairs(run("small", dict(reversed(columns.items())))) == expected
    with pytest.raises(WorkFolderTaken, match=r"columns is .*, but was"):
        run("small", {**columns, "id": "url"})
    with pytest.raises(InputError, match="no column 'keys' for id"):
        run("small", {**columns, "id": "keys"})


def test_one_name_in_place_of_a_list(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"pages is 'a\.warc'.*must be a list.*\['a\.warc'\]"):
        cluster.pairs("a.warc", str(tmp_path), engine=Sequential())


@pytest.mark.parametrize("columns", [{"key": "id"}, ["id", "body"], "id,text"])
def test_columns_for_no_field(columns: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="is no field"):
        cluster.pairs(["none"], str(tmp_path), engine=Sequential(), columns=columns)


@pytest.mark.parametrize(
    ("sizes", "ranges"),
    [
        ([], [(0, 0)]),
        ([500], [(0, 1)]),
        ([3, 3, 3, 3, 3], [(0, 2), (2, 4), (4, 5)]),
        ([1, 99, 1, 1], [(0, 2), (2, 4)]),
        ([5, 5], [(0, 1), (1, 2)]),
    ],
)
def test_row_groups_of_a_part(sizes: list[int], ranges: list[tuple[int, int]]) -> None:
    assert row_group_ranges(sizes, 5) == ranges


def _response(record: dict[str, Any]) -> bytes:
    """A record of a WARC file."""
    html = f"<title>{record['title']}</title><p>{record['text']}</p>"
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}".encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:n:{record['id']}>\r\n"
        f"WARC-Target-URI: {record['url']}\r\nWARC-Date: 2026-11-25T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", "WARC/1.0", "PAR1", "\x1f\x8b\x08"])
def test_an_unusable_line_costs_no_other_wherever_a_part_begins(line: str, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    records = [json.dumps({"id": number, "text": f"text {number}"}) for number in range(6)]
    path.write_text("\n".join([*records[:3], line, *records[3:]]) + "\n")
    start = sum(len(record) + 1 for record in records[:3])
    bad: Any = BadRecords()
    splits = find_input([str(path)], start).splits
    found = [record.id for split in splits for record in read_split(split, None, bad, Counter())]
    assert found == list(range(6))
    assert bad.total() == 1


def test_a_folder_without_pages_is_refused_and_a_broken_link_is_no_page(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    with pytest.raises(InputError, match="no HTML files in it"):
        find_input([str(folder)])
    (folder / "a.html").write_text("<p>text</p>")
    (folder / "b.html").symlink_to("nowhere")
    bad: Any = BadRecords()
    [split] = find_input([str(folder)]).splits
    assert len(list(read_split(split, None, bad, Counter()))) == 1
    assert bad.total() == 1


def test_a_pattern_that_matches_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\*\.jsonl: no file matches this pattern$"):
        find_input([str(tmp_path / "none*.jsonl")])


def test_a_run_that_fails_goes_on_where_it_was(
    pages: str, expected: set[tuple[Any, ...]], tmp_path: Path
) -> None:
    work = str(tmp_path / "work")
    options = Options(partitions=2, split_bytes=60_000)
    runs = 0
    found = None
    while found is None:
        runs += 1
        try:
            found = cluster.pairs([pages], work, engine=_Failing(6), options=options)
        except ConnectionError:
            continue
    assert runs > 5
    assert _pairs(found) == expected


class _Failing:
    """An engine that fails after so many tasks."""

    def __init__(self, tasks: int) -> None:
        self._left = tasks

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Report]]:
        for task in tasks:
            if not self._left:
                raise ConnectionError
            self._left -= 1
            yield task.number, task.run()


def test_a_folder_of_another_run_is_refused(pages: str, tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    cluster.pairs([pages], work, engine=Sequential())
    with pytest.raises(WorkFolderTaken, match="max_distance is 3, but was 11"):
        cluster.pairs([pages], work, engine=Sequential(), rule=Rule(max_distance=3))


def test_a_rule_that_only_fingerprints_confirm_needs_a_short_distance(
    pages: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidOption, match="min_similarity"):
        cluster.pairs([pages], str(tmp_path), engine=Sequential(), rule=Rule(min_similarity=0))


@pytest.mark.parametrize(
    ("method", "rule"),
    [
        (None, Rule(scope="site")),
        pytest.param("exact", Rule(), marks=pytest.mark.slow),
        pytest.param("simhash", Rule(), marks=pytest.mark.slow),
        pytest.param("minhash", Rule(min_features=30), marks=pytest.mark.slow),
        pytest.param("bottomk", Rule(), marks=pytest.mark.slow),
        ("words", Rule(scope="site")),
        pytest.param("manber", Rule(), marks=pytest.mark.slow),
    ],
)
def test_pairs_of_a_site_and_by_a_method_are_those_of_one_process(
    pages: str, method: str | None, rule: Rule, tmp_path: Path
) -> None:
    options = Options(partitions=3, split_bytes=60_000)
    found = cluster.pairs(
        [pages], str(tmp_path), engine=Sequential(), method=method, rule=rule, options=options
    )
    assert _pairs(found) == _pairs_of_one_process(pages, rule, method)


@pytest.mark.parametrize("method", ["nilsimsa", "minhash:rows=0"])
def test_a_method_without_keys_is_refused(pages: str, method: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="one with keys"):
        cluster.pairs([pages], str(tmp_path), engine=Sequential(), method=method)


@pytest.mark.slow
def test_workers_of_dask_find_the_same_and_one_may_die(
    pages: str, expected: set[tuple[Any, ...]], tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as local,
        distributed.Client(local) as client,
    ):
        killed: list[int] = []

        def kill(stage: str, done: int, _: int) -> None:
            if stage == "keys" and done == 1 and not killed:
                worker = next(iter(local.workers.values()))
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        options = Options(partitions=3, split_bytes=60_000)
        found = cluster.pairs(
            [pages], str(tmp_path / "work"), client=client, options=options, progress=kill
        )
    assert killed
    assert _pairs(found) == expected


def test_no_file_of_the_work_folder_has_the_secret(pages: str, tmp_path: Path) -> None:
    secret, options = b"only-for-this-site", Options(partitions=2)
    signer = {"secret": secret}
    cluster.pairs([pages], str(tmp_path), engine=Sequential(), signer=signer, options=options)
    content = b"".join(map(_unpacked, filter(Path.is_file, tmp_path.rglob("*"))))
    assert b"https://site1.example/empty" in content
    for shown in (secret, secret.hex().encode(), base64.b64encode(secret)):
        assert shown not in content


def _unpacked(file: Path) -> bytes:
    """The content of a file; of Arrow's, without its compression."""
    if file.suffix != ".arrow":
        return file.read_bytes()
    with pa.ipc.open_file(file) as reader:
        columns = [
            column for at in range(reader.num_record_batches) for column in reader.get_batch(at)
        ]
    buffers = [buffer for column in columns for buffer in column.buffers() if buffer is not None]
    return b"".join(map(bytes, buffers))
