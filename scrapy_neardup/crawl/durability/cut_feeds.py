"""Moves feeds aside that a kill has cut off and that cannot be read if more is appended."""

from __future__ import annotations

import logging
from itertools import count
from pathlib import Path

from scrapy.extensions.feedexport import FeedSlot, FileFeedStorage

logger = logging.getLogger(__name__)

_MOVED = (
    "The last run did not end cleanly and may have cut off %s, which is compressed, so that what "
    "is appended to it could not be read. It is now %s, and this run begins a new file"
)
_STAYS = (
    "The last run did not end cleanly and may have cut off %s, which is compressed and cannot be "
    "moved aside: what is appended now may not be readable: %s"
)


class CutFeeds:
    """The files that a run, which did not end cleanly, may have cut off.

    A reader of gzip data takes what follows a member that was cut off for the rest of it. So the
    next run begins a file of its own, and of the old one all can be read that could be before.
    """

    def __init__(self) -> None:
        #: Files that this run has begun, or that it appends to.
        self._own: set[str] = set()

    def move_aside(self, slot: FeedSlot) -> None:
        """Move the file of a feed aside, before its first item, if the feed is to append to it."""
        storage = slot.storage
        if not isinstance(storage, FileFeedStorage) or storage.path in self._own:
            return
        self._own.add(storage.path)
        path = Path(storage.path)
        is_packed = bool(slot.feed_options.get("postprocessing"))
        if not is_packed or storage.write_mode != "ab" or not path.is_file():
            return
        if not path.stat().st_size:
            return
        aside = _free_name(path)
        try:
            path.rename(aside)
        except OSError as error:
            logger.warning(_STAYS, path, error)
        else:
            logger.warning(_MOVED, path, aside)


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.cut-{number}") for number in count(1))
    return next(name for name in names if not name.exists())
