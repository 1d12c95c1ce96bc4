"""What feed exports have on disk.

``item_scraped`` does not mean that an item is on disk: a feed buffers it, and a kill loses the
buffer. What was committed counts as unconfirmed until the feeds are known to be written. Nor does
it mean that a feed took the item: Scrapy logs that one failed, and goes on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.extensions.feedexport import (
    FeedExporter,
    FeedSlot,
    FileFeedStorage,
    GCSFeedStorage,
    S3FeedStorage,
    StdoutFeedStorage,
)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider

logger = logging.getLogger(__name__)

#: Formats of which each line is an item.
_BY_LINE = ("jsonlines", "jsonl", "jl")

#: In the name of a feed: the number of the part, which each run counts anew.
_BATCH = "%(batch_id)"


class FeedTarget(NamedTuple):
    """What a feed is written to.

    :ivar id: the same in each run that writes there; without any password.
    :ivar is_overwritten: will what may be there be replaced?
    """

    id: str
    is_overwritten: bool


class Feeds:
    """The feed exports of a crawl.

    :param exporter: Scrapy's own.
    """

    def __init__(self, exporter: FeedExporter) -> None:
        self._exporter = exporter
        #: Those with items, by their ids; full parts among them, which are replaced by new ones.
        self._unclosed: dict[int, FeedSlot] = {}
        #: Files that were closed, and not synchronised since.
        self._closed: list[str] = []
        self._has_failed = False
        self._exports_here = False

    @classmethod
    def of(cls, crawler: Crawler) -> Feeds | None:
        """Those of a crawl; ``None`` where it has none."""
        exporter = crawler.get_extension(FeedExporter)
        if exporter is None or not exporter.feeds:
            return None
        feeds = cls(exporter)
        crawler.signals.connect(feeds.slot_closed, signals.feed_slot_closed)
        if type(exporter).item_scraped is FeedExporter.item_scraped:
            # Nothing else tells whether a feed took an item, and it has to be known before the
            # item counts as stored.
            crawler.signals.disconnect(exporter.item_scraped, signals.item_scraped)
            feeds._exports_here = True
        return feeds

    def targets(self) -> list[FeedTarget]:
        """What the feeds are written to, of parts the first; asked before there is any item."""
        return [FeedTarget(_id_of(slot), _overwrites(slot)) for slot in self._exporter.slots]

    def export(self, item: Any, spider: Spider) -> bool:
        """Hand an item to the feeds. Did they take it?"""
        slots = self._exporter.slots
        try:
            for slot in slots:
                if slot.file is None:
                    _end_last_line(slot)
            if self._exports_here:
                self._exporter.item_scraped(item, spider)
        except Exception as error:
            # What was not written may be one of a page's several items.
            self._has_failed = self._has_failed or isinstance(error, OSError)
            logger.error("A feed did not take an item: %s", error, exc_info=True)
            return False
        finally:
            self._unclosed.update((id(slot), slot) for slot in slots if slot.itemcount)
        return True

    def slot_closed(self, slot: FeedSlot) -> None:
        """A feed, or a part of one, is complete."""
        self._unclosed.pop(id(slot), None)
        if isinstance(slot.storage, FileFeedStorage) and slot.itemcount:
            self._closed.append(slot.storage.path)

    def flush(self) -> Callable[[], None] | None:
        """Hand all that is buffered to the system.

        :returns: what has the system write it to disk, to be called in a thread; ``None`` where it
            cannot be told what is stored before a feed is closed: one that is packed on its way,
            or that is uploaded when it is complete. Also when something was lost.
        :raises OSError: when the disk does not take it.
        """
        if self.has_failed:
            return None
        files = []
        for slot in {**self._unclosed, **{id(s): s for s in self._exporter.slots}}.values():
            if not isinstance(slot.storage, FileFeedStorage):
                return None
            if slot.file is None:
                continue  # nothing was written to it yet
            if not isinstance(slot.file, BufferedIOBase) or slot.file.closed:
                return None
            files.append(slot.file)
        for file in files:
            file.flush()
        return self._synchronising([os.dup(file.fileno()) for file in files])

    def complete(self) -> Callable[[], None]:
        """What has the system write to disk what was closed last, to be called in a thread."""
        return self._synchronising([])

    def _synchronising(self, descriptors: Sequence[int]) -> Callable[[], None]:
        paths, self._closed = self._closed, []
        return partial(self._synchronise, descriptors, paths)

    def _synchronise(self, descriptors: Sequence[int], paths: Sequence[str]) -> None:
        """Have the system write files to disk, and close these descriptors.

        :raises OSError: when the disk does not take it. What was to be written may be gone then,
            and the system does not say so a second time, so the feeds have failed.
        """
        with ExitStack() as files:
            for descriptor in descriptors:
                files.callback(os.close, descriptor)
            try:
                for descriptor in descriptors:
                    os.fsync(descriptor)
                for path in paths:
                    # One that was moved when it was complete is in the care of whoever did so.
                    with suppress(FileNotFoundError), Path(path).open("rb+") as file:
                        os.fsync(file.fileno())
            except OSError:
                self._has_failed = True
                raise

    @property
    def has_failed(self) -> bool:
        """Did a feed not take an item, or was one not stored when it was complete?"""
        stats = self._exporter.crawler.stats
        assert stats
        return self._has_failed or any(
            name.startswith("feedexport/failed_count/") for name in stats.get_stats()
        )

    @property
    def are_stored(self) -> bool:
        """Are they all, in the end? Of a feed that cannot even be completed Scrapy says nothing."""
        return not self.has_failed and not self._unclosed


def _id_of(slot: FeedSlot) -> str:
    if isinstance(slot.storage, FileFeedStorage):
        return str(Path(slot.storage.path).resolve())
    if isinstance(slot.storage, StdoutFeedStorage):
        return "stdout"
    parts = urlsplit(slot.uri)
    # There may be a password before the host, and a key behind the path.
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _overwrites(slot: FeedSlot) -> bool:
    storage = slot.storage
    if isinstance(storage, FileFeedStorage):
        path = Path(storage.path)
        has_something = _BATCH in slot.uri_template or (path.is_file() and path.stat().st_size > 0)
        return storage.write_mode == "wb" and has_something
    if isinstance(storage, StdoutFeedStorage):
        return False
    # These two never append. Of FTP overwriting is the default; of a project's own storage nobody
    # can tell, and to store an item twice is better than to lose it.
    never_appends = isinstance(storage, (S3FeedStorage, GCSFeedStorage))
    return never_appends or bool(slot.feed_options.get("overwrite", True))


def _end_last_line(slot: FeedSlot) -> None:
    """Of a file that a kill or a full disk has cut off: the next item would be part of it."""
    storage = slot.storage
    if slot.format not in _BY_LINE or not isinstance(storage, FileFeedStorage):
        return
    path = Path(storage.path)
    if storage.write_mode != "ab" or not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            file.write(b"\n")
            logger.warning("The last line of %s is not whole, it is left as it is", path)
