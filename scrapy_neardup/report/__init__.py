"""Writes the offline HTML report."""

from __future__ import annotations

from .columns import Columns, Origin
from .decisions import Decision, DecisionReader, stored_decisions
from .document import render_report
from .url_table import UrlTable

__all__ = [
    "TEXT_BYTES",
    "Columns",
    "Decision",
    "DecisionReader",
    "Origin",
    "UrlTable",
    "render_report",
    "stored_decisions",
]

#: Space for the compressed texts of pages.
TEXT_BYTES = 32 * 10**6
