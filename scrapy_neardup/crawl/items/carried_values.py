"""Values that come with a request, and that the item of its response holds.

An item may be built over several pages: a product page hands its name and price to the callback of
its reviews page, in ``cb_kwargs`` or ``meta``, and only there the item is yielded. Which values of
an item came with the request says which pages the item is from.

Values are compared as text, so that it makes no difference whether they travelled as an item, a
dict, an ItemLoader or one by one, nor whether a queue on disk packed and unpacked them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from itertools import chain, islice
from numbers import Number
from pathlib import PurePath
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any
from uuid import UUID

import xxhash
from itemadapter.adapter import ItemAdapter
from parsel import Selector
from scrapy import Spider
from scrapy.http import Request, Response, TextResponse
from scrapy.loader import ItemLoader

from ..settings import META_KEY

logger = logging.getLogger(__name__)

#: Values of one request, and of one item, that are looked at.
_MOST_VALUES, _MOST_ITEM_VALUES = 5_000, 5_000
#: Carried values that are looked for within an item's text; all are compared with its values.
_MOST_LOOKED_FOR = 500
#: Values and containers that are looked at for these.
_MOST_LOOKED_AT = 20_000
#: Modules of types whose text is their value.
_WRITTEN_OUT = frozenset(["datetime", "decimal"])
#: Packages of machinery: their objects hold no values of items.
_MACHINERY = sys.stdlib_module_names | {"scrapy", "twisted", "zope", "parsel", "lxml", "playwright"}
#: A shorter text is held only by an equal value, a longer one is not looked for within others.
_LEAST_CONTAINED, _MOST_CONTAINED = 3, 500
#: Python refuses to write longer numbers as decimals, or takes long.
_MOST_BITS = 10_000
#: Characters of an item's text that such values are looked for in.
_MOST_SEARCHED = 100_000

#: Keys of ``meta`` that tell Scrapy and its plugins what to do; what they hold is of no item.
_CONTROL_KEYS = frozenset(
    "allow_offsite autothrottle_dont_adjust_delay bindaddress cookiejar depth dont_cache "
    "dont_merge_cookies dont_obey_robotstxt dont_redirect dont_retry download_fail_on_dataloss "
    "download_latency download_maxsize download_slot download_timeout download_warnsize "
    "ftp_local_filename ftp_password ftp_user give_up_log_level handle_httpstatus_all "
    "handle_httpstatus_list inject is_start_request link_text max_retry_times priority_adjust "
    "proxy redirect_reasons redirect_times redirect_ttl redirect_urls referrer_policy "
    "retry_times rule schedule_id selenium verbatim_url wait_time".split()
)
_CONTROL_PREFIXES = ("_", META_KEY, "playwright", "splash", "zyte_api", "puppeteer", "crawlera")


def carried_by(request: Request) -> dict[str, None]:
    """The values that come with a request, in their order, each as :func:`values_of` gives it."""
    meta = {
        key: value
        for key, value in request.meta.items()
        if key not in _CONTROL_KEYS and not str(key).startswith(_CONTROL_PREFIXES)
    }
    bound = _bound_to(request.callback)
    if not (meta or request.cb_kwargs or bound):
        return {}
    return dict.fromkeys(islice(values_of([request.cb_kwargs, meta, bound]), _MOST_VALUES))


def values_of(given: Any, *, is_whole: bool = False) -> Iterator[str]:
    """All texts and numbers in a value: an item of any kind, a loader, a mapping, a sequence.

    Case and white space are folded. What says nothing by itself (``None``, a truth value, an empty
    text) and what is none of these is passed over, and so is a container that contains itself.

    :param is_whole: keys, and what says nothing by itself, as well.
    """
    left, seen = [given], dict[int, Any]()
    for _ in range(_MOST_LOOKED_AT):
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
    """Those of the carried values that an item holds, as a value or, as whole words, within one."""
    carried = list(carried)
    if not carried:
        return []
    exact = frozenset(item_values)
    text = " \n ".join(item_values)[:_MOST_SEARCHED]
    return [
        value
        for number, value in enumerate(carried)
        if value in exact or (number < _MOST_LOOKED_FOR and _is_within(value, text))
    ]


def item_values(item: Any) -> list[str]:
    """The values of an item, as :func:`values_of` gives them."""
    return list(islice(values_of(item), _MOST_ITEM_VALUES))


def weight_of(values: Iterable[str]) -> int:
    """How much these values say: their characters; an address says only where something is."""
    return sum(len(value) for value in values if not value.startswith(("http://", "https://")))


def fields_of(item: Any) -> list[str]:
    """Names of an item's class and of those of its fields that say something."""
    try:
        fields = ItemAdapter(item)
        names = [name for name in fields if any(True for _ in values_of(fields.get(name)))]
    except Exception:
        # Items of other people may raise anything, and must not be lost for it.
        names = []
    return [type(item).__qualname__, *sorted(names)]


def hash_of(value: str) -> int:
    """64 bits that stand for a value."""
    return xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"))


def _bound_to(callback: Any) -> list[Any]:
    """What a callback brings along: arguments of a partial, variables of a lambda, an object."""
    if isinstance(callback, partial):
        return [callback.args, callback.keywords, *_bound_to(callback.func)]
    if isinstance(callback, MethodType):
        return [callback.__self__, *_bound_to(callback.__func__)]
    if not isinstance(callback, FunctionType):
        return []
    bound = []
    for cell in callback.__closure__ or ():
        try:
            bound.append(cell.cell_contents)
        except ValueError:
            continue  # it has no value yet
    if callback.__name__ == "<lambda>":
        bound += [*(callback.__defaults__ or ()), *(callback.__kwdefaults__ or {}).values()]
    return [value for value in bound if not isinstance(value, Spider)]


def _text_of(part: Any) -> str | None:
    """The text of a value, folded; ``None`` where it is no text or number."""
    try:
        if isinstance(part, (bytes, bytearray)):
            return _folded(part.decode("utf-8", "backslashreplace"))
        if isinstance(part, bool) or part is None:
            return ""
        if isinstance(part, int):
            return format(part, "d") if part.bit_length() < _MOST_BITS else format(part, "x")
        if isinstance(part, (str, Number, UUID, PurePath)) or type(part).__module__ in _WRITTEN_OUT:
            return _folded(str(part))
    except Exception:
        # Objects of other people may raise anything, and a page must not be lost for it.
        logger.debug("Cannot read %s", type(part), exc_info=True)
    return None


def _parts_of(given: Any, *, is_whole: bool = False) -> list[Any]:
    """What a container contains; nothing where it is none that is known."""
    try:
        if isinstance(given, ItemLoader):
            # There is no public way to what was collected that leaves the loader as it is.
            return [given.item, *getattr(given, "_values", {}).values()]
        if isinstance(given, Enum):
            return [given.value]
        if isinstance(given, (Selector, Response)):
            return _texts_in(given)
        is_item = not isinstance(given, Mapping) and ItemAdapter.is_item(given)
        if is_item or isinstance(given, Mapping):
            mapping = ItemAdapter(given) if is_item else given
            return list(chain.from_iterable(mapping.items()) if is_whole else mapping.values())
        if isinstance(given, Collection):
            return list(islice(given, _MOST_LOOKED_AT))
        return _attributes_of(given)
    except Exception:
        # Objects of other people may raise anything, and a page must not be lost for it.
        logger.debug("Cannot look into %s", type(given), exc_info=True)
    return []


def _texts_in(page: Selector | Response) -> list[Any]:
    """Texts and attributes of a page, or of a part of it, that is carried on."""
    if isinstance(page, Response) and not isinstance(page, TextResponse):
        return [page.url]
    selector = page.selector if isinstance(page, TextResponse) else page
    if selector.type not in ("html", "xml"):
        return [selector.get()] if isinstance(selector.root, str) else [selector.root]
    return selector.xpath(".//text() | .//@* | @*").getall()


def _attributes_of(given: Any) -> list[Any]:
    """Attributes of an object of a class of the project's own."""
    kind = type(given)
    package = kind.__module__.partition(".")[0]
    is_own = package not in _MACHINERY and not callable(given) and not isinstance(given, Spider)
    if not (is_own or isinstance(given, SimpleNamespace)):
        return []
    slots = [getattr(base, "__slots__", ()) for base in kind.__mro__]
    names = [name for each in slots for name in ([each] if isinstance(each, str) else each)]
    in_slots = [
        getattr(given, name, None) for name in names if name not in {"__dict__", "__weakref__"}
    ]
    return [*getattr(given, "__dict__", {}).values(), *in_slots]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_within(value: str, text: str) -> bool:
    """Do these words stand in the text? A part of a word does not count in scripts with blanks."""
    if not _LEAST_CONTAINED <= len(value) <= _MOST_CONTAINED:
        return False
    at = text.find(value)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not (_joins(before, value[0]) or _joins(value[-1], after)):
            return True
        at = text.find(value, at + 1)
    return False


def _joins(one: str, other: str) -> bool:
    """Are these two characters in one word?"""
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()
