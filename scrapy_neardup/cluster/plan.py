"""The plan of a run, which all its tasks know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..matching.rule import Rule
from ..methods import Method
from ..workers import Limits
from .folder import WorkFolder

#: A page's number: that of its split above that of its record within the split.
_RECORD_BITS = 32

#: Runs of pages with one key that are longer are crowded, unless another length is given.
CROWDED = 1000


@dataclass(frozen=True)
class Plan:
    """The settings and sizes that all tasks of a run share.

    :ivar rule: decides which pages are copies.
    :ivar signer: arguments of the :class:`~scrapy_neardup.signatures.signer.Signer`.
    :ivar recipe: of its signatures.
    :ivar method: judges in place of the rule, if there is one.
    :ivar limits: time and memory that the reading of one page may take.
    :ivar n_splits: number of parts of the input, each read by one task.
    :ivar partitions: number of parts that rows are sorted into.
    :ivar passes: number of times that keys are made and compared, each time some of them.
    :ivar crowded: a key of more pages than this pairs each with the 32 before it only.
    """

    folder: WorkFolder
    rule: Rule
    signer: Mapping[str, Any] = field(repr=False)
    recipe: str
    method: Method | None
    limits: Limits
    n_splits: int
    partitions: int = 1
    passes: int = 1
    crowded: int = CROWDED

    @property
    def n_ranges(self) -> int:
        """Number of ranges of consecutive pages, each of whole splits."""
        return min(self.partitions, self.n_splits)

    def range_of(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return in which range each page is; shape ``(n,)``."""
        return (numbers >> _RECORD_BITS) * self.n_ranges // self.n_splits

    def splits_of(self, range_: int) -> range:
        """Return the splits of a range."""
        first = -(-range_ * self.n_splits // self.n_ranges)
        return range(first, -(-(range_ + 1) * self.n_splits // self.n_ranges))


def page_numbers(split: int, first: int, count: int) -> npt.NDArray[np.int64]:
    """Return the numbers of the pages of some records of a split; shape ``(count,)``."""
    return np.arange(first, first + count) + (split << _RECORD_BITS)


def split_and_record(
    numbers: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the split and the record of each page; both of shape ``(n,)``."""
    return numbers >> _RECORD_BITS, numbers & ((1 << _RECORD_BITS) - 1)
