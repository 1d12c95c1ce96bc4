"""Keeps the bodies of pages that were read quickly in Redis, for all processes of a namespace.

Each body belongs to one version of a page, by its number: it is never taken for the content of what
its address held before or holds later. The process that reads a page in full leaves the body there
until the page is completed, so nothing is lost if it dies, or if two processes read the same page.
"""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ..._util.encoding import utf8
from ...sources.record import Record
from ..body_cache import OVERHEAD_BYTES, BodyCache, head_as_json, record_from_head
from .connection import RedisConnection, Script
from .layout import KeySpace
from .pages import Holder, RedisPages

T = TypeVar("T")

_PUT_BODY = Script("put_body")
#: Of the head, which is in front of the compressed content.
_LENGTH = struct.Struct("<I")
#: Pages that are remembered between their claim and their body, or their reading and completion.
_MOST_REMEMBERED = 10_000


class PagePlace(NamedTuple):
    """A version of a page: the site of its part, where sites are kept apart, and its number."""

    site: str | None
    number: bytes

    @property
    def field(self) -> bytes:
        return self.number + utf8(self.site or "")


class Taken(NamedTuple):
    """A page that is about to be completed, and whether its body was there."""

    place: PagePlace
    has_body: bool


class RedisBodyCache(BodyCache):
    """See :class:`~scrapy_neardup.stores.body_cache.BodyCache`; its calls wait for a network.

    An evicted page is not completed at once, but when it is next found to be a candidate.

    :param whole: the part of all sites, which has the bodies of the namespace.
    :param place_of: returns the present version of a page by its key.
    :ivar is_used: whether the crawls of this process keep bodies here, and not elsewhere.
    """

    def __init__(
        self,
        connection: RedisConnection,
        whole: KeySpace,
        place_of: Callable[[str], PagePlace | None],
    ) -> None:
        super().__init__(0, lambda key: None)
        self.is_used = False
        self._connection = connection
        self._keys = whole.bodies
        self._place_of = place_of
        self._lock = threading.Lock()
        self._claimed: OrderedDict[str, PagePlace] = OrderedDict()
        self._taken: OrderedDict[str, Taken] = OrderedDict()

    def expect(self, key: str, place: PagePlace) -> None:
        """Note the version of a page that this process has claimed, whose body comes next."""
        if self.is_used:
            _remember(self._claimed, key, place)

    def put(self, key: str, record: Record, packed: bytes) -> None:
        place = self._claimed.pop(key, None) or self._place_of(key)
        head = head_as_json(record).encode()
        self._put(_field(key, place), _LENGTH.pack(len(head)) + head + packed)

    def take(self, key: str) -> Record | None:
        """Return the record of a page's body, which stays until the page is completed."""
        place = self._place_of(key)
        body = self._connection.command("HGET", self._keys[0], _field(key, place))
        if place is not None:
            _remember(self._taken, key, Taken(place, body is not None))
        if body is None:
            return None
        content = _LENGTH.size + _LENGTH.unpack_from(body)[0]
        head = record_from_head(body[_LENGTH.size : content].decode())
        return None if head is None else self._unpacked(head, body[content:])

    def keeps(self, key: str) -> bool:
        """Return false: the next version of a page needs a body of its own."""
        return False

    def discard(self, key: str) -> None:
        """Do nothing: a body goes with its version of the page."""

    def taken(self, key: str) -> Taken | None:
        """Return the version of a page whose body was taken last, once."""
        return self._taken.pop(key, None)

    def may_be_elsewhere(self, holder: Holder | None, taken: Taken | None) -> bool:
        """Return whether another process may be able to read a page in full that this one cannot.

        The body of a reserved page may be on its way, and that of any page out of reach.

        :param holder: of the page.
        :param taken: its version whose body was taken last, if one was.
        """
        if not self.is_used:
            return False
        is_reserved = holder is not None and holder.is_reserved
        return taken is None or (is_reserved and not taken.has_body)

    def remove(self, place: PagePlace) -> None:
        """Remove the body of a version of a page, if bodies are kept here at all."""
        if self.is_used:
            self._put(place.field, b"")

    def forget(self, pages: RedisPages, key: bytes) -> bool:
        """Forget the committed page with a key, and its body; return whether there was one."""
        number = pages.known(key)
        is_forgotten = pages.forget(key)
        if is_forgotten and number:
            self._put(PagePlace(pages.part.site, number).field, b"")
        return is_forgotten

    def missing(self, places: Sequence[PagePlace]) -> set[PagePlace]:
        """Return those of these pages that have no body, if bodies are kept here at all."""
        if not (self.is_used and places):
            return set()
        asked = [("HEXISTS", self._keys[0], place.field) for place in places]
        found = self._connection.commands(*asked)
        return {place for place, is_there in zip(places, found, strict=True) if not is_there}

    def _put(self, field: bytes, body: bytes) -> None:
        n_bytes, n_evicted = self._connection.run(
            _PUT_BODY, self._keys, field, body, self._max_bytes, OVERHEAD_BYTES
        )
        with self._lock:
            self.n_bytes = n_bytes
            self.n_evicted += n_evicted


def _field(key: str, place: PagePlace | None) -> bytes:
    return utf8(key) if place is None else place.field


def _remember(places: OrderedDict[str, T], key: str, what: T) -> None:
    places[key] = what
    if len(places) > _MOST_REMEMBERED:
        places.popitem(last=False)
