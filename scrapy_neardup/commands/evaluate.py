"""``scrapy neardup evaluate``: measure thresholds on known pairs, and recommend the best."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.table import Table
from scrapy.settings import BaseSettings

from ..exceptions import InputError
from ..signatures.signature import PageSignature
from ..sources.readers import PageReader
from ..workers import Failure, sign_record
from .support.figures import DISTANCES, SIMILARITIES, Figures, Pair, read_pairs
from .support.options import Commands, Judge, add_pages, add_rule, add_workers, share
from .support.output_files import whole_file
from .support.terminal import counted, report_skipped, say, show, table

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
        help="CSV with the columns id_a, id_b, and label (duplicate, distinct, unclear) or "
        "jaccard or both; a label takes precedence",
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
    add_rule(parser, "max_distance", "min_similarity")
    add_workers(parser)


def run(options: argparse.Namespace, settings: BaseSettings) -> None:
    """Print precision and recall of all thresholds, and a recommendation."""
    if options.plot:
        _require_plot(options.plot)
    skipped: Counter[str] = Counter()
    pairs = read_pairs(options.pairs, options.jaccard, skipped)
    pages = PageReader(options.pages)
    judge = Judge.from_options(options, settings)
    signatures = _signatures(pairs, pages, judge)
    detector = judge.detector
    figures = Figures.count(pairs, signatures, detector.rule, detector.store.boilerplates, skipped)
    if not figures.duplicates:
        raise InputError(
            options.pairs,
            "no pair of duplicates whose pages are among the stored pages "
            f"({counted(skipped) or 'no pair'}); pages are matched by id, or by URL where they "
            "have none",
        )
    best = figures.recommended(options.precision)
    show(
        figures.sentence(),
        _grid("Recall, %", figures.recall),
        _grid("Precision, %", figures.precision),
        _advice(figures, best, options.precision),
    )
    if options.plot:
        _plot(options.plot, figures, best)
        say(f"{options.plot}: written")
    if skipped:
        say(f"pairs left out: {skipped.total()} ({counted(skipped)})")
    report_skipped(pages)


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
        say(f"pages that cannot be judged: {counted(failures)}")
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
    with whole_file(path) as part:
        drawing.savefig(part, format=_kind(path), dpi=150)


def _kind(path: str) -> str:
    return Path(path).suffix.removeprefix(".").lower()
