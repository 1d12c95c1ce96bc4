"""Values that come with a request, and that the item of its response holds.

An item may be built over several pages: a product page hands its name and price to the callback of
its reviews page, in ``cb_kwargs`` or ``meta``, and only there the item is yielded. Which values of
an item came with the request says which pages the item is from.

Values are compared as text, so that it makes no difference whether they travelled as an item, a
dict, an ItemLoader or one by one, nor whether a queue on disk packed and unpacked them.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from numbers import Number
from typing import Any

import xxhash
from itemadapter.adapter import ItemAdapter
from scrapy.http import Request
from scrapy.loader import ItemLoader

from .config import META_KEY

logger = logging.getLogger(__name__)

#: Values of one request, and of one item, that are looked at.
_MOST_VALUES, _MOST_ITEM_VALUES = 500, 5_000
#: Values and containers that are looked at for these.
_MOST_LOOKED_AT = 20_000
#: Modules of types whose text is their value.
_WRITTEN_OUT = frozenset(["datetime", "decimal"])
#: A shorter text is held only by an equal value, a longer one is not looked for within others.
_LEAST_CONTAINED, _MOST_CONTAINED = 3, 500
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
    if not meta and not request.cb_kwargs:
        return {}
    return dict.fromkeys(islice(values_of([request.cb_kwargs, meta]), _MOST_VALUES))


def values_of(given: Any) -> Iterator[str]:
    """All texts and numbers in a value: an item of any kind, a loader, a mapping, a sequence.

    Case and white space are folded. What says nothing by itself (``None``, a truth value, an empty
    text) and what is none of these is passed over, and so is a container that contains itself.
    """
    left, seen = [given], set[int]()
    for _ in range(_MOST_LOOKED_AT):
        if not left:
            return
        part = left.pop()
        if isinstance(part, (str, Number)) or type(part).__module__ in _WRITTEN_OUT:
            if not isinstance(part, bool) and (text := _folded(str(part))):
                yield text
        elif part is not None and id(part) not in seen:
            seen.add(id(part))
            left.extend(reversed(_parts_of(part)))


def held_by(item_values: Collection[str], carried: Iterable[str]) -> list[str]:
    """Those of the carried values that an item holds, as a value or, as whole words, within one."""
    carried = list(carried)
    if not carried:
        return []
    exact = frozenset(item_values)
    text = " \n ".join(item_values)[:_MOST_SEARCHED]
    return [value for value in carried if value in exact or _is_within(value, text)]


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


def _parts_of(given: Any) -> list[Any]:
    """What a container contains; nothing where it is none that is known."""
    try:
        if isinstance(given, ItemLoader):
            # There is no public way to what was collected that leaves the loader as it is.
            return [given.item, *getattr(given, "_values", {}).values()]
        if isinstance(given, Mapping):
            return list(given.values())
        if isinstance(given, (list, tuple, set, frozenset)):
            return list(given)
        if ItemAdapter.is_item(given):
            return list(ItemAdapter(given).values())
    except Exception:
        # Objects of other people may raise anything, and a page must not be lost for it.
        logger.debug("Cannot look into %s", type(given), exc_info=True)
    return []


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
