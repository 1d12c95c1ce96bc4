"""The texts around an article, by language: menus, teasers, comments, notices and labels."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FRAMES = Path(__file__).parent / "frames"


@dataclass(frozen=True, slots=True)
class FrameTexts:
    """The texts of one language, by section; a section is a list of lines."""

    language: str
    sections: dict[str, list[str]]
    labels: dict[str, str]

    def lines(self, section: str) -> list[str]:
        return self.sections[section]

    def pairs(self, section: str) -> list[tuple[str, str]]:
        """Return the lines of a section that have two parts."""
        parted = (line.split(" | ", 1) for line in self.sections[section])
        return [(first, second) for first, second in parted]

    def some_pairs(self, section: str, count: int, rng: random.Random) -> list[tuple[str, str]]:
        pairs = self.pairs(section)
        return rng.sample(pairs, min(count, len(pairs)))

    def some(self, section: str, count: int, rng: random.Random) -> list[str]:
        lines = self.sections[section]
        return rng.sample(lines, min(count, len(lines)))

    def one(self, section: str, rng: random.Random) -> str:
        return rng.choice(self.sections[section])

    def months(self) -> list[str]:
        return self.sections["months"][0].split()

    def short_months(self) -> list[str]:
        return self.sections["short_months"][0].split()

    def date(self, iso_date: str) -> str:
        """Return a date as the language writes it."""
        year, month, day = map(int, iso_date.split("-"))
        name = self.months()[month - 1]
        return self.labels["date"].format(day=day, month=name, number=month, year=year)


@cache
def frame_texts(language: str) -> FrameTexts:
    """Return the texts of *language*, read from its file."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (_FRAMES / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            lines = sections.setdefault(line[1:-1], [])
        elif line:
            lines.append(line)
    labels = dict(line.split(": ", 1) for line in sections.pop("labels"))
    return FrameTexts(language, sections, labels)
