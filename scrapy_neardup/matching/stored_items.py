"""Which items of a page were stored, in 64 bits: what of a copy's items would be lost?

That one item of a page was stored says nothing of the others: a pipeline may have failed on one of
three, and another template may yield more of them, or items of other fields. So a store keeps of
each page at which places its stored items stood (15 bits), whether several were of one class
(1 bit), which fields they had (24 bits, a Bloom filter of one hash; Bloom, CACM 1970), and what
they held of earlier pages (a digest of 24 bits).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable

import xxhash

#: No item of the page was stored: its callback yielded links alone. Its copies may yield the item,
#: so it is an original for their links only.
NO_ITEMS = 0

#: Items of one crawl whose digests are remembered.
_MOST_DIGESTS = 100_000

_PLACES, _FIELDS, _CARRIED = 16, 24, 24
_LISTED = 1 << _PLACES - 1
_ALL_PLACES, _ALL_FIELDS = _LISTED - 1, (1 << _FIELDS) - 1
_PLACES_AND_FIELDS = (1 << _PLACES + _FIELDS) - 1
_MIXED = (1 << _CARRIED) - 1

#: Items were stored of which no more is known, as of a page that was imported: they cover all that
#: hold nothing of earlier pages.
OWN_ITEMS = _ALL_FIELDS << _PLACES | _ALL_PLACES


def item_bits(
    place: int, fields: Iterable[str], carried: Collection[str] = (), *, is_listed: bool = False
) -> int:
    """What a store keeps of one item.

    :param place: of the item among those of its page, from 1 on.
    :param fields: names of those of its fields that are not empty, and of its class.
    :param carried: values that it holds of earlier pages.
    :param is_listed: did its page yield an item of its class before?
    """
    bits = 0
    for name in fields:
        bits |= 1 << _hash(name) % _FIELDS
    places = _place(place) | is_listed * _LISTED
    return _carried(carried) << _PLACES + _FIELDS | bits << _PLACES | places


def joined(items: int, others: int) -> int:
    """What a store keeps of several items of one page."""
    if not (items and others):
        return items | others
    carried, other = items >> _PLACES + _FIELDS, others >> _PLACES + _FIELDS
    both = (items | others) & _PLACES_AND_FIELDS
    return (carried if carried == other else _MIXED) << _PLACES + _FIELDS | both


def covers(stored: int, item: int) -> bool:
    """Was an item stored at this one's place, with all of its fields and what it carries?

    :param stored: what the store keeps of the original's items.
    :param item: what :func:`item_bits` says of the one, whether it is listed or not.
    """
    carried = item >> _PLACES + _FIELDS
    if carried and (carried == _MIXED or carried != stored >> _PLACES + _FIELDS):
        return False
    return not item & OWN_ITEMS & ~stored


def is_list(stored: int) -> bool:
    """Were several items of one class yielded by the page of which this is kept?"""
    return bool(stored & _LISTED)


class StoredItems:
    """Digests of the items that this crawl stored, by their pages; the oldest pages are let go."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, list[int]] = OrderedDict()
        self._size = 0

    def note(self, url: str, digest: int) -> None:
        """An item with this digest of the page at this address was stored."""
        self._digests.setdefault(url, []).append(digest)
        self._digests.move_to_end(url)
        self._size += 1
        while self._size > _MOST_DIGESTS:
            self._size -= len(self._digests.popitem(last=False)[1])

    def has(self, url: str, digest: int) -> bool:
        """Was it stored of this page?"""
        return digest in self._digests.get(url, ())

    def knows(self, url: str) -> bool:
        """Are all items of this page that this crawl stored remembered, and any?"""
        return url in self._digests


def _place(place: int) -> int:
    """A bit of its own for each place but the last ones, which share one."""
    return 1 << min(place, _PLACES - 1) - 1


def _carried(values: Collection[str]) -> int:
    """24 bits for the values, in whatever order; 0 for none, and never those of mixed ones."""
    return 1 + _hash("\n".join(sorted(values))) % (_MIXED - 1) if values else 0


def _hash(value: str) -> int:
    return xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"))
