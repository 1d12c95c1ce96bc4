"""Keeps garbage collection from blocking the event loop of a crawl."""

from __future__ import annotations

import gc

#: Crawls of this process for which objects are frozen.
_n_crawls = 0


def collect_before_crawl() -> None:
    """Collect the garbage of earlier crawls, which :func:`freeze` would keep.

    It blocks the event loop for some 0.1 s, so it is done before the spider is opened.
    """
    gc.collect()


def freeze() -> None:
    """Exclude all current objects from garbage collection until the end of the crawl.

    A full collection that walks through them blocks the event loop for some 0.1 s, and Scrapy's
    tasks make full collections frequent.
    """
    global _n_crawls  # noqa: PLW0603 (one garbage collector for all)
    _n_crawls += 1
    gc.freeze()


def unfreeze() -> None:
    """Undo :func:`freeze` when no crawl is left."""
    global _n_crawls  # noqa: PLW0603
    _n_crawls -= 1
    if not _n_crawls:
        gc.unfreeze()
