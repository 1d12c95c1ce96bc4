"""``scrapy neardup idf train``: make an IDF table from stored pages."""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import xxhash
from scrapy.settings import BaseSettings

from ..exceptions import InputError
from ..signatures.signer import Signer
from ..sources.readers import PageReader
from ..sources.record import Record
from ..text.idf import UNITS_PER_NAT, read_table, write_table
from ..workers import Failure, main_text
from .support.options import Commands, Judge, add_judge, add_pages
from .support.output import atomic_output, format_counts, print_message, report_skipped

#: IDF in nats of every token that is not in the table, and the bound of those that are; the
#: shipped table has the same. Tokens on fewer than one page in 148 reach it and are left out.
BOUND = 5.0

#: A table of fewer pages is too small a sample.
_FEW_PAGES = 200

#: Tokens counted at once. Beyond that, tokens far below the frequency of those in the table, by
#: this factor, are forgotten (lossy counting: Manku and Motwani, VLDB 2002).
_MAX_COUNTED = 2_000_000
_FAR = 10

#: A token of a table, without digits, because numbers have a weight of their own, white space,
#: which separates tokens in the file, and surrogates, which UTF-8 cannot encode.
_TOKEN = re.compile(r"[^\d\s\ud800-\udfff]+")


def add_command(commands: Commands) -> None:
    """Add the sub-command and its own sub-command ``train``."""
    summary = "Make an IDF table for NEARDUP_IDF: count the pages that contain each word."
    parser = commands.add_group("idf", "Make IDF tables.").add("train", summary, run)
    add_pages(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="table to write, ending in .gz"
    )
    parser.add_argument("--name", help="what logs call the table (default: the file's name)")
    add_judge(parser, thresholds=())


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Count the words, write the table, and print a summary."""
    target = Path(options.output)
    if target.suffix != ".gz":
        raise InputError(options.output, "the name of a table ends in .gz")
    pages = PageReader(options.pages, options.columns)
    judge = Judge.from_options(options, settings)
    counts = DocumentFrequencies()
    failures: Counter[str] = Counter()
    with atomic_output(options.output, options.pages) as part:
        for _, outcome in judge.results(distinct_tokens, pages, "idf train"):
            if isinstance(outcome, Failure):
                failures[outcome.reason] += 1
            else:
                counts.add(outcome)
        if not counts.pages:
            raise InputError(", ".join(options.pages), "no page with a text in it")
        name = options.name or target.name.removesuffix(".gz").removesuffix(".txt")
        write_table(part, name, round(UNITS_PER_NAT * BOUND), counts.weights())
    _report(target, counts, failures)
    report_skipped(pages)


def distinct_tokens(signer: Signer, record: Record) -> list[str]:
    """Return each token of the page once; called in a worker."""
    return list(dict.fromkeys(signer.tokens(main_text(signer, record).text)))


class DocumentFrequencies:
    """Counts the pages that contain each token. Pages with the same words count as one page.

    :ivar pages: number of pages counted.
    :ivar copies: number of pages left out because an earlier one has the same words.
    """

    def __init__(self) -> None:
        self.pages = 0
        self.copies = 0
        self._counts: Counter[str] = Counter()
        self._seen: set[int] = set()

    def add(self, tokens: Iterable[str]) -> None:
        """Count a page by its distinct tokens, unless it has none."""
        words = [token for token in tokens if _TOKEN.fullmatch(token)]
        digest = xxhash.xxh3_64_intdigest("\n".join(sorted(words)).encode())
        if digest in self._seen:
            self.copies += 1
        elif words:
            self._seen.add(digest)
            self.pages += 1
            self._counts.update(words)
            if len(self._counts) > _MAX_COUNTED:
                least = self.pages * math.exp(-BOUND) / _FAR
                self._counts = Counter({t: n for t, n in self._counts.items() if n > least})

    def weights(self) -> dict[str, int]:
        """Return the IDF of each token that is not rare: ``ln(pages / pages with the token)``."""
        idf = {token: math.log(self.pages / n) for token, n in self._counts.items()}
        return {
            token: max(1, round(UNITS_PER_NAT * nats))
            for token, nats in idf.items()
            if nats < BOUND
        }


def _report(target: Path, counts: DocumentFrequencies, failures: Counter[str]) -> None:
    table = read_table(target)
    print_message(
        f"{target}: {len(table)} tokens from {counts.pages} pages"
        f" ({counts.copies} more were copies), digest {table.digest}"
    )
    if failures:
        print_message(f"pages not counted: {format_counts(failures)}")
    if counts.pages < _FEW_PAGES:
        print_message(
            f"warning: a table of fewer than {_FEW_PAGES} pages is inaccurate for rare words"
        )
    print_message(f"to use it: NEARDUP_IDF = {str(target.resolve())!r}")
