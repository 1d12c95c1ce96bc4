"""A record of the stored items of a page, in 64 bits.

It tells whether dropping the item of a copy would lose data. That one item of the original was
stored does not suffice: a pipeline may have failed on one of three, and another template may yield
more items, or items with other fields. So a store keeps of each page the positions of its stored
items (15 bits), whether it yielded several of one class (1 bit), a digest of the names of their
fields (24 bits), and one of the values of earlier pages that they carried or, of an item that
carried none, a sketch of its texts (23 bits).

Of a list, which a spider may cut or filter in another way the next time, the last 24 bits are a
digest of all items that the page yielded. Positions say something only if these are the same.

Whether an item has fields of its own is asked of names: a process remembers the names behind the
digests that it has made. What an earlier run stored covers an item with other fields once this run
has met an item, or a page of several, with the fields of the stored one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence

import xxhash

from .._util.encoding import utf8
from .item_texts import ItemTexts, sketches_differ

#: No item of the page was stored; its callback yielded only links. Its copies may yield the item,
#: so it is the original of their links only.
NO_ITEMS = 0

#: Items of one crawl whose digests are remembered, and those of one page whose texts are.
_MAX_DIGESTS, _MAX_TEXTS = 100_000, 32

_POSITIONS, _FIELDS, _CARRIED = 16, 24, 24
_LISTED = 1 << _POSITIONS - 1
_ALL_POSITIONS, _ALL_FIELDS = _LISTED - 1, (1 << _FIELDS) - 1
#: Stands for all positions from this one on.
_LAST_POSITION = _LISTED >> 1
#: The bits below the digest of carried values, the sketch of texts, or the digest of a list.
_BELOW = (1 << _POSITIONS + _FIELDS) - 1
#: The digest of fields whose names are not known here, and of carried values when the items of a
#: page carried different ones. They cover nothing.
_MIXED_FIELDS, _MIXED = _ALL_FIELDS - 1, (1 << _CARRIED) - 1
#: The bit that tells a digest of carried values from a sketch of texts, and the one that says that
#: the item was yielded from another page.
_OF_VALUES, _BUILT = 1 << _CARRIED - 1, 1 << _CARRIED - 2
#: Sets of field names that are remembered, and names in a set.
_MAX_SETS, _MAX_NAMES = 2_000, 500
#: The names behind digests, of all crawls of the process: a digest depends on nothing else.
_names: OrderedDict[int, frozenset[str]] = OrderedDict()

#: Items were stored, but nothing more is known of them, as of an imported page. They cover all
#: items that carry no values of earlier pages.
OWN_ITEMS = _ALL_FIELDS << _POSITIONS | _ALL_POSITIONS


def item_bits(
    position: int,
    fields: Iterable[str],
    carried: Collection[str] = (),
    texts: ItemTexts | None = None,
    *,
    is_listed: bool = False,
) -> int:
    """Return the record of one item.

    :param position: of the item among those of its page, from 1 on; 0 for an item of another page
        that began on this one.
    :param fields: names of its fields that are not empty, and of its class.
    :param carried: its values that come from earlier pages.
    :param texts: its texts, of which a sketch is kept if it carries no values.
    :param is_listed: whether its page yielded an item of its class before.
    """
    # Each position has its own bit, except for the last ones, which share one.
    positions = is_listed * _LISTED
    if position:
        positions |= 1 << min(position, _POSITIONS - 1) - 1
    of_fields = _digest_of_names(frozenset(fields))
    of_values = _carried(carried, is_built=not position) or (texts.sketch if texts else 0)
    return of_values << _POSITIONS + _FIELDS | of_fields << _POSITIONS | positions


def merge(items: int, others: int) -> int:
    """Return the record of several items of one page."""
    if not (items and others):
        return items | others
    carried = _merged_carried(items >> _POSITIONS + _FIELDS, others >> _POSITIONS + _FIELDS)
    fields = _merged_fields(_fields_of(items), _fields_of(others))
    positions = (items | others) & (1 << _POSITIONS) - 1
    return (carried << _FIELDS | fields) << _POSITIONS | positions


def added_to(stored: int, items: int) -> int:
    """Return the record of a page of which more items were stored later, but of no other list."""
    if not is_list(stored):
        return merge(stored, items)
    return merge(stored & _BELOW, items & _BELOW) | stored & ~_BELOW


def covers(stored: int, item: int) -> bool:
    """Return whether an item was stored that has this one's position, fields and carried values.

    It may have more fields. Of a list, only positions and fields are compared; see
    :meth:`PageItems.are_those_of`.

    :param stored: the record of the original's items.
    :param item: the result of :func:`item_bits`; whether the item is listed does not matter.
    """
    carried = item >> _POSITIONS + _FIELDS
    is_compared = carried & _OF_VALUES and not is_list(stored)
    if is_compared and (carried == _MIXED or carried != stored >> _POSITIONS + _FIELDS):
        return False
    return not item & _ALL_POSITIONS & ~stored and _has_fields(_fields_of(stored), _fields_of(item))


def carries(stored: int, values: Collection[str]) -> bool:
    """Return whether the items that began on a page carried exactly these values, by its record."""
    carried = stored >> _POSITIONS + _FIELDS
    return not is_list(stored) and carried == _carried(values, is_built=True)


def has_carried_values(stored: int) -> bool:
    """Return whether an item that a page yielded carried values, as far as its record tells."""
    carried = stored >> _POSITIONS + _FIELDS
    return not is_list(stored) and carried & (_OF_VALUES | _BUILT) == _OF_VALUES


def texts_differ(stored: int, texts: ItemTexts) -> bool:
    """Return whether the texts of an item differ from those of a recorded one, as far as known."""
    sketch = stored >> _POSITIONS + _FIELDS
    return not sketch & _OF_VALUES and sketches_differ(sketch, texts.sketch)


def _fields_of(items: int) -> int:
    return items >> _POSITIONS & _ALL_FIELDS


def _digest_of_names(names: frozenset[str]) -> int:
    """Return a digest of names in any order: 24 bits, 0 for none, never one of unknown names."""
    if not names:
        return 0
    digest = 1 + hash_of("\n".join(sorted(names))) % (_MIXED_FIELDS - 1)
    _names[digest] = names
    _names.move_to_end(digest)
    if len(_names) > _MAX_SETS:
        _names.popitem(last=False)
    return digest


def _merged_fields(fields: int, others: int) -> int:
    """Return the digest of the names behind two digests."""
    if fields == others or not (fields and others):
        return fields or others
    if _ALL_FIELDS in (fields, others):
        return _ALL_FIELDS
    names, more = _names.get(fields), _names.get(others)
    if names is None or more is None or len(names | more) > _MAX_NAMES:
        return _MIXED_FIELDS
    return _digest_of_names(names | more)


def _has_fields(stored: int, fields: int) -> bool:
    """Return whether the names behind a digest are among the stored ones; unknown ones are not."""
    if fields in (0, stored) or stored == _ALL_FIELDS:
        return fields != _MIXED_FIELDS
    names, known = _names.get(fields), _names.get(stored)
    return names is not None and known is not None and names <= known


def is_list(stored: int) -> bool:
    """Return whether the page of this record yielded several items of one class."""
    return bool(stored & _LISTED)


class PageItems:
    """The items of one visit of a page: which it yielded, and which were stored.

    :param known: the record of an earlier visit, whose items stay stored.
    """

    def __init__(self, known: int = NO_ITEMS) -> None:
        self._known = known
        self._stored: int | None = None
        self._is_list = False
        self._n_yielded = self._sum = self._ordered = 0
        #: Items that were yielded and not stored; and of these, those at the last position.
        self._n_open = self._n_last_open = 0

    def add(self, items: int, digest: int) -> None:
        """Add an item that the page yielded.

        :param items: its bits.
        :param digest: of what tells it from others of its page, see :func:`digest_of_values`.
        """
        self._n_yielded += 1
        self._n_open += 1
        self._sum += digest
        self._ordered += digest * self._n_yielded
        self._is_list |= is_list(items)
        self._n_last_open += bool(items & _LAST_POSITION)

    def store(self, items: int) -> None:
        """Add the bits of an item that was stored, of this page or of one that followed it."""
        self._stored = merge(self._stored or NO_ITEMS, items)
        self._n_open -= 1
        self._n_last_open -= bool(items & _LAST_POSITION)

    def store_nothing(self) -> None:
        """Note that the page has no items."""
        self._stored = NO_ITEMS

    def lose_stored(self) -> None:
        """Note that all items that were stored until now are lost, those of earlier visits too."""
        self._known = NO_ITEMS
        if self._stored:
            self._stored = None
            # Which of them were at the last position is not known any more.
            self._n_open = self._n_last_open = self._n_yielded

    @property
    def record(self) -> int | None:
        """The record of the stored items; ``None`` if this visit stored none."""
        if not (self._stored and self._n_yielded):
            return self._stored
        record = self._stored
        if self._n_last_open > 0:
            record &= ~_LAST_POSITION
        is_mixed = record >> _POSITIONS + _FIELDS == _MIXED
        if not (self._is_list or (is_mixed and self._n_yielded > 1)):
            # What an earlier visit stored is replaced if all of this one is stored.
            return added_to(self._known, record) if self._n_open > 0 else record
        record = record & _BELOW | _LISTED
        if self.are_those_of(self._known):
            record = merge(self._known & _BELOW, record)
        return record | self._digest_for(record) << _POSITIONS + _FIELDS

    def are_those_of(self, stored: int) -> bool:
        """Return whether a record is that of a list with the same items as the page yielded."""
        return is_list(stored) and stored >> _POSITIONS + _FIELDS == self._digest_for(stored)

    def _digest_for(self, stored: int) -> int:
        """Return a digest of all items that the page yielded; 24 bits, never 0.

        Their order counts where some positions were not stored.
        """
        positions = (1 << min(self._n_yielded, _POSITIONS - 1)) - 1
        total = self._ordered if positions & ~stored else self._sum
        return 1 + hash_of(f"{self._n_yielded} {total:x}") % ((1 << _CARRIED) - 1)


def digest_of_values(values: Iterable[str]) -> int:
    """Return a digest of the values that tell an item from others of its page, in any order."""
    return hash_of("\n".join(sorted(values)))


class StoredItems:
    """Digests of the items stored by this crawl, by page; the oldest pages are dropped first."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, list[int]] = OrderedDict()
        self._texts: dict[str, list[ItemTexts]] = {}
        self._size = 0

    def note(self, url: str, *digests: int, texts: ItemTexts | None = None) -> None:
        """Record that an item of a page was stored, under each of these digests."""
        self._digests.setdefault(url, []).extend(digests)
        if texts is not None and len(self._texts.setdefault(url, [])) < _MAX_TEXTS:
            self._texts[url].append(texts)
        self._digests.move_to_end(url)
        self._size += len(digests)
        while self._size > _MAX_DIGESTS:
            oldest, known = self._digests.popitem(last=False)
            self._texts.pop(oldest, None)
            self._size -= len(known)

    def lose(self) -> None:
        """Note that none of the items may be stored; pages and texts stay known.

        What is known of them tells other items of the same pages apart.
        """
        for digests in self._digests.values():
            digests.clear()
        self._size = 0

    def has(self, url: str, digest: int) -> bool:
        """Return whether an item of the page with this digest was stored."""
        return digest in self._digests.get(url, ())

    def texts_of(self, url: str) -> Sequence[ItemTexts]:
        """Return the texts of items of the page, where they were recorded."""
        return self._texts.get(url, ())

    def knows(self, url: str) -> bool:
        """Return whether items of the page were stored, all of which are remembered."""
        return url in self._digests


def _carried(values: Collection[str], *, is_built: bool) -> int:
    """Return a digest of values in any order: 24 bits, 0 for none, never :data:`_MIXED`."""
    if not values:
        return 0
    return _OF_VALUES | is_built * _BUILT | hash_of("\n".join(sorted(values))) % (_BUILT - 1)


def _merged_carried(carried: int, other: int) -> int:
    """Return what is kept of the carried values, or the texts, of several items."""
    if carried == other:
        return carried
    if carried & other & _OF_VALUES:
        return _MIXED
    # Of the texts of several items nothing is kept; nor is it beside carried values.
    return max(carried, other) if (carried | other) & _OF_VALUES else 0


def hash_of(value: str) -> int:
    """Return a 64-bit hash of a value."""
    return xxhash.xxh3_64_intdigest(utf8(value))
