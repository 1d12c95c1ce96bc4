"""Makes text from crawled pages safe for terminals and logs."""

from __future__ import annotations


def printable(text: str) -> str:
    """Replace control characters, which a terminal would act on, by U+FFFD; keep line feeds."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def on_one_line(text: str, longest: int | None = None) -> str:
    """Replace line feeds as well, so that a text cannot forge a log record.

    :param longest: number of characters, 4 or more, to shorten the text to; ``None`` for no limit.
    """
    line = printable(text).replace("\n", "\ufffd")
    return line if longest is None or len(line) <= longest else line[: longest - 3] + "..."
