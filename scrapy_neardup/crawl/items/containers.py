"""Says what a container holds: an item, a loader, a page, an object of the project."""

from __future__ import annotations

import logging
import sys
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from types import SimpleNamespace
from typing import Any

from itemadapter.adapter import ItemAdapter
from lxml import etree
from parsel import Selector
from scrapy import Item, Spider
from scrapy.http import Request, Response, TextResponse
from scrapy.loader import ItemLoader

from .opaque_containers import contents_of_opaque, texts_of_element
from .request_contents import given_with

logger = logging.getLogger(__name__)

#: Keys of a dict that are read at most.
_MAX_KEYS = 500
#: Packages of infrastructure, whose objects hold no values of items.
_INFRASTRUCTURE = sys.stdlib_module_names | {
    "scrapy", "twisted", "zope", "parsel", "lxml", "playwright"
}  # fmt: skip


def contents_of(given: Any, *, is_whole: bool, most: int) -> list[Any]:
    """Return the first contents of a container; nothing for objects of unknown types.

    :param is_whole: return the keys of dicts as well.
    :param most: contents that are returned at most. What is behind them is not looked at, because
        a project may have containers of any size.
    """
    try:
        return list(islice(_all_contents_of(given, is_whole=is_whole), most))
    except Exception:
        # Objects of the project may raise anything, and the item must not be lost.
        logger.debug("Cannot read the contents of %s", type(given), exc_info=True)
    return []


def _all_contents_of(given: Any, *, is_whole: bool) -> Iterable[Any]:
    if type(given) is dict:
        return chain.from_iterable(given.items()) if is_whole else given.values()
    if type(given) is list:
        return given
    if isinstance(given, ItemLoader):
        # No public method returns the collected values without changing the loader.
        return chain([given.item], getattr(given, "_values", {}).values())
    if isinstance(given, Response):
        return chain(_texts_in(given), given_with(given.request) if given.request else ())
    if isinstance(given, Selector):
        return _texts_in(given)
    if (contents := contents_of_opaque(given)) is not None:
        # Classes of the project may add attributes to these.
        is_open = isinstance(given, (Request, BaseException))
        return chain(contents, _attributes_of(given) if is_open else ())
    if isinstance(given, Mapping) or ItemAdapter.is_item(given):
        mapping = given if isinstance(given, Mapping) else ItemAdapter(given)
        return chain.from_iterable(mapping.items()) if is_whole else mapping.values()
    return given if isinstance(given, Collection) else _attributes_of(given)


def keys_of(given: Any) -> list[Any]:
    """Return the keys of a dict or another mapping; the fields of an item are none."""
    if type(given) is not dict and (not isinstance(given, Mapping) or isinstance(given, Item)):
        return []
    try:
        # What a mapping of the project yields may not be hashable.
        return list(dict.fromkeys(islice(given, _MAX_KEYS)))
    except Exception:
        logger.debug("Cannot read the keys of %s", type(given), exc_info=True)
    return []


def _texts_in(page: Selector | Response) -> Iterable[Any]:
    """Return the texts and attributes of a carried page or selector."""
    if isinstance(page, Response) and not isinstance(page, TextResponse):
        return [page.url]
    selector = page.selector if isinstance(page, TextResponse) else page
    if selector.type not in ("html", "xml"):
        return [selector.get()] if isinstance(selector.root, str) else [selector.root]
    # The root of a selector of a text is that text, which is read where its element is carried.
    return texts_of_element(selector.root) if isinstance(selector.root, etree._Element) else ()


def _attributes_of(given: Any) -> Iterator[Any]:
    """Yield the attributes of an object, if the class is one of the project."""
    kind = type(given)
    is_custom = kind.__module__.partition(".")[0] not in _INFRASTRUCTURE
    holds_values = is_custom and not isinstance(given, (type, Spider))
    if not (holds_values or isinstance(given, (SimpleNamespace, Namespace))):
        return
    slots = [getattr(base, "__slots__", ()) for base in kind.__mro__]
    names = [name for each in slots for name in ([each] if isinstance(each, str) else each)]
    yield from getattr(given, "__dict__", {}).values()
    for name in names:
        if name not in {"__dict__", "__weakref__"}:
            yield getattr(given, name, None)
