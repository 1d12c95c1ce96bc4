"""How well near-duplicates are found on real pages, by this package and by others.

    python benchmarks/quality.py --data FOLDER [--early-close FOLDER] [--list] [--gate]

The folder is described in corpus.py, the measure of resemblance J in truth.py, the others in
peers.py; what is not installed is named and left out (``pip install --group benchmarks``).

Our detector is asked in two ways, by its public methods alone. *Pairwise*: after one crawl over
all pages in the order of the files has taught it what it learns of sites, every pair that could
be one is compared. *One after the other*: each page is checked as a crawl would, in the order of
the files and in three random ones.

``--gate`` holds the figures against quality_floors.json and ends with 1 and a line for each that
is worse, with 2 when the data is not that of the floors. ``--update`` records better figures and
never worse ones, unless ``--allow-regression`` is given. Figures for the gate need no peers;
``--no-peers`` saves half the time.
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
from corpus import Corpus, digest, html_of, read_corpus
from figures import CrawlFigures, PairFigures, Yardstick
from judged import Hits, compare_all, crawl, new_detector, shuffled, sign
from pages import InputError, Page
from quality_report import Result, figures_of, listing, tables, write_json, write_markdown
from truth import Shingles, Truth, shingles, tokens, true_text

from scrapy_neardup.normalization import normalize
from scrapy_neardup.page import PageSignature
from scrapy_neardup.tokens import shipped_tokenizer

FLOORS = Path(__file__).with_name("quality_floors.json")
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


def examine(data: Path, early_close: Path | None, *, with_peers: bool) -> Result:
    """Measure everything, and say on the standard error how far it is."""
    corpus = read_corpus(data)
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
    )


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
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--early-close", type=Path, metavar="FOLDER", help="pages that end early")
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
    return parser.parse_args()


def main() -> int:
    options = arguments()
    folders = [folder for folder in (options.data, options.early_close) if folder]
    try:
        result = examine(options.data, options.early_close, with_peers=not options.no_peers)
    except InputError as error:
        _say(str(error))
        return 2
    for table in tables(result):
        print(table.as_text())
    if options.list:
        print("\n".join(listing(result)))
    found = digest(folders)
    print(f"\ndata: {found}")
    if options.json:
        write_json(result, found, options.json)
    if options.markdown:
        write_markdown(result, options.markdown)
    return keep_floors(
        options.floors,
        found,
        figures_of(result),
        gate=options.gate,
        update=options.update,
        regress=options.allow_regression,
    )


if __name__ == "__main__":
    sys.exit(main())
