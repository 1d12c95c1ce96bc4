"""Options that several sub-commands take, and the detector that they and the project ask for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ...crawl.settings import Config, as_setting, unknown_settings
from ...detector import NearDupDetector
from ...exceptions import InvalidOption
from ...matching.rule import SCOPES, Rule
from ...matching.verdict import Match, Mismatch
from ...signatures.signature import PageSignature
from ...stores import MemoryStore, Store
from ...workers import Job, Limits, WorkerPool, usable_cores
from .terminal import say

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

T = TypeVar("T")

#: What a sub-command's module is given to add itself.
Commands = Any
AddGlobalOptions = Callable[[argparse.ArgumentParser], None]

#: Sketches are made under a key that is known to all, so that two runs over the same pages print
#: the same figures. A crawl draws its own.
OFFLINE_KEY = b"scrapy neardup, offline judgement"

_FLAGS = {
    "max_distance": "--distance",
    "min_similarity": "--similarity",
    "min_features": "--min-features",
    "scope": "--scope",
}


def new_command(
    commands: Commands,
    name: str,
    summary: str,
    run: Callable[[argparse.Namespace, BaseSettings], None],
    add_global_options: AddGlobalOptions,
) -> argparse.ArgumentParser:
    """A sub-command's parser."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    add_global_options(parser)
    parser.set_defaults(run=run, prog=parser.prog)
    return parser


def add_pages(
    parser: argparse.ArgumentParser, name: str = "pages", nargs: str = "+", **how: Any
) -> None:
    """The stored pages that a sub-command reads."""
    parser.add_argument(
        name,
        metavar="PAGES",
        nargs=nargs,
        help="JSON Lines or WARC files (plain, gzip, zstd), folders of HTML files, or - for "
        "JSON Lines on standard input",
        **how,
    )


def add_rule(parser: argparse.ArgumentParser, *left_out: str) -> None:
    """Thresholds; each wins over the project's setting."""
    defaults = Rule()
    for name, kind, metavar, what in (
        ("max_distance", int, "K", "bits, 0 to 11, in which fingerprints of copies may differ"),
        ("min_similarity", float, "S", "resemblance, 0 to 1, that a copy must reach"),
        ("min_features", int, "N", "a text with fewer words is a copy only of an equal text"),
        ("scope", str, None, "compare all pages, or only those of one site"),
    ):
        if name not in left_out:
            parser.add_argument(
                _FLAGS[name],
                dest=name,
                type=kind,
                metavar=metavar,
                choices=SCOPES if name == "scope" else None,
                help=f"{what} (default: NEARDUP_{name.upper()}, or {getattr(defaults, name)})",
            )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """How many processes read the pages, and for how long each."""
    parser.add_argument(
        "--workers",
        type=at_least_0,
        default=usable_cores(),
        metavar="N",
        help="processes that read pages (default: one for each core, here %(default)s; "
        "0: none, without limits on time and memory)",
    )
    parser.add_argument(
        "--timeout",
        type=above_0,
        metavar="SECONDS",
        help="a page that takes longer is undecided "
        f"(default: NEARDUP_PAGE_TIMEOUT, or {Limits.seconds:g})",
    )


def share(text: str) -> float:
    """Type of an option that is a share."""
    if not 0 <= (number := _number(text)) <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return number


@dataclass(frozen=True)
class Judge:
    """A detector, and what it takes to make signatures for it in other processes."""

    detector: NearDupDetector
    signer: Mapping[str, Any]
    limits: Limits

    @classmethod
    def from_options(
        cls,
        options: argparse.Namespace,
        settings: BaseSettings,
        store: Store | None = None,
    ) -> Judge:
        """What the command line asks for, else the project's settings, else the defaults.

        :param store: whose pages are known; an empty one in memory unless given.
        :raises InvalidOption: when either says what cannot be.
        :raises SignatureMismatch: when the store's pages were signed in another way.
        """
        store = MemoryStore(OFFLINE_KEY) if store is None else store
        for warning in unknown_settings(settings):
            say(f"warning: {warning}")
        config = Config.from_settings(settings)
        rule = _changed(config.policy.rule, options)
        parts = {name: part for name, part in config.parts.items() if name != "store"}
        parts["limits"] = config.page_limits
        try:
            detector = NearDupDetector(**asdict(rule), **parts, store=store)
        except InvalidOption as error:
            raise as_setting(error) from None
        return cls(detector, {"secret": store.secret, **parts}, config.limits)

    def compare(self, a: PageSignature, b: PageSignature, rule: Rule) -> Match | Mismatch:
        """What the rule says of two pages, with what the detector has learned of their sites."""
        return rule.compare(a, b, self.detector.store.boilerplates)

    def learn(self, signature: PageSignature) -> None:
        """Let the detector meet a page, as in a crawl."""
        self.detector.check(signature)

    def pool(self, job: Job[T], options: argparse.Namespace) -> WorkerPool[T]:
        """Workers whose signatures the detector takes."""
        limits = self.limits
        if options.timeout is not None:
            limits = replace(limits, seconds=options.timeout)
        return WorkerPool(job, self.signer, options.workers, limits)


def _changed(rule: Rule, options: argparse.Namespace) -> Rule:
    given = {
        field.name: value
        for field in fields(Rule)
        if (value := getattr(options, field.name, None)) is not None
    }
    try:
        return replace(rule, **given)
    except InvalidOption as error:
        raise error.renamed(_FLAGS.get(error.option, error.option)) from None


def at_least_0(text: str) -> int:
    """Type of an option that is a whole number."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


def above_0(text: str) -> float:
    """Type of an option that is a number, however small."""
    if not 0 < (number := _number(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
