"""The settings of the files pipeline."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .._util.validation import require_number
from ..exceptions import InvalidOption


@dataclass(frozen=True)
class FileSettings:
    """The settings of :class:`~scrapy_neardup.NearDupFilesPipeline`.

    :ivar index: path of the index of stored files; ``"memory"`` for none on disk, ``None`` for the
        default place.
    :ivar max_bytes: bytes, 0 or more, of the largest file that is compared for near-equality.
    :ivar min_similarity: least similarity of nearly equal files, 0 to 1.
    :raises InvalidOption: when a value is invalid.
    """

    index: str | os.PathLike[str] | None = None
    max_bytes: int = 33554432
    min_similarity: float = 0.5

    def __post_init__(self) -> None:
        if isinstance(self.index, os.PathLike):
            object.__setattr__(self, "index", os.fspath(self.index))
        if self.index is not None and (not isinstance(self.index, str) or not self.index):
            raise InvalidOption("index", self.index, "a path or 'memory'")
        require_number("max_bytes", self.max_bytes, int, 0)
        require_number("min_similarity", self.min_similarity, float, 0, 1)
