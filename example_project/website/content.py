"""Reads the texts of the site: one file per page, header lines above its paragraphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Text:
    """One file: its place below its folder (``kitchen/plum-cake``), its header, its paragraphs."""

    key: str
    header: Mapping[str, str]
    paragraphs: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.header["title"]

    @property
    def lang(self) -> str:
        return self.header["lang"]

    @property
    def date(self) -> str:
        return self.header.get("date", "")

    @property
    def section(self) -> str:
        return self.key.partition("/")[0]

    @property
    def tags(self) -> list[str]:
        return [tag.strip() for tag in self.header.get("tags", "").split(",")]

    def corrected(self, old: str, new: str) -> Text:
        """The same text with ``old``, which must occur exactly once, replaced by ``new``."""
        if sum(paragraph.count(old) for paragraph in self.paragraphs) != 1:
            raise ValueError(f"{self.key}: {old!r} must occur exactly once")
        return replace(self, paragraphs=tuple(p.replace(old, new) for p in self.paragraphs))

    def variants(self) -> dict[str, Text]:
        """The products of one file: ``{variant}`` filled in, by the slug of each page."""
        listed = self.header.get("variants")
        if listed is None:
            return {self.key: self}
        pairs = (entry.strip().split("=") for entry in listed.split(","))
        return {f"{self.key}-{slug}": self._filled(variant) for slug, variant in pairs}

    def _filled(self, variant: str) -> Text:
        header = {**self.header, "title": self.title.format(variant=variant)}
        return replace(
            self,
            header=header,
            paragraphs=tuple(p.format(variant=variant) for p in self.paragraphs),
        )


def load(folder: str) -> dict[str, Text]:
    """Every text below ``folder``, by key, in the order of the keys."""
    root = HERE / folder
    paths = sorted(root.rglob("*.txt"))
    texts = (_read(path, path.relative_to(root).with_suffix("").as_posix()) for path in paths)
    return {text.key: text for text in texts}


def _read(path: Path, key: str) -> Text:
    head, *blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    header = dict(line.split(": ", 1) for line in head.splitlines())
    glue = "" if header["lang"] == "zh" else " "  # Chinese lines join without a space
    return Text(key, header, tuple(glue.join(block.splitlines()) for block in blocks))
