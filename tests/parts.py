"""Parts that a user might write, named in tests by their import paths."""

from __future__ import annotations

from typing import Any

from scrapy_neardup import IdfTable

FLAT = IdfTable("flat", 16, {})


def letters(text: str) -> list[str]:
    return [character for character in text if character.isalpha()]


def first_paragraph(html: str, tree: Any) -> str | None:
    paragraph = tree.find(".//p")
    return None if paragraph is None else paragraph.text_content()


def never(text: str) -> list[str]:
    raise ZeroDivisionError
