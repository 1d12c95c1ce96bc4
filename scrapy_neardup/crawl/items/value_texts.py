"""Reads the values in an item, or in anything that a request carries, as texts."""

from __future__ import annotations

import logging
from collections import UserString, deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from numbers import Number
from pathlib import PurePath
from typing import Any
from uuid import UUID

from itemadapter.adapter import ItemAdapter
from scrapy.loader import ItemLoader

from .containers import contents_of, keys_of
from .request_contents import SCALARS

logger = logging.getLogger(__name__)

#: Values of an item that are compared at most.
_MAX_ITEM_VALUES = 5_000
#: Values and containers that are visited at most.
_MAX_VISITED = 20_000
#: Different keys of dicts that are collected; the last dict may add more.
_MAX_KEYS = 500
#: Containers whose named values are visited at most, values of each, and values of all.
_MAX_NAMED, _MAX_CONTENTS, _MAX_PARTS = 100, 1_000, 10_000
#: Values of a request that are compared at most.
_MAX_CARRIED = 5_000
#: Work that reading a request takes at most, in units of a short text or number: some
#: milliseconds, in which the crawl does nothing else.
_MAX_WORK = 10_000
#: Work that a container takes, beside that for its contents, and one of another type than dict and
#: list; and characters of a text that take as long as one more.
_OF_PLAIN, _OF_OTHER, _CHARACTERS = 2, 10, 80
#: Types of containers that are no values, and of texts of any length.
_PLAIN, _LONG = frozenset([dict, list]), (str, bytes, bytearray, memoryview, UserString)
_CAN_BE_EMPTY = (str, bytes, list, tuple, dict, set, frozenset)
#: Modules of types whose text is their value.
_TEXT_TYPE_MODULES = frozenset(["datetime", "decimal"])
#: Longer integers are written in hexadecimal: as decimals Python refuses them or takes long.
_MAX_BITS = 10_000


def values_of(
    given: Any, *, is_whole: bool = False, keys: dict[Any, None] | None = None
) -> Iterator[str]:
    """Yield all texts and numbers in a value, with case and white space folded.

    ``None``, truth values, empty texts and values of other types are ignored; a container is
    visited once.

    :param is_whole: yield keys, ``None`` and truth values as well.
    :param keys: to which the keys of dicts are added, up to a number.
    """
    left, seen = [given], dict[int, Any]()
    for _ in range(_MAX_VISITED):
        if not left:
            return
        part = left.pop()
        if is_whole and (part is None or isinstance(part, bool)):
            yield str(part)
        elif (text := _text_of(part)) is not None:
            if text:
                yield text
        elif id(part) not in seen:
            # Kept, so that no other object gets its id.
            seen[id(part)] = part
            if keys is not None and len(keys) < _MAX_KEYS:
                keys.update(dict.fromkeys(keys_of(part)))
            # One more than can be visited shows that there are more.
            contents = contents_of(part, is_whole=is_whole, most=_MAX_VISITED + 1)
            left.extend(reversed(contents))
    if is_whole and left:
        yield f"and more, in {id(given)}"


class CarriedTexts:
    """The texts and numbers in what a request carries, as :func:`values_of` yields them.

    Each request is read, and may carry an object that holds a table of the project. So what is
    read is bounded, and a container gets half of what is left at most: an item may stand beside a
    table. The outer ones come first.

    :ivar values: the texts and numbers.
    :ivar keys: the keys of dicts.
    :ivar is_cut: whether not all was read.
    """

    def __init__(self, given: Any) -> None:
        self.values: list[str] = []
        self.keys: dict[Any, None] = {}
        self.is_cut = False
        self._work = _MAX_WORK
        self._left = deque([given])
        # Kept, so that no other object gets its id.
        self._seen: dict[int, Any] = {}
        while self._left and self._has_room:
            self._read_container(self._left.popleft())
        self.is_cut = self.is_cut or bool(self._left) or len(self.keys) >= _MAX_KEYS

    @property
    def _has_room(self) -> bool:
        return self._work > 0 and len(self.values) < _MAX_CARRIED

    def _read_container(self, given: Any) -> None:
        if id(given) in self._seen:
            return
        self._seen[id(given)] = given
        self._work -= _OF_PLAIN if type(given) in _PLAIN else _OF_OTHER
        if len(self.keys) < _MAX_KEYS:
            self.keys.update(dict.fromkeys(keys_of(given)))
        most = max(0, self._work) // 2
        contents = contents_of(given, is_whole=False, most=most + 1)
        for part in contents[:most]:
            if not self._has_room:
                self.is_cut = True
                return
            if not self._read_value(part):
                self._left.append(part)
        self.is_cut = self.is_cut or len(contents) > most

    def _read_value(self, part: Any) -> bool:
        """Read a text, number or the like; return false for what may be a container."""
        self._work -= 1
        if type(part) in _PLAIN:
            return False
        if isinstance(part, _LONG) and len(part) > self._work * _CHARACTERS:
            self.is_cut = True
            return True
        text = _text_of(part)
        if text:
            self._work -= len(text) // _CHARACTERS
            self.values.append(text)
        return text is not None


def item_values(item: Any) -> list[str]:
    """Return the values of an item, as :func:`values_of` yields them."""
    return list(islice(values_of(item), _MAX_ITEM_VALUES))


def has_truth_value(item: Any) -> bool:
    """Return whether an item holds ``True`` or ``False``, which tie nothing."""
    whole = islice(values_of(item, is_whole=True), _MAX_ITEM_VALUES)
    return any(value in {"True", "False"} for value in whole)


def flags_among(parts: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return what is true, false or empty among named parts, each with its name."""
    return [(name, flag) for name, part in parts if (flag := _flag_of(part))]


def named_parts_of(given: Any) -> Iterator[tuple[str, Any]]:
    """Yield all parts of a value that are no containers or empty ones, each with its name."""
    left: deque[tuple[str, Any]] = deque([("", given)])
    n_parts = 0
    for _ in range(_MAX_NAMED):
        if not left or n_parts >= _MAX_PARTS:
            return
        # The outer ones first: another one may be large.
        contents = _contents_with_names(*left.popleft())
        n_parts += len(contents)
        for name, part in contents:
            if isinstance(part, SCALARS) or _flag_of(part):
                yield name, part
            else:
                left.append((name, part))


def _flag_of(part: Any) -> str:
    """Return a word for a truth value, ``None``, or what is empty; nothing for other values."""
    if isinstance(part, bool):
        return str(part)
    is_empty = isinstance(part, _CAN_BE_EMPTY) and not part
    is_blank = isinstance(part, str) and part.isspace()
    return "empty" if part is None or is_empty or is_blank else ""


def _contents_with_names(name: str, given: Any) -> list[tuple[str, Any]]:
    """Return the contents of a container with their names; those of a list have that of the list.

    :param name: of the container.
    """
    try:
        if isinstance(given, ItemLoader):
            # No public method returns the collected values without changing the loader.
            values = getattr(given, "_values", {}).items()
            return [("", given.item), *islice(values, _MAX_CONTENTS)]
        if isinstance(given, Mapping) or ItemAdapter.is_item(given):
            mapping = given if isinstance(given, Mapping) else ItemAdapter(given)
            return [(str(key), value) for key, value in islice(mapping.items(), _MAX_CONTENTS)]
        if isinstance(given, (list, tuple)):
            return [(name, value) for value in given[:_MAX_CONTENTS]]
    except Exception:
        # Custom item classes may raise anything, and the item must not be lost.
        logger.debug("Cannot read the contents of %s", type(given), exc_info=True)
    return []


def fields_of(item: Any) -> list[str]:
    """Return the names of an item's class and of its fields that are not empty."""
    try:
        fields = ItemAdapter(item)
        names = [name for name in fields if any(True for _ in values_of(fields.get(name)))]
    except Exception:
        # Custom item classes may raise anything, and the item must not be lost.
        names = []
    return [type(item).__qualname__, *sorted(names)]


def folded(text: str) -> str:
    """Return a text with case and white space folded."""
    return " ".join(text.split()).casefold()


def _text_of(part: Any) -> str | None:
    """Return the text of a value, folded; ``None`` where it is neither text nor number."""
    if type(part) is str:
        return folded(part)
    try:
        if isinstance(part, (bytes, bytearray, memoryview)):
            return folded(bytes(part).decode("utf-8", "backslashreplace"))
        if isinstance(part, bool) or part is None:
            return ""
        if isinstance(part, int):
            return format(part, "d") if part.bit_length() < _MAX_BITS else format(part, "x")
        is_text_type = type(part).__module__ in _TEXT_TYPE_MODULES
        if isinstance(part, (str, Number, UUID, PurePath, UserString)) or is_text_type:
            return folded(str(part))
    except Exception:
        # Custom objects may raise anything, and the page must not be lost.
        logger.debug("Cannot read a value of %s", type(part), exc_info=True)
    return None
