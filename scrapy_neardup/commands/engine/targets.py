"""Output files by URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...exceptions import InputError
from ...sources.compression import error_text
from ..support.row_output import Kind, RowWriter, open_rows


@contextmanager
def open_rows_at(target: str, inputs: list[str], columns: dict[str, Kind]) -> Iterator[RowWriter]:
    """Open a file as with :func:`~..support.row_output.open_rows`; its name may be a URL.

    What goes to a URL is written to a temporary file, and brought there as the block ends.

    :raises InputError: if the target cannot be written.
    """
    if "://" not in target:
        with open_rows(target, list(_local_files(inputs)), columns) as rows:
            yield rows
        return
    upload = _Upload(target, inputs)
    with TemporaryDirectory(prefix="neardup-") as folder:
        local = Path(folder, target.rpartition("/")[2])
        with open_rows(str(local), [], columns) as rows:
            yield rows
        upload.send(local)


def _local_files(inputs: list[str]) -> Iterator[str]:
    """Yield the paths that inputs are, which may be URLs or have a ``*``."""
    from ...cluster.folder import file_system

    for given in inputs:
        system, path = file_system(given)
        if "file" in system.protocol:
            yield from system.glob(path) or [path]


class _Upload:
    """Brings a file to a URL, where it appears as a whole.

    :raises InputError: if nothing can be written there.
    """

    def __init__(self, target: str, inputs: list[str]) -> None:
        from ...cluster.folder import file_system

        self._target = target
        self._system, self._path = file_system(target)
        if any(self._is_input(given) for given in inputs):
            raise InputError(target, "is an input, and would be overwritten")
        self._part = f"{self._path}.part"
        # Better now than after hours.
        self._try(self._system.pipe_file, self._part, b"")

    def _is_input(self, given: str) -> bool:
        from ...cluster.folder import file_system

        system, path = file_system(given)
        return bool(system == self._system and self._path in (path, *system.glob(path)))

    def send(self, file: Path) -> None:
        """Bring it there."""
        self._try(self._system.put_file, str(file), self._part)
        self._try(self._system.mv, self._part, self._path)

    def _try(self, what: Any, *arguments: Any) -> None:
        try:
            what(*arguments)
        # A file system may have errors of its own.
        except Exception as error:
            raise InputError(self._target, f"cannot be written: {error_text(error)}") from error
