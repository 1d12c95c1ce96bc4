"""Output files, which may be named by URL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from ...exceptions import InputError, InvalidOption
from ...sources.compression import error_text
from ...sources.readers import HTML_SUFFIXES
from ..support.row_output import Kind, RowWriter, open_rows

_SLASHES = re.compile("/+")


def check_targets(targets: dict[str, str | None], work: str) -> None:
    """Refuse two outputs that are one file, however it is spelled, and those in the work folder.

    :param targets: by the names of their options.
    :raises InvalidOption: for the option that names such a file.
    """
    seen: dict[str, str] = {}
    work_place = _place(work)
    for name, target in targets.items():
        if target is None or target == "-":
            continue
        place = _place(target)
        if place.startswith(f"{work_place}/"):
            raise InvalidOption(f"--{name}", target, f"outside of --work {work}")
        if place in seen:
            raise InvalidOption(f"--{name}", target, f"another file than --{seen[place]}")
        seen[place] = name


def _place(url: str) -> str:
    """Return one spelling of a URL or a path."""
    from ...cluster.folder import as_local_path, file_system

    if (local := as_local_path(url)) is not None:
        return str(Path(local).resolve())
    system, path = file_system(url)
    protocol = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
    return f"{protocol}://{_SLASHES.sub('/', path).rstrip('/')}"


@contextmanager
def open_rows_at(target: str, inputs: list[str], columns: dict[str, Kind]) -> Iterator[RowWriter]:
    """Open a file as with :func:`~..support.row_output.open_rows`; its name may be a URL.

    What goes to a URL is written to a temporary file, and brought there as the block ends.

    :raises InputError: if the target cannot be written.
    """
    from ...cluster.folder import as_local_path

    local = target if target == "-" else as_local_path(target)
    if local is not None:
        with open_rows(local, list(_local_files(inputs)), columns) as rows:
            yield rows
        return
    upload = _Upload(target, inputs)
    try:
        with TemporaryDirectory(prefix="neardup-") as folder:
            file = Path(folder, target.rpartition("/")[2])
            with open_rows(str(file), [], columns) as rows:
                yield rows
            upload.send(file)
    finally:
        upload.clean_up()


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
        # Two runs may have one target.
        self._part = f"{self._path}.{uuid4().hex}.part"
        # Better now than after hours.
        self._try(self._system.pipe_file, self._part, b"")

    def _is_input(self, given: str) -> bool:
        from ...cluster.folder import file_system

        system, path = file_system(given)
        if system != self._system:
            return False
        is_page = self._path.lower().endswith(HTML_SUFFIXES)
        files = (path, *system.glob(path))
        return self._path in files or (
            is_page and any(self._path.startswith(f"{file.rstrip('/')}/") for file in files)
        )

    def send(self, file: Path) -> None:
        """Bring it there."""
        self._try(self._system.put_file, str(file), self._part)
        self._try(self._system.mv, self._part, self._path)

    def clean_up(self) -> None:
        """Remove what was not brought there as a whole."""
        # It may be the file system that failed.
        with suppress(Exception):
            if self._system.exists(self._part):
                self._system.rm_file(self._part)

    def _try(self, what: Any, *arguments: Any) -> None:
        try:
            what(*arguments)
        # A file system may have errors of its own.
        except Exception as error:
            raise InputError(self._target, f"cannot be written: {error_text(error)}") from error
