"""Reads the text files of the corpora: header lines, a blank line, a body."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class BadFile(ValueError):
    """A file of a corpus cannot be used; the message names the file and the line.

    :param line: counted from 1.
    """

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}")


def read_headed(path: Path, keys: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the headers of a file and the lines of its body.

    The headers are ``key: value`` with just these keys, in any order. The body's first line is line
    ``len(keys) + 2`` of the file.

    :raises BadFile: when the file is not UTF-8, a header is missing, unknown or there twice, or no
        blank line follows the headers.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise BadFile(path, 1, f"not UTF-8 ({error.reason})") from error
    headers: dict[str, str] = {}
    for number, line in enumerate(lines[: len(keys)], start=1):
        key, colon, value = line.partition(": ")
        if not colon or not value.strip() or key not in keys or key in headers:
            missing = ", ".join(key for key in keys if key not in headers)
            raise BadFile(path, number, f"expected a header with a value ({missing}), not {line!r}")
        headers[key] = value.strip()
    if len(headers) < len(keys) or lines[len(keys) : len(keys) + 1] != [""]:
        raise BadFile(path, len(headers) + 1, "expected a blank line after the headers")
    return headers, lines[len(keys) + 1 :]
