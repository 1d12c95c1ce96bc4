"""Follow docs/quickstart.md with a wheel in an empty environment, and run the example's demo.

Every block of the quickstart is run as it stands, by one shell in an empty folder, and what it
prints and writes is compared with what the page says. ``pip install scrapy-neardup`` installs the
given wheel. Of this repository, only the page and ``example_project/`` are used, from copies.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "quickstart.md"
#: The port that the page speaks of; a free one is put in its place.
_PORT = "8000"
#: Seconds; the installation downloads some 60 MB.
_TIMEOUT = 900

#: A fence, with the comment above it; tests/docs/ explains the comments.
_BLOCK = re.compile(r"(?:^<!-- (.*?) -->\n+)?^```(\S*)\n(.*?)^```$", re.M | re.S)
_FILE = re.compile(r"# (\w+\.py)\n")
_STORED = re.compile(r"Of (\d+) pages, (\d+) are stored in `pages\.jsonl`")
_WAIT = """\
for _ in $(seq 300); do
    if (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; then break; fi
    sleep 0.1
done"""


class ReleaseError(Exception):
    """Says in one line what a distribution lacks, or does otherwise than promised."""


@dataclass(frozen=True)
class Step:
    """A block of the page.

    :ivar note: the comment above it.
    :ivar language: as the fence names it; empty for output.
    :ivar text: its lines.
    """

    note: str
    language: str
    text: str


def main() -> None:
    """Try the wheel that is named, and exit with status 1 if it does not do what the page says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wheel", type=Path, help="the file to install")
    wheel = parser.parse_args().wheel.resolve()
    try:
        if not wheel.is_file():
            raise ReleaseError(f"no such wheel: {wheel}")
        try_wheel(wheel)
    except ReleaseError as error:
        sys.exit(str(error))


def try_wheel(wheel: Path) -> None:
    """Follow the quickstart with a wheel and run the demo.

    :raises ReleaseError: when something differs from what is promised.
    """
    with TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        follow_quickstart(wheel, place)
        run_demo(place)
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"Followed the quickstart and ran the demo with {wheel.name}, Python {python}")


def follow_quickstart(wheel: Path, place: Path) -> None:
    """Run the blocks of the page in the new folder ``quickstart``, and look at what they leave."""
    folder = place / "quickstart"
    folder.mkdir()
    steps = [Step(*found) for found in _BLOCK.findall(PAGE.read_text("utf-8"))]
    script = place / "quickstart.sh"
    script.write_text(_script(steps, place, free_port()), "utf-8")
    done = subprocess.run(
        ["bash", str(script)],
        cwd=folder,
        env=_environment(wheel, place),
        stdin=subprocess.DEVNULL,
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode:
        said = "".join(path.read_text("utf-8") for path in sorted(place.glob("*.log"))[-1:])
        raise ReleaseError(f"{said}\nA command of docs/quickstart.md failed, see above")
    _check_import(folder)
    _check_output(steps, place)
    _check_files(folder, _output(place, _number_of(steps, "pages.jsonl")))


def run_demo(place: Path) -> None:
    """Crawl the example site with the quickstart's environment; the demo checks its own result."""
    project = place / "example_project"
    shutil.copytree(
        ROOT / "example_project", project, ignore=shutil.ignore_patterns("__pycache__", ".scrapy")
    )
    done = subprocess.run(
        [_python_of(place / "quickstart"), str(project / "demo.py")],
        cwd=place,
        env=_clean_environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode or done.stdout.count("match website/expected.json") != 2:
        raise ReleaseError(f"{done.stdout}{done.stderr}\nexample_project/demo.py failed, see above")


def free_port() -> int:
    """Return a TCP port of the loopback interface that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _script(steps: list[Step], place: Path, port: int) -> str:
    """Return all blocks as one script, so that ``activate`` holds for those that follow."""
    lines = ["set -eo pipefail", "trap 'kill $(jobs -p) 2>/dev/null' EXIT"]
    for number, step in enumerate(steps):
        lines.extend(_lines(step, _log(place, number)))
    return "\n".join([*lines, ""]).replace(_PORT, str(port))


def _lines(step: Step, log: Path) -> Iterator[str]:
    if step.language == "python":
        file = _FILE.match(step.text)
        if file is None:
            raise ReleaseError(f"docs/quickstart.md names no file for: {step.text[:60]!r}")
        yield f"cat >{file[1]} <<'END_OF_BLOCK'\n{step.text}END_OF_BLOCK"
    elif step.language == "sh":
        yield f"{{\n{step.text}}} >'{log}' 2>&1" + (" &" if "background" in step.note else "")
        if "background" in step.note:
            yield _WAIT


def _log(place: Path, number: int) -> Path:
    return place / f"block-{number:02}.log"


def _output(place: Path, number: int) -> str:
    return _log(place, number).read_text("utf-8")


def _environment(wheel: Path, place: Path) -> dict[str, str]:
    """An environment in which ``python`` is this one and pip takes the wheel for the package."""
    programs = place / "bin"
    programs.mkdir()
    python = programs / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n", "utf-8")
    python.chmod(0o755)
    constraints = place / "constraints.txt"
    constraints.write_text(f"scrapy-neardup @ {wheel.as_uri()}\n", "utf-8")
    environment = _clean_environment()
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    environment["PIP_CONSTRAINT"] = str(constraints)
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return environment


def _clean_environment() -> dict[str, str]:
    """This process's environment without what would let other packages be imported."""
    dropped = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SCRAPY_SETTINGS_MODULE"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}


def _python_of(folder: Path) -> str:
    return str(folder / "venv" / "bin" / "python")


def _check_import(folder: Path) -> None:
    """The package is the installed one."""
    done = subprocess.run(
        [_python_of(folder), "-c", "import scrapy_neardup; print(scrapy_neardup.__file__)"],
        cwd=folder,
        env=_clean_environment(),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    if not Path(done.stdout.strip()).is_relative_to(folder / "venv"):
        raise ReleaseError(f"the package was imported from {done.stdout.strip()}, not from venv")


def _check_output(steps: list[Step], place: Path) -> None:
    """Every block of output has been said by the commands above it."""
    said, n_compared = "", 0
    for number, step in enumerate(steps):
        if step.language == "sh" and "background" not in step.note:
            said = _output(place, number)
        elif step.note.startswith("said by the command before"):
            n_compared += 1
            for line in step.text.splitlines():
                if line not in said.splitlines():
                    raise ReleaseError(f"{said}\ndocs/quickstart.md promises: {line.strip()}")
    if not n_compared:
        raise ReleaseError("docs/quickstart.md shows no output that could be compared")


def _number_of(steps: list[Step], text: str) -> int:
    return next(n for n, step in enumerate(steps) if step.language == "sh" and text in step.text)


def _check_files(folder: Path, log: str) -> None:
    """The feeds hold as many items as the page says, and there is a report."""
    promised = _STORED.search(PAGE.read_text("utf-8"))
    if promised is None:
        raise ReleaseError(f"docs/quickstart.md does not say {_STORED.pattern!r} any more")
    fetched = f"'response_received_count': {promised[1]},"
    if fetched not in log:
        raise ReleaseError(f"{log}\nthe first crawl's stats do not have {fetched}")
    for name, wanted in {"pages.jsonl": int(promised[2]), "2.jsonl": 0}.items():
        found = len((folder / name).read_text("utf-8").splitlines())
        if found != wanted:
            raise ReleaseError(f"{name} has {found} items; docs/quickstart.md promises {wanted}")
    if "Content-Security-Policy" not in (folder / "report.html").read_text("utf-8"):
        raise ReleaseError("report.html is not the report")


if __name__ == "__main__":
    main()
