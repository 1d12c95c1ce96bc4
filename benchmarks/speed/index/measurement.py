"""Measures all indexes in turn, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial

from ...common.measuring import Spread, in_turn, own_process
from . import contestants
from .contestants import DISTANCE, OURS, Contestant
from .figures import Lookups, Timed, Work
from .held_index import do_work, grow, open_index

#: Distances of ours, with how many lookups a round.
_OURS = {3: 1000, 7: 500, 11: 50}
_THEIRS = 200


def works(contestant: Contestant) -> list[Work]:
    """Return what is timed in each round."""
    if contestant is not OURS:
        return [Work(kind, DISTANCE, _THEIRS) for kind in ("new", "near", "add")]
    lookups = [Work(kind, k, n) for k, n in _OURS.items() for kind in ("new", "near", "check")]
    return [*lookups, Work("add", DISTANCE, _OURS[DISTANCE])]


def measure(sizes: Sequence[int], rounds: int) -> Lookups:
    """Measure all packages at each size that they can reach."""
    figures = Lookups({}, {})
    with ExitStack() as stack:
        processes = {}
        for contestant in contestants.CONTESTANTS:
            if not contestant.trouble:
                processes[contestant] = stack.enter_context(own_process())
                processes[contestant].submit(open_index, contestant.make).result()
        for before, size in zip([0, *sizes], sizes, strict=False):
            for contestant in [c for c in processes if c.most < size]:
                processes.pop(contestant).shutdown()
            for contestant, process in processes.items():
                grown = process.submit(grow, before, size).result()
                figures.growth[contestant.name, size] = grown
            _ask_all(figures, processes, size, rounds)
    return figures


def _ask_all(
    figures: Lookups, processes: dict[Contestant, ProcessPoolExecutor], size: int, rounds: int
) -> None:
    def turn(process: ProcessPoolExecutor, work: Work) -> tuple[float, int]:
        return process.submit(do_work, work, size).result()

    turns = {
        (contestant.name, size, work): partial(turn, process, work)
        for contestant, process in processes.items()
        for work in works(contestant)
    }
    for key, found in in_turn(turns, rounds).items():
        micros, shares = zip(*found, strict=True)
        figures.timed[key] = Timed(Spread.of(micros), sum(shares) / (rounds * key[2].times))
