"""Command-line options and progress messages of the benchmarks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable


def command_parser(name: str, documentation: str | None) -> argparse.ArgumentParser:
    """Return a parser for ``python -m NAME``, described by the first line of a docstring."""
    about = (documentation or "").partition("\n")[0]
    return argparse.ArgumentParser(prog=f"python -m {name}", description=about, allow_abbrev=False)


def at_least(bound: int) -> Callable[[str], int]:
    """Return the type of an option: a whole number from ``bound`` on."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < bound:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {bound} or more")
        return int(text)

    return number


def add_settings(parser: argparse.ArgumentParser, about: str) -> None:
    """Add ``--set NAME=VALUE``; the pairs are in ``settings``."""
    parser.add_argument(
        "--set",
        dest="settings",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{about} (repeatable)",
    )


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def say(text: str) -> None:
    """Print a line to the standard error."""
    print(text, file=sys.stderr, flush=True)
