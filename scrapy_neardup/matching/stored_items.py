"""A record of the stored items of a page, in 64 bits.

It tells whether dropping the item of a copy would lose data. That one item of the original was
stored does not suffice: a pipeline may have failed on one of three, and another template may yield
more items, or items with other fields. So a store keeps of each page the positions of its stored
items (15 bits), whether several were of one class (1 bit), which fields they had (24 bits, a Bloom
filter of one hash; Bloom, CACM 1970), and which values of earlier pages they carried (a digest of
24 bits).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence

import xxhash

from .item_texts import ItemTexts

#: No item of the page was stored; its callback yielded only links. Its copies may yield the item,
#: so it is the original of their links only.
NO_ITEMS = 0

#: Items of one crawl whose digests are remembered, and those of one page whose texts are.
_MAX_DIGESTS, _MAX_TEXTS = 100_000, 32

_POSITIONS, _FIELDS, _CARRIED = 16, 24, 24
_LISTED = 1 << _POSITIONS - 1
_ALL_POSITIONS, _ALL_FIELDS = _LISTED - 1, (1 << _FIELDS) - 1
_POSITIONS_AND_FIELDS = (1 << _POSITIONS + _FIELDS) - 1
#: The digest of carried values when the items of a page carried different ones.
_MIXED = (1 << _CARRIED) - 1

#: Items were stored, but nothing more is known of them, as of an imported page. They cover all
#: items that carry no values of earlier pages.
OWN_ITEMS = _ALL_FIELDS << _POSITIONS | _ALL_POSITIONS


def item_bits(
    position: int, fields: Iterable[str], carried: Collection[str] = (), *, is_listed: bool = False
) -> int:
    """Return the record of one item.

    :param position: of the item among those of its page, from 1 on.
    :param fields: names of its fields that are not empty, and of its class.
    :param carried: its values that come from earlier pages.
    :param is_listed: did its page yield an item of its class before?
    """
    field_bits = 0
    for name in fields:
        field_bits |= 1 << _hash(name) % _FIELDS
    # Each position has its own bit, except for the last ones, which share one.
    positions = 1 << min(position, _POSITIONS - 1) - 1 | is_listed * _LISTED
    return _carried(carried) << _POSITIONS + _FIELDS | field_bits << _POSITIONS | positions


def merge(items: int, others: int) -> int:
    """Return the record of several items of one page."""
    if not (items and others):
        return items | others
    carried, other = items >> _POSITIONS + _FIELDS, others >> _POSITIONS + _FIELDS
    both = (items | others) & _POSITIONS_AND_FIELDS
    return (carried if carried == other else _MIXED) << _POSITIONS + _FIELDS | both


def covers(stored: int, item: int) -> bool:
    """Was an item stored at the same position, with all of this one's fields and carried values?

    :param stored: the record of the original's items.
    :param item: the result of :func:`item_bits`; whether the item is listed does not matter.
    """
    carried = item >> _POSITIONS + _FIELDS
    if carried and (carried == _MIXED or carried != stored >> _POSITIONS + _FIELDS):
        return False
    return not item & OWN_ITEMS & ~stored


def is_list(stored: int) -> bool:
    """Did the page of this record yield several items of one class?"""
    return bool(stored & _LISTED)


class StoredItems:
    """Digests of the items stored by this crawl, by page; the oldest pages are dropped first."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, list[int]] = OrderedDict()
        self._texts: dict[str, list[ItemTexts]] = {}
        self._size = 0

    def note(self, url: str, digest: int, texts: ItemTexts | None = None) -> None:
        """Record that an item of a page was stored."""
        self._digests.setdefault(url, []).append(digest)
        if texts is not None and len(self._texts.setdefault(url, [])) < _MAX_TEXTS:
            self._texts[url].append(texts)
        self._digests.move_to_end(url)
        self._size += 1
        while self._size > _MAX_DIGESTS:
            oldest, digests = self._digests.popitem(last=False)
            self._texts.pop(oldest, None)
            self._size -= len(digests)

    def has(self, url: str, digest: int) -> bool:
        """Was an item with this digest stored of the page?"""
        return digest in self._digests.get(url, ())

    def texts_of(self, url: str) -> Sequence[ItemTexts]:
        """Return the texts of items of the page, where they were recorded."""
        return self._texts.get(url, ())

    def knows(self, url: str) -> bool:
        """Were items of the page stored, and are all of them remembered?"""
        return url in self._digests


def _carried(values: Collection[str]) -> int:
    """Return a digest of values in any order: 24 bits, 0 for none, never :data:`_MIXED`."""
    return 1 + _hash("\n".join(sorted(values))) % (_MIXED - 1) if values else 0


def _hash(value: str) -> int:
    return xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"))
