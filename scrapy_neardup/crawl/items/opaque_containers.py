"""Reads containers that tell what they hold neither as a collection nor by their attributes.

Nothing is consumed or changed: an iterator that cannot be copied is not read, and no property of an
object is asked that computes something.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from enum import Enum
from io import BytesIO, StringIO
from itertools import chain
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any
from weakref import ref
from xml.etree import ElementTree as ET

from lxml import etree
from scrapy.http import Request
from twisted.internet.defer import Deferred

from .request_contents import CALLABLES, bound_to, given_with


def contents_of_opaque(given: Any) -> Iterable[Any] | None:
    """Return what such a container holds; ``None`` for all others."""
    for kinds, read in _READERS:
        if isinstance(given, kinds):
            contents: Iterable[Any] = read(given)
            return contents
    bs4 = sys.modules.get("bs4")
    if bs4 is not None and isinstance(given, bs4.Tag):
        return chain(given.attrs.values(), given.contents)
    return None


def _variables_of(running: Any) -> list[Any]:
    """Return the variables of a generator or coroutine that waits, and of one that it waits for.

    Packages such as scrapy-inline-requests send the response to a generator, whose variables hold
    the item.
    """
    kind = "gi" if isinstance(running, GeneratorType) else "cr"
    kind = "ag" if isinstance(running, AsyncGeneratorType) else kind
    frame = getattr(running, f"{kind}_frame")
    inner = getattr(running, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
    return [inner] if frame is None else [*frame.f_locals.values(), inner]


def texts_of_element(element: etree._Element) -> Iterator[Any]:
    """Yield the attributes and texts in an element, one by one: a page may have any number."""
    for each in element.iter():
        # Comments have a text too.
        if isinstance(each.tag, str):
            yield from each.values()
            yield each.text
        if each is not element:
            yield each.tail


def _texts_of_plain_element(element: ET.Element) -> Iterator[Any]:
    for each in element.iter():
        yield from (each.text, *each.attrib.values(), each.tail)


def _result_of(future: Any) -> list[Any]:
    """Return the result of a future that is done.

    Its method ``result`` would note that an exception was seen.
    """
    return [getattr(future, "_result", None)] if future.done() else []


def _result_of_deferred(deferred: Deferred[Any]) -> list[Any]:
    return [getattr(deferred, "result", None)] if deferred.called else []


#: How containers are read, by their types.
_READERS: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    (CALLABLES, bound_to),
    ((GeneratorType, CoroutineType, AsyncGeneratorType), _variables_of),
    ((Request,), given_with),
    ((etree._Element,), texts_of_element),
    ((ET.Element,), _texts_of_plain_element),
    ((etree._ElementTree, ET.ElementTree), lambda tree: [tree.getroot()]),
    ((re.Match,), lambda match: [match[0], *match.groups()]),
    ((Enum,), lambda member: [member.value]),
    ((asyncio.Future, concurrent.futures.Future), _result_of),
    ((Deferred,), _result_of_deferred),
    ((queue.Queue,), lambda waiting: waiting.queue),
    ((asyncio.Queue,), lambda waiting: getattr(waiting, "_queue", ())),
    ((StringIO, BytesIO), lambda file: [] if file.closed else [file.getvalue()]),
    ((BaseException,), lambda error: error.args),
    ((ref,), lambda reference: [reference()]),
    # A copy of such an iterator is another one at the same place.
    ((type(iter([])), type(iter(()))), copy),
)
