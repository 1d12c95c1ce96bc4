"""The sub-commands of ``scrapy neardup``.

Scrapy imports this module at the start of every command, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import os
import sys
from difflib import get_close_matches
from typing import Any, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

#: Exit codes of a program that a signal ended: 128 plus the signal's number.
_INTERRUPTED = 128 + 2
_BROKEN_PIPE = 128 + 13


class Command(ScrapyCommand):
    """The command ``scrapy neardup``, which runs its sub-commands."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 (declared as a ClassVar by the base)

    def syntax(self) -> str:
        return "scan|pairs|compare|evaluate|report|idf|store|rules [options] ..."

    def short_desc(self) -> str:
        return "Find near-duplicates among stored pages, and manage stores"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the sub-commands; Scrapy's global options are only accepted after their names."""
        from . import compare, evaluate, idf, pairs, report, rules, scan, store

        commands = parser.add_subparsers(
            metavar="COMMAND", dest="command", parser_class=_Parser, prog="scrapy neardup"
        )
        for module in (scan, pairs, compare, evaluate, report, idf, store, rules):
            module.add_command(commands, super().add_options)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"unknown option {args[0]}; options follow the sub-command")
        if opts.command is None:
            raise UsageError(
                "a sub-command is required: scan, pairs, compare, evaluate, report, idf, store or "
                "rules"
            )
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..exceptions import InvalidOption, NearDupError

        try:
            opts.run(opts, self.settings)
            sys.stdout.flush()
        except InvalidOption as error:
            self.exitcode = _report_error(opts, error, 2)
        except NearDupError as error:
            self.exitcode = _report_error(opts, error, 1)
        except KeyboardInterrupt:
            self.exitcode = _INTERRUPTED
        except BrokenPipeError:
            # Discard buffered output, or Python would report the broken pipe at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = _BROKEN_PIPE


class _Parser(argparse.ArgumentParser):
    """Refuses unknown arguments, which Scrapy would ignore, with an error of one line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        options, unknown = super().parse_known_args(args, namespace)
        if named := [word for word in unknown if word.startswith("-") and word != "-"]:
            self.error(self._not_known(named[0]))
        if unknown:
            self._append(unknown, options)
        return options, []

    def _append(self, words: list[str], options: argparse.Namespace) -> None:
        """Append arguments after an option to the list before it, which argparse ends there."""
        lists = [
            action.dest
            for action in self._actions
            if not action.option_strings and action.nargs in ("*", "+")
        ]
        if not lists:
            self.error(self._not_known(words[0]))
        setattr(options, lists[-1], [*getattr(options, lists[-1]), *words])

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")

    def _not_known(self, word: str) -> str:
        name = word.partition("=")[0]
        if not name.startswith("-"):
            return f"{word!r} is one argument too many"
        near = get_close_matches(name, self._option_string_actions, n=1)
        return f"there is no option {name}" + (f"; did you mean {near[0]}?" if near else "")


def _report_error(opts: argparse.Namespace, error: Exception, exitcode: int) -> int:
    from .support.terminal import say

    say(f"{opts.prog}: {error}")
    return exitcode
