"""Plots the figures of ``evaluate``. matplotlib is imported only when it is needed."""

from __future__ import annotations

from pathlib import Path

from ...exceptions import InputError
from .figures import DISTANCES, SIMILARITIES, Figures
from .output_files import whole_file

_KINDS = ("svg", "png", "pdf")


def require(path: str) -> None:
    """Check that a plot can be written.

    :raises InputError: when matplotlib is missing or the file has another extension.
    """
    if _kind(path) not in _KINDS:
        raise InputError(path, f"the name of a plot ends in {', '.join(f'.{k}' for k in _KINDS)}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise InputError(path, 'plots need a package: pip install "scrapy-neardup[plot]"') from None


def draw(path: str, figures: Figures, best: tuple[int, int] | None) -> None:
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
