"""Texts of the benchmarks' corpora, and a text in two languages."""

from __future__ import annotations

from benchmarks.corpora.texts import (
    BRIDGE,
    COMMON,
    FERRY,
    MUSEUM,
    TEA,
    article,
    page,
    replaced,
    word,
)

__all__ = [
    "BRIDGE",
    "COMMON",
    "FERRY",
    "MIXED",
    "MUSEUM",
    "TEA",
    "article",
    "page",
    "replaced",
    "word",
]

MIXED = f"{FERRY[:200]} {TEA[:80]} Python 3.12 与 jieba 0.42 {MUSEUM[:120]}"
