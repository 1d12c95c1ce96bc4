"""Reads the settings that docs/compatibility.md shows, so that the tests crawl with these."""

from __future__ import annotations

from typing import Any

from tests.support.documents import ROOT, blocks

PAGE = ROOT / "docs" / "compatibility.md"


def settings_of(component: str) -> dict[str, Any]:
    """Return the settings of the first block in the section of a component."""
    text = PAGE.read_text("utf-8").partition(f"\n## {component}\n")[2].partition("\n## ")[0]
    block = next(block for block in blocks(PAGE) if block.language == "python" and block.text in text)
    names: dict[str, Any] = {}
    exec(compile(block.text, PAGE.name, "exec"), names)
    return {name: value for name, value in names.items() if name.isupper()}
