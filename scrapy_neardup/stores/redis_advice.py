"""Rules and known duplicates of a namespace in Redis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from . import advice
from .advice import KNOWN, in_order, newest, packed_name, unpacked_name
from .redis_layout import Part, pieces
from .redis_link import Link, Script

#: Work for the server, or answers of it, at once.
_RULES_AT_ONCE = 200
_NOTED_AT_ONCE = 1000
_READ_AT_ONCE = 10_000
_DIGEST = KNOWN["digest"]

_PUT_RULES = Script("put_rules")


class RedisAdvice:
    """See :mod:`~scrapy_neardup.stores.advice`.

    Rules are a hash. Known duplicates are a sorted set of digests by the times at which they were
    seen, some 90 bytes each. What is asked for twice is done once.

    :param part: the namespace's common part, also where each site's pages are kept apart: a rule is
        looked up before anything is known of its site.
    """

    def __init__(self, link: Link, part: Part) -> None:
        self._link = link
        self._part = part

    def rules(self) -> dict[str, bytes]:
        found = self._link.hash(self._part.rules)
        return {unpacked_name(name): body for name, body in found.items()}

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        for piece in pieces(in_order(rules), _RULES_AT_ONCE):
            words = [word for name, body in piece for word in (packed_name(name), body)]
            self._link.run(_PUT_RULES, [self._part.rules], advice.MAX_RULES, *words)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return newest(np.concatenate([np.empty(0, KNOWN), *self._read(since)]), since)

    def note_duplicates(self, known: npt.NDArray[np.void]) -> None:
        for piece in pieces(known.tolist(), _NOTED_AT_ONCE):
            words = [
                word
                for digest, seen_at in piece
                for word in (seen_at, digest.to_bytes(_DIGEST.itemsize, "little"))
            ]
            self._link.commands(
                # Only to a later time than what stands there.
                ("ZADD", self._part.duplicates, "GT", *words),
                ("ZREMRANGEBYRANK", self._part.duplicates, 0, -advice.MAX_KNOWN - 1),
            )

    def forget_duplicates(self, before: int) -> None:
        """Let go of known duplicates last seen before this time, in seconds since 1970."""
        self._link.command("ZREMRANGEBYSCORE", self._part.duplicates, "-inf", f"({before}")

    def counts(self) -> tuple[int, int]:
        """How many rules there are, and how many known duplicates."""
        rules, known = self._link.commands(
            ("HLEN", self._part.rules), ("ZCARD", self._part.duplicates)
        )
        return int(rules), int(known)

    def _read(self, since: int) -> Iterator[npt.NDArray[np.void]]:
        """Known duplicates seen at this time or later, the newest first, and some older ones.

        What others note meanwhile moves the rest on: some are read twice, none is left out.
        """
        for start in range(0, advice.MAX_KNOWN, _READ_AT_ONCE):
            end = start + _READ_AT_ONCE - 1
            found = self._link.highest(self._part.duplicates, start, end)
            if found:
                yield _known(found)
            if len(found) < _READ_AT_ONCE or found[-1][1] < since:
                return


def _known(found: list[tuple[bytes, float]]) -> npt.NDArray[np.void]:
    digests, times = zip(*found, strict=True)
    known = np.empty(len(found), KNOWN)
    known["digest"], known["seen_at"] = np.frombuffer(b"".join(digests), _DIGEST), times
    return known
