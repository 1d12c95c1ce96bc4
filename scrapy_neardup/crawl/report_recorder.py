"""The report of a crawl: records decisions as they are made, and writes an HTML page at the end.

A report that cannot be written never stops a crawl; it is one error in the log.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from time import gmtime, strftime, time

from ..matching.verdict import Verdict
from ..report.decisions import Decision, UrlTable
from ..report.document import Columns, Origin, render_report
from ..workers import Reading
from .settings import Config

logger = logging.getLogger(__name__)


def named_path(path: str, name: str, began_at: float | None = None) -> Path:
    """Return the path of a crawl's file, with what its placeholders stand for.

    :param path: ``%(name)s`` in it is the spider's name and ``%(time)s`` the start of the crawl, as
        in Scrapy's feeds.
    :param name: of the spider.
    :param began_at: in seconds since 1970; ``None`` for now.
    """
    began = strftime("%Y-%m-%dT%H-%M-%S", gmtime(began_at))
    return Path(path.replace("%(name)s", name).replace("%(time)s", began))


class ReportRecorder:
    """Records the decisions of a crawl for its report, in temporary files.

    :param path: file of the page, see :func:`named_path`.
    """

    def __init__(self, config: Config, path: str, name: str) -> None:
        self._path = named_path(path, name)
        self._config = config
        self._name = name
        self._has_failed = False
        #: Titles of pages that were read and are not judged yet.
        self._titles: dict[str, str] = {}
        self._guarded(self._open)

    @property
    def path(self) -> str | None:
        """Absolute path of the page; ``None`` when it cannot be written."""
        return None if self._has_failed else str(self._path.absolute())

    def read(self, url: str, reading: Reading, *, is_judged: bool = True) -> None:
        """Record the title and text of a page that was read.

        :param is_judged: whether a verdict on it follows, which is recorded with its title.
        """
        if is_judged:
            self._titles[url] = reading.title
        if reading.text:
            self._guarded(lambda: self._texts.put(url, reading.text))

    def judged(self, verdict: Verdict, n_bytes: int | None = None) -> None:
        """Record the verdict on a page of so many bytes, or on an item."""
        decision = replace(
            Decision.of(verdict),
            title=self._titles.pop(verdict.url, ""),
            bytes=n_bytes,
            time=round(time(), 1),
        )
        self._guarded(lambda: self._lines.write(decision.line() + "\n"))

    def finish(self, better_urls: Mapping[str, str]) -> None:
        """Write the page, and close the temporary files. Takes a while: call it in a thread.

        :param better_urls: by originals, the URLs that these had better be linked by.
        """
        self._guarded(lambda: self._write(better_urls))

    def _open(self) -> None:
        # If the page cannot be written, fail now, rather than when the crawl ends.
        if self._path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self._path))
        if self._path.exists() and not self._path.is_file():
            # It would be replaced by a file, even /dev/null.
            raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=self._path.parent).close()
        # Temporary files disappear with the process, even if it is killed.
        self._lines = TemporaryFile("w+", encoding="utf-8", prefix="neardup-")  # noqa: SIM115
        self._texts = UrlTable()

    def _write(self, better_urls: Mapping[str, str]) -> None:
        """Write the page under another name first, so that the old page stays until it is whole."""
        with self._lines, closing(self._texts):
            page = render_report(self._data(better_urls))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_name(f"{self._path.name}.part")
        try:
            part.write_bytes(page.encode())
            part.replace(self._path)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise
        logger.info("Wrote the report: %s", self._path.absolute())

    def _data(self, better_urls: Mapping[str, str]) -> dict[str, object]:
        columns = Columns()
        self._lines.seek(0)
        for line in self._lines:
            columns.add(Decision.from_line(line))
        for url, better in better_urls.items():
            columns.set_better_url(url, better)
        policy = self._config.policy
        has_method = "method" in self._config.parts
        origin = Origin(
            "crawl",
            self._name,
            int(time()),
            policy.action,
            None if has_method else policy.rule.max_distance,
            None if has_method else policy.rule.min_similarity,
            by_item=self._config.item_field is not None,
            drops_unchanged=policy.action == "drop" and policy.revisit == "drop",
        )
        text_of = self._texts.get if self._config.keep_text else None
        return columns.packed(origin, text_of, self._texts.dropped)

    def _guarded(self, act: Callable[[], object]) -> None:
        """Call, unless an earlier call failed; log the first failure."""
        if self._has_failed:
            return
        try:
            act()
        except (OSError, sqlite3.Error) as error:
            self._has_failed = True
            logger.error("Cannot write the report %s: %s", self._path, error)
