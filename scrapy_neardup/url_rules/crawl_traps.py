"""Where page after page brings nothing new: calendars, sign-in pages, facets without end."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

#: So many pages in a row, at least, by the same bound as for other rules.
MIN_RUN = 30
#: They repeat each original so often, or more: a row of copies of many different pages may only
#: mean that the rest of the pages has not come yet.
_COPIES_PER_ORIGINAL = 15
_MAX_SHAPES = 1000
_MAX_ORIGINALS = 10_000


@dataclass(slots=True)
class Run:
    """Pages of one shape in a row that brought nothing new."""

    pages: set[int] = field(default_factory=set)
    originals: set[int] = field(default_factory=set)
    depths: set[int] = field(default_factory=set)

    @property
    def is_endless(self) -> bool:
        return (
            len(self.pages) >= MIN_RUN
            and len(self.originals) * _COPIES_PER_ORIGINAL <= len(self.pages)
            and len(self.depths) > 1
        )


class Runs:
    """The runs of one site, by the shapes of addresses."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()

    def duplicate(self, shape: str, form: int, original: int, depth: int) -> int:
        """A page of this shape was a duplicate.

        :param form: digest of what is left of its address; one form counts once.
        :returns: how many there were in a row, if that is a space without end; else 0.
        """
        if shape not in self._runs and len(self._runs) >= _MAX_SHAPES:
            self._runs.popitem(last=False)
        run = self._runs.setdefault(shape, Run())
        if len(run.pages) < _MAX_ORIGINALS:
            run.pages.add(form)
            run.originals.add(original)
            run.depths.add(depth)
        return len(run.pages) if run.is_endless else 0

    def new(self, shape: str) -> None:
        """A page of this shape was new."""
        self._runs.pop(shape, None)


class Budget:
    """What a site may spend on near-duplicates of one original.

    :param most: fetches after which the shapes that brought them are slowed down; twice as many,
        and they are skipped. ``None`` for no bound.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._spent: OrderedDict[int, list[str]] = OrderedDict()
        self.slow: set[str] = set()

    def spend(self, original: int, shape: str) -> dict[str, int]:
        """One more near-duplicate; the shapes to be skipped from now on, with their pages."""
        if self._most is None:
            return {}
        if original not in self._spent and len(self._spent) >= _MAX_ORIGINALS:
            self._spent.popitem(last=False)
        shapes = self._spent.setdefault(original, [])
        shapes.append(shape)
        if len(shapes) < self._most:
            return {}
        if len(self.slow) < _MAX_SHAPES:
            self.slow.update(shapes)
        if len(shapes) < 2 * self._most:
            return {}
        del self._spent[original]
        return {shape: shapes.count(shape) for shape in set(shapes)}
