"""``scrapy neardup evaluate``: measure thresholds on known pairs, and recommend the best."""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.table import Table
from scrapy.settings import BaseSettings

from ..exceptions import InputError
from ..hashing.simhash_index import MAX_DISTANCE
from ..matching.rule import Rule
from ..matching.site_boilerplate import Boilerplates
from ..matching.verdict import Match
from ..signatures.signature import PageSignature
from ..sources.readers import PageReader
from ..workers import Failure, sign_record
from .support.labelled_pairs import Pair, SkippedPairs, read_pairs
from .support.options import Commands, Judge, add_cache, add_judge, add_pages, share
from .support.output import (
    atomic_output,
    format_counts,
    print_message,
    print_output,
    report_skipped,
    table,
)
from .support.progress import with_progress

DISTANCES = range(MAX_DISTANCE + 1)
SIMILARITIES = tuple(round(0.05 * step, 2) for step in range(21))

_Grid = npt.NDArray[np.int64]

#: With fewer pairs, the advice says so; as in the report, see thresholds.js.
_ENOUGH_PAIRS = 10

#: Suffixes of plots.
_PLOTS = ("svg", "png", "pdf")


def add_command(commands: Commands) -> None:
    """Add the sub-command."""
    summary = "Measure precision and recall of thresholds on known pairs, and recommend the best."
    parser = commands.add("evaluate", summary, run)
    add_pages(parser)
    parser.add_argument(
        "--pairs",
        required=True,
        metavar="FILE",
        help="CSV (plain, gzip, zstd) with the columns id_a, id_b, and label (duplicate, distinct, "
        "unclear) or jaccard or both; a label takes precedence",
    )
    parser.add_argument(
        "--jaccard",
        type=share,
        default=0.8,
        metavar="J",
        help="least jaccard, 0 to 1, of duplicates among pairs without a label "
        "(default: %(default)g)",
    )
    parser.add_argument(
        "--precision",
        type=share,
        default=0.99,
        metavar="P",
        help="precision, 0 to 1, that recommended thresholds must reach (default: %(default)g)",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="plot precision and recall to a .svg, .png or .pdf file"
    )
    add_judge(parser, thresholds=("min_features", "scope"))
    add_cache(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Print precision and recall of all thresholds, and a recommendation."""
    if options.plot:
        _require_plot(options.plot)
    skipped = SkippedPairs()
    pairs = read_pairs(options.pairs, options.jaccard, skipped)
    pages = PageReader(options.pages, options.columns)
    judge = Judge.from_options(options, settings)
    signatures = _signatures(pairs, pages, judge)
    detector = judge.detector
    figures = Figures.count(pairs, signatures, detector.rule, detector.store.boilerplates, skipped)
    if not figures.duplicates:
        raise InputError(options.pairs, _no_duplicates(skipped))
    best = figures.recommended(options.precision)
    print_output(
        figures.sentence(),
        _grid("Recall, %", figures.recall),
        _grid("Precision, %", figures.precision),
        _advice(figures, best, options.precision),
    )
    if options.plot:
        _plot(options.plot, figures, best)
        print_message(f"{options.plot}: written")
    if skipped:
        print_message(f"pairs left out: {skipped.total()} ({format_counts(skipped)})")
    if rows := skipped.unusable_rows():
        print_message(f"{options.pairs}: {rows}")
    report_skipped(pages)


def _no_duplicates(skipped: SkippedPairs) -> str:
    """Return why no thresholds can be measured."""
    rows = skipped.unusable_rows()
    return (
        "no pair of duplicates whose pages are among the stored pages "
        f"({format_counts(skipped) or 'no pair'}); pages are matched by id, or by URL where they "
        "have none" + (f"; {rows}" if rows else "")
    )


def _signatures(pairs: list[Pair], pages: PageReader, judge: Judge) -> dict[str, PageSignature]:
    """Return the signatures of the pages in the pairs; learn the boilerplate from all pages."""
    wanted = {name for pair in pairs for name in (pair.a, pair.b)}
    signatures: dict[str, PageSignature] = {}
    failures: Counter[str] = Counter()
    for record, outcome in judge.results(sign_record, pages, "evaluate"):
        if isinstance(outcome, Failure):
            failures[outcome.reason] += 1
            continue
        judge.detector.check(outcome)
        if str(record.id) in wanted:
            signatures.setdefault(str(record.id), outcome)
    if failures:
        print_message(f"pages that cannot be judged: {format_counts(failures)}")
    return signatures


def _grid(title: str, shares: npt.NDArray[np.float64]) -> Table:
    rows = (
        (f"{similarity:.2f}", *(_percent(share) for share in shares[:, column]))
        for column, similarity in enumerate(SIMILARITIES)
    )
    heads = [f"{distance:>4}" for distance in DISTANCES]
    title = f"{title} (columns: distance)"
    return table("similarity", *heads, rows=rows, title=title, dense=True)


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else "100" if share == 1 else f"{100 * share:.1f}"


def _advice(figures: Figures, best: tuple[int, int] | None, precision: float) -> str:
    rule = f"greatest recall with a precision of at least {precision:g}; of equals, the strictest"
    if best is None:
        highest = np.nanmax(figures.precision)
        return f"No recommendation ({rule}): the highest precision is {highest:.3f}."
    row, column = best
    return (
        f"Recommended ({rule}): NEARDUP_MAX_DISTANCE = {DISTANCES[row]}, "
        f"NEARDUP_MIN_SIMILARITY = {SIMILARITIES[column]:g}: "
        f"recall {figures.recall[best]:.3f} ({figures.hits[best]} of {figures.duplicates}), "
        f"precision {figures.precision[best]:.3f} ({figures.wrong[best]} wrong)."
        + _caveat(figures.duplicates + figures.distinct)
    )


def _caveat(n_pairs: int) -> str:
    if n_pairs >= _ENOUGH_PAIRS:
        return ""
    return (
        f"\nPairs behind this recommendation: {n_pairs}. Fewer than ten pairs are too few to rely "
        "on; label more."
    )


def _require_plot(path: str) -> None:
    """Check that a plot can be written: matplotlib is there, and the file's name fits."""
    if _kind(path) not in _PLOTS:
        raise InputError(path, f"the name of a plot ends in {', '.join(f'.{k}' for k in _PLOTS)}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise InputError(path, 'plots need a package: pip install "scrapy-neardup[plot]"') from None


def _plot(path: str, figures: Figures, best: tuple[int, int] | None) -> None:
    """Plot recall and precision over similarity, with a line for each distance."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(11, 4.5), layout="constrained")
    panels = drawing.subplots(1, 2, sharex=True)
    colours = mpl.colormaps["viridis"].resampled(len(DISTANCES))
    for panel, name, shares in zip(
        panels, ("recall", "precision"), (figures.recall, figures.precision), strict=True
    ):
        for row, distance in enumerate(DISTANCES):
            panel.plot(SIMILARITIES, shares[row], color=colours(row), label=str(distance))
        if best is not None:
            panel.plot(SIMILARITIES[best[1]], shares[best], "o", color="crimson", zorder=3)
        panel.set(xlabel="required similarity (NEARDUP_MIN_SIMILARITY)", ylabel=name)
        panel.grid(alpha=0.3)
    panels[1].legend(title="distance", fontsize="small", ncols=2)
    drawing.suptitle(figures.sentence())
    with atomic_output(path) as part:
        drawing.savefig(part, format=_kind(path), dpi=150)


def _kind(path: str) -> str:
    return Path(path).suffix.removeprefix(".").lower()


@dataclass(frozen=True)
class Figures:
    """Numbers of pairs that a rule finds at each distance (rows) and similarity (columns).

    :ivar hits: shape ``(12, 21)``, pairs of duplicates that are found.
    :ivar wrong: shape ``(12, 21)``, pairs of distinct pages that are found.
    :ivar duplicates: number of pairs of duplicates.
    :ivar distinct: number of pairs of distinct pages.
    """

    hits: _Grid
    wrong: _Grid
    duplicates: int
    distinct: int

    @classmethod
    def count(
        cls,
        pairs: list[Pair],
        signatures: Mapping[str, PageSignature],
        rule: Rule,
        boilerplates: Boilerplates,
        skipped: Counter[str],
    ) -> Figures:
        """Compare each pair by the rule with all combinations of thresholds.

        :param signatures: signatures by the ids of pages, as strings.
        :param boilerplates: the boilerplate learned of the sites.
        :param skipped: counts the pairs without signatures.
        """
        found = {True: _empty_grid(), False: _empty_grid()}
        number: Counter[bool] = Counter()
        for pair in with_progress(pairs, None, "compare", "pairs", len(pairs)):
            if pair.a not in signatures or pair.b not in signatures:
                skipped["page not there"] += 1
                continue
            number[pair.same] += 1
            found[pair.same] += _found(rule, boilerplates, signatures[pair.a], signatures[pair.b])
        return cls(found[True], found[False], number[True], number[False])

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """Share of the duplicates that are found."""
        return self.hits / self.duplicates

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """Share of the found pairs that are duplicates; NaN where none is found."""
        with np.errstate(invalid="ignore"):
            return self.hits / (self.hits + self.wrong)

    def recommended(self, precision: float) -> tuple[int, int] | None:
        """Return row and column of the best thresholds; ``None`` if none reach the precision.

        The best have the greatest recall; of equals, the highest similarity, then the smallest
        distance.
        """
        # A comparison with NaN is false.
        fit = self.precision >= precision
        if not fit.any():
            return None
        recall = np.where(fit, self.hits, -1)
        places = np.argwhere(recall == recall.max())
        row, column = max(places.tolist(), key=lambda place: (place[1], -place[0]))
        return row, column

    def sentence(self) -> str:
        return f"{self.duplicates} pairs of duplicates, {self.distinct} of distinct pages"


def _empty_grid() -> _Grid:
    return np.zeros((len(DISTANCES), len(SIMILARITIES)), np.int64)


def _found(rule: Rule, boilerplates: Boilerplates, a: PageSignature, b: PageSignature) -> _Grid:
    """Return an array, shape ``(12, 21)``, of 1 where the rule finds the pair and 0 elsewhere.

    A stricter similarity never finds more, so a binary search for each distance is enough.
    """

    def refuses(distance: int, similarity: float) -> bool:
        asked = replace(rule, max_distance=distance, min_similarity=similarity)
        return not isinstance(asked.compare_either_way(a, b, boilerplates), Match)

    found = _empty_grid()
    if a.n_features and b.n_features:
        for row, distance in enumerate(DISTANCES):
            found[row, : bisect_right(SIMILARITIES, False, key=partial(refuses, distance))] = 1
    return found
