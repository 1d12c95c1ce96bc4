"""Measures the time, the memory and the drops of the add-on in crawls of stored pages.

Prints the costs of the add-on, the dropped pages by kind, how long it blocked the reactor, and
whether every page is accounted for.

Exit status: 0 if every page is accounted for, 1 if not or if a crawl failed, 2 if the input or the
options cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import scrapy

from ..common.options import add_settings, at_least, command_parser
from ..common.programs import environment, module_command
from .accounts import Crawl, Run, read_catalogue
from .report import print_report, write_csv, write_json
from .single_crawl import Job

#: What --set may not change, and why.
OWN_SETTINGS = {
    "ADDONS": "it is what the two crawls differ by",
    "TWISTED_REACTOR_ENABLED": "use --no-reactor",
}


class Failed(Exception):
    """The run cannot go on; the reason has been printed where it was found."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class PageServer:
    """The page server's process, asked over its standard input and output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.ready = self._receive()

    def answered(self) -> int:
        """Return how many pages were answered since the last call."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._receive()["answered"])

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Failed(self._process.wait() or 1)
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def page_server(options: argparse.Namespace, catalogue: Path) -> Iterator[PageServer]:
    command = module_command("benchmarks.crawl.page_server", "--catalogue", catalogue)
    if options.limit is not None:
        command += ["--limit", str(options.limit)]
    if options.ports:
        command.append("--ports")
    # Leaving the block closes its standard input, which ends it, and waits for the end.
    with subprocess.Popen(
        [*command, "--", *options.pages],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield PageServer(process)


def crawl_once(job: Job, folder: Path) -> Crawl:
    """Run one crawl in a process of its own."""
    job_file = folder / "job.json"
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    done = subprocess.run(
        module_command("benchmarks.crawl.single_crawl", job_file),
        env=environment(),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise Failed(done.returncode if done.returncode == 2 else 1)
    return Crawl.load(Path(job.result))


def run(options: argparse.Namespace, folder: Path) -> Run:
    """Serve the pages and crawl them, the two kinds of crawl in turn."""
    catalogue = folder / "catalogue.jsonl"
    settings = dict(options.settings)
    if options.no_reactor:
        settings["TWISTED_REACTOR_ENABLED"] = "False"
    with page_server(options, catalogue) as server:
        result = Run(server.ready, read_catalogue(catalogue))
        proxy = None if options.ports else f"http://127.0.0.1:{server.ready['port']}"
        for addon in [False, True] * options.repeat:
            job = Job(str(catalogue), proxy, addon, settings, str(folder / "result.json"))
            crawl = crawl_once(job, folder)
            crawl.answered = server.answered()
            result.add(crawl)
    return result


def _writable(text: str) -> Path:
    """Refuse now what could not be written when all is done."""
    try:
        with Path(text).open("a", encoding="utf-8"):
            return Path(text)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.strerror}") from None


def parse_arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.crawl.overhead", __doc__)
    add = parser.add_argument
    add("pages", nargs="+", metavar="PAGES.jsonl.gz", help="stored pages, JSON lines, gzip or not")
    add("--limit", type=at_least(1), metavar="N", help="only the first N pages")
    add("--repeat", type=at_least(1), default=1, metavar="N", help="crawl N times, show medians")
    add("--ports", action="store_true", help="a port for each host instead of a proxy")
    add("--no-reactor", action="store_true", help="crawl without a Twisted reactor")
    add("--show", type=at_least(0), default=20, metavar="N", help="duplicates to show (default 20)")
    add("--json", type=_writable, metavar="FILE", help="write all figures and all pages")
    add("--dropped", type=_writable, metavar="FILE", help="write all duplicates as CSV")
    add_settings(parser, "a Scrapy setting for both crawls")
    options = parser.parse_args()
    for name, _ in options.settings:
        if name in OWN_SETTINGS:
            parser.error(f"{name} cannot be set here: {OWN_SETTINGS[name]}")
    if options.no_reactor and scrapy.version_info < (2, 15):
        parser.error(f"--no-reactor needs Scrapy 2.15 or later, this is {scrapy.__version__}")
    return options


def _allow_open_files() -> None:
    """Raise the limit of open files for what is started from here: --ports takes many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main() -> int:
    options = parse_arguments()
    _allow_open_files()
    try:
        with tempfile.TemporaryDirectory(prefix="crawl_pages-") as folder:
            result = run(options, Path(folder))
    except Failed as error:
        return error.status
    except KeyboardInterrupt:
        return 130
    if options.json:
        write_json(result, options.json)
    if options.dropped:
        write_csv(result, options.dropped)
    print_report(result, options.show)
    for problem in result.problems():
        print(f"error: {problem}", file=sys.stderr)
    return 1 if result.problems() else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        # The reader of the report has seen enough; nothing is left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
