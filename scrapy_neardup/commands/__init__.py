"""The sub-commands of ``scrapy neardup``.

Scrapy imports this module at the start of every command, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile
from threading import current_thread, main_thread
from typing import Any, NoReturn

import scrapy
from scrapy.commands import ScrapyCommand

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
        with _ending_silently():
            from .support.options import Commands

            _add_version(parser)
            self._own_options = list(parser._option_string_actions)
            choices = parser.add_subparsers(
                metavar="COMMAND",
                dest="command",
                action=_SubCommands,
                parser_class=_Parser,
                prog="scrapy neardup",
            )
            commands = Commands(choices, super().add_options)
            for name in _NAMES:
                import_module(f".{name}", __name__).add_command(commands)
            choices.choices = _AnyName(choices.choices)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            near = get_close_matches(args[0], self._own_options, n=1)
            hint = f"did you mean {near[0]}?" if near else "options follow the sub-command"
            _refuse(f"there is no option {args[0]}; {hint}")
        if opts.command is None:
            _refuse(f"a sub-command is required: {', '.join(_NAMES)}")
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..exceptions import InvalidOption, NearDupError
        from .support.output import print_message

        try:
            with _ending_by_signals():
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


def _add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--version", action=_PrintVersion, nargs=0, help="show the version and exit"
    )


class _PrintVersion(argparse.Action):
    """Prints the versions on one line, which argparse's own action would wrap."""

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
        # The package's names are those of all layers, so a layer does not import it by name.
        own = import_module(__name__.partition(".")[0]).__version__
        versions = f"Scrapy {scrapy.__version__}, Python {platform.python_version()}"
        sys.stdout.write(f"scrapy-neardup {own} ({versions})\n")
        parser.exit()


@contextmanager
def _ending_silently() -> Iterator[None]:
    """End the program at once by Ctrl-C, while all that it does is to import modules.

    A KeyboardInterrupt within an import would be shown as a traceback, or as another error.
    """
    before = signal.getsignal(signal.SIGINT)
    # It may be ignored, as in the background of a script.
    if current_thread() is not main_thread() or before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ending_by_signals() -> Iterator[None]:
    """Clean up after SIGTERM and SIGHUP before the program ends by them.

    A signal that is ignored, as SIGHUP by ``nohup``, stays so.
    """
    changed: list[int] = []
    received: list[int] = []

    def end(number: int, frame: object) -> NoReturn:
        received.append(number)
        sys.exit(128 + number)

    if current_thread() is main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, end)
                changed.append(number)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
        if received:
            # So that its parent sees what ended it.
            os.kill(os.getpid(), received[0])


def _refuse(problem: str) -> NoReturn:
    """End with one line on the command line, where Scrapy would print the usage before it."""
    sys.stderr.write(f"scrapy neardup: {problem}\n")
    sys.exit(2)


def _invalid_choice(what: str, given: object, choices: Iterable[object]) -> str:
    """Return the message for a word that is none of those to choose from."""
    names = list(map(str, choices))
    near = get_close_matches(str(given), names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"argument {what}: invalid choice: {given!r}{hint} (choose from {', '.join(names)})"


def _is_option(word: str) -> bool:
    """Return whether argparse takes a word for an option: neither for a number nor for a text."""
    return re.match(r"-(?![\d.]|$)", word) is not None and " " not in word.partition("=")[0]


class _AnyName(dict[str, Any]):
    """The parsers of sub-commands, which has all names, so that argparse refuses none itself."""

    def __contains__(self, name: object) -> bool:
        return True


class _SubCommands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """Refuses unknown sub-commands in one line, where Scrapy's parser would print the usage."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if values[0] not in self._name_parser_map:
            _refuse(_invalid_choice("COMMAND", values[0], self._name_parser_map))
        super().__call__(parser, namespace, values, option_string)


class _Parser(argparse.ArgumentParser):
    """Refuses unknown arguments, which Scrapy would ignore, with an error of one line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)
        _add_version(self)

    def parse_known_args(  # type: ignore[override]
        self, args: Any = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = sys.argv[1:] if args is None else list(args)
        if self._subparsers is None:
            # Before argparse misses an argument, which may be misspelt.
            self._require_known(word for word in takewhile("--".__ne__, words) if _is_option(word))
        options, unknown = super().parse_known_args(words, namespace)
        self._require_known(word for word in unknown if word.startswith("-") and word != "-")
        if unknown:
            # argparse ends a list of arguments at an option; those that follow belong to it, too.
            lists = [a.dest for a in self._get_positional_actions() if a.nargs in ("*", "+")]
            if not lists:
                self.error(f"{unknown[0]!r} is one argument too many")
            setattr(options, lists[-1], [*getattr(options, lists[-1]), *unknown])
        return options, []

    def _require_known(self, words: Iterable[str]) -> None:
        for word in words:
            name = word.partition("=")[0]
            is_long = word.startswith("--")
            # A short option may be joined with its value.
            if (name if is_long else word[:2]) not in self._option_string_actions:
                near = get_close_matches(name, self._option_string_actions, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self.error(f"there is no option {name}{hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "/".join(action.option_strings) or str(action.metavar)
            self.error(_invalid_choice(what, value, action.choices))

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")
