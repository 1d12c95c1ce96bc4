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
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache, partial
from html import unescape
from itertools import chain, islice
from numbers import Number
from pathlib import PurePath
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import xxhash
from itemadapter.adapter import ItemAdapter
from parsel import Selector
from scrapy import Spider
from scrapy.http import Request, Response, TextResponse
from scrapy.loader import ItemLoader

from ..settings import META_KEY

logger = logging.getLogger(__name__)

#: Values of a request, and of an item, that are compared at most.
_MAX_VALUES, _MAX_ITEM_VALUES = 5_000, 5_000
#: Carried values that are searched within an item's text; all are compared with its values.
_MAX_SEARCHED_VALUES = 500
#: Values and containers that are visited at most.
_MAX_VISITED = 20_000
#: Modules of types whose text is their value.
_TEXT_TYPE_MODULES = frozenset(["datetime", "decimal"])
#: Packages of infrastructure, whose objects hold no values of items.
_INFRASTRUCTURE = sys.stdlib_module_names | {
    "scrapy", "twisted", "zope", "parsel", "lxml", "playwright"
}  # fmt: skip
_ENTITY = re.compile(r"&#?\w+;")
#: Lengths of the values that are searched within an item's text; for others see
#: ``rewritten_values.py``.
MIN_CONTAINED, _MAX_CONTAINED = 3, 500
#: Characters of the carried texts in which an item's values are searched.
_MAX_SEARCHED_CARRIED = 500_000
#: Carried texts whose contents are kept, because a page may yield many items.
_MAX_READ = 32
#: What an element says; classes and styles are the page's design.
_SAID = "descendant-or-self::*/@*[not(contains('|class|id|style|', concat('|', name(), '|')))]"
#: What a page says of itself; links and choices name other pages as well.
_SAID_OF_ITSELF = (
    "//text()[not(ancestor::a or ancestor::nav or ancestor::option)] | "
    "//@*[not(parent::a or parent::option)]"
)
#: Longer integers are written in hexadecimal: as decimals Python refuses them or takes long.
_MAX_BITS = 10_000
#: Characters of an item's text that are searched.
_MAX_SEARCHED_TEXT = 100_000

#: Keys of ``meta`` that control Scrapy and its plugins; their values belong to no item.
_CONTROL_KEYS = frozenset(
    "_auth_proxy _callback _depth _dont_cache _scheme_proxy "
    "allow_offsite autothrottle_dont_adjust_delay bindaddress cookiejar depth dont_cache "
    "dont_merge_cookies dont_obey_robotstxt dont_redirect dont_retry download_fail_on_dataloss "
    "download_latency download_maxsize download_slot download_timeout download_warnsize "
    "ftp_local_filename ftp_password ftp_user give_up_log_level handle_httpstatus_all "
    "handle_httpstatus_list inject is_start_request link_text max_retry_times priority_adjust "
    "proxy redirect_reasons redirect_times redirect_ttl redirect_urls referrer_policy "
    "retry_times rule schedule_id selenium verbatim_url wait_time".split()
)
_CONTROL_PREFIXES = tuple(
    prefix + name
    for name in (META_KEY, "playwright", "splash", "zyte_api", "puppeteer", "crawlera")
    for prefix in ("", "_")
)

#: The arguments that requests had before they were downloaded.
_sent_arguments: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()
#: What pages show, because each may yield many items.
_shown: WeakKeyDictionary[Response, str] = WeakKeyDictionary()


def note_arguments(request: Request) -> None:
    """Note which arguments a request has when it is about to be sent.

    Downloader middlewares may add others or replace them, such as the page objects of scrapy-poet,
    which are made of the response: these are not carried.
    """
    _sent_arguments[request] = dict(request.cb_kwargs)


def carried_by(request: Request) -> dict[str, None]:
    """Return the values that a request carries, in order, each as :func:`values_of` yields it."""
    given = request.cb_kwargs
    sent = _sent_arguments.get(request, given)
    arguments = {name: value for name, value in given.items() if sent.get(name) is value}
    meta = {
        key: value
        for key, value in request.meta.items()
        if key not in _CONTROL_KEYS and not str(key).startswith(_CONTROL_PREFIXES)
    }
    bound = _bound_to(request.callback)
    if not (meta or arguments or bound):
        return {}
    return dict.fromkeys(islice(values_of([arguments, meta, bound]), _MAX_VALUES))


def values_of(given: Any, *, is_whole: bool = False) -> Iterator[str]:
    """Yield all texts and numbers in a value, with case and white space folded.

    ``None``, truth values, empty texts and values of other types are ignored; a container is
    visited once.

    :param is_whole: yield keys, ``None`` and truth values as well.
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
            left.extend(reversed(_parts_of(part, is_whole=is_whole)))
    if is_whole and left:
        yield f"and more, in {id(given)}"


def held_by(item_values: Collection[str], carried: Iterable[str]) -> list[str]:
    """Return the carried values that an item holds: as a value or, as whole words, within one."""
    carried = list(carried)
    if not carried:
        return []
    exact = frozenset(item_values)
    text = " \n ".join(item_values)[:_MAX_SEARCHED_TEXT]
    return [
        value
        for number, value in enumerate(carried)
        if value in exact or (number < _MAX_SEARCHED_VALUES and is_within(value, text))
    ]


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
    found: dict[str, str] = {}
    n_searched = 0
    for text in carried:
        n_searched += len(text)
        if not left or n_searched > _MAX_SEARCHED_CARRIED:
            break
        shortest = min(map(len, left))
        if len(text) > shortest:
            parts, whole = _contents_of(text)
            taken = [value for value in left if value in parts or is_within(value, whole)]
            found.update(dict.fromkeys(taken, text))
            left -= set(taken)
    if not found:
        return found
    page = shown()
    return {value: text for value, text in found.items() if not is_within(value, page, shortest=1)}


def shown_by(response: Response) -> str:
    """Return what a page says of itself, folded: its texts and attributes, without links."""
    if not isinstance(response, TextResponse):
        return ""
    if response not in _shown:
        try:
            is_markup = response.selector.type in {"html", "xml"}
            texts = response.xpath(_SAID_OF_ITSELF).getall() if is_markup else [response.text]
        except Exception:
            # Middlewares may set any class of response, and the page must not be lost.
            logger.debug("Cannot read the text of %s", response, exc_info=True)
            texts = []
        _shown[response] = _folded(" ".join(texts))
    return _shown[response]


def item_values(item: Any) -> list[str]:
    """Return the values of an item, as :func:`values_of` yields them."""
    return list(islice(values_of(item), _MAX_ITEM_VALUES))


def weight_of(values: Iterable[str]) -> int:
    """Return the number of characters of these values, without URLs."""
    return sum(len(value) for value in values if not value.startswith(("http://", "https://")))


def fields_of(item: Any) -> list[str]:
    """Return the names of an item's class and of its fields that are not empty."""
    try:
        fields = ItemAdapter(item)
        names = [name for name in fields if any(True for _ in values_of(fields.get(name)))]
    except Exception:
        # Custom item classes may raise anything, and the item must not be lost.
        names = []
    return [type(item).__qualname__, *sorted(names)]


def hash_of(value: str) -> int:
    """Return a 64-bit hash of a value."""
    return xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"))


def _bound_to(callback: Any) -> list[Any]:
    """Return what a callback carries: arguments of a partial, an object, variables of a function.

    A function that another one has made for the request carries variables of that one, and the
    defaults of its arguments.
    """
    if isinstance(callback, partial):
        return [callback.args, callback.keywords, callback.func]
    if isinstance(callback, MethodType):
        return [callback.__self__, callback.__func__]
    if not isinstance(callback, FunctionType):
        # An object with a method __call__.
        return [] if callback is None else [callback]
    bound = []
    for cell in callback.__closure__ or ():
        try:
            bound.append(cell.cell_contents)
        except ValueError:
            continue  # the variable has no value yet
    where, _, name = callback.__qualname__.rpartition(".")
    if name == "<lambda>" or where.endswith("<locals>"):
        bound += [*(callback.__defaults__ or ()), *(callback.__kwdefaults__ or {}).values()]
    return bound


def _text_of(part: Any) -> str | None:
    """Return the text of a value, folded; ``None`` where it is neither text nor number."""
    if type(part) is str:
        return _folded(part)
    try:
        if isinstance(part, (bytes, bytearray)):
            return _folded(part.decode("utf-8", "backslashreplace"))
        if isinstance(part, bool) or part is None:
            return ""
        if isinstance(part, int):
            return format(part, "d") if part.bit_length() < _MAX_BITS else format(part, "x")
        is_text_type = type(part).__module__ in _TEXT_TYPE_MODULES
        if isinstance(part, (str, Number, UUID, PurePath)) or is_text_type:
            return _folded(str(part))
    except Exception:
        # Custom objects may raise anything, and the page must not be lost.
        logger.debug("Cannot read a value of %s", type(part), exc_info=True)
    return None


def _parts_of(given: Any, *, is_whole: bool) -> list[Any]:
    """Return the contents of a container; nothing for objects of unknown types."""
    if type(given) is dict:
        return list(chain.from_iterable(given.items()) if is_whole else given.values())
    if type(given) is list:
        return given[:_MAX_VISITED]
    try:
        if isinstance(given, ItemLoader):
            # No public method returns the collected values without changing the loader.
            return [given.item, *getattr(given, "_values", {}).values()]
        if isinstance(given, Enum):
            return [given.value]
        if isinstance(given, (partial, MethodType, FunctionType)):
            return _bound_to(given)
        if isinstance(given, (Selector, Response)):
            return _texts_in(given)
        if isinstance(given, Mapping) or ItemAdapter.is_item(given):
            mapping = given if isinstance(given, Mapping) else ItemAdapter(given)
            return list(chain.from_iterable(mapping.items()) if is_whole else mapping.values())
        if isinstance(given, Collection):
            return list(islice(given, _MAX_VISITED))
        return _attributes_of(given)
    except Exception:
        logger.debug("Cannot read the contents of %s", type(given), exc_info=True)
    return []


def _texts_in(page: Selector | Response) -> list[Any]:
    """Return the texts and attributes of a carried page or selector."""
    if isinstance(page, Response) and not isinstance(page, TextResponse):
        return [page.url]
    selector = page.selector if isinstance(page, TextResponse) else page
    if selector.type not in ("html", "xml"):
        return [selector.get()] if isinstance(selector.root, str) else [selector.root]
    return selector.xpath(".//text() | .//@* | @*").getall()


@lru_cache(maxsize=_MAX_READ)
def _contents_of(text: str) -> tuple[frozenset[str], str]:
    """Return the values in a text, if it is JSON or HTML, and all of them as one text."""
    parts: list[str] = []
    try:
        if text[0] in '[{"':
            parts = list(islice(values_of(json.loads(text)), _MAX_VALUES))
        elif "<" in text:
            found = Selector(text=text, type="html").xpath(f".//text() | {_SAID}").getall()
            parts = [*filter(None, map(_folded, found))]
        elif _ENTITY.search(text):
            # The callback may have replaced the entities.
            text = f"{_folded(unescape(text))} \n {text}"
    except (ValueError, RecursionError):
        logger.debug("Cannot read a text that was carried", exc_info=True)
    return frozenset(parts), " ".join(parts) or text


def _attributes_of(given: Any) -> list[Any]:
    """Return the attributes of an object, if the class is one of the project."""
    kind = type(given)
    is_custom = kind.__module__.partition(".")[0] not in _INFRASTRUCTURE
    holds_values = is_custom and not isinstance(given, (type, Spider))
    if not (holds_values or isinstance(given, SimpleNamespace)):
        return []
    slots = [getattr(base, "__slots__", ()) for base in kind.__mro__]
    names = [name for each in slots for name in ([each] if isinstance(each, str) else each)]
    in_slots = [
        getattr(given, name, None) for name in names if name not in {"__dict__", "__weakref__"}
    ]
    return [*getattr(given, "__dict__", {}).values(), *in_slots]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def is_within(value: str, text: str, shortest: int = MIN_CONTAINED) -> bool:
    """Return whether the text contains the value; parts of longer ASCII words do not count."""
    if not shortest <= len(value) <= _MAX_CONTAINED:
        return False
    # To compile a regular expression for each value would take longer.
    is_word_at_start, is_word_at_end = map(_is_ascii_word, (value[0], value[-1]))
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        goes_on = (is_word_at_start and _is_ascii_word(text[start - 1 : start])) or (
            is_word_at_end and _is_ascii_word(text[end : end + 1])
        )
        if not goes_on:
            return True
        start = text.find(value, start + 1)
    return False


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
