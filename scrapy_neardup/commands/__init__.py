"""The sub-commands of ``scrapy neardup``.

Scrapy imports this module at the start of every command, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

#: Exit codes of a program that a signal ended: 128 plus the signal's number.
_INTERRUPTED = 128 + 2
_BROKEN_PIPE = 128 + 13

_NAMES = ("scan", "pairs", "compare", "evaluate", "report", "idf", "store", "rules", "changes")


class Command(ScrapyCommand):
    """The command ``scrapy neardup``, which runs its sub-commands."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 (declared as a ClassVar by the base)

    def syntax(self) -> str:
        return f"{'|'.join(_NAMES)} [options] ..."

    def short_desc(self) -> str:
        return "Find near-duplicates among stored pages, and manage stores"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the sub-commands; Scrapy's global options are only accepted after their names."""
        from .support.options import Commands

        choices = parser.add_subparsers(
            metavar="COMMAND", dest="command", parser_class=_Parser, prog="scrapy neardup"
        )
        commands = Commands(choices, super().add_options)
        for name in _NAMES:
            import_module(f".{name}", __name__).add_command(commands)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"unknown option {args[0]}; options follow the sub-command")
        if opts.command is None:
            raise UsageError(f"a sub-command is required: {', '.join(_NAMES)}")
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..exceptions import InvalidOption, NearDupError
        from .support.output import print_message

        try:
            opts.run(opts, self.settings)
            sys.stdout.flush()
        except NearDupError as error:
            print_message(f"{opts.prog}: {error}")
            self.exitcode = 2 if isinstance(error, InvalidOption) else 1
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
        for word in unknown:
            if word.startswith("-") and word != "-":
                name = word.partition("=")[0]
                near = get_close_matches(name, self._option_string_actions, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self.error(f"there is no option {name}{hint}")
        if unknown:
            # argparse ends a list of arguments at an option; those that follow belong to it, too.
            lists = [a.dest for a in self._get_positional_actions() if a.nargs in ("*", "+")]
            if not lists:
                self.error(f"{unknown[0]!r} is one argument too many")
            setattr(options, lists[-1], [*getattr(options, lists[-1]), *unknown])
        return options, []

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")
