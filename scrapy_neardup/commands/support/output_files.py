"""Writes output files so that they are complete or do not exist."""

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
def atomic_output(
    target: str, inputs: Iterable[str] = (), *, private: bool = False
) -> Iterator[Path]:
    """Yield a path to write to, which replaces the target when the block ends without error.

    After an error, the output stays at that path, which ends in ``.part``.

    :param inputs: files that must not be overwritten.
    :param private: only the owner may read the file.
    :raises InputError: when the target cannot be written.
    """
    path = Path(target).resolve()
    part = path.with_name(f"{path.name}.part")
    try:
        if path.exists() and any(
            Path(given).exists() and path.samefile(given) for given in inputs if given != "-"
        ):
            raise InputError(target, "is an input, and would be overwritten")
        if path.exists() and not path.is_file():
            # Write to a device or a named pipe itself.
            part = path
        elif private:
            # An existing file may be readable by others.
            part.unlink(missing_ok=True)
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        else:
            part.open("ab").close()
        yield part
        if part != path:
            part.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(target, f"cannot be written: {error.strerror or error}") from error


@contextmanager
def open_output(
    target: str, inputs: Iterable[str] = (), *, private: bool = False
) -> Iterator[TextIO]:
    """Open a text stream to a file as with :func:`atomic_output`, or to standard output (``-``).

    The file is compressed when its name ends in ``.gz`` or ``.zst``.
    """
    if target == "-":
        yield sys.stdout
        return
    opened: Callable[..., Any] = open
    if target.endswith(".gz"):
        opened = gzip.open
    elif target.endswith(".zst"):
        opened = zstd_module(target).open
    with (
        atomic_output(target, inputs, private=private) as part,
        opened(part, "wt", encoding="utf-8") as stream,
    ):
        yield stream
