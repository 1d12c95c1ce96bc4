"""Keeps garbage collection from blocking the event loop of a crawl."""

from __future__ import annotations

import gc

#: New objects after which the collector looks for garbage among them, during a crawl. With Python's
#: 700 it does so several times a page, so requests and tasks that will soon end count as old, and
#: these call for full collections: 29 of them in a crawl of 3,476 pages.
_NEW_OBJECTS = 5_000
#: Collections of the other objects after which the oldest ones may be collected as well. With
#: Python's 10 that held the event loop of the same crawl for 57 and 93 ms; with 30 it is not done.
_COLLECTIONS_BEFORE_FULL = 30

#: Crawls of this process for which objects are frozen.
_n_crawls = 0
#: The thresholds that were set before them; ``None`` if they were left as they were.
_thresholds: tuple[int, int, int] | None = None


def collect_before_crawl() -> None:
    """Collect the garbage of earlier crawls, which :func:`freeze` would keep.

    It blocks the event loop for some 0.1 s, so it is done before the spider is opened.
    """
    gc.collect()


def freeze() -> None:
    """Exclude all current objects from garbage collection until the end of the crawl.

    A full collection that walks through them blocks the event loop for some 0.1 s. Collections
    become less frequent as well, unless they are rarer already or switched off.
    """
    global _n_crawls, _thresholds  # noqa: PLW0603 (one garbage collector for all)
    _n_crawls += 1
    gc.freeze()
    new, old, oldest = gc.get_threshold()
    if _n_crawls == 1 and 0 < new < _NEW_OBJECTS:
        _thresholds = new, old, oldest
        gc.set_threshold(_NEW_OBJECTS, old, max(oldest, _COLLECTIONS_BEFORE_FULL))


def unfreeze() -> None:
    """Undo :func:`freeze` when no crawl is left."""
    global _n_crawls, _thresholds  # noqa: PLW0603
    _n_crawls -= 1
    if _n_crawls:
        return
    gc.unfreeze()
    if _thresholds is not None and gc.get_threshold()[0] == _NEW_OBJECTS:
        gc.set_threshold(*_thresholds)
    _thresholds = None
