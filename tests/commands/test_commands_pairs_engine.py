"""``scrapy neardup pairs --engine dask`` as a program, with real clusters."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.processes import linux, nobody_outlives, send_signal, shown_on_terminal, wait_for
from tests.support.redis_servers import free_port
from tests.support.texts import FERRY

ROOT = Path(__file__).parents[2]
PAIRS = [sys.executable, "-m", "scrapy", "neardup", "pairs"]
TOUCHY = ["-s", "NEARDUP_TOKENIZER=tests.support.parts.touchy"]
ENGINE = ["--engine", "dask"]
OUTPUTS = ("pairs", "clusters", "kept")
AGAIN = "the same command goes on from where it was"

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts and copies of them on some sites, with undecided and unusable records between them."""
    chance = random.Random(3)
    words = [f"{one}{other}" for one in ("ka", "lo", "mi", "ne", "ru") for other in range(300)]
    texts = [chance.choices(words, k=chance.randint(25, 120)) for _ in range(8)]
    path = tmp_path_factory.mktemp("stored") / "pages.jsonl"
    with path.open("w") as file:
        for number in range(120):
            text = list(chance.choice(texts))
            if number % 2:
                text[chance.randrange(len(text))] = chance.choice(words)
            site = chance.randrange(3)
            address = number if number % 12 else 12 * (number // 36)
            record = {"url": f"https://site{site}.example/{address}", "text": " ".join(text)}
            if number % 3:
                record["id"] = f"page {number}"
            if number % 40 == 7:
                record["text"] = ("", "raise an error", "kill me")[number // 40]
            file.write(json.dumps(record) + "\n")
            if number == 50:
                file.write('{"title": "neither url nor id"}\n')
    return path


def outputs_in(folder: Path | str) -> list[object]:
    """The options for all outputs."""
    named = zip(("-o", "--clusters", "--keep"), OUTPUTS, strict=True)
    return [each for flag, name in named for each in (flag, f"{folder}/{name}")]


def written(folder: Path) -> list[list[str]]:
    """The lines of all outputs; the pairs sorted, for one process writes them as it finds them."""
    lines = [Path(folder, name).read_text().splitlines() for name in OUTPUTS]
    return [sorted(lines[0]), *lines[1:]]


@pytest.fixture(scope="module")
def expected(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The outputs that one process writes."""
    folder = tmp_path_factory.mktemp("expected")
    done = warm.run([*PAIRS[1:], pages, *outputs_in(folder), *TOUCHY], folder=ROOT)
    assert done.returncode == 0
    found = written(folder)
    assert len(found[0]) > 20
    return found


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["IN", "-o", "O", *ENGINE], "--work is missing: it must be a folder that all"),
        (["IN", "-o", "O", "--work", "w"], "--work is 'w', but it must be given with --engine"),
        (["IN", "-o", "O", "--scheduler", "f"], "--scheduler is 'f', but it must be given with"),
        (["IN", "-o", "O", "--partitions", "2"], "--partitions is 2, but it must be given with"),
        (["IN", "-o", "O", "--passes", "2"], "--passes is 2, but it must be given with --engine"),
        (["IN", "-o", "O", *ENGINE, "--work", ""], "--work is missing"),
        (["IN", "-o", "O", *ENGINE, "--work", __file__], f"--work is '{__file__}', but it must be"),
        (["IN", "-o", "O", *ENGINE, "--work", "w", "--scheduler", __file__], "--scheduler is '"),
        (["IN", "-o", "O", *ENGINE, "--work", "w", "--scheduler", "tcp://a:b"], "--scheduler is '"),
        (["IN", "-o", "O", "--crowded", "99"], "--crowded is 99, but it must be given with"),
        (["--store", "s", "-o", "O", *ENGINE], "--store is 's', but it must be left out with"),
        (["IN", "-o", "O", *ENGINE, "--namespace", "n"], "--namespace is 'n', but it must be left"),
        (["IN", "-o", "O", *ENGINE, "--cache", "c"], "--cache is 'c', but it must be left out"),
        (["-o", "O", *ENGINE, "--work", "w"], "PAGES is missing: it must be files or"),
        (["-", "-o", "O", *ENGINE, "--work", "w"], "PAGES is '-', but it must be files or folders"),
        (["IN", *ENGINE, "--work", "w"], "--output is missing: it must be a file or -"),
        (["IN", "-o", "O", "--keep", "./O"], "--keep is './O', but it must be another file than"),
        (["IN", "--clusters", "-", "--keep", "-"], "but it must be another file than --clusters"),
        (
            ["IN", "-o", "O", *ENGINE, "--work", "w", "--workers", "0"],
            "--workers is 0, but it must be 1 or more with --engine",
        ),
        (
            ["IN", "-o", "O", *ENGINE, "--work", "w", "--scheduler", "tcp://a:1", "--workers", "2"],
            "--workers is 2, but it must be left out with --scheduler",
        ),
        (
            ["IN", "-o", "O", *ENGINE, "--work", "w", "--crowded", "3"],
            "--crowded is 3, but it must be a whole number of 32 or",
        ),
        (
            ["IN", "-o", "O", *ENGINE, "--work", "w", "--scheduler", "nowhere"],
            "--scheduler is 'nowhere', but it must be an address such as tcp://",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "IN").write_text(json.dumps({"url": "https://a.example/", "text": FERRY}))
    done = warm.run([*PAIRS[1:], *arguments], folder=tmp_path)
    assert complaint in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert done.returncode == 2
    assert not (tmp_path / "O").exists()


def test_the_missing_package_is_named() -> None:
    program = (
        "import sys\n"
        "from importlib import util; real = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if 'distri' in name else real(name, *more)\n"
        f"sys.argv = ['scrapy', 'neardup', 'pairs', 'in', '-o', 'out', '--work', 'w', *{ENGINE}]\n"
        "from scrapy.cmdline import execute; execute()"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == (
        "scrapy neardup pairs: --engine dask needs distributed: "
        'pip install "scrapy-neardup[dask]"\n'
    )
    assert done.returncode == 1


@pytest.mark.slow
def test_pages_that_stay_are_in_the_order_of_the_input(
    pages: Path, expected: list[list[str]], tmp_path: Path
) -> None:
    records = [json.loads(line) for line in pages.read_text().splitlines()]
    urls = [record["url"] for record in records if "url" in record]
    last = {url: place for place, url in enumerate(urls)}
    kept = [json.loads(line) for line in expected[2]]
    places = [last[line["url"]] for line in kept]
    assert places == sorted(places)
    clusters = [json.loads(line) for line in expected[1]]
    dropped = set(urls) - {line["url"] for line in kept}
    assert dropped <= {url for line in clusters for url in line["urls"][1:]}
    assert any(line["id"] == "page 47" for line in kept), "undecided pages stay"
    done = warm.run([*PAIRS[1:], pages, "--keep", tmp_path / "kept.csv", *TOUCHY], folder=ROOT)
    assert f"; {len(kept)} kept; ".encode() in done.stderr
    assert len((tmp_path / "kept.csv").read_text().splitlines()) == len(kept) + 1


@pytest.mark.parametrize("given", ["pages.jsonl", "page*.jsonl", "file://{}/*.jsonl"])
@pytest.mark.parametrize("target", ["{}/pages.jsonl", "file://{}/pages.jsonl"])
def test_an_input_is_not_overwritten(tmp_path: Path, given: str, target: str) -> None:
    source = tmp_path / "pages.jsonl"
    source.write_text("precious")
    arguments = [given.format(tmp_path), "-o", target.format(tmp_path)]
    done = warm.run([*PAIRS[1:], *arguments, *ENGINE, "--work", "w"], folder=tmp_path)
    assert b"pages.jsonl: is an input, and would be overwritten" in done.stderr
    assert done.returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["pages.jsonl"]
    assert source.read_text() == "precious"


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--scope", "site"], ["--method", "minhash"]])
def test_a_cluster_on_this_machine_finds_what_one_process_does(
    pages: Path, tmp_path: Path, options: list[str]
) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    for folder, engine in ((alone, []), (shared, [*ENGINE, "--work", tmp_path / "w"])):
        folder.mkdir()
        command = [*PAIRS[1:], pages, *outputs_in(folder), *options, *TOUCHY, "--workers", 2]
        done = warm.run([*command, *engine], folder=ROOT)
        assert done.returncode == 0, done.stderr
    assert written(shared) == written(alone)
    assert len(written(shared)[0]) > (0 if "site" in options else 20)
    said = done.stderr.decode()
    assert said.startswith("dask: 2 workers")
    assert "core-seconds" in said
    assert " candidates, " in said
    assert "warning: <" in said, "the first page of a reason that cannot be read is named"
    assert "bad records skipped: 1 (no url or id 1); first " in said
    assert sorted(path.name for path in shared.iterdir()) == sorted(OUTPUTS)


@pytest.mark.slow
def test_bars_on_a_terminal_and_a_warning_of_crowded_keys(tmp_path: Path) -> None:
    source = tmp_path / "in"
    with source.open("w") as file:
        for number in range(60):
            url = f"https://{number}.example/"
            file.write(json.dumps({"url": url, "text": FERRY}) + "\n")
    options = [*ENGINE, "--work", tmp_path / "w", "--workers", 1, "--crowded", 40]
    shown = shown_on_terminal(*PAIRS, source, "-o", tmp_path / "out.parquet", *options)
    assert "━".encode() in shown
    assert b"of more than 40 pages each" in shown
    assert b"--crowded above 40" in shown
    assert (tmp_path / "out.parquet").exists()


@linux
@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on_and_leaves_nobody_behind(tmp_path: Path) -> None:
    marker, source, said = tmp_path / "hangs", tmp_path / "in", tmp_path / "stderr"
    source.write_text(json.dumps({"url": "https://a.example/", "text": f"hang {marker}"}))
    options = [*ENGINE, "--work", tmp_path / "w", "--workers", "1", "--timeout", "999", *TOUCHY]
    with said.open("w") as stderr:
        process = subprocess.Popen(
            [*PAIRS, *map(str, [source, "-o", tmp_path / "out", *options])],
            stderr=stderr, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
    wait_for(marker.exists)
    with nobody_outlives(process, least=3):
        send_signal(process, signal.SIGINT)
        assert process.wait(60) == 130
    assert said.read_text().splitlines()[1:] == [f"interrupted; {AGAIN}"]
    assert not (tmp_path / "out").exists()


@linux
@pytest.mark.slow
@pytest.mark.parametrize("stage", ["signed", "labels"])
def test_a_command_that_was_killed_goes_on(
    pages: Path, expected: list[list[str]], tmp_path: Path, stage: str
) -> None:
    work = tmp_path / "w"
    options = [*ENGINE, "--work", work, "--workers", "1", "--partitions", "2", *TOUCHY]
    command = [*PAIRS, pages, *outputs_in(tmp_path), *options]
    with subprocess.Popen(list(map(str, command)), cwd=ROOT, stderr=subprocess.PIPE) as process:
        wait_for(lambda: any(work.glob(f"*/{stage}/000000.json")))
        with nobody_outlives(process, least=3):
            process.kill()
            process.wait()
    assert not any(Path(tmp_path, name).exists() for name in OUTPUTS)
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*.json")}
    done = warm.run(command[1:], folder=ROOT)
    assert done.returncode == 0, done.stderr
    assert written(tmp_path) == expected
    # What was done was not done again.
    assert before == {path: path.stat().st_mtime_ns for path in before}


@contextmanager
def dask(folder: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A scheduler and its worker, as their programs; yields the scheduler and its file."""
    place, module = folder / "scheduler.json", "distributed.cli.dask_"
    place.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    port = ["--port", "0", "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    work = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]

    def start(what: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", module + what, "--scheduler-file", str(place), *options],
            stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip

    scheduler = start("scheduler", *port)
    try:
        wait_for(place.exists)
        worker = start("worker", *work)
        try:
            yield place, scheduler
        finally:
            worker.terminate()
            worker.wait()
    finally:
        scheduler.kill()
        scheduler.wait()


@pytest.mark.slow
def test_a_command_whose_scheduler_was_killed_goes_on_with_another(
    pages: Path, expected: list[list[str]], tmp_path: Path
) -> None:
    work = tmp_path / "w"
    command = [*PAIRS, pages, *outputs_in(tmp_path), *ENGINE, "--work", work, *TOUCHY]
    with dask(tmp_path) as (place, scheduler):
        once = [*map(str, command), "--partitions", "2", "--scheduler", str(place)]
        with subprocess.Popen(once, cwd=ROOT, stderr=subprocess.PIPE) as process:
            wait_for(lambda: any(work.glob("*/keys/000000.json")))
            scheduler.kill()
            _, said = process.communicate()
    lost = f"scrapy neardup pairs: the connection to the scheduler is lost; {AGAIN}"
    assert said.decode().splitlines()[1:] == [lost]
    assert process.returncode == 1
    assert not any(Path(tmp_path, name).exists() for name in OUTPUTS)
    with dask(tmp_path) as (place, _):
        address = json.loads(place.read_text())["address"]
        done = warm.run([*once[1:-1], address], folder=ROOT)
    assert done.returncode == 0, done.stderr
    assert written(tmp_path) == expected


@contextmanager
def s3(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A local server that s3:// leads to, here and in programs that are started."""
    port = free_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (folder / "s3.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(lambda: "Running on" in (folder / "s3.log").read_text())
        yield
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pages_work_folder_and_outputs_in_s3(
    pages: Path, expected: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3fs, _ = pytest.importorskip("s3fs"), pytest.importorskip("moto")
    with s3(tmp_path, monkeypatch):
        bucket = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
        bucket.mkdir("bucket")
        bucket.put(str(pages), "bucket/in/pages.jsonl")
        options = [*ENGINE, "--work", "s3://bucket/w", "--workers", "2", *TOUCHY]
        command = [*PAIRS[1:], "s3://bucket/in/*.jsonl", *options]
        done = warm.run([*command, *outputs_in("s3://bucket/out")], folder=ROOT)
        assert done.returncode == 0, done.stderr
        assert sorted(bucket.ls("bucket/out")) == sorted(f"bucket/out/{name}" for name in OUTPUTS)
        bucket.get([f"bucket/out/{name}" for name in OUTPUTS], str(tmp_path))
        assert written(tmp_path) == expected
        for target, complaint in (
            ("s3://bucket/in/pages.jsonl", "is an input, and would be overwritten"),
            ("s3://other/out", "cannot be written: "),
        ):
            refused = warm.run([*command, "-o", target], folder=ROOT)
            assert refused.stderr.count(b"\n") == 1
            assert f"{target}: {complaint}" in refused.stderr.decode()
            assert refused.returncode == 1
        other_rule = [*command, "--scope", "site", "-o", "s3://bucket/late/pairs"]
        assert b"belongs to another run" in warm.run(other_rule, folder=ROOT).stderr
        assert not bucket.exists("bucket/late")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-o", "{}/q", "--keep", "file://{}//q"], "must be another file than --output"),
        (["-o", "{}/q", "--clusters", "{}/l/q"], "must be another file than --output"),
        (["-o", "{}/w/run.json"], "must be outside of --work"),
        (["--keep", "file://{}/w/x/y"], "must be outside of --work"),
        (["-o", "file://{}/pages.jsonl"], "is an input, and would be overwritten"),
        (["-o", "{}/site/a.html"], "is an input, and would be overwritten"),
        (["-o", "{}/q", "--work", "memory://w"], "must be a folder that all workers can write"),
    ],
)
def test_outputs_that_would_destroy_something_are_refused(
    tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "real.jsonl").write_text('{"url": "https://a.example/", "text": "some words"}\n')
    (tmp_path / "pages.jsonl").symlink_to("real.jsonl")
    (tmp_path / "l").symlink_to(".")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.html").write_text("<p>text</p>")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    inputs = [tmp_path / "real.jsonl", tmp_path / "site"]
    given = [argument.format(tmp_path) for argument in arguments]
    done = warm.run([*PAIRS[1:], *inputs, *ENGINE, "--work", tmp_path / "w", *given], folder=ROOT)
    assert done.returncode in {1, 2}
    [line] = done.stderr.decode().splitlines()
    assert complaint in line
    assert {path: path.read_bytes() for path in before} == before
