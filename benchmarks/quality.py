"""How well near-duplicates are found on real pages, by this package and by others.

    python benchmarks/quality.py --data FOLDER [--early-close FOLDER] [--list] [--gate]
    python benchmarks/quality.py --corpora-only [--list] [--gate]

The folder is described in corpus.py, the measure of resemblance J in truth.py, the others in
peers.py; what is not installed is named and left out (``pip install --group benchmarks``).

Our detector is asked in two ways, by its public methods alone. *Pairwise*: after one crawl over
all pages in the order of the files has taught it what it learns of sites, every pair that could
be one is compared. *One after the other*: each page is checked as a crawl would, in the order of
the files and in three random ones.

Two corpora are part of the repository: forms, whose pages are all different contents
(forms_quality.py), and disguised copies of articles (copies_quality.py). ``--corpora-only``
measures just these.

``--gate`` holds the figures against quality_floors.json, and those of the corpora against
corpora_floors.json. It ends with 1 and a line for each that is worse, with 2 when the data is not
that of the floors. ``--update`` records better figures and never worse ones, unless
``--allow-regression`` is given. Figures for the gate need no peers; ``--no-peers`` saves half the
time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import floors
import numpy as np
import peers
from corpora_quality import CORPORA, CorporaResult, measure_corpora
from corpus import Corpus, digest, html_of, read_corpus
from figures import CrawlFigures, PairFigures, Yardstick
from judged import Hits, compare_all, crawl, new_detector, shuffled, sign
from pages import InputError, Page
from quality_report import (
    Result,
    content_of,
    figures_of,
    listing,
    tables,
    write_json,
    write_markdown,
)
from tables import Table
from truth import Shingles, Truth, shingles, tokens, true_text

from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shipped_tokenizer

FLOORS = Path(__file__).with_name("quality_floors.json")
CORPORA_FLOORS = Path(__file__).with_name("corpora_floors.json")
OTHER_EXTRACTORS = ("visible", *(["resiliparse"] if find_spec("resiliparse") else []))
_ORDERS = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """One page as the detector, the truth and the peers see it.

    :ivar by_others: its signatures by the other extractors.
    """

    signature: PageSignature | None
    by_others: Mapping[str, PageSignature | None]
    n_tokens: int
    shingles: Shingles
    fingerprints: Mapping[str, Sequence[int]]


def measure(page: Page) -> Measured:
    """A page without the peers."""
    return _measured(page, with_peers=False)


def measure_with_peers(page: Page) -> Measured:
    return _measured(page, with_peers=True)


def _measured(page: Page, *, with_peers: bool) -> Measured:
    html = html_of(page)
    text = true_text(html)
    found = tokens(text)
    fingerprints: Mapping[str, Sequence[int]] = {}
    if with_peers:
        words = shipped_tokenizer("auto")[0](normalize(text))
        fingerprints = peers.fingerprints(text, list(words))
    by_others = {name: sign(page, html, name) for name in OTHER_EXTRACTORS if with_peers}
    return Measured(sign(page, html), by_others, len(found), shingles(found), fingerprints)


def examine(data: Path, early_close: Path | None, corpora: Path, *, with_peers: bool) -> Result:
    """Measure everything, and say on the standard error how far it is."""
    corpus = read_corpus(data)
    written = _measure_corpora(corpora)
    _say(f"{len(corpus.ids):,} pages: texts, signatures{', peers' if with_peers else ''}")
    measured = corpus.map(measure_with_peers if with_peers else measure)
    truth = Truth(corpus, np.array([m.n_tokens for m in measured]), [m.shingles for m in measured])
    yardstick = Yardstick(truth)
    _say("crawls in four orders, and all pairs")
    hits, crawls = _judge(yardstick, [m.signature for m in measured])
    return Result(
        yardstick,
        hits,
        crawls,
        {name: _compare(name, measured) for name in OTHER_EXTRACTORS if with_peers},
        {p.title: _judge_peer(p, yardstick, measured) for p in peers.usable() if with_peers},
        _judge_early(early_close) if early_close else None,
        written,
    )


def _measure_corpora(folder: Path) -> CorporaResult:
    _say("forms and disguised copies")
    return measure_corpora(folder)


def _judge(
    yardstick: Yardstick, signatures: Sequence[PageSignature | None]
) -> tuple[Hits, dict[str, CrawlFigures]]:
    """Crawl in the order of the files, then compare by what was learned; and crawl at random."""
    detector = new_detector()
    places = range(len(signatures))
    crawls = {"order of the files": yardstick.of_crawl(crawl(detector, signatures, places))}
    hits = compare_all(detector, signatures)
    for seed in range(1, _ORDERS + 1):
        dropped = crawl(new_detector(), signatures, shuffled(len(places), seed))
        crawls[f"random order {seed}"] = yardstick.of_crawl(dropped)
    return hits, crawls


def _compare(extractor: str, measured: Sequence[Measured]) -> Hits:
    """All pairs by another extractor's texts, after a crawl in the order of the files."""
    detector = new_detector(extractor=extractor)
    signatures = [m.by_others[extractor] for m in measured]
    crawl(detector, signatures, range(len(signatures)))
    return compare_all(detector, signatures)


def _judge_peer(
    peer: peers.Peer, yardstick: Yardstick, measured: Sequence[Measured]
) -> PairFigures:
    places = np.flatnonzero(yardstick.truth.long_enough)
    rows = np.array([measured[i].fingerprints[peer.name] for i in places.tolist()], np.uint64)
    pairs = places[peer.search(rows)]
    return yardstick.of_pairs({(a, b) for a, b in pairs.T.tolist()})


def _judge_early(folder: Path) -> tuple[Corpus, Hits]:
    corpus = read_corpus(folder)
    signatures = corpus.map(sign)
    detector = new_detector()
    crawl(detector, signatures, range(len(signatures)))
    return corpus, compare_all(detector, signatures)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def keep_floors(
    path: Path, found: str, figures: floors.Figures, *, gate: bool, update: bool, regress: bool
) -> int:
    """Hold the figures against the recorded floors and record better ones.

    :returns: 0, or 1 when a figure fell below its floor, or 2 when the floors are of other data
        or cannot be read.
    """
    try:
        recorded = floors.read_floors(path)
        if gate and recorded is None:
            raise ValueError(f"{path}: no floors are recorded")
        lines = floors.broken(recorded, found, figures) if gate and recorded else []
        if update:
            new = floors.tightened(recorded, found, figures, allow_regression=regress)
            floors.write_floors(path, new)
    except (ValueError, floors.OtherData) as error:
        _say(str(error))
        return 2
    for line in lines:
        _say(line)
    return 1 if lines else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--early-close", type=Path, metavar="FOLDER", help="pages that end early")
    parser.add_argument("--corpora", type=Path, default=CORPORA, metavar="FOLDER")
    parser.add_argument(
        "--corpora-only", action="store_true", help="only forms and disguised copies, no pages"
    )
    parser.add_argument("--no-peers", action="store_true", help="only this package")
    parser.add_argument("--list", action="store_true", help="show what was hit or missed wrongly")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--gate", action="store_true", help="fail below the recorded floors")
    parser.add_argument("--update", action="store_true", help="record better figures as floors")
    parser.add_argument(
        "--allow-regression", action="store_true", help="with --update, record worse ones as well"
    )
    parser.add_argument("--floors", type=Path, default=FLOORS, metavar="FILE")
    parser.add_argument("--corpora-floors", type=Path, default=CORPORA_FLOORS, metavar="FILE")
    options = parser.parse_args()
    if bool(options.data) == options.corpora_only:
        parser.error("give either --data or --corpora-only")
    return options


def main() -> int:
    options = arguments()
    try:
        if options.corpora_only:
            return _finish_corpora(options, _measure_corpora(options.corpora))
        result = examine(
            options.data, options.early_close, options.corpora, with_peers=not options.no_peers
        )
    except InputError as error:
        _say(str(error))
        return 2
    return _finish(options, result)


def _finish_corpora(options: argparse.Namespace, corpora: CorporaResult) -> int:
    """Show and hold the figures of the written corpora."""
    _show(options, corpora.tables(), corpora.listing())
    print(f"\ncorpora: {corpora.digest}")
    if options.json:
        write_json(corpora.content(), options.json)
    return _keep(options, options.corpora_floors, corpora.digest, corpora.figures())


def _finish(options: argparse.Namespace, result: Result) -> int:
    """Show and hold all figures."""
    found = digest(folder for folder in (options.data, options.early_close) if folder)
    corpora = result.corpora
    _show(options, tables(result), listing(result))
    print(f"\ndata: {found}\ncorpora: {corpora.digest}")
    if options.json:
        write_json(content_of(result, found) | corpora.content(), options.json)
    return max(
        _keep(options, options.floors, found, figures_of(result)),
        _keep(options, options.corpora_floors, corpora.digest, corpora.figures()),
    )


def _show(options: argparse.Namespace, shown: Sequence[Table], lines: Sequence[str]) -> None:
    for table in shown:
        print(table.as_text())
    if options.list:
        print("\n".join(lines))
    if options.markdown:
        write_markdown(shown, options.markdown)


def _keep(options: argparse.Namespace, path: Path, found: str, figures: floors.Figures) -> int:
    return keep_floors(
        path,
        found,
        figures,
        gate=options.gate,
        update=options.update,
        regress=options.allow_regression,
    )


if __name__ == "__main__":
    sys.exit(main())
