"""Makes text from crawled pages safe for terminals, logs and spreadsheets."""

from __future__ import annotations

import re

#: Beginnings of text that a spreadsheet would run as a formula; downloads.js has the same.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def printable(text: str) -> str:
    """Replace control characters, which a terminal would act on, by U+FFFD; keep line feeds."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def on_one_line(text: str, longest: int | None = None) -> str:
    """Replace line feeds as well, so that a text cannot forge a log record.

    :param longest: number of characters, 4 or more, to shorten the text to; ``None`` for no limit.
    """
    line = printable(text).replace("\n", "\ufffd")
    return line if longest is None or len(line) <= longest else line[: longest - 3] + "..."


def harmless_cell(text: str) -> str:
    """Return the text for a cell of CSV, with an apostrophe if it begins like a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def original_cell(cell: str) -> str:
    """Return the text of which :func:`harmless_cell` made a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
