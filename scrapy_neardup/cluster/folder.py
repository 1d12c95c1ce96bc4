"""The folder of a run: files on any file system that fsspec knows, and what is done already."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from fsspec.core import url_to_fs

from ..exceptions import InputError

#: A file of rows, or what is left of one that was not finished.
_DATA = re.compile(r"\d{6}\.arrow(?:\.[0-9a-f]{32}\.part)?")
#: What a stage says of one of its tasks: numbers and lists of them.
Report = dict[str, Any]


def file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system of a URL or a local path, and the path on it.

    :raises InputError: if there is no such kind of URL, or its package is not installed.
    """
    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(url, str(error)) from error
    return system, path


@dataclass(frozen=True)
class WorkFolder:
    """A folder to which the tasks of a run write. Each file appears whole or not at all.

    :ivar url: a local path, or a URL such as ``s3://bucket/work``.
    """

    url: str

    @cached_property
    def _place(self) -> tuple[Any, str]:
        return file_system(self.url)

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Open a file to write, which has its name once the block has ended without an error.

        Two workers may write the same file, as when one was taken for dead; the content is equal.
        """
        system, root = self._place
        path, part = f"{root}/{name}", f"{root}/{name}.{uuid.uuid4().hex}.part"
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
        with system.open(part, "wb") as file:
            yield file
        system.mv(part, path)

    def open(self, name: str) -> BinaryIO:
        """Open a file to read."""
        system, root = self._place
        file: BinaryIO = system.open(f"{root}/{name}", "rb")
        return file

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON file; ``None`` if there is no such file."""
        try:
            with self.open(name) as file:
                return json.loads(file.read())
        except FileNotFoundError:
            return None

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file."""
        with self.writing(name) as file:
            file.write(json.dumps(value).encode())

    def remove_files(self, stage: str) -> None:
        """Remove the files of a stage, which nothing reads any more; not its reports."""
        system, root = self._place
        files = [name for name in self._names(stage) if _DATA.fullmatch(name)]
        if files:
            system.rm([f"{root}/{stage}/{name}" for name in files])

    def reports(self, stage: str) -> dict[int, Report]:
        """Return what the tasks of a stage reported that are done, by their numbers."""
        done = [name for name in self._names(stage) if name.endswith(".json")]
        return {int(name.split(".")[0]): self.read_json(f"{stage}/{name}") for name in done}

    def _names(self, stage: str) -> list[str]:
        system, root = self._place
        folder = f"{root}/{stage}"
        system.invalidate_cache(folder)
        paths = system.ls(folder, detail=False) if system.exists(folder) else []
        return [path.rpartition("/")[2] for path in paths]

    def report(self, stage: str, number: int) -> Report | None:
        """Return what a task reported; ``None`` if it is not done."""
        found: Report | None = self.read_json(f"{stage}/{number:06d}.json")
        return found

    def set_done(self, stage: str, number: int, report: Report) -> None:
        """Write what a task reports, which says that it is done."""
        self.write_json(f"{stage}/{number:06d}.json", report)
