"""Finds the stored files that equal a downloaded one, and records those that a pipeline stores."""

from __future__ import annotations

import contextlib
import inspect
import logging
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import signals
from scrapy.pipelines.files import FilesPipeline, FSFilesStore
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name

from ..._util.escaping import on_one_line
from ...exceptions import StoreError
from ..async_bridge import in_thread
from ..judge import is_disabled
from ..monitoring.crawl_log import CrawlStats
from ..settings import Config
from .index import FileIndex, FileRequest, StoredFile
from .key_locks import KeyLocks
from .signature import FileSignature, sign_file

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.pipelines.files import FilesStoreProtocol
    from scrapy.pipelines.media import MediaPipeline

logger = logging.getLogger(__name__)

#: File of the index in the folder of the job; hidden in that of the files.
_INDEX_NAME = "neardup-files.sqlite"
#: Scrapy 2.14 neither waits for the outcome of media_downloaded() nor for that of the store.
_AWAITS_STORES = inspect.iscoroutinefunction(FilesPipeline.media_downloaded)
_NOT_AWAITED = (
    "Storing equal files again: this version of Scrapy does not wait for %s to store a file, "
    "Scrapy 2.15 does"
)
#: Files that are signed at the same time, so that the memory for this is bounded.
_SIGNED_AT_ONCE = 2
#: Nearly equal files that are looked for in the store, at most, until one is there.
_MAX_NEAR = 3
_SECONDS_PER_DAY = 86400.0
#: Characters of a file's suffix that are kept in another name.
_MAX_SUFFIX = 16

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class NearFile:
    """A stored file that is nearly equal.

    :ivar similarity: 0 to 1.
    """

    path: str
    similarity: float


class StoredFiles:
    """The files store of one crawl, and which contents it has.

    A content counts as stored only while the store itself says so: its file is there, and has the
    MD5 digest of the content. While the index cannot be read or written, files are stored as
    without it.

    :param index: is closed by :meth:`close`.
    :param store: the pipeline's.
    :ivar log_level: level of the messages about single files; ``None`` for no such messages.
    """

    def __init__(
        self,
        config: Config,
        index: FileIndex,
        store: FilesStoreProtocol,
        stats: CrawlStats,
    ) -> None:
        self.stats = stats
        self.log_level = config.item_log_level
        self._settings = config.file_settings
        self._index = index
        self._store = store
        self._max_wait = config.store_settings.max_wait
        self._contents = KeyLocks()
        self._paths = KeyLocks()
        # One thread for the index, for its changes to happen in order.
        self._index_thread = ThreadPoolExecutor(1, "neardup-file-index")
        self._threads = ThreadPoolExecutor(_SIGNED_AT_ONCE, "neardup-files")

    def close(self) -> None:
        """Close the index."""
        self.stats.count("files/waits", self._contents.waits)
        self._index_thread.submit(self._index.close)
        self._index_thread.shutdown()
        self._threads.shutdown()

    async def sign(self, body: bytes) -> FileSignature:
        """Return the signature of a file."""
        if len(body) > self._settings.max_bytes:
            self.stats.count("files/exact_only")
        call = partial(sign_file, body, self._settings.max_bytes)
        return await in_thread(call, self._threads)

    def place_of(self, path: str) -> str:
        """Return the path by which a file is known here: one for each file on the disk."""
        if isinstance(self._store, FSFilesStore):
            return normpath(path.lstrip("/"))
        return path

    @contextlib.asynccontextmanager
    async def claim(self, signature: FileSignature) -> AsyncIterator[None]:
        """Judge and store a content within the block, after equal ones that are being stored."""
        async with self._contents.hold(signature.digest, self._max_wait):
            yield

    async def find(
        self, signature: FileSignature, request: FileRequest, info: MediaPipeline.SpiderInfo
    ) -> StoredFile | None:
        """Return a file with this content, and link the request to it.

        :returns: the file of the request itself if it has the content; ``None`` if no file of the
            store has it.
        """
        found = await self._ask(lambda: self._index.find(signature.digest), None)
        for file in sorted(found or (), key=lambda file: file.request != request):
            if await self._is_there(file, info) and await self._ask(
                partial(self._index.link, request, file, time.time()), default=False
            ):
                return file
        return None

    async def find_linked(
        self, request: FileRequest, max_days: float, info: MediaPipeline.SpiderInfo
    ) -> tuple[StoredFile | None, bool]:
        """Return the file that a request is linked to, and whether it is linked to any.

        :param max_days: age in days up to which a file is up to date.
        :returns: ``None`` for a file that is not up to date, or no longer there.
        """
        linked = await self._ask(lambda: self._index.linked(request), None)
        if linked is None:
            return None, False
        file, checked = linked
        is_recent = time.time() - checked <= max_days * _SECONDS_PER_DAY
        return file if is_recent and await self._is_there(file, info) else None, True

    async def is_expected(self, path: str, checksum: str) -> bool:
        """Return whether a file that the store has at a path is the one that was recorded there.

        One that was stored without the index is. One that was being written when the process was
        killed is not.

        :param checksum: its MD5 digest.
        """
        expected = await self._ask(lambda: self._index.expected(path), None)
        return expected is None or expected == checksum

    @contextlib.asynccontextmanager
    async def writing(
        self, path: str, signature: FileSignature, info: MediaPipeline.SpiderInfo
    ) -> AsyncIterator[str]:
        """Enter a block that stores a file; the target is the path to store it at.

        It is another than the given path where that has a content that other requests are linked
        to. The block has to record the file as well.
        """
        async with self._paths.hold(path):
            is_free = await self._ask(lambda: self._index.make_way(path, signature.digest), None)
            if is_free is None:
                # It is not known whether anything is linked to the path.
                is_free = not await self._stat(path, info)
            if is_free:
                yield path
                await self._ask(partial(self._index.finish, path), None)
                return
        target = _path_beside(path, signature)
        logger.debug(
            "Keeping %s, to which other files refer; the new content is stored as %s",
            on_one_line(path),
            target,
        )
        self.stats.count("files/moved")
        async with self._paths.hold(target):
            yield target

    async def record(
        self,
        request: FileRequest,
        path: str,
        signature: FileSignature,
        info: MediaPipeline.SpiderInfo,
    ) -> NearFile | None:
        """Record a file that was stored; return another one that is nearly equal.

        Nothing is recorded if the store does not have exactly this content.
        """
        if (await self._stat(path, info)).get("checksum") != signature.md5:
            self.stats.count("files/unconfirmed")
            self.stats.warn_once(
                "files_unconfirmed",
                "The files store does not tell the MD5 digest of the file %s that was downloaded: "
                "equal ones are stored again (logged once, counted in neardup/files/unconfirmed)",
                on_one_line(path),
            )
            return None
        least = self._settings.min_similarity

        def record() -> list[tuple[StoredFile, float]]:
            # At once, so that of two files that are stored at the same time one is tagged.
            number = self._index.record(request, path, signature, time.time())
            return self._index.near(number, signature, least)

        near = await self._ask(record, None)
        for file, similarity in (near or ())[:_MAX_NEAR]:
            if await self._is_there(file, info):
                return NearFile(file.path, similarity)
        return None

    async def _is_there(self, file: StoredFile, info: MediaPipeline.SpiderInfo) -> bool:
        checksum: Any = (await self._stat(file.path, info)).get("checksum")
        return bool(checksum == file.signature.md5)

    async def _stat(self, path: str, info: MediaPipeline.SpiderInfo) -> Any:
        """Return what the store tells about a file; empty if it has none."""
        call = partial(self._store.stat_file, path, info)
        try:
            # This one reads the whole file, and blocks.
            if type(self._store) is FSFilesStore:
                return await in_thread(call, self._threads)
            return await ensure_awaitable(call()) or {}
        except Exception as error:
            # Stores raise their clients' errors for a file that they do not have.
            logger.debug("Cannot look up the file %s: %r", path, error)
            return {}

    async def _ask(self, call: Callable[[], T], default: D) -> T | D:
        """Call the index; return the default if it fails."""
        try:
            return await in_thread(call, self._index_thread)
        except Exception as error:
            # Whatever it is, the file has to be stored.
            self.stats.count("files/index_errors")
            self.stats.warn_once(
                "files_index",
                "Index of files, %s; files are stored even if they equal others (logged once, "
                "counted in neardup/files/index_errors)",
                error,
                exc_info=not isinstance(error, StoreError),
            )
            return default


def open_stored_files(crawler: Crawler, store: FilesStoreProtocol) -> StoredFiles | None:
    """Return the files of a crawl, whose index is closed with the spider; ``None`` if disabled.

    :param store: the pipeline's.
    :raises InvalidOption: when a setting has an invalid value.
    :raises StoreError: when the index cannot be used.
    """
    config = Config.from_settings(crawler.settings)
    if is_disabled(crawler, config):
        return None
    if not _AWAITS_STORES and not isinstance(store, FSFilesStore):
        logger.warning(_NOT_AWAITED, global_object_name(type(store)))
        return None
    path = _index_path(config, store)
    index = FileIndex(path)
    where = path or "in memory, for this run only"
    logger.info("Storing equal files once; %d are known (index: %s)", len(index), where)
    files = StoredFiles(config, index, store, CrawlStats(crawler))
    crawler.signals.connect(files.close, signals.spider_closed)
    return files


def _index_path(config: Config, store: FilesStoreProtocol) -> Path | None:
    """Return where the index is: beside the files, else in the job directory, else nowhere."""
    given = config.file_settings.index
    if given is not None:
        return None if given == "memory" else Path(given)
    if isinstance(store, FSFilesStore):
        return Path(store.basedir) / f".{_INDEX_NAME}"
    return None if config.job is None else config.job / _INDEX_NAME


def _path_beside(path: str, signature: FileSignature) -> str:
    """Return a path in the same folder for a content that cannot be stored at a path."""
    place = PurePosixPath(path)
    suffix = place.suffix if len(place.suffix) <= _MAX_SUFFIX else ""
    return str(place.with_name(signature.digest.hex()[:40] + suffix))
