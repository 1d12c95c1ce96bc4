"""The folder of a run: files on any file system that fsspec knows, and what is done already."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from ..exceptions import InputError, WorkFolderDamaged

#: A file of rows, or what is left of one that was not finished.
_DATA = re.compile(r"\d{6}\.arrow(?:\.[0-9a-f]{32}\.part)?")
_REPORT = re.compile(r"(\d{6})\.json")
#: What a stage says of one of its tasks: numbers and lists of them.
Report = dict[str, Any]


def file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system of a URL or a local path, and the path on it.

    Without ``://`` it is a path, whatever characters are in it.

    :raises InputError: if there is no such kind of URL, or its package is not installed.
    """
    if "://" not in url:
        return LocalFileSystem(), os.path.abspath(url)  # noqa: PTH100 (keeps links)
    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise InputError(url, str(error)) from error
    return system, path


def as_local_path(url: str) -> str | None:
    """Return the absolute local path of a URL or a path; ``None`` if it is on another system."""
    system, path = file_system(url)
    if not isinstance(system, LocalFileSystem):
        return None
    return os.path.abspath(path)  # noqa: PTH100 (keeps links)


@dataclass(frozen=True)
class WorkFolder:
    """A folder to which the tasks of a run write. Each file appears whole or not at all.

    :ivar url: an absolute local path, or a URL such as ``s3://bucket/work``.
    :ivar run: the folder in it that has the files of one run, so that those of two never mix.
    """

    url: str
    run: str = ""

    @cached_property
    def _place(self) -> tuple[Any, str]:
        system, path = file_system(self.url)
        return system, f"{path}/{self.run}" if self.run else path

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
            if isinstance(system, LocalFileSystem):
                # Else a power cut could leave an empty file under the name.
                file.flush()
                os.fsync(file.fileno())
        system.mv(part, path)

    def open(self, name: str) -> BinaryIO:
        """Open a file to read.

        :raises WorkFolderDamaged: if there is no such file.
        """
        system, root = self._place
        try:
            file: BinaryIO = system.open(f"{root}/{name}", "rb")
        except FileNotFoundError as error:
            raise self.damaged(name, "is missing") from error
        return file

    def damaged(self, name: str, problem: str) -> WorkFolderDamaged:
        """Return the error that a file is not as a run wrote it."""
        return WorkFolderDamaged(self.url, f"{self.run}/{name}" if self.run else name, problem)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Return the object in a JSON file; ``None`` if there is no such file.

        :raises WorkFolderDamaged: if it is none.
        """
        try:
            file = self.open(name)
        except WorkFolderDamaged:
            return None
        with file, suppress(ValueError):
            found = json.loads(file.read())
            if isinstance(found, dict):
                return found
        raise self.damaged(name, "is damaged")

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
        done = (_REPORT.fullmatch(name) for name in self._names(stage))
        numbers = [int(name[1]) for name in done if name]
        found = ((number, self.report(stage, number)) for number in numbers)
        return {number: report for number, report in found if report is not None}

    def names(self) -> list[str]:
        """Return the names of what is in the folder."""
        return self._names("")

    def _names(self, stage: str) -> list[str]:
        system, root = self._place
        folder = f"{root}/{stage}" if stage else root
        system.invalidate_cache(folder)
        paths = system.ls(folder, detail=False) if system.exists(folder) else []
        return [path.rstrip("/").rpartition("/")[2] for path in paths]

    def report(self, stage: str, number: int) -> Report | None:
        """Return what a task reported; ``None`` if it is not done."""
        name = f"{stage}/{number:06d}.json"
        found = self.read_json(name)
        if found is not None and "core_seconds" not in found:
            raise self.damaged(name, "is damaged")
        return found

    def set_done(self, stage: str, number: int, report: Report) -> None:
        """Write what a task reports, which says that it is done."""
        self.write_json(f"{stage}/{number:06d}.json", report)
