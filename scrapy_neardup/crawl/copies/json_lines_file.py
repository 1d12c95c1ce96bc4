"""A file of JSON lines that is written line by line, and that several crawls may append to."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISFIFO, S_ISREG
from typing import Any

logger = logging.getLogger(__name__)


class JsonLinesFile:
    """Appends to a file of JSON lines.

    Each line is written by one call to the system, at the end of the file. So a kill leaves whole
    lines, and crawls that write to one file, of this process or of others, do not mix theirs.

    :raises OSError: when the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_synchronised = True
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
        try:
            if S_ISFIFO(os.fstat(self._file).st_mode):
                # Without a reader a write would block the crawl.
                raise OSError(errno.EINVAL, "it is a pipe, not a file", str(path))
            self._end_last_line()
        except BaseException:
            os.close(self._file)
            raise

    def write(self, values: Mapping[str, Any]) -> None:
        """Append a line.

        :raises OSError: when it cannot be written; nothing of it is left in the file then.
        """
        line = json.dumps(values).encode() + b"\n"
        self._is_synchronised = False
        written = os.write(self._file, line)
        if written < len(line):
            self._remove(written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def synchronise(self) -> None:
        """Wait until all lines are on the disk. Takes a while: call it in a thread.

        :raises OSError: when that fails.
        """
        if not self._is_synchronised:
            self._is_synchronised = True
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def last_lines(self, most_bytes: int) -> Iterator[dict[str, Any]]:
        """Yield the objects in the last lines of the file, oldest first.

        Lines that are no objects are left out. Nothing is read of a device, such as a terminal.

        :param most_bytes: of the file, that are read.
        :raises OSError: when the file cannot be read.
        """
        status = os.fstat(self._file)
        if not S_ISREG(status.st_mode):
            return  # a terminal has no beginning, and /dev/full no end
        with self.path.open("rb") as file:
            start = max(0, status.st_size - most_bytes)
            file.seek(start)
            if start:
                file.readline()
            for line in file:
                with suppress(ValueError, RecursionError):
                    values = json.loads(line)
                    if isinstance(values, dict):
                        yield values

    def _remove(self, written: int) -> None:
        """Remove the beginning of a line for whose rest there is no room.

        If another crawl has already appended a line of its own, end the line instead.
        """
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        if written and os.fstat(self._file).st_size == end:
            os.ftruncate(self._file, end - written)

    def _end_last_line(self) -> None:
        """End a line that a power failure has cut off."""
        size = os.fstat(self._file).st_size
        if not size:
            return
        os.lseek(self._file, size - 1, os.SEEK_SET)
        if os.read(self._file, 1) != b"\n":
            os.write(self._file, b"\n")
            logger.warning(
                "The last line of %s is incomplete and is kept; new lines start on a new line",
                self.path,
            )


#: Windows translates line ends otherwise.
_BINARY = getattr(os, "O_BINARY", 0)
