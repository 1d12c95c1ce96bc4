"""Draws curves as SVG; equal figures give equal bytes."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from .parts import Plot


def draw(path: Path, plot: Plot) -> None:
    """Draw the curves on logarithmic scales; the legend stands beside them."""
    # Text stays text, and names of elements do not change from run to run.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "speed"}):
        drawing = Figure(figsize=(9, 4.5), layout="constrained")
        panel = drawing.subplots()
        for name, points in plot.lines.items():
            style = "--" if name in plot.dashed else "-"
            panel.plot(*zip(*points, strict=True), style, marker="o", markersize=4, label=name)
        panel.set(xscale="log", yscale="log", xlabel=plot.x, ylabel=plot.y, title=plot.title)
        panel.grid(alpha=0.3)
        panel.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small", frameon=False)
        drawing.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
