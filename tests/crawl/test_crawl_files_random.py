"""Files of random crawls: what an item says of its file stays true."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crawl.test_crawl_files import INDEX, NAMED, SLOW, answer, crawl, files, on_disk
from tests.support.crawl import SCRAPY
from tests.support.server import Answer, serving

RUNS = 6
CONTENTS = [b"%d " % n + random.Random(n).randbytes(20 if n % 2 else 3000) for n in range(6)]


class Expectations:
    """The files that must be on disk: those that Scrapy would still have.

    Scrapy stores the file of each URL at the path that ``file_path()`` returns, so it has one until
    another content is written to that path.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: list[tuple[str, str, bytes]] = []

    def damage(self, chance: random.Random) -> None:
        """Remove a file, or cut it off."""
        if paths := sorted(on_disk(self._folder)):
            path = chance.choice(paths)
            if chance.random() < 0.5:
                (self._folder / path).unlink()
            else:
                (self._folder / path).write_bytes(b"cut")
            self._known = [each for each in self._known if each[1] != path]

    def check(self, told: dict[str, tuple[str, str]], bodies: dict[str, bytes]) -> None:
        """Check the earlier files, and those of a run.

        :param told: path on disk and status, by the paths of the URLs that have a file.
        :param bodies: of all URLs that were asked for.
        """
        stored, written = on_disk(self._folder), dict[str, set[bytes]]()
        for url, body in bodies.items():
            is_lost = url not in told
            if is_lost or told[url][1] != "uptodate":
                # A store that failed may have written anything.
                written.setdefault(_asked(url), set()).add(b"" if is_lost else body)
        for asked, path, body in self._known:
            if written.get(asked, set()) <= {body}:
                assert stored.get(path) == body, (asked, path)
        for url, (path, status) in told.items():
            if status != "uptodate" and len(written[_asked(url)]) == 1:
                assert stored.get(path) == bodies[url], (url, path)
                self._known.append((_asked(url), path, bodies[url]))
        self._known = [each for each in self._known if stored.get(each[1]) == each[2]]


def _asked(url: str) -> str:
    return url.partition("to=")[2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_content_is_lost_that_scrapy_would_have(seed, tmp_path):
    chance = random.Random(seed)
    is_slow = seed % 2 and SCRAPY >= (2, 15)
    (tmp_path / "broken").mkdir()
    names = [*"abcdef"[: chance.choice([3, 6])], "broken"]
    urls = [f"/{n}?to={chance.choice(names)}" for n in range(12)]
    pages: dict[str, Answer | str] = {}
    bodies: dict[str, bytes] = {}
    expected = Expectations(tmp_path)
    with serving(pages) as site:
        for _ in range(RUNS):
            bodies |= {
                url: chance.choice(CONTENTS)
                for url in urls
                if url not in bodies or chance.random() < 0.4
            }
            pages.update({url: answer(body) for url, body in bodies.items()})
            if chance.random() < 0.3:
                expected.damage(chance)
            asked = chance.sample(urls, 8)
            done = crawl(
                site,
                tmp_path,
                asked,
                SLOW if is_slow else NAMED,
                FILES_STORE=f"slow://{tmp_path}" if is_slow else str(tmp_path),
                FILES_EXPIRES=chance.choice([0, 90]),
                NEARDUP_FILES_INDEX=str(tmp_path / INDEX),
                CONCURRENT_REQUESTS=chance.choice([1, 16]),
            )
            told = {url: (info["path"], info["status"]) for url, info in files(done).items()}
            expected.check(told, {url: bodies[url] for url in asked})
