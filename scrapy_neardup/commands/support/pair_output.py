"""The outputs of ``scrapy neardup pairs``, in one process and on a cluster."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._util.wording import quantity
from ...exceptions import InvalidOption, UnfitOption
from .output import format_counts
from .row_output import Kind, RowWriter, open_rows

#: Columns by the options that name the files.
_COLUMNS: dict[str, dict[str, Kind]] = {
    "output": {
        "id_a": "id",
        "url_a": "text",
        "id_b": "id",
        "url_b": "text",
        "distance": "int",
        "similarity": "float",
        "reason": "text",
    },
    "clusters": {"pages": "int", "ids": "ids", "urls": "texts"},
    "keep": {"id": "id", "url": "text"},
}

#: Opens a target for rows; given the inputs, which must not be overwritten, and the columns.
Opener = Callable[[str, list[str], dict[str, Kind]], AbstractContextManager[RowWriter]]


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the output files."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.jsonl",
        help="write a line per pair to a file (.csv or .parquet for a table), or - (stdout)",
    )
    parser.add_argument(
        "--clusters",
        metavar="OUT.jsonl",
        help="write a line per cluster to a file, as with --output, or - (stdout)",
    )
    parser.add_argument(
        "--keep",
        metavar="OUT.jsonl",
        help="write id and URL of each page that stays to a file, as with --output, or - (stdout): "
        "all but those of which a page that stays is a near-duplicate",
    )


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse options that name no file to write to, or one of them twice."""
    seen: dict[str | Path, str] = {}
    for name in _COLUMNS:
        target = getattr(options, name)
        if target is None:
            continue
        place = target if "://" in target else Path(target).resolve()
        if place in seen:
            raise InvalidOption(f"--{name}", target, f"another file than --{seen[place]}")
        seen[place] = name
    if not seen:
        raise UnfitOption(
            "--output", "missing", "a file or -, unless --clusters or --keep is given"
        )


class PairOutputs:
    """The files to write to.

    :param writers: by the names of their options; ``None`` for one that is not wanted.
    """

    def __init__(self, writers: dict[str, RowWriter | None]) -> None:
        self._writers = writers

    def write(self, name: str, lines: Iterable[dict[str, Any]]) -> None:
        """Write lines to the file of an option if it is wanted; they are gone through anyway."""
        writer = self._writers[name]
        for line in lines:
            if writer is not None:
                writer.write(line)

    def wants(self, name: str) -> bool:
        """Whether the file of an option is wanted."""
        return self._writers[name] is not None


@contextmanager
def open_outputs(options: argparse.Namespace, opened: Opener = open_rows) -> Iterator[PairOutputs]:
    """Open the files that the options name, which appear as the block ends without an error."""
    writers: dict[str, RowWriter | None] = {}
    with ExitStack() as stack:
        for name, columns in _COLUMNS.items():
            target = getattr(options, name)
            writers[name] = (
                None
                if target is None
                else stack.enter_context(opened(target, options.pages, columns))
            )
        yield PairOutputs(writers)


@dataclass
class Figures:
    """The counts of a run.

    :ivar pages: that were compared, ``remembered`` ones of a store among them.
    :ivar replaced: pages of which a later one has the address.
    :ivar undecided: pages that could not be compared, by reason.
    :ivar members: pages in clusters; the largest of these has ``largest``.
    :ivar candidates: pairs that were looked at; ``None`` where nobody counts.
    :ivar kept: pages that stay; ``None`` where nobody asked.
    """

    pages: int
    pairs: int
    clusters: int
    members: int
    largest: int
    remembered: int = 0
    replaced: int = 0
    undecided: Counter[str] = field(default_factory=Counter)
    candidates: int | None = None
    kept: int | None = None

    def __str__(self) -> str:
        parts = [quantity(self.pages, "page")]
        if self.remembered:
            parts.append(f"{self.remembered} remembered")
        if self.replaced:
            parts.append(f"{self.replaced} replaced by a later one with the same URL")
        if self.undecided:
            parts.append(f"undecided {self.undecided.total()}")
        candidates = "" if self.candidates is None else f"{self.candidates} candidates, "
        found = f"{', '.join(parts)}: {candidates}{quantity(self.pairs, 'pair')}"
        if self.clusters:
            clusters = quantity(self.clusters, "cluster")
            found += f"; {clusters} of {quantity(self.members, 'page')}, the biggest of "
            found += str(self.largest)
        if self.kept is not None:
            found += f"; {self.kept} kept"
        # As scan says it.
        return found + (
            f"; undecided for: {format_counts(self.undecided)}" if self.undecided else ""
        )
