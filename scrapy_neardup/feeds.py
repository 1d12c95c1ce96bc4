"""What feed exports have on disk.

``item_scraped`` does not mean that an item is on disk: a feed buffers it, and a kill loses the
buffer. What was committed counts as unconfirmed until the feeds are known to be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BufferedIOBase
from typing import TYPE_CHECKING

from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Feeds:
    """The feed exports of a crawl.

    :param exporter: Scrapy's own.
    """

    def __init__(self, exporter: FeedExporter) -> None:
        self._exporter = exporter

    @classmethod
    def of(cls, crawler: Crawler) -> Feeds | None:
        """Those of a crawl; ``None`` where it has none."""
        exporter = crawler.get_extension(FeedExporter)
        return None if exporter is None or not exporter.feeds else cls(exporter)

    def flush(self) -> list[int] | None:
        """Hand all that is buffered to the system.

        :returns: descriptors to be synchronised and then closed, see :func:`synchronise`; ``None``
            where it cannot be told what is stored before a feed is closed: one that is packed on
            its way, or that is uploaded when it is complete.
        :raises OSError: when the disk does not take it.
        """
        files = []
        for slot in self._exporter.slots:
            if not isinstance(slot.storage, FileFeedStorage):
                return None
            if slot.file is None:
                continue  # nothing was written to it yet
            if not isinstance(slot.file, BufferedIOBase):
                return None
            files.append(slot.file)
        for file in files:
            file.flush()
        return [os.dup(file.fileno()) for file in files]

    @property
    def has_failed(self) -> bool:
        """Was a feed not stored when it was complete?"""
        stats = self._exporter.crawler.stats
        assert stats
        return any(name.startswith("feedexport/failed_count/") for name in stats.get_stats())


def synchronise(descriptors: Iterable[int]) -> None:
    """Have the system write files to disk, and close these descriptors.

    :raises OSError: when the disk does not take it.
    """
    for descriptor in descriptors:
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
