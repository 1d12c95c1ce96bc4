"""Writes pages as JSON Lines for the commands, and reads what they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.texts import article, replaced


def stored(path: Path, *texts: str, first: int = 0) -> Path:
    """Pages of a site each, with these texts."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts, first):
            record = {"id": number, "url": f"https://{number}.example/", "text": text}
            file.write(json.dumps(record) + "\n")
    return path


def stored_reprints(path: Path) -> Path:
    """Sixty articles, every third of them a reprint of the one before with some words replaced."""
    texts: list[str] = []
    for seed in range(60):
        words = article(seed=seed)
        texts.append(" ".join(replaced(texts[-1].split(), 0.02) if seed % 3 == 2 else words))
    return stored(path, *texts)


def lines(output: Path | bytes) -> list[dict[str, Any]]:
    """The objects of a file, or of what a command printed."""
    data = output if isinstance(output, bytes) else output.read_bytes()
    return [json.loads(line) for line in data.splitlines()]
