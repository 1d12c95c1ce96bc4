"""Tracks what feed exports have on disk.

``item_scraped`` does not mean that an item is on disk: a feed buffers it, and a kill loses the
buffer. A committed page counts as unconfirmed until the feeds are known to be written. Nor does
the signal mean that a feed accepted the item: when one fails, Scrapy logs the error and goes on,
and filters may keep the item out of all of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exporters import BaseItemExporter
from scrapy.extensions.feedexport import (
    FeedExporter,
    FeedSlot,
    FileFeedStorage,
    GCSFeedStorage,
    S3FeedStorage,
    StdoutFeedStorage,
)

from ...exceptions import StoreError
from ...stores import Store
from ..async_bridge import in_thread
from .cut_feeds import CutFeeds
from .unconfirmed_pages import UnconfirmedPages

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider

logger = logging.getLogger(__name__)

_OVERWRITTEN = (
    "This run overwrites %s, but store %s knows %d pages of earlier runs: items of theirs that are "
    "deleted here are not stored again from copies of these pages. To keep them, append "
    "('overwrite': False, -o), or write each run to a file of its own ('%%(time)s' in its name)"
)
#: When a feed could not be stored, while the crawl goes on and in the end.
PAGES_LOST = (
    "A feed could not be stored: the %d pages whose items may have been in it do not count as "
    "stored any more, so that copies that come from now on are stored"
)
ITEMS_LOST = (
    "A feed could not be stored: its items are lost, but for those of which a copy came later. The "
    "store was in memory, so that the next run stores all pages again"
)
FORGOTTEN_NEXT = (
    "A feed could not be stored: the next run will forget the pages recorded since all feeds were "
    "last on disk, so that they are stored again"
)
#: Formats with one item per line.
_LINE_FORMATS = ("jsonlines", "jsonl", "jl")


class Feeds:
    """The feed exports of a crawl, as Scrapy's extension makes them."""

    def __init__(self, exporter: FeedExporter) -> None:
        self._exporter = exporter
        #: Slots with items, including full batches that new slots have replaced, each with the
        #: number of the first page whose items it may have.
        self._unclosed: dict[FeedSlot, int] = {}
        #: Number behind the pages whose items all feeds are known to have on disk.
        self._written = 0
        self._can_synchronise = True
        self._pages = UnconfirmedPages()
        self._on_loss: Callable[[int], None] = lambda since: None
        self._n_losses = self._n_not_synchronised = 0
        #: Files that were closed and are not yet synchronised.
        self._closed: list[str] = []
        self._has_failed = False
        self._left_out: set[type] = set()
        self._cut: CutFeeds | None = None
        self._exports_here = type(exporter).item_scraped is FeedExporter.item_scraped

    @classmethod
    def of(cls, crawler: Crawler) -> Feeds | None:
        """Return the feeds of a crawl; ``None`` where it has none."""
        exporter = crawler.get_extension(FeedExporter)
        if exporter is None or not exporter.feeds:
            return None
        feeds = cls(exporter)
        crawler.signals.connect(feeds.slot_closed, signals.feed_slot_closed)
        if feeds._exports_here:
            # Call the handler ourselves: whether a feed accepts an item must be known before the
            # item counts as stored, and nothing else tells.
            crawler.signals.disconnect(exporter.item_scraped, signals.item_scraped)
        return feeds

    @property
    def has_failed(self) -> bool:
        """Whether a feed failed to export an item, or to be stored."""
        return self._has_failed or self._n_not_stored > 0

    @property
    def are_stored(self) -> bool:
        """Whether all feeds are closed and stored; Scrapy reports no failure to close one."""
        return not self.has_failed and not self._unclosed

    @property
    def _n_not_stored(self) -> int:
        """Number of feeds and batches that could not be stored."""
        assert self._exporter.crawler.stats
        stats = self._exporter.crawler.stats.get_stats()
        failed = "feedexport/failed_count/"
        return sum(n for name, n in stats.items() if name.startswith(failed))

    def _first_at_risk(self, *, of_all: bool) -> int:
        """Return the number of the first page whose items may be lost while the crawl goes on.

        A feed that is stored in the end only, and not synchronised before, cannot fail earlier.

        :param of_all: whether this may be items of any feed, not of unclosed batches alone.
        """
        slots = self._exporter.slots
        at_risk = [
            number
            for slot, number in self._unclosed.items()
            if slot.feed_options.get("batch_item_count") or slot not in slots
        ]
        # Of what another exporter has, not all is known.
        if of_all or not self._exports_here:
            at_risk.append(self._written)
        return min(at_risk, default=self._pages.next)

    def watch(self, pages: UnconfirmedPages, on_loss: Callable[[int], None]) -> None:
        """Tell about feeds that lose items which they had taken.

        :param pages: those whose items the feeds take; the feeds settle them.
        :param on_loss: called with the number of the first page whose items may be lost.
        """
        self._pages, self._on_loss = pages, on_loss

    def move_cut_ones_aside(self) -> None:
        """Move files aside that the last run may have cut off, now and when batches are begun."""
        self._cut = CutFeeds()
        for slot in self._exporter.slots:
            self._cut.move_aside(slot)

    def targets(self) -> dict[str, bool]:
        """Return whether each feed replaces what earlier runs wrote there.

        Call it before there is any item. The keys are ids, the same in each run that writes there.
        """
        return {_id_of(slot): _overwrites(slot) for slot in self._exporter.slots}

    def export(self, item: Any, spider: Spider) -> bool:
        """Export an item to the feeds; return whether it is in one, and none failed."""
        slots = self._exporter.slots
        before = sum(slot.itemcount for slot in slots)
        # Another exporter may have exported the item already, and earlier ones.
        first = self._pages.next if self._exports_here else 0
        try:
            for slot in slots:
                if slot.file is None and self._cut is not None:
                    self._cut.move_aside(slot)
                if slot.file is None:
                    _end_last_line(slot)
            if self._exports_here:
                self._exporter.item_scraped(item, spider)
        except Exception as error:
            # The lost item may be one of several of its page.
            self._has_failed = self._has_failed or isinstance(error, OSError)
            logger.error("A feed failed to export an item: %s", error, exc_info=True)
            return False
        finally:
            for slot in slots:
                if slot.itemcount:
                    self._unclosed.setdefault(slot, first)
        is_in_one = sum(slot.itemcount for slot in slots) > before or not self._exports_here
        if not is_in_one and type(item) not in self._left_out:
            self._left_out.add(type(item))
            logger.warning(
                "The filters of all feeds reject an item of type %s: such items do not count as "
                "stored, so copies of their pages are kept",
                type(item).__name__,
            )
        return is_in_one

    def slot_closed(self, slot: FeedSlot) -> None:
        """Note that a feed, or a batch of one, has been closed."""
        # Several may have failed by now, so all that are not closed are in doubt.
        self._report_losses()
        self._unclosed.pop(slot, None)
        if isinstance(slot.storage, FileFeedStorage) and slot.itemcount:
            self._closed.append(slot.storage.path)

    async def write(self, save: Callable[[], None] | None, *, closed: bool) -> bool:
        """Write to disk what the feeds hold; return whether all items so far are there.

        :param save: called in a thread when they are.
        :param closed: whether all feeds have been closed.
        :raises OSError: when writing fails.
        """
        number = self._pages.next
        if is_written := (synchronise := self.flush(closed=closed)) is not None:
            try:
                await in_thread(synchronise)
            finally:
                self._report_losses()
            self._written = number
            first = self._unclosed.items()
            self._unclosed = {slot: max(page, number) for slot, page in first}
            if save is not None:
                await in_thread(save)
        self._pages.settle_before(self._first_at_risk(of_all=self._can_synchronise))
        return is_written

    def _report_losses(self) -> None:
        """Report what feeds have lost since this was last called."""
        n_losses = self._n_not_stored + self._n_not_synchronised
        if n_losses > self._n_losses:
            self._n_losses = n_losses
            self._on_loss(self._first_at_risk(of_all=self._n_not_synchronised > 0))

    def flush(self, *, closed: bool) -> Callable[[], None] | None:
        """Flush the buffers of the feeds to the operating system.

        :param closed: whether all feeds have been closed, or should have been.
        :returns: a function that synchronises the files to disk, to be called in a thread. ``None``
            if a feed has failed, or if one may be stored only when it is closed, see
            :func:`_is_written_at_once`.
        :raises OSError: when writing fails.
        """
        if closed:
            return self._synchronising([]) if self.are_stored else None
        self._can_synchronise = False
        if self.has_failed:
            return None
        files = []
        for slot in {*self._unclosed, *self._exporter.slots}:
            if slot.file is None and isinstance(slot.storage, FileFeedStorage):
                continue  # nothing has been written yet
            if slot.file is None or slot.file.closed or not _is_written_at_once(slot):
                return None
            files.append(slot.file)
        self._can_synchronise = True
        for file in files:
            file.flush()
        return self._synchronising([os.dup(file.fileno()) for file in files])

    def _synchronising(self, descriptors: Sequence[int]) -> Callable[[], None]:
        """Return a function that synchronises files to disk, and closes the descriptors.

        It raises OSError when that fails. The data may be lost then, and the system does not report
        it a second time, so the feeds count as failed.
        """
        paths, self._closed = self._closed, []

        def synchronise() -> None:
            with ExitStack() as files:
                for descriptor in descriptors:
                    files.callback(os.close, descriptor)
                try:
                    for descriptor in descriptors:
                        os.fsync(descriptor)
                    for path in paths:
                        # Another component may have moved a complete file.
                        with suppress(FileNotFoundError), Path(path).open("rb+") as file:
                            os.fsync(file.fileno())
                except OSError:
                    self._has_failed = True
                    self._n_not_synchronised += 1
                    raise

        return synchronise


def warn_of_overwriting(feeds: Mapping[str, bool], store: Store) -> None:
    """Warn of feeds whose items a run without a job deletes while the store knows their pages.

    :param feeds: see :meth:`Feeds.targets`.
    """
    overwritten = sorted(feed for feed, overwrites in feeds.items() if overwrites)
    if not overwritten:
        return
    # A store that is out of reach is reported when it is used.
    with suppress(StoreError):
        if n_pages := len(store):
            logger.warning(_OVERWRITTEN, ", ".join(overwritten), store.name, n_pages)


def _id_of(slot: FeedSlot) -> str:
    if isinstance(slot.storage, FileFeedStorage):
        return str(Path(slot.storage.path).resolve())
    if isinstance(slot.storage, StdoutFeedStorage):
        return "stdout"
    parts = urlsplit(slot.uri)
    # Omit a password before the host, and a key after the path.
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _overwrites(slot: FeedSlot) -> bool:
    storage = slot.storage
    if isinstance(storage, FileFeedStorage):
        # Numbers of batches start anew in each run.
        has_content = "%(batch_id)" in slot.uri_template or _size_of(storage) > 0
        return storage.write_mode == "wb" and has_content
    if isinstance(storage, StdoutFeedStorage):
        return False
    # These two never append. FTP overwrites by default, and a custom storage may do so: it is
    # better to store an item twice than to lose it.
    never_appends = isinstance(storage, (S3FeedStorage, GCSFeedStorage))
    return never_appends or bool(slot.feed_options.get("overwrite", True))


def _is_written_at_once(slot: FeedSlot) -> bool:
    """Return whether a feed writes each item at once, into a file that is in its place.

    It does not if the file is compressed, or uploaded or moved in the end, or if its exporter ends
    the file in a way of its own: it may have kept all items until then, as those of tables do.
    """
    file: Any = slot.file
    storage, exporter = type(slot.storage), slot.exporter
    is_in_place = (
        issubclass(storage, FileFeedStorage)
        and storage.open is FileFeedStorage.open
        and storage.store is FileFeedStorage.store
    )
    if exporter is None or not (is_in_place and isinstance(file, BufferedIOBase)):
        return False
    ends_as_scrapys: bool = exporter.finish_exporting.__module__ == BaseItemExporter.__module__
    return ends_as_scrapys


def _size_of(storage: FileFeedStorage) -> int:
    path = Path(storage.path)
    return path.stat().st_size if path.is_file() else 0


def _end_last_line(slot: FeedSlot) -> None:
    """End a line that a kill or a full disk has cut off, or the next item would be appended to it.

    The file is one that this run appends to.
    """
    storage = slot.storage
    if slot.format not in _LINE_FORMATS or not isinstance(storage, FileFeedStorage):
        return
    is_packed = bool(slot.feed_options.get("postprocessing"))
    if is_packed or storage.write_mode != "ab" or not _size_of(storage):
        return
    with Path(storage.path).open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            file.write(b"\n")
            logger.warning(
                "The last line of %s is incomplete and is kept; new items start on a new line",
                storage.path,
            )
