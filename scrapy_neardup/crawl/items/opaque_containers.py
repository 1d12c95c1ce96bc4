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
from collections.abc import Callable
from copy import copy
from enum import Enum
from io import BytesIO, StringIO
from itertools import chain, islice
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any
from weakref import ref
from xml.etree import ElementTree as ET

from lxml import etree
from scrapy.http import Request
from twisted.internet.defer import Deferred

from .request_contents import CALLABLES, bound_to, given_with

#: Contents of one container that are read at most.
MAX_CONTENTS = 20_000


def contents_of_opaque(given: Any) -> list[Any] | None:
    """Return what such a container holds; ``None`` for all others."""
    for kinds, read in _READERS:
        if isinstance(given, kinds):
            return list(read(given))
    bs4 = sys.modules.get("bs4")
    if bs4 is not None and isinstance(given, bs4.Tag):
        return [*given.attrs.values(), *given.contents]
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


def _texts_of_element(element: Any) -> list[Any]:
    texts: list[Any] = element.xpath(".//text() | .//@* | @*")
    return texts


def _texts_of_plain_element(element: ET.Element) -> list[Any]:
    parts = ([each.text, *each.attrib.values(), each.tail] for each in element.iter())
    return list(islice(chain.from_iterable(parts), MAX_CONTENTS))


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
    ((etree._Element,), _texts_of_element),
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
    ((type(iter([])), type(iter(()))), lambda left: islice(copy(left), MAX_CONTENTS)),
)
