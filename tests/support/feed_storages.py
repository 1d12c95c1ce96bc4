"""Storages of feeds that are away for a while."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from scrapy import Spider


class Away:
    """Takes a feed when it is complete, as S3 and FTP do, but not each of them.

    Its address is ``away://NUMBERS/PATH``: of the uploads of a process, those with these numbers
    fail.
    """

    _n_uploads: ClassVar[int] = 0

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        numbers, _, path = uri.partition("://")[2].partition("/")
        self._failing = {int(number) for number in numbers.split(",")}
        self._path = Path("/", path)

    def open(self, spider: Spider) -> IO[bytes]:
        return TemporaryFile()

    def store(self, file: IO[bytes]) -> None:
        """Store a feed at once, so that a test knows when."""
        Away._n_uploads += 1
        if Away._n_uploads in self._failing:
            raise OSError("connection reset by peer")
        file.seek(0)
        with self._path.open("wb") as target:
            shutil.copyfileobj(file, target)
        file.close()
