"""Files that are whole or not there at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ..records import InputError


@contextmanager
def whole_file(target: str, inputs: Iterable[str] = ()) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's place when the block ends well.

    When it does not, what was written stays in that other file, whose name ends in ``.part``.

    :param inputs: files that must not be written over.
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
        else:
            part.open("ab").close()
        yield part
        if part != path:
            part.replace(path)


@contextmanager
def lines_to(target: str, inputs: Iterable[str] = ()) -> Iterator[TextIO]:
    """A text stream to a file that is whole or not there at all, or to standard output (``-``)."""
    if target == "-":
        yield sys.stdout
        return
    with whole_file(target, inputs) as part, part.open("w", encoding="utf-8") as stream:
        yield stream


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
