"""Options of several sub-commands, and the detector that they configure and judge pages with."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, TypeVar

from scrapy.settings import BaseSettings

from ...crawl.setting_names import unknown_settings
from ...crawl.settings import Config, as_setting
from ...detector import NearDupDetector
from ...exceptions import InvalidOption
from ...matching.rule import SCOPES, Rule
from ...matching.verdict import Verdict
from ...methods import METHODS, Method
from ...signatures.signature import Extraction, PageSignature
from ...sources.compression import packed_body
from ...sources.readers import PageReader
from ...sources.record import Record
from ...sources.tables import parse_columns
from ...stores import MemoryStore, Store
from ...stores.body_cache import BodyCache
from ...workers import Failure, Job, Limits, PagePool, WorkerPool, sign_record, usable_cores
from .output import format_counts, print_message, quantity, with_progress
from .page_cache import CachedPool, Keys, kept_results
from .store_address import require_writable

T = TypeVar("T")

#: Public key of sketches, so that two runs over the same pages print the same figures. A crawl
#: uses a random one.
OFFLINE_KEY = b"scrapy neardup, offline judgement"

_FLAGS = {
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
        help="JSON Lines, JSON arrays (.json), CSV, TSV or WARC files (plain, gzip, zstd), folders "
        "of HTML files, or - for JSON Lines on standard input",
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
        "id,title,text; - skips a column",
    )


def _columns(text: str) -> tuple[str, ...]:
    try:
        return parse_columns(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_judge(parser: argparse.ArgumentParser, thresholds: Container[str] = _FLAGS) -> None:
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
                _FLAGS[name],
                dest=name,
                type=kind,
                metavar=metavar,
                choices=SCOPES if name == "scope" else None,
                help=f"{what} (default: NEARDUP_{name.upper()}, or {getattr(Rule, name)})",
            )
    parser.add_argument(
        "--workers",
        type=at_least_0,
        default=usable_cores(),
        metavar="N",
        help="number of worker processes that read pages (default: one per core, here "
        "%(default)s; 0: read them in this process, without limits on time and memory)",
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
        metavar="FOLDER",
        help="keep signatures and texts of pages in this folder, so that no page is read twice "
        "(made unless it exists; remove it to free the space)",
    )


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
            if getattr(options, "method", None) and error.option.startswith("method"):
                raise error.renamed(f"--{error.option}") from None
            raise as_setting(error) from None
        limits = config.limits
        if options.timeout is not None:
            limits = replace(limits, seconds=options.timeout)
        signer = {"secret": store.secret, **parts}
        cache = getattr(options, "cache", None)
        return cls(detector, signer, options.workers, limits, config.body_cache, cache)

    def pool(self, job: Job[T]) -> PagePool[T]:
        """Return a pool of workers that do a job, behind the cache if there is one for it.

        :raises InputError: if the cache cannot be used.
        """
        signer = self.detector.signer
        kept = None if self.cache is None else kept_results(job, signer.recipe)
        if self.cache is None or kept is None:
            return self._workers(job)
        keys = Keys(signer, self.signer.get("tokenizer", ""), self.signer.get("extractor", ""))
        return CachedPool(self.cache, keys, kept, self._workers, self.workers)

    def _workers(self, job: Job[T]) -> WorkerPool[T]:
        return WorkerPool(job, self.signer, self.workers, self.limits)

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
        print_message(f"warning: <{record.url}> is undecided, {failure.reason}: {failure.detail}")


class LazyReader:
    """Judges pages that were read quickly, and reads in full those that may be copies.

    :param workers: sign records.
    :param bodies: keeps the bodies of pages that may still have to be read.
    """

    def __init__(
        self, detector: NearDupDetector, workers: PagePool[PageSignature], bodies: BodyCache
    ) -> None:
        self._detector = detector
        self._workers = workers
        self._bodies = bodies

    def check(
        self, record: Record, signature: PageSignature
    ) -> tuple[PageSignature | Failure, Verdict]:
        """Return the signature of a page, perhaps read in full, and the verdict.

        :returns: a failure, with a verdict without meaning, if it cannot be read in full.
        """
        record = replace(record, quick=False)
        claim = self._detector.claim(signature)
        while claim.must_read or claim.unread:
            own = None if signature.is_read else self._workers.submit(record)
            self._complete(claim.unread)
            if own is not None:
                result = own.result()
                if isinstance(result, Failure):
                    return result, claim.verdict
                signature = replace(result, passages=signature.passages)
            claim = self._detector.claim(signature)
        if claim.is_blocked:
            return signature, self._detector.check(signature)
        if claim.ticket is not None:
            self._detector.store.commit(claim.ticket)
            if not signature.is_read:
                self._bodies.put(signature.key, record, packed_body(record.content))
        return signature, claim.verdict

    def _complete(self, keys: Iterable[str]) -> None:
        """Read stored pages in full, all at once."""
        bodies = {key: self._bodies.pop(key) for key in keys}
        readings = {key: body and self._workers.submit(body) for key, body in bodies.items()}
        for key, reading in readings.items():
            result = reading and reading.result()
            signature = result if isinstance(result, PageSignature) else None
            self._detector.store.complete(key, signature)


class VerdictCounter:
    """Judges pages and counts the verdicts."""

    def __init__(self, judge: Judge) -> None:
        #: Number of pages judged.
        self.pages = 0
        self._judge = judge
        self._started = perf_counter()
        self._verdicts: Counter[str] = Counter()
        self._undecided: Counter[str] = Counter()

    def judge(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        """Judge all pages in order, and yield the results; stop if the store cannot be written."""
        detector = self._judge.detector
        judged = self._judged_lazily if self._judge.is_lazy else self._judged_in_full
        for record, outcome, verdict in judged(pages, what):
            self._count(verdict)
            yield record, outcome, verdict
            require_writable(detector.store)

    def match(
        self, pages: PageReader, what: str, matcher: Callable[[PageSignature], Sequence[Verdict]]
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        """Yield all verdicts of a matcher on each page; the first of them counts."""
        for record, outcome in self._judge.results(sign_record, pages, what):
            if isinstance(outcome, PageSignature):
                verdicts = matcher(outcome)
            else:
                verdicts = [self._not_judged(record, outcome)]
            self._count(verdicts[0])
            for verdict in verdicts:
                yield record, outcome, verdict

    def _count(self, verdict: Verdict) -> None:
        self.pages += 1
        self._verdicts[verdict.kind] += 1
        if verdict.kind == "undecided":
            self._undecided[verdict.reason] += 1

    def _judged_in_full(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        for record, outcome in self._judge.results(sign_record, pages, what):
            if isinstance(outcome, PageSignature):
                yield record, outcome, self._judge.detector.check(outcome)
            else:
                yield record, outcome, self._not_judged(record, outcome)

    def _judged_lazily(
        self, pages: PageReader, what: str
    ) -> Iterator[tuple[Record, PageSignature | Failure, Verdict]]:
        judge = self._judge
        quick = (replace(record, quick=record.kind == "html") for record in pages)
        cache = judge.detector.store.body_cache(judge.body_cache * 2**20)
        with closing(cache), judge.pool(sign_record) as workers:
            reader = LazyReader(judge.detector, workers, cache)
            for record, quickly in with_progress(workers.map(quick), pages, what):
                outcome = quickly
                if isinstance(outcome, PageSignature):
                    outcome, verdict = reader.check(record, outcome)
                if isinstance(outcome, Failure):
                    verdict = self._not_judged(record, outcome)
                yield record, outcome, verdict

    def _not_judged(self, record: Record, failure: Failure) -> Verdict:
        warn_undecided(record, failure, self._undecided)
        return Verdict("undecided", record.url, failure.reason)

    def report(self) -> None:
        """Print the counts."""
        seconds = perf_counter() - self._started
        print_message(
            f"{quantity(self.pages, 'page')}: {format_counts(self._verdicts)}"
            + (f"; undecided for: {format_counts(self._undecided)}" if self._undecided else "")
            + f"; {seconds:.1f} s, {self.pages / seconds:.0f} pages/s"
        )


def _method(options: argparse.Namespace, config: Config) -> str | Method | None:
    """Return the method that judges; none for commands that explain and evaluate the rule."""
    if not hasattr(options, "method"):
        return None
    if options.method:
        for name in ("max_distance", "min_similarity"):
            if (value := getattr(options, name, None)) is not None:
                wanted = "left out with --method, which has parameters of its own"
                raise InvalidOption(_FLAGS[name], value, wanted)
    method: str | Method | None = options.method or config.parts.get("method")
    return method


def _changed(rule: Rule, options: argparse.Namespace) -> Rule:
    given = {name: getattr(options, name, None) for name in _FLAGS}
    try:
        return replace(rule, **{name: value for name, value in given.items() if value is not None})
    except InvalidOption as error:
        raise error.renamed(_FLAGS[error.option]) from None


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
