"""The pages of one part of a namespace in Redis: what is asked of them, and done to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...exceptions import SignatureMismatch
from ...hashing.simhash_index import Candidates
from ..codec import with_items
from .connection import Link, Script
from .layout import (
    KeySpace,
    fields,
    near,
    number_in,
    packed_number,
    pieces,
    place_of,
    unpacked_numbers,
)
from .signature_source import Holder, holder_of, pages_of, parsed_rows, rows_of

#: The server compares so many new pages with the one to be reserved; more are judged again here.
_MOST_NEW = 64
#: Work for a script, or numbers for a command, at once.
_AT_ONCE = 200
_NUMBER_AND_RUN = 5 + 8

_RESERVE, _COMMIT, _RELEASE, _ADD, _FORGET, _EXPIRE, _CONFIRM, _REAP, _ADOPT = map(
    Script,
    ("reserve", "commit", "release", "add", "forget", "expire", "confirm", "reap", "adopt"),
)


class Row(NamedTuple):
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


class Look(NamedTuple):
    """What was there when somebody looked.

    :ivar seen: how many numbers had been given.
    :ivar known: number of the page that was committed under the key; empty where there is none.
    :ivar reserved: the same of a page that is reserved.
    :ivar near: pages with near fingerprints.
    """

    seen: int
    known: bytes
    reserved: bytes
    near: Candidates


class Stored(NamedTuple):
    """A page as it was read.

    :ivar stored_at: seconds since 1970.
    :ivar items: what was stored of it, see :data:`~scrapy_neardup.matching.stored_items.NO_ITEMS`.
    """

    page: bytes
    stored_at: int
    items: int
    holder: Holder | None


class RedisPages:
    """See the module.

    :param run: on whose behalf everything is done.
    """

    def __init__(self, link: Link, part: KeySpace, run: bytes) -> None:
        self.link = link
        self.part = part
        self._run = run
        self._keys = part.keys(run)

    def is_settled(self, holder: Holder | None) -> bool:
        """Does a page stay as long as this process lives, whatever becomes of others?

        What another process has stored and not confirmed is lost when that one is killed. To drop
        a page for its sake would be wrong, so one waits until it is confirmed.
        """
        return holder is None or (not holder.is_reserved and holder.run == self._run)

    def __len__(self) -> int:
        return int(self.link.command("HGET", self.part.count, "size") or 0)

    def adopt(self, recipe: str, parts: str, meta: list[bytes], *, by_site: bool) -> list[bytes]:
        """Recipe and parts of the namespace; from now on these, where it has no pages.

        :param meta: keys of what is known of the namespace, and of the names of its sites.
        """
        answer: list[bytes] = self.link.run(
            _ADOPT, [*self._keys, *meta], recipe, parts, int(by_site)
        )
        return answer

    def look(self, fingerprint: int, distance: int, key: bytes) -> Look:
        """Read what is to be known before a page is judged."""
        place = place_of(int.from_bytes(key, "little"))
        seen, known, reserved, *buckets = self.link.commands(
            # This first: what comes later than it is noticed when the page is reserved.
            ("HGET", self.part.count, "next"),
            ("HGET", self.part.known, place.field),
            ("HGET", self.part.reserved, key),
            *(
                ("HMGET", table, *wanted)
                for table, wanted in zip(
                    self.part.blocks, fields(fingerprint, distance), strict=True
                )
                if wanted
            ),
        )
        buckets += [[]] * (len(self.part.blocks) - len(buckets))
        return Look(
            int(seen or 0),
            number_in(known, place.rest),
            unpacked_numbers(reserved)[0] if reserved else b"",
            near(fingerprint, distance, buckets),
        )

    def stored(self, number: bytes) -> Stored | None:
        """A page, unless it is there no more."""
        [row], [page] = (
            rows_of(self.link, self.part, [number]),
            pages_of(self.link, self.part, [number]),
        )
        if row is None or page is None:
            return None
        [summaries] = parsed_rows([row])["summaries"]
        return Stored(page, int(summaries["stored_at"]), int(summaries["items"]), holder_of(row))

    def known(self, key: bytes) -> bytes:
        """Number of the page that was committed under a key; empty where there is none."""
        place = place_of(int.from_bytes(key, "little"))
        return number_in(self.link.command("HGET", self.part.known, place.field), place.rest)

    def of_site(self, site: int) -> list[bytes]:
        """The newest pages of a site, oldest first, packed."""
        field = site.to_bytes(4, "little")
        numbers = unpacked_numbers(self.link.command("HGET", self.part.sites, field))
        return [page for page in pages_of(self.link, self.part, numbers) if page is not None]

    def reserve(self, page: Row, token: bytes, look: Look, distance: int) -> bytes | None:
        """A number for a page; ``None`` when it is to be judged again.

        :param token: of the attempt: asked again with it, the server answers the same.
        :raises SignatureMismatch: when the pages that are there were signed in another way.
        """
        keys = [*self._keys, self._given_up(token)]
        answer = self.link.run(
            _RESERVE, keys, page.row, page.page, token, page.recipe, look.seen, look.known,
            distance, _MOST_NEW,
        )  # fmt: skip
        self._require_recipe(answer, page.recipe)
        return answer if isinstance(answer, bytes) else None

    def commit(self, number: bytes, page: Row, mark: int, items: int) -> bool:
        """Remember a page that was reserved; with a mark above 0 it is not confirmed.

        Is it there?
        """
        row = with_items(page.row, items)
        return bool(self.link.run(_COMMIT, self._keys, number, self._run, mark, page.row, row))

    def add(self, page: Row, mark: int = 0) -> None:
        """Remember a page without judging it.

        :raises SignatureMismatch: when the pages that are there were signed in another way.
        """
        answer = self.link.run(_ADD, self._keys, page.row, page.page, page.recipe, self._run, mark)
        self._require_recipe(answer, page.recipe)

    def release(self, key: bytes, token: bytes, for_milliseconds: int = 0) -> None:
        """Give up what was reserved with a token.

        :param for_milliseconds: so long, an attempt that is still on its way gets nothing.
        """
        keys = [*self._keys, self._given_up(token)]
        self.link.run(_RELEASE, keys, key, token, for_milliseconds)

    def forget(self, key: bytes) -> bool:
        """Forget what was committed under a key. Was there anything?"""
        return bool(self.link.run(_FORGET, self._keys, key))

    def confirm(self, mark: int) -> None:
        """What this run committed up to a mark is on its disk."""
        while self.link.run(_CONFIRM, self._keys, self._run, mark, _AT_ONCE):
            pass

    def has_unconfirmed(self) -> bool:
        """Is there something that this run committed and did not confirm?"""
        return bool(self.link.command("EXISTS", self._keys[-1]))

    def reap(self, run: bytes) -> int:
        """Let go of a dead run's pages; how many of them had been committed?"""
        forgotten, left = 0, 1
        while left:
            count, left = self.link.run(_REAP, self.part.keys(run), run, _AT_ONCE)
            forgotten += count
        return forgotten

    def all(self) -> Iterator[Stored]:
        """Pages that were committed, oldest first."""
        for numbers, rows in self.rows():
            pages = pages_of(self.link, self.part, numbers)
            summaries = parsed_rows(rows)["summaries"][["stored_at", "items"]].tolist()
            for row, page, (stored_at, items) in zip(rows, pages, summaries, strict=True):
                if page is not None:
                    yield Stored(page, stored_at, items, holder_of(row))

    def expire(self, oldest: int) -> int:
        """Forget what was stored before a time, in seconds since 1970; how many pages?"""
        return sum(
            self.link.run(
                _EXPIRE,
                self._keys,
                oldest,
                *(
                    n
                    for n, old in zip(
                        numbers, parsed_rows(rows)["summaries"]["stored_at"] < oldest, strict=True
                    )
                    if old
                ),
            )
            for numbers, rows in self.rows()
        )

    def rows(self, at_once: int = _AT_ONCE) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Numbers and rows of what was committed, oldest first, so many at a time at most."""
        end = int(self.link.command("HGET", self.part.count, "next") or 0)
        for piece in pieces(range(end), at_once):
            numbers = [packed_number(number) for number in piece]
            there = [
                (number, row)
                for number, row in zip(numbers, rows_of(self.link, self.part, numbers), strict=True)
                if row is not None and not ((holder := holder_of(row)) and holder.is_reserved)
            ]
            if there:
                yield [number for number, _ in there], [row for _, row in there]

    def _given_up(self, token: bytes) -> bytes:
        return self.part.key(f"given-up:{token.hex()}")

    @staticmethod
    def _require_recipe(answer: object, recipe: str) -> None:
        if isinstance(answer, list):
            raise SignatureMismatch(answer[0].decode(), recipe)
