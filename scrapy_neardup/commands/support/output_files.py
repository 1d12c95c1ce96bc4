"""Files that are whole or not there at all."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ...exceptions import InputError
from ...sources.compression import zstd_module


@contextmanager
def whole_file(target: str, inputs: Iterable[str] = (), *, private: bool = False) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place when the block ends well.

    When it does not, what was written stays in that other file, whose name ends in ``.part``.

    :param inputs: files that must not be written over.
    :param private: nobody but its owner may read the file.
    :raises InputError: when the target cannot be written.
    """
    path = Path(target).resolve()
    part = path.with_name(f"{path.name}.part")
    with _writing(target):
        if any(_same_file(path, given) for given in inputs):
            raise InputError(target, "is an input, and would be written over")
        if path.exists() and not path.is_file():
            # A device or a named pipe is written to, not replaced.
            part = path
        elif private:
            # One of before may be anybody's to read.
            part.unlink(missing_ok=True)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        else:
            part.open("ab").close()
        yield part
        if part != path:
            part.replace(path)


@contextmanager
def lines_to(target: str, inputs: Iterable[str] = (), *, private: bool = False) -> Iterator[TextIO]:
    """A text stream to a file that is whole or not there at all, or to standard output (``-``).

    A file is packed when its name ends in ``.gz`` or ``.zst``; the rest is as for
    :func:`whole_file`.
    """
    if target == "-":
        yield sys.stdout
        return
    opened = _opener(target)
    with (
        whole_file(target, inputs, private=private) as part,
        opened(part, "wt", encoding="utf-8") as stream,
    ):
        yield stream


def _opener(target: str) -> Callable[..., Any]:
    """What opens a file that is packed as its name says."""
    if target.endswith(".gz"):
        return gzip.open
    if target.endswith(".zst"):
        opened: Callable[..., Any] = zstd_module(target).open
        return opened
    return open


@contextmanager
def _writing(target: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(target, f"cannot be written: {error.strerror or error}") from error


def _same_file(path: Path, other: str) -> bool:
    return other != "-" and path.exists() and Path(other).exists() and path.samefile(other)
