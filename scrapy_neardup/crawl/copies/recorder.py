"""Records the copies of a crawl: in fields of their items, and in a file of all that was dropped.

A file that cannot be written does not stop the crawl; a warning is logged once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from time import time
from typing import Any, Literal

from scrapy.http import Request, Response
from scrapy.utils.datatypes import LocalCache

from ..._util.urls import site_of
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...stores.better_urls import BetterUrl
from ...url_rules.rule import UrlRule
from ..async_bridge import in_thread
from ..monitoring.crawl_log import CrawlStats
from ..report_recorder import named_path
from ..requests.duplicate_urls import DuplicateUrls
from ..responses import page_links
from ..settings import Config
from ..store_client import StoreClient
from .better_urls import StoredBetterUrls
from .contents import MAX_CONTENTS, Content, Contents, credible
from .item_fields import set_fields
from .json_lines_file import JsonLinesFile

#: How much of the end of the file is read at the start.
_MAX_RESTORED_BYTES = 16 * 2**20

#: Statuses of URLs at which there is no page, now and later.
_GONE = frozenset((404, 410))

What = Literal["item", "request", "link", "file", "address"]


class CopyRecorder:
    """Records the copies of one crawl.

    :param name: of the spider.
    :param urls: the URLs that lead to copies.
    :param client: of a store that outlives the crawl.
    """

    def __init__(
        self,
        config: Config,
        name: str,
        urls: DuplicateUrls,
        stats: CrawlStats,
        client: StoreClient | None = None,
    ) -> None:
        self.contents = Contents(by_item=config.item_field is not None)
        self._by_item = config.item_field is not None
        self._fields = config.item_fields
        self._name = name
        self._urls = urls
        #: URLs of the originals that were met, by their digests.
        self._originals = LocalCache[int | None, str](MAX_CONTENTS)
        self._stats = stats
        self._path = None if config.copies is None else named_path(config.copies, name)
        self._file: JsonLinesFile | None = None
        self._stored = None if client is None else StoredBetterUrls(client)

    @classmethod
    async def opened(
        cls,
        config: Config,
        name: str,
        urls: DuplicateUrls,
        stats: CrawlStats,
        client: StoreClient | None = None,
    ) -> CopyRecorder | None:
        """Return the recorder of a crawl with its file open; ``None`` if no setting needs it."""
        if config.copies is None and not config.item_fields:
            return None
        recorder = cls(config, name, urls, stats, client)
        if recorder._stored is not None:
            recorder._restore(await recorder._stored.load())
        if recorder._path is not None:
            await in_thread(partial(recorder._open, recorder._path))
        return recorder

    def _restore(self, better: Mapping[str, BetterUrl]) -> None:
        """Restore the contents of which the store has the best URL."""
        for original, (url, is_declared) in better.items():
            cluster = self.contents.of_original(original).cluster
            content = Content.recorded(cluster, original, url, is_declared=is_declared)
            self.contents.restore(content)

    def _open(self, path: Path) -> None:
        """Open the file, and restore the contents that its lines of this spider describe."""
        try:
            self._file = JsonLinesFile(path)
            for line in self._file.last_lines(_MAX_RESTORED_BYTES):
                if line.get("spider") == self._name and (content := _content_in(line)):
                    self.contents.restore(content)
        except (OSError, ValueError) as error:  # a path with a null character
            self._failed(error)

    # --- pages and items --------------------------------------------------------------------

    def judged(self, verdict: Verdict, response: Response) -> None:
        """Record a judged page, or an item of this page."""
        redirected = _redirected_urls(response)
        if verdict.reason == Reason.SOFT_404:
            # What it was redirected to may be a page, such as the front page.
            self.show_nothing(redirected or [response.url])
            return
        declared = None
        if not self._by_item:
            declared = credible(page_links(response).canonical, response.url)
        if verdict.kind in ("new", "revisit") and self._path is not None:
            self._originals[self._urls.digest_of(verdict.url)] = verdict.url
        for content in self.contents.meet(verdict, response.url, declared, redirected):
            self._record_best_url(content)

    def received(self, response: Response) -> None:
        """Record a response of any status."""
        if response.status in _GONE:
            self.show_nothing([*_redirected_urls(response), response.url])

    def show_nothing(self, urls: Iterable[str]) -> None:
        """Record that these URLs lead to no page, so that none is the best URL of a content."""
        if not self._by_item:
            for content in map(self.contents.refute, urls):
                if content is not None:
                    self._record_best_url(content)

    def set_fields(self, item: Any, verdict: Verdict) -> None:
        """Set the fields that items are to have."""
        if not self._fields:
            return
        content = self.contents.of(verdict)
        known = {
            "cluster": content.cluster,
            "original": content.original,
            "canonical": self.contents.best(content)[0],
            "copies": content.copies,
        }
        set_fields(item, {name: known[value] for value, name in self._fields.items()}, self._stats)

    def _record_best_url(self, content: Content) -> None:
        """Record a change of the best URL of a content that was met at several."""
        if not content.may_have_better:
            return
        best, is_declared = self.contents.best(content)
        own = content.own_url
        if self._stored is not None:
            has_better = self.contents.has_other_best(content, own)
            better = BetterUrl(best, is_declared) if has_better else None
            self._stored.note(content.original, better)
        if not self.contents.has_other_best(content, content.recorded_best):
            return
        self._stats.count("copies/better_urls", (best != own) - (content.recorded_best != own))
        content.recorded_best = best
        reason = "declared" if is_declared else "preferred"
        self._write("address", best, content, reason=reason)

    # --- what is dropped --------------------------------------------------------------------

    def dropped(self, verdict: Verdict) -> None:
        """Record an item that is dropped."""
        similarity = verdict.similarity
        self._write(
            "item",
            verdict.url,
            self.contents.of(verdict),
            verdict=verdict.kind,
            reason=verdict.reason,
            distance=verdict.distance,
            similarity=None if similarity is None else round(similarity, 4),
        )

    def refused(self, request: Request, refusal: UrlRule | bool) -> None:
        """Record a request that is not made.

        :param refusal: the rule that says so; ``True`` for a URL that is known to lead to a copy.
        """
        if isinstance(refusal, UrlRule):
            self._write("request", request.url, reason="url_rule", rule=refusal.text)
            return
        original = self._originals.get(self._urls.original_of(request.url))
        content = None if original is None else self.contents.of_original(original)
        self._write("request", request.url, content, reason="known_copy")

    def skipped_link(self, request: Request, page: Response) -> None:
        """Record a link of a copy that is not followed."""
        self._write("link", request.url, reason="links_skipped", found_at=page.url)

    def equal_file(self, url: str, original: str, path: str) -> None:
        """Record a file that is not stored, because an equal one is stored at this path."""
        self._write("file", url, reason="equal_file", duplicate_of=original, path=path)

    # --- the file ---------------------------------------------------------------------------

    async def synchronise(self) -> None:
        """Write all lines to the disk."""
        if self._file is not None:
            try:
                await in_thread(self._file.synchronise)
            except OSError as error:
                self._failed(error)

    async def save_best_urls(self) -> None:
        """Write the best URLs of contents to the store."""
        if self._stored is not None:
            await self._stored.save()

    async def close(self) -> None:
        """Write all lines to the disk, and close the file."""
        await self.synchronise()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, what: What, url: str, content: Content | None = None, **values: Any) -> None:
        if self._path is None:
            return
        best, is_declared = (None, False) if content is None else self.contents.best(content)
        original = None if content is None or content.original == url else content.original
        line = {
            "what": what,
            "url": url,
            "duplicate_of": original,
            "reason": None,
            "distance": None,
            "similarity": None,
            "canonical": best,
            "is_declared": is_declared,
            "cluster": None if content is None else content.cluster,
            "copies": None if content is None else content.copies,
            "site": site_of(url),
            "spider": self._name,
            "time": round(time(), 3),
            **values,
        }
        try:
            if self._file is not None:
                self._file.write(line)
        except OSError as error:
            self._failed(error)
            self._stats.count("copies/not_written")
        else:
            self._stats.count(f"copies/{'not_written' if self._file is None else what}")

    def _failed(self, error: Exception) -> None:
        self._stats.warn_once(
            "copies",
            "Cannot write the copies to %s: %s; the crawl goes on (NEARDUP_COPIES; logged once, "
            "missing lines are counted in neardup/copies/not_written)",
            self._path,
            getattr(error, "strerror", None) or error,
        )


def _redirected_urls(response: Response) -> list[str]:
    """Return the URLs that redirected to a response, the first one first."""
    urls: list[str] = []
    if response.request is not None:
        urls = response.request.meta.get("redirect_urls", urls)
    return urls


def _content_in(line: dict[str, Any]) -> Content | None:
    """Return the content that a line describes; ``None`` if the line cannot be used."""
    original = line.get("duplicate_of") or line.get("url")
    cluster, best, copies = (line.get(name) for name in ("cluster", "canonical", "copies"))
    if not (isinstance(original, str) and isinstance(cluster, str) and isinstance(best, str)):
        return None
    return Content.recorded(
        cluster,
        original,
        best,
        is_declared=bool(line.get("is_declared")),
        copies=copies if isinstance(copies, int) else 0,
    )
