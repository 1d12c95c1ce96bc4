"""Hints of a namespace in Redis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np
import numpy.typing as npt

from .. import better_urls, hints
from ..better_urls import BetterUrl, BetterUrlChanges
from ..hints import COPY, KNOWN, in_order, known_at, newest, packed_name, unpacked_name
from ..visits import HISTORY, Histories, Visits
from .connection import RedisConnection, Script
from .layout import KeySpace, pieces

#: Work for the server, or answers of it, at once.
_NAMED_AT_ONCE = 200
_NOTED_AT_ONCE = 1000
_READ_AT_ONCE = 10_000

_PUT_NAMED, _NOTE_VISITS = Script("put_named"), Script("note_visits")
_PAGE_BYTES = 8
#: Of a history that was written before it had the time of a move, without its page.
_OLD_HISTORY_BYTES = 32


class RedisHints:
    """See :mod:`~scrapy_neardup.stores.hints`.

    Rules are a hash, and so are best URLs. Known duplicates are a sorted set of triples of digests,
    a copy's, its original's and its text's, by the times at which they were seen, some 120 bytes
    each. Histories of visits are a hash. What is asked for twice is done once.

    :param part: the namespace's common part, also where each site's pages are kept apart: a rule is
        looked up before anything is known of its site.
    """

    def __init__(self, connection: RedisConnection, part: KeySpace) -> None:
        self._connection = connection
        self._part = part

    def rules(self) -> dict[str, bytes]:
        return self._named(self._part.rules)

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        self._put_named(self._part.rules, rules, hints.MAX_RULES)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return newest(np.concatenate([np.empty(0, KNOWN), *self._read(since)]), since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        noted = [(seen_at, copy.tobytes()) for copy in copies]
        for piece in pieces(noted, _NOTED_AT_ONCE):
            words = list(chain.from_iterable(piece))
            self._connection.commands(
                # Only to a later time than what stands there.
                ("ZADD", self._part.copies, "GT", *words),
                ("ZREMRANGEBYRANK", self._part.copies, 0, -hints.MAX_KNOWN - 1),
            )

    def forget_duplicates(self, before: int) -> None:
        """Remove known duplicates last seen before this time, in seconds since 1970."""
        self._connection.command("ZREMRANGEBYSCORE", self._part.copies, "-inf", f"({before}")

    def visits(self) -> Histories:
        found = self._hash(self._part.visits)
        rows = [page + _with_move(history) for page, history in found.items()]
        return np.frombuffer(b"".join(rows), HISTORY)

    def note_visits(self, visits: Visits) -> None:
        for piece in pieces(visits.tolist(), _NOTED_AT_ONCE):
            words = [
                word
                for page, seen_at, change, moved_to in piece
                for word in (
                    *(page.to_bytes(_PAGE_BYTES, "little"), seen_at, repr(change)),
                    moved_to.to_bytes(_PAGE_BYTES, "little"),
                )
            ]
            self._connection.run(_NOTE_VISITS, [self._part.visits], *words)

    def forget_visits(self, before: int) -> None:
        """Remove the histories of pages that were last visited before this time."""
        histories = self.visits()
        old = histories["page"][histories["last_at"] < before]
        for piece in pieces([page.tobytes() for page in old], _NOTED_AT_ONCE):
            self._connection.command("HDEL", self._part.visits, *piece)

    def better_urls(self) -> dict[str, BetterUrl]:
        found = self._named(self._part.better_urls)
        return {original: better_urls.unpacked(body) for original, body in found.items()}

    def note_better_urls(self, changes: BetterUrlChanges) -> None:
        packed = {original: better_urls.packed(better) for original, better in changes.items()}
        self._put_named(self._part.better_urls, packed, better_urls.MAX_BETTER_URLS)

    def counts(self) -> tuple[int, int]:
        """Return how many rules there are, and how many known duplicates."""
        rules, known = self._connection.commands(
            ("HLEN", self._part.rules), ("ZCARD", self._part.copies)
        )
        return int(rules), int(known)

    def _named(self, key: bytes) -> dict[str, bytes]:
        return {unpacked_name(name): body for name, body in self._hash(key).items()}

    def _put_named(self, key: bytes, values: Mapping[str, bytes], most: int) -> None:
        for piece in pieces(in_order(values), _NAMED_AT_ONCE):
            words = [word for name, body in piece for word in (packed_name(name), body)]
            self._connection.run(_PUT_NAMED, [key], most, *words)

    def _hash(self, key: bytes) -> dict[bytes, bytes]:
        return self._connection.call(lambda client: dict(client.hscan_iter(key, count=1000)))

    def _read(self, since: int) -> Iterator[npt.NDArray[np.void]]:
        """Yield known duplicates seen at this time or later, newest first, and some older ones.

        What others note meanwhile moves the rest on: some are read twice, none is left out.
        """
        for start in range(0, hints.MAX_KNOWN, _READ_AT_ONCE):
            found = self._highest(start)
            if found:
                copies, times = zip(*found, strict=True)
                yield known_at(np.frombuffer(b"".join(copies), COPY), times)
            if len(found) < _READ_AT_ONCE or found[-1][1] < since:
                return

    def _highest(self, start: int) -> list[tuple[bytes, float]]:
        """Return known duplicates by rank, the highest first, with their times."""
        end = start + _READ_AT_ONCE - 1
        return self._connection.call(
            lambda client: client.zrevrange(self._part.copies, start, end, withscores=True)
        )


def _with_move(history: bytes) -> bytes:
    """Return a history with the time of a move: the latest possible one if it has none."""
    if len(history) != _OLD_HISTORY_BYTES:
        return history
    has_moved = any(history[-_PAGE_BYTES:])
    return history + (history[4:8] if has_moved else bytes(4))
