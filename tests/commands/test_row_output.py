"""The tables that commands write: CSV and Parquet instead of JSON Lines."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from scrapy_neardup._util.escaping import harmless_cell, original_cell
from scrapy_neardup.commands.support import row_output
from scrapy_neardup.commands.support.row_output import Kind, open_rows
from scrapy_neardup.exceptions import InputError
from tests.support import warm
from tests.support.texts import FERRY, MUSEUM

COLUMNS: dict[str, Kind] = {
    "id": "id", "note": "text", "n": "int", "share": "float", "ids": "ids", "urls": "texts"
}  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"id": 2**70, "note": None, "n": None, "share": None, "ids": [], "urls": []},
    {"id": "=1+1", "note": '茶, "\n', "n": 3, "share": 0.5, "ids": [1, "a"], "urls": ["u", "v"]},
    {"id": "\ud83d", "note": "'-x", "n": 0, "share": 1.0, "ids": ["\ud83d"], "urls": ["é"]},
]


def written(target: Path) -> Path:
    with open_rows(str(target), [], COLUMNS) as rows:
        for row in ROWS:
            rows.write(row)
    return target


@pytest.mark.parametrize("name", ["out.jsonl", "out", "out.csv.txt"])
def test_an_unknown_ending_means_json_lines(tmp_path, name):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    assert written(tmp_path / name).read_bytes() == lines.encode()


def test_csv_is_harmless_to_spreadsheets_and_has_lists_as_json(tmp_path):
    data = gzip.decompress(written(tmp_path / "out.csv.gz").read_bytes())
    assert data == written(tmp_path / "out.CSV").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfid,note,n,share,ids,urls\r\n")
    rows = list(csv.reader(data.decode("utf-8-sig").splitlines(keepends=True)))
    assert rows[1:] == [
        [str(2**70), "", "", "", "[]", "[]"],
        ["'=1+1", '茶, "\n', "3", "0.5", '[1, "a"]', '["u", "v"]'],
        ["\ufffd", "''-x", "0", "1.0", '["\ufffd"]', '["é"]'],
    ]
    for text in ("=1", "'-x", "''\t", "'a", "a", "", "'"):
        assert original_cell(harmless_cell(text)) == text


@pytest.mark.parametrize("batch", [1, row_output._BATCH])
def test_parquet_has_the_types_of_the_columns(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(row_output, "_BATCH", batch)
    table = parquet.read_table(written(tmp_path / "out.parquet"))
    assert [str(kind) for kind in table.schema.types[:4]] == ["string", "string", "int64", "double"]
    assert table.to_pylist() == [
        {**ROWS[0], "id": str(2**70)},
        {**ROWS[1], "ids": ["1", "a"]},
        {**ROWS[2], "id": "\ufffd", "ids": ["\ufffd"]},
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "out.parquet"]
    with open_rows(str(tmp_path / "none.parquet"), [], COLUMNS):
        pass
    assert parquet.read_schema(tmp_path / "none.parquet") == table.schema


@pytest.mark.parametrize("name", ["pages.csv", "pages.parquet"])
def test_an_input_is_not_overwritten_nor_a_table_left_that_is_not_whole(tmp_path, name):
    target = tmp_path / name
    with pytest.raises(ZeroDivisionError), open_rows(str(target), [], COLUMNS):
        _ = 1 / 0
    assert not target.exists()
    target.write_bytes(b"precious")
    with (
        pytest.raises(InputError, match="would be overwritten"),
        open_rows(str(target), [str(target)], COLUMNS),
    ):
        pass
    assert target.read_bytes() == b"precious"


def test_the_missing_package_is_named(tmp_path):
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from scrapy_neardup.commands.support.row_output import open_rows\n"
        f"with open_rows({str(tmp_path / 'out.parquet')!r}, [], {{}}): pass\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)  # noqa: PLW1510
    assert 'Parquet files need a package: pip install "scrapy-neardup[parquet]"' in done.stderr


@pytest.mark.slow
def test_a_news_library_in_and_tables_out(tmp_path):
    library = tmp_path / "news.tsv"
    rows = [("n1", "Ferry", FERRY), ("n2", "Museum", MUSEUM), ("n3", "Ferry", FERRY)]
    library.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    columns = ["--columns", "id,title,text", "--workers", "1"]
    scan = ["-m", "scrapy", "neardup", "scan", library, *columns, "-o"]
    assert warm.run([*scan, tmp_path / "verdicts.csv"]).returncode == 0
    with (tmp_path / "verdicts.csv").open(encoding="utf-8-sig", newline="") as file:
        found = [(row["id"], row["duplicate_of_id"]) for row in csv.DictReader(file)]
    assert found == [("n1", ""), ("n2", ""), ("n3", "n1")]
    pairs = ["-m", "scrapy", "neardup", "pairs", library, *columns]
    outputs = ["-o", tmp_path / "pairs.parquet", "--clusters", tmp_path / "clusters.parquet"]
    assert warm.run([*pairs, *outputs]).returncode == 0
    [pair] = parquet.read_table(tmp_path / "pairs.parquet").to_pylist()
    assert (pair["id_a"], pair["id_b"], pair["distance"]) == ("n1", "n3", 0)
    [cluster] = parquet.read_table(tmp_path / "clusters.parquet").to_pylist()
    assert cluster == {"pages": 2, "ids": ["n1", "n3"], "urls": ["id:n1", "id:n3"]}


def test_parquet_in_gives_what_json_lines_give(tmp_path):
    texts = [("n1", FERRY), ("n2", MUSEUM), ("n3", FERRY), ("n4", f"{MUSEUM} Book now.")]
    lines, table = tmp_path / "news.jsonl", tmp_path / "news.parquet"
    pages = [{"id": name, "title": "News", "text": text} for name, text in texts]
    lines.write_text("".join(json.dumps(page) + "\n" for page in pages), "utf-8")
    columns = {"key": [name for name, _ in texts], "title": ["News"] * 4}
    rows = {**columns, "page": [{"body": text} for _, text in texts]}
    parquet.write_table(pa.table(rows), table, row_group_size=3)
    for command in ("scan", "pairs"):
        outputs = []
        for source, named in ((lines, []), (table, ["--columns", "id=key,text=page.body"])):
            target = tmp_path / f"{source.name}.{command}"
            neardup = ["-m", "scrapy", "neardup", command, source, *named, "--workers", "0"]
            assert warm.run([*neardup, "-o", target]).returncode == 0
            outputs.append(target.read_text("utf-8"))
        assert outputs[0] == outputs[1]
        assert outputs[0].count("n3") >= 1
    wrong = warm.run(["-m", "scrapy", "neardup", "scan", table, "-o", "-", "--columns", "id=keys"])
    assert wrong.returncode == 1
    assert b"no column 'keys' for id (did you mean 'key'?)" in wrong.stderr
    assert wrong.stderr.count(b"\n") == 1
