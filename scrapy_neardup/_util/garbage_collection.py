"""Keeps garbage collection from blocking the event loop of a crawl."""

from __future__ import annotations

import gc

#: Crawls of this process for which objects are frozen.
_n_crawls = 0


def freeze() -> None:
    """Exclude all current objects from garbage collection until the end of the crawl.

    A full collection that walks through them blocks the event loop for some 0.1 s, and Scrapy's
    tasks make full collections frequent.
    """
    global _n_crawls  # noqa: PLW0603 (one garbage collector for all)
    _n_crawls += 1
    # Garbage of an earlier crawl would be frozen as well, and stay.
    gc.collect()
    gc.freeze()


def unfreeze() -> None:
    """Undo :func:`freeze` when no crawl is left."""
    global _n_crawls  # noqa: PLW0603
    _n_crawls -= 1
    if not _n_crawls:
        gc.unfreeze()
