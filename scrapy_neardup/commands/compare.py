"""``scrapy neardup compare``: why two pages are duplicates, or are not."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rich.table import Table

from ..exceptions import InputError
from ..hashing.minhash import SHINGLE_UNITS, resemblance
from ..hashing.simhash import hamming_distance, to_hex
from ..html.extraction import MainText
from ..matching.verdict import Match
from ..reasons import Reason
from ..signatures.signature import PageSignature, Signer
from ..sources.readers import PageReader
from ..sources.record import Record
from ..text.idf import UNITS_PER_NAT
from ..text.tokenization import shingle_units
from ..text.vocabulary import weigh
from ..workers import main_text, main_tokens, sign_record
from .support.fetch import fetch, is_web_address
from .support.options import AddGlobalOptions, Commands, Judge, add_rule, add_workers, new_command
from .support.terminal import show, table, with_progress

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Weights are whole numbers; in these units they are ``(1 + ln tf) * idf`` in nats.
_UNITS = 16 * UNITS_PER_NAT

_WHY = {
    Reason.SAME_PAGE: "they are equal all over",
    Reason.SAME_LIST: "they are lists of the same entries",
    Reason.SAME_TEXT: "their texts are equal",
    Reason.SIMILAR_TEXT: "their texts are similar enough",
    Reason.OTHER_SITE: "they are of two sites, and only pages of one site are compared (scope)",
    Reason.TITLE_DIFFERS: "on one site a copy has the same title, and neither contains the other",
    Reason.SIZE_DIFFERS: "one shows, or has in its text, much more than the other",
    Reason.THIN_TEXT: "too little was taken of what a page shows to tell",
    Reason.ONLY_BOILERPLATE_ALIKE: "only their site's boilerplate is alike",
    Reason.FEW_FEATURES: "one has too few words, and the pages are not equal all over",
    Reason.FAR: "their fingerprints differ in too many bits",
    Reason.TEXT_DIFFERS: "their texts are not similar enough",
    Reason.VALUES_DIFFER: "the same words stand around other numbers or names, as in a form",
    Reason.SITE_UNKNOWN: "of a site that is hardly known, small texts must be nearly equal "
    "(--from with --learn reads more of it)",
    Reason.PARTS_DIFFER: "their texts are equal, but not their files, pictures, values or data",
    Reason.NO_TEXT: "one has no text",
}


def add_command(commands: Commands, add_global_options: AddGlobalOptions) -> None:
    """Describe the sub-command."""
    parser = new_command(
        commands,
        "compare",
        "Say why two pages are duplicates of each other, or are not.",
        run,
        add_global_options,
    )
    for name in "ab":
        parser.add_argument(
            name,
            metavar=name.upper(),
            help="an HTML file or a URL; with --from, an id or URL there",
        )
    parser.add_argument(
        "--from",
        dest="pages",
        metavar="PAGES",
        nargs="+",
        default=[],
        help="take A and B out of stored pages: files or folders as for scan",
    )
    parser.add_argument(
        "--learn",
        action="store_true",
        help="read all of the stored pages first, to know as a crawl would what sites' pages share",
    )
    for name in "ab":
        parser.add_argument(
            f"--url-{name}",
            metavar="URL",
            help=f"address of {name.upper()}; pages of one site must have the same title",
        )
    parser.add_argument(
        "--words",
        type=int,
        default=10,
        metavar="N",
        help="words to show that differ most (default: %(default)s)",
    )
    add_rule(parser)
    add_workers(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Print what the two have in common and what not."""
    judge = Judge.from_options(options, settings)
    names = (options.a, options.b)
    if options.pages:
        records = _stored(names, PageReader(options.pages), options.pages)
        if options.learn:
            _learn(judge, options)
    else:
        records = [_single(name, settings["USER_AGENT"]) for name in names]
    a, b = (
        _Page(replace(record, url=url or record.url), judge.detector.signer)
        for record, url in zip(records, (options.url_a, options.url_b), strict=True)
    )
    show(_verdict(a, b, judge), _facts(a, b), _measures(a, b, judge))
    if options.words > 0:
        show(_differences(a, b, options.words))


@dataclass(frozen=True)
class _Page:
    """A page taken apart."""

    record: Record
    signer: Signer

    @cached_property
    def signature(self) -> PageSignature:
        return sign_record(self.signer, self.record)

    @cached_property
    def main(self) -> MainText:
        return main_text(self.signer, self.record)

    @cached_property
    def tokens(self) -> list[str]:
        return main_tokens(self.signer, self.record)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Weight of each distinct token in the fingerprint."""
        found = weigh(self.tokens, self.signer.idf)
        return dict(zip(dict.fromkeys(self.tokens), found.weights.tolist(), strict=True))

    @cached_property
    def shingles(self) -> set[tuple[str, ...]]:
        """What the sketch is a sample of."""
        units = shingle_units(self.tokens)
        width = min(SHINGLE_UNITS, len(units))
        starts = range(len(units) - width + 1) if width else ()
        return {tuple(units[i : i + width]) for i in starts}

    def facts(self) -> Iterator[tuple[str, object]]:
        """What to show of a page by itself."""
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


def _stored(names: Sequence[str], reader: PageReader, sources: Sequence[str]) -> list[Record]:
    """The pages of these ids or, failing that, of these addresses."""
    by_id: dict[str, Record] = {}
    by_url: dict[str, Record] = {}
    for record in reader:
        if str(record.id) in names:
            by_id.setdefault(str(record.id), record)
        if record.url in names:
            by_url.setdefault(record.url, record)
        if all(name in by_id for name in names):
            break
    found = by_url | by_id
    for name in names:
        if name not in found:
            raise InputError(", ".join(sources), f"no page of the id or URL {name}")
    return [found[name] for name in names]


def _learn(judge: Judge, options: argparse.Namespace) -> None:
    pages = PageReader(options.pages)
    with judge.pool(sign_record, options) as workers:
        for _, outcome in with_progress(workers.map(pages), pages, "learn"):
            if isinstance(outcome, PageSignature):
                judge.learn(outcome)


def _single(name: str, user_agent: str) -> Record:
    if is_web_address(name):
        return fetch(name, user_agent)
    records = [record for record, _ in zip(PageReader([name]), range(2), strict=False)]
    if len(records) > 1:
        raise InputError(name, "holds more than one page; name two of them and add --from")
    return records[0]


def _verdict(a: _Page, b: _Page, judge: Judge) -> str:
    one_address = a.signature.key == b.signature.key
    note = "One address: a crawl takes the second for a revisit.\n" if one_address else ""
    if not (a.signature.n_features and b.signature.n_features):
        return f"{note}Undecided (no_text): {_WHY[Reason.NO_TEXT]}."
    outcome = judge.compare(a.signature, b.signature, judge.detector.rule)
    said = "Duplicates" if isinstance(outcome, Match) else "Not duplicates"
    return f"{note}{said} ({outcome.reason}): {_WHY.get(outcome.reason, 'so says the rule')}."


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
    return table("", "A and B", "asked for", rows=rows)


def _differences(a: _Page, b: _Page, number: int) -> str | Table:
    words = dict.fromkeys([*a.weights, *b.weights])
    gaps = {word: abs(a.weights.get(word, 0) - b.weights.get(word, 0)) for word in words}
    greatest = sorted(filter(gaps.get, gaps), key=lambda word: -gaps[word])[:number]
    rows = [
        (word, *(f"{p.weights.get(word, 0) / _UNITS:.1f}" for p in (a, b))) for word in greatest
    ]
    if not rows:
        return "No word differs in weight."
    return table("words that differ most", "weight in A", "weight in B", rows=rows)
