"""Options of several sub-commands, and the detector that they configure and judge pages with."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from scrapy.settings import BaseSettings

from ...crawl.setting_names import unknown_settings
from ...crawl.settings import Config, as_setting
from ...detector import NearDupDetector
from ...exceptions import InvalidOption
from ...matching.rule import SCOPES, Rule
from ...methods import METHODS, Method
from ...signatures.signature import Extraction, PageSignature
from ...signatures.signer import OFFLINE_KEY
from ...sources.columns import Columns, parse_columns
from ...sources.readers import PageReader
from ...sources.record import Record
from ...stores import MemoryStore, Store
from ...workers import Failure, Job, Limits, PagePool, WorkerPool, sign_record, usable_cores
from .output import print_message
from .page_cache import CachedPool, Keys, kept_results
from .progress import with_progress
from .quotes import Quotes

T = TypeVar("T")

#: Options for the thresholds of the rule.
FLAGS = {
    "max_distance": "--distance",
    "min_similarity": "--similarity",
    "min_features": "--min-features",
    "scope": "--scope",
}


class Commands:
    """The sub-commands of a command.

    :param choices: the result of ``add_subparsers()``.
    :param add_global_options: adds Scrapy's own options to the parser of a sub-command.
    """

    def __init__(
        self, choices: Any, add_global_options: Callable[[argparse.ArgumentParser], None]
    ) -> None:
        self._choices = choices
        self._add_global_options = add_global_options

    def add(
        self,
        name: str,
        summary: str,
        run: Callable[[argparse.Namespace, BaseSettings], None],
    ) -> argparse.ArgumentParser:
        """Add a sub-command and return its parser."""
        parser: argparse.ArgumentParser
        parser = self._choices.add_parser(name, help=summary, description=summary)
        self._add_global_options(parser)
        parser.set_defaults(run=run, prog=parser.prog)
        return parser

    def add_group(self, name: str, summary: str) -> Commands:
        """Add a sub-command with sub-commands of its own, and return these."""
        group = self._choices.add_parser(name, help=summary, description=summary)
        choices = group.add_subparsers(metavar="COMMAND", dest=f"{name}_command", required=True)
        return Commands(choices, self._add_global_options)


def add_pages(
    parser: argparse.ArgumentParser, name: str = "pages", nargs: str = "+", **how: Any
) -> None:
    """Add the argument for stored pages."""
    parser.add_argument(
        name,
        metavar="PAGES",
        nargs=nargs,
        help="JSON Lines, JSON arrays, CSV, TSV or WARC files (plain, gzip, zstd), Parquet "
        "files, folders of HTML files, or - for JSON Lines on standard input",
        **how,
    )
    add_columns(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the columns of tables."""
    parser.add_argument(
        "--columns",
        type=_columns,
        metavar="NAMES",
        help="fields that the columns of CSV and TSV files without a header are, in order, such as "
        "id,title,text (- skips a column); or columns of Parquet files and in headers, and members "
        "of JSON objects, that have other names than the fields, such as url=link,html=body",
    )


def _columns(text: str) -> Columns:
    try:
        return parse_columns(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_judge(parser: argparse.ArgumentParser, thresholds: Container[str] = FLAGS) -> None:
    """Add the options of a :class:`Judge`; each overrides the project's setting.

    :param thresholds: names of those that the sub-command takes.
    """
    for name, kind, metavar, what in (
        ("max_distance", int, "K", "bits, 0 to 11, in which fingerprints of copies may differ"),
        ("min_similarity", float, "S", "least resemblance, 0 to 1, of copies"),
        ("min_features", int, "N", "texts with fewer distinct words are copies only if equal"),
        ("scope", str, None, "compare all pages, or only pages of one site"),
    ):
        if name in thresholds:
            parser.add_argument(
                FLAGS[name],
                dest=name,
                type=kind,
                metavar=metavar,
                choices=SCOPES if name == "scope" else None,
                help=f"{what} (default: NEARDUP_{name.upper()}, or {getattr(Rule, name)})",
            )
    parser.add_argument(
        "--workers",
        type=at_least_0,
        metavar="N",
        help="number of worker processes that read pages (default: one per core, here "
        f"{usable_cores()}; 0: read them in this process, without limits on time and memory)",
    )
    parser.add_argument(
        "--timeout",
        type=above_0,
        metavar="SECONDS",
        help="seconds after which a page is undecided "
        f"(default: NEARDUP_PAGE_TIMEOUT, or {Limits.seconds:g})",
    )


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add the option for a method that judges in place of the rule."""
    parser.add_argument(
        "--method",
        metavar="NAME[:PARAMETERS]",
        help=f"judge by another method than the rule: one of {', '.join(METHODS)}, or an import "
        "path; with parameters as in simhash:bits=128,ties=set (default: NEARDUP_METHOD, or none)",
    )


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder in which a :class:`Judge` keeps what it reads of pages."""
    parser.add_argument(
        "--cache",
        type=_folder,
        metavar="FOLDER",
        help="keep signatures and texts of pages in this folder, so that no page is read twice "
        "(made unless it exists; remove it to free the space)",
    )


def _folder(text: str) -> str:
    # An unset variable of the shell, which would otherwise mean the current folder.
    if not text:
        raise argparse.ArgumentTypeError("'' is not the path of a folder")
    return text


@dataclass(frozen=True)
class Judge:
    """A detector, with the arguments to sign pages for it in other processes.

    :ivar cache: folder in which what is read of pages is kept, if any.
    """

    detector: NearDupDetector
    signer: Mapping[str, Any]
    workers: int
    limits: Limits
    body_cache: int
    cache: str | None = None

    @property
    def is_lazy(self) -> bool:
        """Whether pages are read in full only if they may be copies."""
        return self.detector.signer.is_lazy

    @classmethod
    def from_options(
        cls,
        options: argparse.Namespace,
        settings: BaseSettings,
        store: Store | None = None,
        *,
        extraction: Extraction | None = "full",
    ) -> Judge:
        """Build a judge from the command line, the project's settings and the defaults.

        :param store: the known pages; an empty store in memory unless given.
        :param extraction: how the pages are read, which must be as those of the store were;
            ``None`` for what NEARDUP_EXTRACTION says.
        :raises InvalidOption: when an option or a setting is invalid.
        :raises SignatureMismatch: when the store's pages were signed in another way.
        """
        store = MemoryStore(OFFLINE_KEY) if store is None else store
        for warning in unknown_settings(settings):
            print_message(f"warning: {warning}")
        config = Config.from_settings(settings)
        rule = _changed(config.policy.rule, options)
        parts = {**config.parts, "limits": config.page_limits}
        parts["method"] = _method(options, config)
        if extraction is not None:
            parts["extraction"] = extraction
        try:
            detector = NearDupDetector(**asdict(rule), **parts, store=store)
        except InvalidOption as error:
            if getattr(options, "method", None) is not None and error.option.startswith("method"):
                raise error.renamed(f"--{error.option}") from None
            raise as_setting(error) from None
        limits = config.limits
        if options.timeout is not None:
            limits = replace(limits, seconds=options.timeout)
        signer = {"secret": store.secret, **parts}
        cache = getattr(options, "cache", None)
        workers = usable_cores() if options.workers is None else options.workers
        return cls(detector, signer, workers, limits, config.body_cache, cache)

    def pool(self, job: Job[T]) -> PagePool[T]:
        """Return a pool of workers that do a job, behind the cache if there is one for it.

        :raises InputError: if the cache cannot be used.
        """
        signer = self.detector.signer
        kept = None if self.cache is None else kept_results(job, signer.recipe)
        if self.cache is None or kept is None:
            return self._workers(job)
        keys = Keys(signer, self.signer)
        return CachedPool(self.cache, keys, kept, self._workers, self.workers)

    def _workers(self, job: Job[T]) -> WorkerPool[T]:
        return WorkerPool(job, self.signer, self.workers, self.limits)

    def signatures(
        self, pages: PageReader, what: str, quotes: Quotes | None = None
    ) -> Iterator[tuple[Record, PageSignature | Failure]]:
        """Sign the pages in worker processes, like :meth:`results`.

        :param quotes: looks each page up before it is yielded.
        """
        if quotes is None:
            yield from self.results(sign_record, pages, what)
            return
        for record, outcome in self.results(quotes.job, pages, what):
            if isinstance(outcome, Failure):
                quotes.look_up(None)
                yield record, outcome
            else:
                quotes.look_up(outcome)
                yield record, outcome[0]

    def results(
        self, job: Job[T], pages: PageReader, what: str, records: Iterable[Record] | None = None
    ) -> Iterator[tuple[Record, T | Failure]]:
        """Do a job on each page in worker processes; yield the results in the order of the pages.

        :param what: the job's name for the progress bar.
        :param records: the pages to read, if these are not all.
        """
        with self.pool(job) as workers:
            yield from with_progress(workers.map(records or pages), pages, what)


def warn_undecided(record: Record, failure: Failure, known: Container[str]) -> None:
    """Print why a page could not be read, once for each reason."""
    if failure.reason not in known:
        print_undecided(record.url, failure.reason, failure.detail)


def print_undecided(url: str, reason: str, detail: str) -> None:
    """Print why a page could not be read."""
    print_message(f"warning: <{url}> is undecided, {reason}: {detail}")


def _method(options: argparse.Namespace, config: Config) -> str | Method | None:
    """Return the method that judges; none for commands that explain and evaluate the rule."""
    if not hasattr(options, "method"):
        return None
    method: str | Method | None = config.parts.get("method")
    if options.method is not None:
        for name in ("max_distance", "min_similarity"):
            if (value := getattr(options, name, None)) is not None:
                wanted = "left out with --method, which has parameters of its own"
                raise InvalidOption(FLAGS[name], value, wanted)
        method = options.method
    return method


def _changed(rule: Rule, options: argparse.Namespace) -> Rule:
    given = {name: getattr(options, name, None) for name in FLAGS}
    try:
        return replace(rule, **{name: value for name, value in given.items() if value is not None})
    except InvalidOption as error:
        raise error.renamed(FLAGS[error.option]) from None


def _parser(
    kind: Callable[[str], T], is_valid: Callable[[T], bool], what: str
) -> Callable[[str], T]:
    """Return a function that parses a number of an option."""

    def parsed(text: str) -> T:
        with suppress(ValueError):
            if is_valid(number := kind(text)):
                return number
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")

    return parsed


at_least_0 = _parser(int, lambda number: number >= 0, "a whole number of 0 or more")
above_0 = _parser(float, lambda number: 0 < number < math.inf, "a number above 0")
share = _parser(float, lambda number: 0 <= number <= 1, "a number from 0 to 1")
above_0_to_1 = _parser(float, lambda number: 0 < number <= 1, "a number above 0, at most 1")
