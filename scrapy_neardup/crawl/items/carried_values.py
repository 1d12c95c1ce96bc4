"""Finds the values that a request carries, and that an item of its response holds.

An item may be built over several pages: the callback of a product page passes name and price to
the callback of the reviews page, in ``cb_kwargs`` or ``meta``, and only that one yields the item.
The values of an item that came with the request tell which pages the item is from.

Values are compared as text, so it makes no difference whether they are carried in an item, a dict,
an ItemLoader or one by one, nor whether a disk queue serialized them.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from html import unescape
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from lxml import etree
from parsel import Selector
from scrapy.http import Request, Response, TextResponse

from .request_contents import arguments_with, given_with, variables_with
from .value_texts import CarriedTexts, flags_among, folded, named_parts_of, values_of

logger = logging.getLogger(__name__)

#: Values in a carried text, and carried keys of dicts, that are compared at most.
_MAX_VALUES, _MAX_KEYS = 5_000, 500
#: Carried values that are searched within an item's text; all are compared with its values.
_MAX_SEARCHED_VALUES = 500
_URL_STARTS = ("http://", "https://")
_ENTITY = re.compile(r"&#?\w+;")
#: Least length of the values that are searched within an item's text; for others see
#: ``rewritten_values.py``.
MIN_CONTAINED = 3
#: Longer values are searched character by character: no other text contains one by chance.
_MIN_LONG = 500
#: Characters of an item's text in which these are searched, and those that are passed in all.
_MAX_SEARCHED_IN, _MAX_SEARCHED_LONG = 2_000_000, 50_000_000
#: Characters of the carried texts in which an item's values are searched.
_MAX_SEARCHED_CARRIED = 500_000
#: Carried texts whose contents are kept, because a page may yield many items.
_MAX_READ = 32
#: What an element says; classes and styles are the page's design.
_SAID = "descendant-or-self::*/@*[not(contains('|class|id|style|', concat('|', name(), '|')))]"
#: Elements whose texts, and those whose attributes, name other pages as well.
_OF_OTHERS, _WITH_OTHERS = frozenset(["a", "nav", "option"]), frozenset(["a", "option"])
#: Characters of what a page says of itself that are kept.
_MAX_SHOWN = 500_000
#: Places of a value that are looked at one by one.
_MAX_PLACES = 50
#: Characters of an item's text that are searched.
_MAX_SEARCHED_TEXT = 100_000

#: What pages show, because each may yield many items.
_shown: WeakKeyDictionary[Response, str] = WeakKeyDictionary()


class Carried(NamedTuple):
    """What a request carries.

    :ivar values: its values, in order, each as ``values_of`` yields it. They are followed by the
        keys of dicts, with ``True``: ``{"Kettle": 19.9}`` carries a name. Most keys are names of
        fields, which say nothing.
    :ivar is_cut: whether that is too much to be read, so that there may be any other value.
    """

    values: dict[str, bool]
    is_cut: bool

    @classmethod
    def of(cls, request: Request) -> Carried:
        texts = CarriedTexts(given_with(request))
        values = dict.fromkeys(texts.values, False)
        keys = {key: True for key in _texts_of(texts.keys) if key not in values}
        return cls(values | keys, texts.is_cut)


def carried_by(request: Request) -> dict[str, bool]:
    """Return the values that a request carries, see :class:`Carried`."""
    return Carried.of(request).values


class Flag(NamedTuple):
    """A truth value that a request carries, or ``None`` or something empty.

    It says too little to tie an item to a page, but the item may differ in it alone.

    :ivar is_argument: whether it is one of the callback, which may give its field another name.
    """

    name: str
    value: str
    is_argument: bool


def flags_carried_by(request: Request) -> tuple[Flag, ...]:
    """Return the flags that a request carries."""
    arguments = flags_among(named_parts_of(arguments_with(request)))
    others = flags_among(named_parts_of(variables_with(request)))
    return (
        *(Flag(name, value, is_argument=True) for name, value in arguments),
        *(Flag(name, value, is_argument=False) for name, value in others),
    )


def flags_held_by(item: Any, flags: Iterable[Flag]) -> list[str]:
    """Return the carried flags that an item holds.

    An argument of another name than all fields counts if any field has its value.

    :param flags: those that the item's request carries.
    """
    parts = list(named_parts_of(item))
    names = {name for name, _ in parts}
    held = set(flags_among(parts))
    values = {value for _, value in held}
    return [
        f"{name}={value}"
        for name, value, is_argument in flags
        if (name, value) in held or (is_argument and name not in names and value in values)
    ]


def held_by(item_values: Collection[str], carried: Iterable[str]) -> list[str]:
    """Return the carried values that an item holds: as a value or, as whole words, within one."""
    carried = list(carried)
    if not carried:
        return []
    exact = frozenset(item_values)
    whole = " \n ".join(item_values)[:_MAX_SEARCHED_IN]
    text = whole[:_MAX_SEARCHED_TEXT]
    long_values = _long_values_within(whole, carried)
    return [
        value
        for number, value in enumerate(carried)
        if value in exact
        or value in long_values
        or (number < _MAX_SEARCHED_VALUES and len(value) <= _MIN_LONG and is_within(value, text))
    ]


def _long_values_within(text: str, carried: Iterable[str]) -> frozenset[str]:
    """Return the long carried values that an item's text contains, as where texts are joined."""
    found, n_searched = [], 0
    for value in carried:
        if _MIN_LONG < len(value) <= len(text):
            n_searched += len(text)
            if n_searched > _MAX_SEARCHED_LONG:
                break
            if value in text:
                found.append(value)
    return frozenset(found)


def values_within(
    item_values: Iterable[str], carried: Iterable[str], shown: Callable[[], str]
) -> dict[str, str]:
    """Return the values of an item that are part of a carried text, each with that text.

    The callback may have taken them from the HTML of a row, from JSON or from a line of a table.
    What the page itself shows was taken from there.

    :param shown: returns what the page shows, see :func:`shown_by`; called only if it matters.
    """
    carried = list(islice(carried, _MAX_SEARCHED_VALUES))
    left = dict.fromkeys(item_values).keys() - set(carried)
    sizes = accumulate(map(len, carried))
    searched = [text for text, n in zip(carried, sizes, strict=True) if n <= _MAX_SEARCHED_CARRIED]
    contents = [(text, *_contents_of(text)) for text in searched if left]
    # Most values are in no text, and each would be looked for in all of them.
    everything = "\n".join(whole for _, _, whole in contents)
    left = {value for value in left if is_within(value, everything, shortest=1)}
    found: dict[str, str] = {}
    for text, parts, whole in contents:
        taken = [value for value in left if value in parts or is_within(value, whole)]
        found.update(dict.fromkeys(taken, text))
        left -= set(taken)
    if not found:
        return found
    page = shown()
    return {value: text for value, text in found.items() if not is_within(value, page, shortest=1)}


def keys_within(
    item_values: Collection[str], keys: Iterable[str], shown: Callable[[], str]
) -> dict[str, str]:
    """Return the carried keys of dicts that an item holds; names of fields are common words.

    :param shown: see :func:`values_within`.
    """
    found = held_by(item_values, keys)
    page = shown() if found else ""
    return {key: key for key in found if not is_within(key, page, shortest=1)}


def shown_by(response: Response) -> str:
    """Return what a page says of itself, folded: its texts and attributes, without links.

    Of a long page that is the beginning, so values may seem to be from elsewhere.
    """
    if not isinstance(response, TextResponse):
        return ""
    if response not in _shown:
        try:
            is_markup = response.selector.type in {"html", "xml"}
            texts = _said_of_itself(response.selector.root) if is_markup else [response.text]
            _shown[response] = folded(" ".join(texts))[:_MAX_SHOWN]
        except Exception:
            # Middlewares may set any class of response, and the page must not be lost.
            logger.debug("Cannot read the text of %s", response, exc_info=True)
            _shown[response] = ""
    return _shown[response]


def _said_of_itself(root: etree._Element) -> Iterator[str]:
    """Yield the texts and attributes of a page but for those of links, menus and choices.

    XPath takes ten times as long for the same.
    """
    n_around = 0
    # libxml2 parses some broken pages as several roots.
    roots = chain([root], root.itersiblings(tag=etree.Element))
    walks = (etree.iterwalk(each, events=("start", "end", "comment", "pi")) for each in roots)
    for event, element in chain.from_iterable(walks):
        if event == "start":
            if element.tag not in _WITH_OTHERS:
                yield from element.values()
            n_around += element.tag in _OF_OTHERS
            text = element.text
        else:
            n_around -= element.tag in _OF_OTHERS
            text = element.tail
        if text and not n_around:
            yield text


def is_stated(held: Collection[str], shown: str) -> bool:
    """Return whether a page shows one of these values itself; true if that is too much to look up.

    :param held: values that came with the request; URLs do not count.
    """
    values = [value for value in held if not value.startswith(_URL_STARTS)]
    is_too_much = len(values) > _MAX_SEARCHED_VALUES or len(shown) >= _MAX_SHOWN
    return is_too_much or any(is_within(value, shown, shortest=1) for value in values)


def weight_of(values: Iterable[str]) -> int:
    """Return the number of characters of these values, without URLs."""
    return sum(len(value) for value in values if not value.startswith(_URL_STARTS))


def _texts_of(keys: Iterable[Any]) -> list[str]:
    return list(islice(values_of(list(keys)), _MAX_KEYS))


@lru_cache(maxsize=_MAX_READ)
def _contents_of(text: str) -> tuple[frozenset[str], str]:
    """Return the values in a text, if it is JSON or HTML, and all of them as one text."""
    parts: list[str] = []
    try:
        if text[0] in '[{"':
            keys: dict[Any, None] = {}
            parts = list(islice(values_of(json.loads(text), keys=keys), _MAX_VALUES))
            parts += _texts_of(keys)
        elif "<" in text:
            found = Selector(text=text, type="html").xpath(f".//text() | {_SAID}").getall()
            parts = [*filter(None, map(folded, found))]
        elif _ENTITY.search(text):
            # The callback may have replaced the entities.
            text = f"{folded(unescape(text))} \n {text}"
    except (ValueError, RecursionError):
        logger.debug("Cannot read a text that was carried", exc_info=True)
    return frozenset(parts), " ".join(parts) or text


def is_within(value: str, text: str, shortest: int = MIN_CONTAINED) -> bool:
    """Return whether the text contains the value; parts of longer ASCII words do not count."""
    if len(value) < shortest:
        return False
    if len(value) > _MIN_LONG:
        return value in text
    # To compile a regular expression for each value would take longer, unless it is part of many
    # longer words.
    is_word_at_start, is_word_at_end = map(_is_ascii_word, (value[0], value[-1]))
    start, n_found = text.find(value), 0
    while start >= 0:
        if (n_found := n_found + 1) > _MAX_PLACES:
            return _as_words(value).search(text, start) is not None
        end = start + len(value)
        goes_on = (is_word_at_start and _is_ascii_word(text[start - 1 : start])) or (
            is_word_at_end and _is_ascii_word(text[end : end + 1])
        )
        if not goes_on:
            return True
        start = text.find(value, start + 1)
    return False


def _as_words(value: str) -> re.Pattern[str]:
    """Return a regular expression for a value that is no part of a longer ASCII word."""
    escaped = re.escape(value)
    # The value stands first, because a search for a literal is fast.
    before = rf"(?<![0-9A-Za-z]{escaped})" if _is_ascii_word(value[0]) else ""
    behind = r"(?![0-9A-Za-z])" if _is_ascii_word(value[-1]) else ""
    return re.compile(f"{escaped}{before}{behind}")


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
