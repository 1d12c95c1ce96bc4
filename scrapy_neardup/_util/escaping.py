"""Texts of pages, and their addresses, on a terminal and in a log."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text without what a terminal would obey: pages are written by anybody."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def on_one_line(text: str, longest: int | None = None) -> str:
    """The same where a new line would pass for another record of the log.

    :param longest: characters, 4 or more, that are left of it; ``None`` for all.
    """
    line = printable(text).replace("\n", "\ufffd")
    return line if longest is None or len(line) <= longest else line[: longest - 3] + "..."
