"""Decision on the first pages of a site, whose boilerplate is not known yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from scrapy_neardup.text.titles import Title

from ..common.tables import Table
from ..quality.detection import Signatures, compare_all, crawl, new_detector, shuffled
from ..quality.figures import Yardstick
from ..quality.known_pairs import Corpus, Pair
from .shared import known, signed

_ORDERS = 3
#: Titles of a site that are known when a page is judged: name, least and most.
_STAGES = (("0 to 3", 0, 3), ("4 to 9", 4, 9), ("10 or more", 10, None))
_HEAD = ("pages", "dropped", "J<0.7", "J<0.5", "labelled distinct", "kept, merged at the end")


def first_pages(corpus: Corpus) -> list[Table]:
    """Return the drops within a site, by the number of its titles that were known then."""
    yardstick = known(corpus)
    signatures = signed(corpus)
    table = Table(
        "pages judged against pages of their site, by the site's titles known then",
        ("order", "titles known", *_HEAD),
    )
    places = range(len(signatures))
    orders = {"of the files": list(places)}
    orders |= {f"random {seed}": shuffled(len(places), seed) for seed in range(1, _ORDERS + 1)}
    for name, order in orders.items():
        for row in _rows(yardstick, signatures, order):
            table.add(name, *row)
    table.notes += [
        "the page's own title is counted; J is of pairs with at least 50 tokens on both sides",
        "kept, merged at the end: would be taken for an earlier page by the frame of all pages",
    ]
    return [table]


def _rows(
    yardstick: Yardstick, signatures: Signatures, order: Sequence[int]
) -> Iterable[tuple[object, ...]]:
    detector = new_detector()
    dropped = crawl(detector, signatures, order)
    kept = kept_too_long(yardstick.sites, dropped, compare_all(detector, signatures), order)
    titles = titles_known(signatures, order)
    for name, least, most in _STAGES:
        stage = {p for p, n in titles.items() if n >= least and (most is None or n <= most)}
        yield name, len(stage), *_figures(yardstick, dropped, stage), len(kept & stage)


def _figures(
    yardstick: Yardstick, dropped: Mapping[int, int], stage: set[int]
) -> tuple[int, int, int, int]:
    sites = yardstick.sites
    drops = {
        (min(page, original), max(page, original))
        for page, original in dropped.items()
        if page in stage and sites[page] == sites[original]
    }
    f = yardstick.of_pairs(drops)
    return len(drops), f.below_70, f.below_50, yardstick.of_labels(drops).distinct.part


def titles_known(signatures: Signatures, order: Iterable[int]) -> dict[int, int]:
    """Return the number of titles of its site that were known when each page was judged."""
    titles: defaultdict[str, set[Title]] = defaultdict(set)
    counts = {}
    for place in order:
        if signature := signatures[place]:
            titles[signature.site] |= {signature.title} - {()}
            counts[place] = len(titles[signature.site])
    return counts


def kept_too_long(
    sites: Sequence[str], dropped: Mapping[int, int], hits: Iterable[Pair], order: Sequence[int]
) -> set[int]:
    """Pages kept beside an earlier page of their site that they are one with in the end."""
    turn = {place: number for number, place in enumerate(order)}
    return {
        max(pair, key=turn.__getitem__)
        for pair in hits
        if sites[pair[0]] == sites[pair[1]] and dropped.keys().isdisjoint(pair)
    }
