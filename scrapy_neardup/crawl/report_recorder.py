"""The report of a crawl: decisions are written down as they come, and made into a page at the end.

Nothing of it may cost a crawl: what the disk does not take is an error in the log, said once.
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from time import gmtime, strftime, time

from ..matching.verdict import Verdict
from ..report import Columns, Decision, KeptTexts, Origin, render_report
from ..workers import Reading
from .settings import Config

logger = logging.getLogger(__name__)


class ReportRecorder:
    """What is to be shown of a crawl.

    The decisions stand in a temporary file, titles and texts in another one.

    :param path: where the page goes to; ``%(name)s`` in it is the spider's name and ``%(time)s``
        when the crawl began, as in Scrapy's feeds.
    :param name: of the spider.
    """

    def __init__(self, config: Config, path: str, name: str) -> None:
        began = strftime("%Y-%m-%dT%H-%M-%S", gmtime())
        self._path = Path(path.replace("%(name)s", name).replace("%(time)s", began))
        self._config = config
        self._name = name
        self._has_failed = False
        #: Titles of pages that were read and not judged yet.
        self._titles: dict[str, str] = {}
        self._guarded(self._open)

    @classmethod
    def of(cls, config: Config, name: str) -> ReportRecorder | None:
        """That of a crawl; ``None`` where nobody asked for one."""
        return None if config.report is None else cls(config, config.report, name)

    @property
    def path(self) -> str | None:
        """Where the page goes to; ``None`` when it cannot be written."""
        return None if self._has_failed else str(self._path.absolute())

    @property
    def keeps_text(self) -> bool:
        """Are texts to be shown?"""
        return self._config.keep_text

    def read(self, url: str, reading: Reading) -> None:
        """A page was read."""
        self._titles[url] = reading.title
        if reading.text:
            self._guarded(lambda: self._texts.put(url, reading.text))

    def judged(self, verdict: Verdict, n_bytes: int | None = None) -> None:
        """A page, or an item, was judged.

        :param n_bytes: of the page's body.
        """
        decision = replace(
            Decision.of(verdict),
            title=self._titles.pop(verdict.url, ""),
            bytes=n_bytes,
            time=round(time(), 1),
        )
        self._guarded(lambda: self._lines.write(decision.line() + "\n"))

    def finish(self) -> None:
        """Write the page, and let go of the temporary files. Takes a while: not for event loops."""
        self._guarded(self._write)
        self._guarded(self._close)

    def _open(self) -> None:
        # Now, rather than when the crawl ends.
        self._require_writable()
        # They end with the crawl, however that ends.
        self._lines = TemporaryFile("w+", encoding="utf-8", prefix="neardup-")  # noqa: SIM115
        self._texts = KeptTexts()

    def _require_writable(self) -> None:
        """Make the folder of the page.

        :raises OSError: when the page cannot be written there.
        """
        if self._path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self._path))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=self._path.parent).close()

    def _close(self) -> None:
        self._lines.close()
        self._texts.close()

    def _write(self) -> None:
        """To another name first, so that a page is whole or is that of the crawl before."""
        page = render_report(self._data())
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_name(f"{self._path.name}.part")
        try:
            part.write_bytes(page.encode())
            part.replace(self._path)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise
        logger.info("Report: %s", self._path.absolute())

    def _data(self) -> dict[str, object]:
        columns = Columns()
        self._lines.seek(0)
        for line in self._lines:
            columns.add(Decision.from_line(line))
        policy = self._config.policy
        origin = Origin(
            "crawl",
            self._name,
            int(time()),
            policy.action,
            policy.rule.max_distance,
            policy.rule.min_similarity,
            by_item=self._config.item_field is not None,
        )
        text_of = self._texts.get if self.keeps_text else None
        return columns.packed(origin, text_of, self._texts.dropped)

    def _guarded(self, act: Callable[[], object]) -> None:
        """Nothing more is done after something failed, which is said once."""
        if self._has_failed:
            return
        try:
            act()
        except (OSError, sqlite3.Error) as error:
            self._has_failed = True
            logger.error("The report %s cannot be written: %s", self._path, error)
