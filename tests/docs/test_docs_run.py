"""Runs the code blocks of the documentation page by page: settings, modules, scripts, commands.

The blocks of a page are run in their order in one folder. A comment above a block, which readers
do not see, says what else it needs; what is not run at all is counted here.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import indent
from urllib.request import urlopen

import pytest
from scrapy.settings import Settings

from scrapy_neardup.crawl.settings import SETTINGS, Config
from tests.support import warm
from tests.support.documents import BASE_SETTINGS, DOCUMENTS, ROOT, Block, blocks, prepare
from tests.support.processes import wait_for
from tests.support.redis_servers import free_port
from tests.support.server import serving
from tests.support.texts import article, page

ENGLISH, CHINESE = ROOT / "docs" / "quickstart.md", ROOT / "docs" / "zh" / "quickstart.md"

_BLOCKS = re.compile(r"^```.*?^```$", re.M | re.S)

#: What no test runs, by document and reason. Commands of which only one is not run name it.
NOT_RUN = {
    ("README.md", "not run: needs a package index"): 1,
    ("CONTRIBUTING.md", "not run: is what CI does"): 1,
    ("SECURITY.md", "not run: needs a release"): 1,
    ("example_project/README.md", "not run: tests/docs/test_example.py crawls this site"): 2,
    ("docs/quickstart.md", "not run: needs a package index"): 1,
    ("docs/zh/quickstart.md", "not run: needs a package index"): 1,
    ("docs/commands.md", "not run, compare: needs a network"): 1,
    ("docs/commands.md", "not run: needs a cluster and a bucket"): 1,
}
IN_THE_BACKGROUND = "in the background"
IN_A_CALLBACK = "in a callback"
READ_ONLY = "read, not crawled"
SAID = "said by the command before"
NEEDS_REDIS = "needs a Redis"
NOTES = (
    IN_THE_BACKGROUND,
    IN_A_CALLBACK,
    READ_ONLY,
    SAID,
    NEEDS_REDIS,
    "not run",
    "needs the site",
)
#: The port of the site that documents speak of; the one that it has here is put in its place.
PORT = "8000"
REDIS = "redis://localhost:6379/0"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code_of(path: Path) -> list[Block]:
    return [block for block in blocks(path) if block.is_code]


RUN = [path for path in DOCUMENTS if code_of(path) and path != CHINESE]


def test_blocks_that_are_not_run_are_counted():
    found = Counter(
        (name_of(path), block.note)
        for path in DOCUMENTS
        for block in blocks(path)
        if block.note.startswith("not run")
    )
    assert found == NOT_RUN


def test_every_comment_above_a_block_is_understood():
    for path in DOCUMENTS:
        for block in blocks(path):
            assert not block.note or block.note.startswith(NOTES), (name_of(path), block.note)


def test_code_is_told_from_what_it_prints():
    for path in DOCUMENTS:
        indented = re.search(r"\n\n(    .+)", _BLOCKS.sub("", path.read_text("utf-8")))
        assert not indented, f"{name_of(path)} has code without a fence: {indented[1]}"
    # A block in another language, or of commands and something else, would be passed over.
    for path in DOCUMENTS:
        for block in blocks(path):
            assert block.language in ("", "python", "sh"), (name_of(path), block.language)
            looks = re.search(r"^(scrapy|pip) ", block.text, re.M)
            assert block.is_commands or not looks or block.language == "python", block.text


def test_the_chinese_quickstart_has_the_same_blocks():
    assert list(blocks(CHINESE)) == list(blocks(ENGLISH))


@pytest.mark.slow
@pytest.mark.parametrize("path", RUN, ids=name_of)
def test_code_blocks_of_a_document_run(path, tmp_path, request, afterwards):
    shown = list(blocks(path))
    if any(block.note == IN_THE_BACKGROUND for block in shown):
        port = free_port()
    else:
        other = page(" ".join(article(200)))
        port = afterwards.enter_context(serving({"/": other, "/2": other})).server_port
        prepare(tmp_path, f"http://127.0.0.1:{port}/")
    redis = ""
    if any(block.note == NEEDS_REDIS for block in shown):
        redis = request.getfixturevalue("redis_server").address
    runner = Runner(tmp_path, port, redis, afterwards)
    for block in shown:
        runner.run(block)
    assert runner.count == sum(block.is_code for block in shown)


class Runner:
    """Runs the blocks of one document.

    :param folder: in which they are run.
    :param port: of the site that they speak of.
    :param redis: address of the Redis that they speak of.
    :param afterwards: ends what was started.
    """

    def __init__(self, folder: Path, port: int, redis: str, afterwards: ExitStack) -> None:
        self._folder = folder
        self._port = port
        self._redis = redis
        self._afterwards = afterwards
        self._output: list[str] = []
        #: How many blocks were run, or counted among those that are not.
        self.count = 0

    def run(self, block: Block) -> None:
        """Run a block, or look for what it says in what was said before."""
        if block.note.startswith(SAID):
            self._compare(block)
        if not block.is_code:
            return
        self.count += 1
        text = block.text.replace(PORT, str(self._port))
        if block.note == NEEDS_REDIS:
            text = text.replace(REDIS, self._redis)
        if block.is_commands:
            self._run_commands(block.note, text)
        elif block.file == "settings.py":
            self._run_settings(block.note, text)
        elif block.note == IN_A_CALLBACK:
            self._crawl_with_callback(text)
        elif block.file:
            (self._folder / block.file).write_text(text, "utf-8")
        else:
            self._run_script(text)

    def _run_commands(self, note: str, text: str) -> None:
        for words in filter(None, (shlex.split(line, comments=True) for line in text.splitlines())):
            if note == IN_THE_BACKGROUND:
                self._start(words)
            elif not _is_left_out(words, note):
                self._command(words)

    def _run_settings(self, note: str, text: str) -> None:
        """Settings are read without complaint, and a crawl begins and ends with them."""
        (self._folder / "settings.py").write_text(BASE_SETTINGS + text, "utf-8")
        if note.startswith(READ_ONLY):
            for settings in _settings_of(text):
                Config.from_settings(settings)
            return
        log = self._command(["scrapy", "crawl", "news"])
        assert re.search(r"\[scrapy_neardup\] INFO: (Dropp|Report|Tagg)ing near-duplicate", log), (
            log
        )
        assert "'finish_reason': 'finished'" in log
        assert "'item_scraped_count': 1" in log
        assert not re.search(r"\[scrapy_neardup\S*\] (WARNING|ERROR)", log), log

    def _crawl_with_callback(self, text: str) -> None:
        spider = (
            "import scrapy\n\n"
            "class CallbackSpider(scrapy.Spider):\n"
            f"    name = 'callback'\n    start_urls = ['http://127.0.0.1:{self._port}/']\n\n"
            "    def parse(self, response):\n        url = '/2'\n"
            f"{indent(text, ' ' * 8)}        yield {{'url': response.url}}\n"
        )
        (self._folder / "callback.py").write_text(spider, "utf-8")
        log = self._command(["scrapy", "runspider", "callback.py"])
        assert "'item_scraped_count':" in log
        assert "spider_exceptions" not in log

    def _run_script(self, text: str) -> None:
        """Run a script and compare its output with the comments at its end."""
        script = self._folder / "script.py"
        earlier = script.read_text("utf-8") if script.exists() else ""
        # A later block of a page goes on where an earlier one ended.
        goes_on = "import" not in text
        script.write_text(earlier + text if goes_on else text, "utf-8")
        printed = self._command(["python", "script.py"])
        told = re.findall(r"^# (.*)$", text, re.M)
        assert told, "a script says what it prints"
        assert printed.splitlines()[-len(told) :] == told

    def _start(self, words: list[str]) -> None:
        process = subprocess.Popen(
            _ours(words), cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._afterwards.callback(process.wait)
        self._afterwards.callback(process.kill)
        wait_for(lambda: _answers(f"http://127.0.0.1:{self._port}/"))

    def _command(self, words: list[str]) -> str:
        done = warm.run_text(
            _ours(words)[1:],
            folder=self._folder,
            environment={"PYTHONPATH": str(self._folder), "PYTHONUTF8": "1"},
            stderr=subprocess.STDOUT,
        )
        assert done.returncode == 0, done.stdout
        self._output.append(done.stdout)
        return done.stdout

    def _compare(self, block: Block) -> None:
        output = self._output[-2 if block.note.endswith("but one") else -1]
        for line in block.text.splitlines():
            assert line in output.splitlines(), output


def _is_left_out(words: list[str], note: str) -> bool:
    """Return whether a note says that this command is not run."""
    match = re.match(r"not run(?:, (\w+))?:", note)
    return match is not None and (match[1] is None or match[1] in words)


def _ours(words: list[str]) -> list[str]:
    """The command, by this environment's Python."""
    programs = {"python": [sys.executable], "scrapy": [sys.executable, "-m", "scrapy"]}
    assert words[0] in programs, f"nobody knows how to run {words[0]}"
    return [*programs[words[0]], *words[1:]]


def _settings_of(text: str) -> Iterator[Settings]:
    """The settings, and again with each other address that they show."""
    names: dict[str, object] = {}
    exec(compile(text, "settings.py", "exec"), names)
    shown = {name: value for name, value in names.items() if name.isupper()}
    assert {name for name in shown if name.startswith("NEARDUP_")} <= set(SETTINGS)
    yield Settings(shown)
    for value in shown.values():
        if isinstance(value, str) and "://" in value:
            yield Settings({**shown, "NEARDUP_STORE": value})


def _answers(url: str) -> bool:
    try:
        with urlopen(url) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
