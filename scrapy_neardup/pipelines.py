"""Drops or tags items of near-duplicate pages, and stores equal files once."""

from __future__ import annotations

import hashlib
import logging
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from itemadapter.adapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.pipelines.files import FilesPipeline
from scrapy.pipelines.media import FileInfo, MediaPipeline
from scrapy.utils.defer import deferred_from_coro, ensure_awaitable
from twisted.python.failure import Failure

from ._util.escaping import on_one_line
from .crawl.files.index import FileRequest, StoredFile
from .crawl.files.stored_files import open_stored_files
from .crawl.items.item_tracker import Judgement
from .crawl.judge import NearDupJudge, copies_of, find_judge
from .crawl.monitoring.pipeline_order import log_pipelines_before
from .crawl.monitoring.start_errors import log_start_error
from .exceptions import NearDupError
from .matching.verdict import Verdict
from .reasons import Reason

if TYPE_CHECKING:
    import os

    from scrapy.http import Request, Response
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

#: Field that ``NEARDUP_ACTION = "tag"`` sets.
TAG_FIELD = "neardup"
#: Scrapy's line about a dropped item shows the whole item, often a page of text, but not its URL.
#: At this level Scrapy logs nothing; the pipeline logs a line of its own.
_UNLOGGED = "NOTSET"


class NearDuplicate(DropItem):
    """An item was dropped because its page is a near-duplicate of a page already kept.

    :ivar url: URL of the item's page.
    :ivar duplicate_of: the original's URL.
    :ivar distance: Hamming distance, 0 to 11; ``None`` with a method.
    :ivar similarity: estimated resemblance, or the method's similarity, 0.0 to 1.0.
    :ivar reason: see :class:`~scrapy_neardup.matching.verdict.Match`.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_description(verdict), log_level=_UNLOGGED)
        self.url = verdict.url
        self.duplicate_of = verdict.duplicate_of
        self.distance = verdict.distance
        self.similarity = verdict.similarity
        self.reason = verdict.reason


class UnchangedPage(DropItem):
    """An item was dropped because its page is stored and has not changed; see NEARDUP_REVISIT.

    :ivar url: URL of the page.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_description(verdict), log_level=_UNLOGGED)
        self.url = verdict.url


class SoftNotFound(DropItem):
    """An item was dropped because its page is a soft 404; see NEARDUP_SOFT_404.

    :ivar url: URL of the page.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_description(verdict), log_level=_UNLOGGED)
        self.url = verdict.url


class NearDupPipeline:
    """Drops, tags or reports items of near-duplicate pages; see ``NEARDUP_ACTION``.

    :param judge: the crawl's judge; without one, all items pass. A custom pipeline manager may
        build pipelines without ``from_crawler``.
    """

    def __init__(self, judge: NearDupJudge | None = None, crawler: Crawler | None = None) -> None:
        if judge is None:
            logger.warning(
                "NearDupPipeline neither drops nor tags items: it was built without from_crawler()"
            )
        self._judge = judge
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDupPipeline:
        """Build the pipeline with the judge of the crawl.

        :raises NotConfigured: when the crawl has no judge.
        """
        return cls(find_judge(crawler), crawler)

    async def open_spider(self) -> None:
        """Open the store, and log the pipelines that process items before they are dropped.

        :raises Exception: when the store cannot be used, so that the crawl fails.
        """
        if self._judge is None:
            return
        await self._judge.session.open_store()
        if self._crawler is not None and self._judge.config.policy.action == "drop":
            log_pipelines_before(self._crawler, self)

    async def close_spider(self) -> None:
        """Let the store record what waits for it."""
        if self._judge is not None:
            await self._judge.session.settle_store()

    def process_item(self, item: Any) -> Any:
        """Return the item, or drop it.

        :raises NearDuplicate: when its page is a near-duplicate and the action is ``"drop"``.
        :raises SoftNotFound: when its page is a soft 404 and ``NEARDUP_SOFT_404`` is ``"drop"``.
        :raises UnchangedPage: when its page is stored and unchanged, ``NEARDUP_REVISIT`` is
            ``"drop"`` and the action is ``"drop"``.
        """
        judge = self._judge
        if judge is None:
            return item
        judgement = judge.receive(item)
        if judgement is None or not (judgement.is_superfluous or judgement.is_soft_404):
            judge.stats.count("items/kept")
            if judgement is not None:
                _add_fields(judge, item, judgement)
            return item
        verdict = judgement.verdict
        if judgement.policy.action == "report":
            judge.stats.count("items/reported")
            _log(judge, "Would drop", verdict)
        elif judgement.policy.action == "tag" and judgement.is_superfluous:
            _tag(judge, item, verdict)
        else:
            judge.stats.count("items/dropped")
            if judge.session.copies is not None:
                judge.session.copies.dropped(verdict)
            _log(judge, "Dropped", verdict)
            raise _error(judgement)
        _add_fields(judge, item, judgement)
        return item


class NearDupFileInfo(FileInfo, total=False):
    """An item's entry for a file: Scrapy's keys, and these.

    :ivar duplicate_of: path of the equal file that is stored instead of this one.
    :ivar near_duplicate_of: path of another stored file that is nearly equal.
    :ivar similarity: of that file, 0.0 to 1.0.
    """

    duplicate_of: str
    near_duplicate_of: str
    similarity: float


class NearDupFilesPipeline(FilesPipeline):
    """A ``FilesPipeline`` that stores equal files once, and tags files that are nearly equal.

    It works with and without the add-on; ``NEARDUP_ENABLED = False`` makes it a ``FilesPipeline``.
    """

    def __init__(
        self,
        store_uri: str | os.PathLike[str],
        download_func: None = None,
        *,
        crawler: Crawler,
    ) -> None:
        super().__init__(store_uri, download_func, crawler=crawler)
        try:
            self._stored_files = open_stored_files(crawler, self.store)
        except NearDupError as error:
            log_start_error(error)
            raise

    def media_to_download(
        self, request: Request, info: MediaPipeline.SpiderInfo, *, item: Any = None
    ) -> Deferred[FileInfo | None] | None:
        """Return what is known of a file that need not be downloaded."""
        return deferred_from_coro(self._find_up_to_date(request, info, item))

    async def _find_up_to_date(
        self, request: Request, info: MediaPipeline.SpiderInfo, item: Any
    ) -> FileInfo | None:
        files = self._stored_files
        if files is not None:
            asked = FileRequest(self.file_path(request, info=info, item=item), request.url)
            file, is_linked = await files.find_linked(asked, self.expires, info)
            if file is not None:
                self.inc_stats("uptodate")
                return _file_info(request, file, "uptodate", is_own=file.request == asked)
            if is_linked:
                # What is stored at the path itself is another content.
                return None
        stored: Any = super().media_to_download(request, info, item=item)
        found: FileInfo | None = await ensure_awaitable(stored)
        if files is None or found is None:
            return found
        if await files.is_expected(files.place_of(str(found["path"])), str(found["checksum"])):
            return found
        # It was cut off, overwritten, or only begun.
        files.stats.count("files/damaged")
        return None

    async def _check_media_to_download(
        self, request: Request, info: MediaPipeline.SpiderInfo, item: Any
    ) -> FileInfo:
        """Wait for :meth:`media_downloaded`, which Scrapy 2.14 returns as it is."""
        result: Any = await super()._check_media_to_download(request, info, item=item)
        try:
            return await ensure_awaitable(result)
        except Exception:
            self.media_failed(Failure(), request, info)  # type: ignore[no-untyped-call]
            raise

    async def media_downloaded(
        self,
        response: Response,
        request: Request,
        info: MediaPipeline.SpiderInfo,
        *,
        item: Any = None,
    ) -> FileInfo:
        """Store a file unless an equal one is stored; return what the item says of it."""
        store = partial(super().media_downloaded, response, request, info, item=item)
        files = self._stored_files
        if files is None or response.status != 200 or not response.body:
            return await ensure_awaitable(store())
        path = self.file_path(request, response=response, info=info, item=item)
        asked = FileRequest(path, request.url)
        signature, near = await files.sign(response.body), None
        async with files.claim(signature):
            known = await files.find(signature, asked, info)
            if known is not None:
                return self._skip(response, request, known, asked)
            async with files.writing(files.place_of(path), signature, info) as target:
                if target == files.place_of(path):
                    stored = await ensure_awaitable(store())
                else:
                    stored = await self._store_beside(response, request, info, target)
                if stored["path"] in (path, target):
                    near = await files.record(asked, target, signature, info)
        files.stats.count("files/stored")
        if near is None:
            return stored
        files.stats.count("files/near_duplicates")
        tags = {"near_duplicate_of": near.path, "similarity": near.similarity}
        return cast("NearDupFileInfo", {**stored, **tags})

    def _skip(
        self, response: Response, request: Request, known: StoredFile, asked: FileRequest
    ) -> NearDupFileInfo:
        """Return what the item says of a file that is stored already."""
        assert self._stored_files is not None
        stats = self._stored_files.stats
        is_own = known.request == asked
        status = _status(response) if is_own else "duplicate"
        self.inc_stats(status)
        if is_own:
            stats.count("files/unchanged")
        else:
            stats.count("files/duplicates")
            stats.count("files/duplicate_bytes", len(response.body))
            if (copies := copies_of(self.crawler)) is not None:
                copies.equal_file(request.url, known.request.url, known.path)
        if self._stored_files.log_level is not None:
            logger.log(
                self._stored_files.log_level,
                "Did not store the file <%s>: %s",
                on_one_line(request.url),
                "unchanged" if is_own else f"equal to {on_one_line(known.path)}",
            )
        return _file_info(request, known, status, is_own=is_own)

    async def _store_beside(
        self, response: Response, request: Request, info: MediaPipeline.SpiderInfo, path: str
    ) -> FileInfo:
        """Store a file at another path than its own."""
        self.inc_stats(_status(response))
        await ensure_awaitable(self.store.persist_file(path, BytesIO(response.body), info))
        checksum = hashlib.md5(response.body, usedforsecurity=False).hexdigest()
        return {
            "url": request.url,
            "path": path,
            "checksum": checksum,
            "status": _status(response),
        }


def _status(response: Response) -> str:
    return "cached" if "cached" in response.flags else "downloaded"


def _file_info(request: Request, file: StoredFile, status: str, *, is_own: bool) -> NearDupFileInfo:
    info: NearDupFileInfo = {
        "url": request.url,
        "path": file.path,
        "checksum": file.signature.md5,
        "status": status,
    }
    if not is_own:
        info["duplicate_of"] = file.path
    return info


def _error(judgement: Judgement) -> DropItem:
    if judgement.is_soft_404:
        return SoftNotFound(judgement.verdict)
    kind = NearDuplicate if judgement.verdict.is_duplicate else UnchangedPage
    return kind(judgement.verdict)


def _tag(judge: NearDupJudge, item: Any, verdict: Verdict) -> None:
    tag = {
        "of": verdict.duplicate_of if verdict.is_duplicate else verdict.url,
        "distance": verdict.distance,
        "similarity": verdict.similarity,
    }
    if _set_field(judge, item, TAG_FIELD, tag):
        judge.stats.count("items/tagged")
        _log(judge, "Tagged", verdict)
    else:
        judge.stats.count("items/untagged")


def _add_fields(judge: NearDupJudge, item: Any, judgement: Judgement) -> None:
    if judge.session.copies is not None:
        judge.session.copies.set_fields(item, judgement.verdict)
    tag = None if judgement.containment is None else judgement.containment.tag
    if tag is not None:
        is_set = _set_field(judge, item, judge.config.containment_field, tag)
        judge.stats.count(f"containment/{'tagged' if is_set else 'untagged'}")


def _set_field(judge: NearDupJudge, item: Any, name: str, value: Any) -> bool:
    """Set a field of an item; return whether its class allows it."""
    try:
        ItemAdapter(item)[name] = value
    except Exception:
        # Item classes raise different errors for an unknown field; the item passes unchanged.
        judge.stats.warn_once(
            f"untagged {name}",
            "Cannot tag items of class %s: they have no field %r that can be set",
            type(item).__qualname__,
            name,
        )
        return False
    return True


def _log(judge: NearDupJudge, action: str, verdict: Verdict) -> None:
    if judge.config.item_log_level is not None:
        logger.log(
            judge.config.item_log_level,
            "%s an item of <%s>: %s",
            action,
            on_one_line(verdict.url),
            _description(verdict),
        )


def _description(verdict: Verdict) -> str:
    if verdict.reason == Reason.SOFT_404:
        return "soft 404, the page shows only what its site shows for addresses that do not exist"
    if not verdict.is_duplicate:
        return "already stored and unchanged"
    distance = "" if verdict.distance is None else f"distance {verdict.distance}, "
    return (
        f"near-duplicate of {on_one_line(str(verdict.duplicate_of))} "
        f"({distance}similarity {verdict.similarity:.2f})"
    )
