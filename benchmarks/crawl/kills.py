"""Counts lost and repeated contents of crawls that are killed (SIGKILL) at random moments.

Crawls a site of its own making, which a server in another process serves, kills the crawl, and
runs it again until it ends by itself. Moments are spread over the whole life of a crawl, its start
and its end too; a sixth of the runs are killed twice, a sixth three times. Each content is on two
or three pages, so a page that is remembered but not stored would take its copies with it.

The exit status is 1 when a content is lost, when a page counted as stored that was not on disk, or
when copies are both stored though the first was known to be on disk when the crawl was killed.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from scrapy_neardup.stores.redis.store import RedisStore

from ..common.options import command_parser
from ..common.redis_server import redis_server
from ..common.tables import Table
from .killed_crawls import (
    Runs,
    Shape,
    Storing,
    account,
    confirmed,
    confirmed_in,
    content_of,
    kill,
    path_of,
    site,
)


@dataclass(frozen=True)
class Case:
    """A configuration of the crawl: how it stores, and how it is run again.

    :ivar job: whether it has a JOBDIR and recovers, and is no fresh crawl with the same store.
    :ivar fails: whether a pipeline fails on one page of each third content.
    :ivar redis: whether the store is a Redis instead of a file.
    """

    storing: Storing
    job: bool = True
    fails: bool = False
    redis: bool = False
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def stores_again(self) -> bool:
        """Whether known and unchanged pages are stored again."""
        return not self.job and not self.settings

    def store(self, folder: Path) -> Path:
        return folder / "job/neardup.sqlite" if self.job else folder / "pages.sqlite"

    def known(self, folder: Path, server: str) -> frozenset[str]:
        """Paths of the pages that the next run will know."""
        if self.redis:
            return confirmed_in(RedisStore(server, folder.name))
        return confirmed(self.store(folder))

    def given(self, folder: Path, run: int, server: str) -> dict[str, Any]:
        given: dict[str, Any] = dict(self.settings)
        if self.redis:
            given |= {"NEARDUP_STORE": server, "NEARDUP_NAMESPACE": folder.name}
        elif not self.job:
            given["NEARDUP_STORE"] = f"sqlite:///{self.store(folder)}"
        if self.job:
            given |= {"JOBDIR": str(folder / "job"), "NEARDUP_RECOVER": run > 1}
        return given


_DROP = {"NEARDUP_REVISIT": "drop"}
_LAZY = {"NEARDUP_EXTRACTION": "lazy"}
CASES = {
    "job, synced": Case("synced"),
    "job, feed": Case("feed"),
    "job, synced, failing": Case("synced", fails=True),
    "job, feed, failing": Case("feed", fails=True),
    "fresh, synced": Case("synced", job=False),
    "fresh, feed": Case("feed", job=False),
    "fresh, synced, drop": Case("synced", job=False, settings=_DROP),
    "fresh, feed, drop": Case("feed", job=False, settings=_DROP),
    "redis, synced": Case("synced", redis=True),
    "redis, feed": Case("feed", redis=True),
    "redis, synced, lazy": Case("synced", redis=True, settings=_LAZY),
    "redis, feed, lazy": Case("feed", redis=True, settings=_LAZY),
}


@dataclass
class Trial:
    """A crawl that is killed and run again, and what came of it.

    :ivar moments: when it is killed, as parts of a crawl's life.
    :ivar lives: seconds that the last crawls have lived, this one's last run to be added: other
        programs of the machine make them longer and shorter.
    """

    case: Case
    shape: Shape
    port: int
    server: str
    moments: list[float]
    lives: deque[float]

    def run(self) -> Counter[str]:
        with TemporaryDirectory(prefix="kills-") as name:
            return self._run(Path(name))

    def _run(self, folder: Path) -> Counter[str]:
        runs = Runs(folder, self.port, self.case.storing, self._failing())
        figures: Counter[str] = Counter(runs=1)
        at_kills = []
        for moment in self.moments:
            started = runs.start(**self.case.given(folder, runs.number + 1, self.server))
            figures["kills"] += kill(started, moment * fmean(self.lives))
            at_kills.append(self.case.known(folder, self.server))
            on_disk = {item["path"] for item in runs.stored()}
            known = {path for path in at_kills[-1] if path.startswith("/content/")}
            figures["kills amid"] += 0 < len({content_of(p) for p in on_disk}) < self.shape.contents
            figures["unconfirmed"] += len(on_disk - known)
            figures["not on disk"] += len(known - on_disk)
        begun = monotonic()
        runs.finish(**self.case.given(folder, runs.number + 1, self.server))
        self.lives.append(monotonic() - begun)
        found = account(self.shape, runs.stored(), at_kills)
        wrong_again = [] if self.case.stores_again else found.wrong_again
        return figures + Counter(
            {
                "lost": len(found.lost),
                "pairs": len(found.pairs),
                "wrong pairs": len(found.wrong_pairs),
                "again": len(found.again),
                "wrong again": len(wrong_again),
            }
        )

    def _failing(self) -> frozenset[str]:
        if not self.case.fails:
            return frozenset()
        return frozenset(path_of(content, 0) for content in range(0, self.shape.contents, 3))


def life_of(case: Case, shape: Shape, port: int, server: str) -> float:
    """Seconds that a crawl lives when nobody kills it.

    :raises RuntimeError: when it does not store each content once.
    """
    with TemporaryDirectory(prefix="kills-") as name:
        runs = Runs(Path(name), port, case.storing)
        started = monotonic()
        runs.finish(**case.given(Path(name), 1, server))
        life = monotonic() - started
        found = account(shape, runs.stored(), [])
    if found.lost or found.pairs or found.again:
        raise RuntimeError(f"a crawl that nobody kills stores something else: {found}")
    return life


def moments(runs: int, chance: random.Random) -> Iterator[list[float]]:
    """Yield the times to kill each run: the first kills lie evenly over a crawl's life."""
    for number in range(runs):
        kills = 1 + (number % 3 == 1) + (number % 6 == 1)
        first = (number + chance.random()) / runs
        yield [first, *(chance.random() for _ in range(kills - 1))]


_COLUMNS = (
    "runs", "kills", "kills amid", "unconfirmed", "not on disk", "lost", "pairs", "wrong pairs",
    "again", "wrong again",
)  # fmt: skip
_NOTES = [
    "kills amid: when some contents were stored, not all",
    "unconfirmed: pages on disk at a kill that do not count, for nobody knew",
    "not on disk: pages that count and are not",
    "pairs: of copies that are both stored; wrong: though the first counted at the kill between",
    "again: pages stored twice; wrong: though they counted",
]
_WRONG = ("not on disk", "lost", "wrong pairs", "wrong again")


def main() -> int:
    options = _options()
    shape = Shape(options.contents)
    table = Table(f"kill -9, {options.contents} contents", ("case", *_COLUMNS), notes=_NOTES)
    total: Counter[str] = Counter()
    with (
        site(shape) as port,
        redis_server() as redis,
        ThreadPoolExecutor(options.jobs) as together,
    ):
        for name in options.only or CASES:
            case = CASES[name]
            # Under the same load as what follows.
            alone = [(case, shape, port, redis.address)] * options.jobs
            lives = deque(together.map(life_of, *zip(*alone, strict=True)), maxlen=3)
            chance = random.Random(f"{options.seed} {name}")
            times = list(moments(options.runs, chance))
            # In any order, so that the lives of late kills are not those of early ones.
            chance.shuffle(times)
            trials = [Trial(case, shape, port, redis.address, when, lives) for when in times]
            figures = sum(together.map(Trial.run, trials), Counter())
            table.add(name, *(figures[column] for column in _COLUMNS))
            print(f"{name}: a crawl lives {fmean(lives):.1f} s, {dict(figures)}", flush=True)
            total += figures
    print(table.as_text())
    return int(any(total[figure] for figure in _WRONG))


def _options() -> argparse.Namespace:
    parser = command_parser("benchmarks.crawl.kills", __doc__)
    parser.add_argument("--runs", type=int, default=50, help="of each case")
    parser.add_argument("--contents", type=int, default=60, help="on the site")
    parser.add_argument("--only", action="append", choices=CASES, metavar="NAME")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
