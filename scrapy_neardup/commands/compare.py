"""``scrapy neardup compare``: explain why two pages are duplicates, or are not."""

from __future__ import annotations

import argparse
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from http.client import HTTPException, HTTPResponse
from itertools import islice
from time import monotonic
from urllib import request
from urllib.error import HTTPError

from rich.table import Table
from scrapy.settings import BaseSettings
from w3lib.url import safe_url_string

from ..exceptions import InputError, UnfitOption, UnreadablePage
from ..hashing.minhash import SHINGLE_UNITS, resemblance
from ..hashing.simhash import hamming_distance, to_hex
from ..matching.rule import Rule
from ..matching.verdict import Match
from ..methods import METHODS, Method
from ..reasons import Reason
from ..signatures.signature import PageSignature
from ..signatures.signer import Signer
from ..sources.columns import Columns
from ..sources.readers import PageReader
from ..sources.record import Record
from ..text.idf import UNITS_PER_NAT
from ..text.tokenization import shingle_units
from ..text.vocabulary import weigh
from ..workers import main_text, sign_record
from .support.method_table import Compared, method_table, open_methods
from .support.options import Commands, Judge, add_cache, add_judge, add_pages
from .support.output import print_output, table
from .support.progress import with_progress

#: Weights are whole numbers; in these units they are ``(1 + ln tf) * idf`` in nats.
_UNITS = 16 * UNITS_PER_NAT

#: Limits of a page that is fetched: seconds, bytes, and media types.
_SECONDS = 30.0
_MAX_BYTES = 16 * 2**20
_PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "")

#: Methods that suit files of any kind; the others read words, which takes minutes for large files.
_OF_FILES = ("exact", "nilsimsa", "manber", "tags")

_WHY = {
    Reason.SAME_PAGE: "the whole pages are equal",
    Reason.SAME_LIST: "they are lists of the same entries",
    Reason.SAME_TEXT: "their texts are equal",
    Reason.SIMILAR_TEXT: "their texts are similar enough",
    Reason.METHOD: "the method calls them near-duplicates",
    Reason.OTHER_SITE: "they are from two sites, and only pages of one site are compared (scope)",
    Reason.TITLE_DIFFERS: "their titles differ, and pages of one site must have the same title "
    "unless one contains the other",
    Reason.SIZE_DIFFERS: "one has, or shows, much more text than the other",
    Reason.THIN_TEXT: "the main text is too small a part of what a page shows",
    Reason.ONLY_BOILERPLATE_ALIKE: "they have only the boilerplate of their site in common",
    Reason.FEW_FEATURES: "one has too few words, and the whole pages are not equal",
    Reason.FAR: "their fingerprints differ in too many bits",
    Reason.TEXT_DIFFERS: "their texts are not similar enough",
    Reason.VALUES_DIFFER: "they have the same words with other numbers or names, like a form",
    Reason.SITE_UNKNOWN: "small texts of a site with few known pages must be equal if their titles "
    "differ (--from with --learn reads more pages)",
    Reason.PARTS_DIFFER: "their texts are equal, but their files, pictures, values or data differ",
    Reason.NO_TEXT: "one has no text",
}


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "Explain why two pages are duplicates of each other, or are not."
    parser = commands.add("compare", summary, run)
    for name in "ab":
        parser.add_argument(
            name,
            metavar=name.upper(),
            help="an HTML file or a URL; with --from, the id or URL of a stored page; with "
            "--files, a file of any kind",
        )
    add_pages(parser, "--from", dest="pages", default=[])
    parser.add_argument(
        "--files",
        action="store_true",
        help="compare A and B as files of any kind, such as PDFs and mails, by methods only "
        f"(default of --methods: {' '.join(_OF_FILES)})",
    )
    parser.add_argument(
        "--learn",
        action="store_true",
        help="read all stored pages first, to learn the boilerplate of sites as a crawl would",
    )
    for name in "ab":
        parser.add_argument(
            f"--url-{name}",
            metavar="URL",
            help=f"URL of {name.upper()}; pages of one site must have the same title",
        )
    words = "number of words to show, those that differ most (default: %(default)s)"
    parser.add_argument("--words", type=int, default=10, metavar="N", help=words)
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        default=[],
        help="show what other methods say as well: 'all', or some of "
        f"{', '.join(METHODS)}, with parameters as in simhash:bits=128,ties=set",
    )
    add_judge(parser)
    add_cache(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Print the verdict on the two pages, their measures and their differences."""
    _check(options)
    judge = Judge.from_options(options, settings)
    asked = options.methods or (_OF_FILES if options.files else ())
    methods = list(open_methods(asked, judge.detector.signer.tokenizer))
    if options.files:
        one, other = Compared.of_file(options.a), Compared.of_file(options.b)
        print_output(method_table(one, other, methods))
        return
    names = (options.a, options.b)
    if options.pages:
        records = _stored(names, options.pages, options.columns)
        if options.learn:
            pages = PageReader(options.pages, options.columns)
            for _, outcome in judge.results(sign_record, pages, "learn"):
                if isinstance(outcome, PageSignature):
                    judge.detector.check(outcome)
    else:
        records = [_single(name, settings["USER_AGENT"]) for name in names]
    a, b = (
        _Page(replace(record, url=url or record.url), judge.detector.signer)
        for record, url in zip(records, (options.url_a, options.url_b), strict=True)
    )
    print_output(_verdict(a, b, judge), _facts(a, b), _measures(a, b, judge))
    if methods:
        print_output(_by_methods(a, b, methods, judge.detector.rule))
    if options.words > 0:
        print_output(_differences(a, b, options.words))


def _check(options: argparse.Namespace) -> None:
    """Refuse options of pages for files, and a cache for two pages."""
    if options.cache and not options.learn:
        raise UnfitOption("--cache", "given alone", "given with --learn")
    if options.learn and not (options.pages or options.files):
        raise UnfitOption("--learn", "given alone", "given with --from")
    for name in ("pages", "learn", "url_a", "url_b"):
        if options.files and getattr(options, name):
            flag = "--from" if name == "pages" else f"--{name.replace('_', '-')}"
            raise UnfitOption(flag, "given with --files", "given without it")


class _Page:
    """A page with the results of each step of signing it.

    :ivar weights: weight of each distinct token in the fingerprint.
    :ivar shingles: the set of shingles that the sketch samples.
    :raises InputError: when the page cannot be read.
    """

    def __init__(self, record: Record, signer: Signer) -> None:
        self.record = record
        try:
            self.signature = sign_record(signer, record)
            self.main = main_text(signer, record)
        except UnreadablePage as error:
            raise InputError(str(record.id), str(error)) from error
        self.tokens = signer.tokens(self.main.text)
        found = weigh(self.tokens, signer.idf).weights.tolist()
        self.weights = Counter(dict(zip(dict.fromkeys(self.tokens), found, strict=True)))
        units = shingle_units(self.tokens)
        width = min(SHINGLE_UNITS, len(units))
        starts = range(len(units) - width + 1) if width else ()
        self.shingles = {tuple(units[i : i + width]) for i in starts}

    def compared(self, min_features: int) -> Compared:
        """Return what methods read of the page."""
        body = self.record.content
        return Compared(
            self.main.text,
            body.encode("utf-8", "replace") if isinstance(body, str) else body,
            self.signature.n_features >= min_features,
        )

    def facts(self) -> Iterator[tuple[str, object]]:
        """Yield names and values of the page's facts to show."""
        of_text, of_all = self.signature.n_text, self.signature.n_shown
        yield "url", self.record.url
        yield "site", self.signature.site or "none"
        yield "title", self.main.title
        yield "main text, characters", of_text
        yield "share of all text shown", f"{of_text / of_all:.0%}" if of_all else "-"
        yield "words", len(self.tokens)
        yield "distinct words", self.signature.n_features
        yield "fingerprint", to_hex(self.signature.fingerprint)
        yield "begins with", " ".join(self.main.text.split())[:160]


def _stored(names: Sequence[str], sources: Sequence[str], columns: Columns | None) -> list[Record]:
    """Return the pages with these ids or, failing that, with these URLs."""
    by_id: dict[str, Record] = {}
    by_url: dict[str, Record] = {}
    pages = PageReader(sources, columns)
    for record in with_progress(pages, pages, "search"):
        if str(record.id) in names:
            by_id.setdefault(str(record.id), record)
        if record.url in names:
            by_url.setdefault(record.url, record)
        if all(name in by_id for name in names):
            break
    found = by_url | by_id
    for name in names:
        if name not in found:
            raise InputError(", ".join(sources), f"no page has the id or URL {name}")
    return [found[name] for name in names]


def _single(name: str, user_agent: str) -> Record:
    if name.lower().startswith(("http://", "https://")):
        return _fetched(name, user_agent)
    try:
        records = list(islice(PageReader([name]), 2))
    except InputError as error:
        raise InputError(name, f"{error.reason}; --files compares two files of any kind") from error
    if len(records) > 1:
        raise InputError(
            name,
            "holds more than one page; give two of their ids or URLs, and --from, or compare "
            "whole files with --files",
        )
    return records[0]


def _verdict(a: _Page, b: _Page, judge: Judge) -> str:
    one_address = a.signature.key == b.signature.key
    note = "Both have one URL: in a crawl the second is a revisit.\n" if one_address else ""
    if not (a.signature.n_features and b.signature.n_features):
        return f"{note}Undecided (no_text): {_WHY[Reason.NO_TEXT]}."
    boilerplates = judge.detector.store.boilerplates
    outcome = judge.detector.rule.compare_either_way(a.signature, b.signature, boilerplates)
    said = "Duplicates" if isinstance(outcome, Match) else "Not duplicates"
    return f"{note}{said} ({outcome.reason}): {_WHY.get(outcome.reason, 'decided by the rule')}."


def _facts(a: _Page, b: _Page) -> Table:
    rows = [
        (name, of_a, of_b) for (name, of_a), (_, of_b) in zip(a.facts(), b.facts(), strict=True)
    ]
    return table("", "A", "B", rows=rows)


def _measures(a: _Page, b: _Page, judge: Judge) -> Table:
    rule = judge.detector.rule
    least = rule.least_similarity(a.signature, b.signature, judge.detector.store.boilerplates)
    shared = len(a.shingles & b.shingles)
    either = len(a.shingles | b.shingles)
    lesser = min(len(a.shingles), len(b.shingles))
    estimate = resemblance(a.signature.sketch_values, b.signature.sketch_values)
    distance = hamming_distance(a.signature.fingerprint, b.signature.fingerprint)
    rows = [
        ("distance of the fingerprints", distance, f"at most {rule.max_distance}"),
        ("resemblance, estimated", f"{estimate:.2f}", f"at least {least:g}"),
        ("resemblance, exact", f"{shared / either:.2f}" if either else "-", ""),
        ("containment, exact", f"{shared / lesser:.2f}" if lesser else "-", ""),
    ]
    return table("", "A and B", "required", rows=rows)


def _by_methods(a: _Page, b: _Page, methods: Iterable[tuple[str, Method]], rule: Rule) -> Table:
    in_scope = rule.scope == "all" or a.signature.site == b.signature.site
    one, other = a.compared(rule.min_features), b.compared(rule.min_features)
    return method_table(one, other, methods, in_scope=in_scope)


def _differences(a: _Page, b: _Page, number: int) -> str | Table:
    gaps = {word: abs(a.weights[word] - b.weights[word]) for word in a.weights | b.weights}
    greatest = sorted(filter(gaps.get, gaps), key=gaps.__getitem__, reverse=True)[:number]
    rows = [(word, *(f"{page.weights[word] / _UNITS:.1f}" for page in (a, b))) for word in greatest]
    if not rows:
        return "All words have equal weights in both."
    return table("words that differ most", "weight in A", "weight in B", rows=rows)


def _fetched(url: str, user_agent: str) -> Record:
    """Fetch the page at a URL; the record has the URL after redirects.

    :raises InputError: when there is no page, or it exceeds the limits.
    """
    headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip"}
    asked = request.Request(safe_url_string(url), headers=headers)
    try:
        with _opener().open(asked, timeout=_SECONDS) as response:
            kind = response.headers.get_content_type() if response.headers["Content-Type"] else ""
            if kind not in _PAGE_TYPES:
                raise InputError(url, f"is {kind}, not a page")
            body = _body(response, url)
            return Record(
                id=url,
                url=response.url,
                content=body.decode("utf-8", "replace") if kind == "text/plain" else body,
                kind="text" if kind == "text/plain" else "html",
                content_type=response.headers["Content-Type"],
            )
    except HTTPError as error:
        raise InputError(url, f"answers with status {error.code}") from error
    except (OSError, HTTPException, zlib.error, ValueError) as error:
        reason = getattr(error, "reason", error) or type(error).__name__
        raise InputError(url, f"cannot be fetched: {reason}") from error


def _opener() -> request.OpenerDirector:
    """Return an opener for HTTP only, so that no redirect can lead to a local file."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPRedirectHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def _body(response: HTTPResponse, url: str) -> bytes:
    deadline = monotonic() + _SECONDS
    packed = response.headers.get("Content-Encoding", "").lower() in ("gzip", "x-gzip")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None
    body = b""
    while piece := response.read1(2**16):
        body += unpack.decompress(piece, _MAX_BYTES + 1) if unpack else piece
        if len(body) > _MAX_BYTES:
            raise InputError(url, f"is larger than {_MAX_BYTES >> 20} MiB")
        if monotonic() > deadline:
            raise InputError(url, f"takes longer than {_SECONDS:g} s")
    if response.length or (unpack and not unpack.eof):
        raise InputError(url, "is cut off")
    return body
