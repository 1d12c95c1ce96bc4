"""Progress on standard error: bars on a terminal, and rare lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn

from .output import print_message

T = TypeVar("T")

#: Seconds between two changes of a bar: drawing takes longer than many a result.
_BAR_SECONDS = 0.1
#: Seconds before the first line and at most between two lines, where there is no terminal.
_FIRST_SECONDS, _MOST_SECONDS = 60.0, 900.0


class HasProgress(Protocol):
    """An input whose progress is known."""

    @property
    def bytes_read(self) -> int: ...

    @property
    def total_bytes(self) -> int | None: ...


def with_progress(
    results: Iterable[T],
    source: HasProgress | None,
    what: str,
    unit: str = "pages",
    total: int | None = None,
) -> Iterator[T]:
    """Yield the results, with a progress bar on standard error when that is a terminal.

    Elsewhere there is a line after a minute, and further ones at growing intervals.

    :param source: the input that the results are made from; ``None`` if its size is unknown.
    :param total: number of results, if that is known instead.
    """
    console = Console(stderr=True)
    if not _draws(console):
        yield from _with_lines(results, source, what, unit, total)
        return
    columns = (
        *Progress.get_default_columns(),
        TextColumn(f"{{task.fields[done]}} {unit}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        whole = total if source is None else source.total_bytes
        task = progress.add_task(what, total=whole or None, done=0)
        due = 0.0
        for done, result in enumerate(results, start=1):
            if (now := monotonic()) >= due:
                due = now + _BAR_SECONDS
                progress.update(task, completed=_completed(source, total, done), done=done)
            yield result


def _draws(console: Console) -> bool:
    """Return whether a bar can be drawn there, and drawn over."""
    return console.is_terminal and not console.is_dumb_terminal


def _completed(source: HasProgress | None, total: int | None, done: int) -> int | None:
    """Return how much of the whole is done, which is measured in bytes if there is a source."""
    if source is not None:
        return source.bytes_read
    return None if total is None else done


class _RareLines:
    """Says when the next line is due."""

    def __init__(self) -> None:
        self._interval = _FIRST_SECONDS
        self._due = monotonic() + self._interval

    def is_due(self) -> bool:
        if (now := monotonic()) < self._due:
            return False
        self._interval = min(2 * self._interval, _MOST_SECONDS)
        self._due = now + self._interval
        return True


def _with_lines(
    results: Iterable[T], source: HasProgress | None, what: str, unit: str, total: int | None
) -> Iterator[T]:
    lines = _RareLines()
    for done, result in enumerate(results, start=1):
        if lines.is_due():
            whole = total if source is None else source.total_bytes
            completed = _completed(source, total, done)
            share = f", {completed / whole:.0%}" if whole and completed is not None else ""
            print_message(f"{what}: {done} {unit} so far{share}")
        yield result


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show what is done, and for how long, when standard error is a terminal."""
    console = Console(stderr=True)
    if not _draws(console):
        yield
        return
    columns = (*Progress.get_default_columns()[:2], TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(what, total=None)
        yield


@contextmanager
def stage_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield what is told of the tasks of a stage: its name, how many are done, and all.

    Each stage has a bar on standard error when that is a terminal, until the next one begins.
    Elsewhere there are lines as with :func:`with_progress`.
    """
    console = Console(stderr=True)
    if not _draws(console):
        lines = _RareLines()

        def say(stage: str, done: int, total: int) -> None:
            if lines.is_due():
                print_message(f"{stage}: {done} of {total} tasks so far")

        yield say
        return
    columns = (
        *Progress.get_default_columns(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} tasks"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        bars: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                for bar in bars.values():
                    progress.update(bar, visible=False)
                bars[stage] = progress.add_task(stage)
            progress.update(bars[stage], completed=done, total=total)

        yield show
