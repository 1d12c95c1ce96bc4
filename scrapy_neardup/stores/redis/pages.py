"""Changes the pages of one part of a namespace in Redis, by scripts that the server runs."""

from __future__ import annotations

from typing import NamedTuple

from ...exceptions import SignatureMismatch
from ..codec import with_items
from .connection import RedisConnection, Script
from .layout import KeySpace
from .page_reader import Holder, Lookup, PageReader, parsed_rows

#: The server compares so many new pages with the one to be reserved; more are judged again here.
_MOST_NEW = 64
#: Work for a script, or numbers for a command, at once.
_AT_ONCE = 200

_RESERVE, _COMMIT, _RELEASE, _ADD, _FORGET, _EXPIRE, _CONFIRM, _REAP = map(
    Script, ("reserve", "commit", "release", "add", "forget", "expire", "confirm", "reap")
)


class NewPage(NamedTuple):
    """A page as it is written.

    :ivar key: digest of what it is known by.
    :ivar row: see :data:`~scrapy_neardup.stores.codec.ROW`.
    :ivar page: packed.
    :ivar recipe: by which it was signed.
    """

    key: bytes
    row: bytes
    page: bytes
    recipe: str


class RedisPages:
    """See the module.

    :param run: on whose behalf everything is done.
    """

    def __init__(self, connection: RedisConnection, part: KeySpace, run: bytes) -> None:
        self.part = part
        self.reader = PageReader(connection, part)
        self._connection = connection
        self._run = run
        self._keys = part.keys(run)

    def is_settled(self, holder: Holder | None) -> bool:
        """Return whether a page stays as long as this process lives, whatever becomes of others.

        What another process has stored and not confirmed is lost when that one is killed. To drop
        a page for its sake would be wrong, so one waits until it is confirmed.
        """
        return holder is None or (not holder.is_reserved and holder.run == self._run)

    def reserve(self, page: NewPage, token: bytes, lookup: Lookup, distance: int) -> bytes | None:
        """Reserve a page; return its number, or ``None`` when it is to be judged again.

        :param token: of the attempt: asked again with it, the server answers the same.
        :raises SignatureMismatch: when the pages that are there were signed in another way.
        """
        keys = [*self._keys, self._given_up(token)]
        answer = self._connection.run(
            _RESERVE, keys, page.row, page.page, token, page.recipe, lookup.seen, lookup.known,
            distance, _MOST_NEW,
        )  # fmt: skip
        self._require_recipe(answer, page.recipe)
        return answer if isinstance(answer, bytes) else None

    def commit(self, number: bytes, page: NewPage, mark: int, items: int) -> bool:
        """Commit a reserved page; with a mark above 0 it is not confirmed.

        Return whether the reservation was there.
        """
        row = with_items(page.row, items)
        return bool(
            self._connection.run(_COMMIT, self._keys, number, self._run, mark, page.row, row)
        )

    def add(self, page: NewPage, mark: int = 0) -> None:
        """Record a page without judging it.

        :raises SignatureMismatch: when the pages that are there were signed in another way.
        """
        answer = self._connection.run(
            _ADD, self._keys, page.row, page.page, page.recipe, self._run, mark
        )
        self._require_recipe(answer, page.recipe)

    def release(self, key: bytes, token: bytes, for_milliseconds: int = 0) -> None:
        """Remove what was reserved with a token.

        :param for_milliseconds: how long an attempt that is still on its way gets nothing.
        """
        keys = [*self._keys, self._given_up(token)]
        self._connection.run(_RELEASE, keys, key, token, for_milliseconds)

    def forget(self, key: bytes) -> bool:
        return bool(self._connection.run(_FORGET, self._keys, key))

    def confirm(self, mark: int) -> None:
        """Confirm what this run committed up to a mark."""
        while self._connection.run(_CONFIRM, self._keys, self._run, mark, _AT_ONCE):
            pass

    def has_unconfirmed(self) -> bool:
        return bool(self._connection.command("EXISTS", self._keys[-1]))

    def reap(self, run: bytes) -> int:
        """Remove a dead run's pages; return how many of them had been committed."""
        forgotten, left = 0, 1
        while left:
            count, left = self._connection.run(_REAP, self.part.keys(run), run, _AT_ONCE)
            forgotten += count
        return forgotten

    def expire(self, oldest: int) -> int:
        """Remove pages stored before a time, in seconds since 1970; return how many."""
        forgotten = 0
        for numbers, rows in self.reader.committed(_AT_ONCE):
            is_old = parsed_rows(rows)["summary"]["stored_at"] < oldest
            old = [number for number, is_it in zip(numbers, is_old, strict=True) if is_it]
            forgotten += self._connection.run(_EXPIRE, self._keys, oldest, *old)
        return forgotten

    def _given_up(self, token: bytes) -> bytes:
        return self.part.key(f"given-up:{token.hex()}")

    @staticmethod
    def _require_recipe(answer: object, recipe: str) -> None:
        if isinstance(answer, list):
            raise SignatureMismatch(answer[0].decode(), recipe)
