"""Reads the settings that docs/compatibility.md shows, so that the tests crawl with these."""

from __future__ import annotations

from typing import Any

from tests.support.documents import ROOT, blocks

PAGE = ROOT / "docs" / "compatibility.md"


def settings_of(component: str) -> dict[str, Any]:
    """Return the settings in the section of a component."""
    names: dict[str, Any] = {}
    exec(compile(module_of(component, "settings.py"), PAGE.name, "exec"), names)
    return {name: value for name, value in names.items() if name.isupper()}


def module_of(component: str, file: str) -> str:
    """Return the text of a module that the section of a component shows."""
    text = PAGE.read_text("utf-8").partition(f"\n## {component}\n")[2].partition("\n## ")[0]
    [found] = [block.text for block in blocks(PAGE) if block.file == file and block.text in text]
    return found
