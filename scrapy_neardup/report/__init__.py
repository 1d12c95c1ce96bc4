"""Writes the offline HTML report."""

from __future__ import annotations

from .columns import Columns, Origin
from .decisions import Decision, DecisionReader
from .document import render_report
from .stored import stored_decisions
from .texts import KEPT_MB, KeptTexts

__all__ = [
    "KEPT_MB",
    "Columns",
    "Decision",
    "DecisionReader",
    "KeptTexts",
    "Origin",
    "render_report",
    "stored_decisions",
]
