"""Names the callback that yields an item: another callback yields another item of the same page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import unwrap
from typing import Any

from scrapy.http import Response
from scrapy.spiders import CrawlSpider

_LAMBDA = "<lambda>"


def callback_name(response: Response) -> str:
    """Return the name of the callback that a page is passed to, the same in each run.

    The callback of a rule is named instead of the method by which ``CrawlSpider`` calls it, the
    function of a ``partial``, and a lambda with its line.
    """
    callback = None if response.request is None else response.request.callback
    if callback is None:
        return "parse"
    try:
        return _name_of(_callback_of_rule(callback, response) or callback)
    except Exception:
        # Callbacks may be of any class, and the item must not be lost.
        return type(callback).__qualname__


def _callback_of_rule(callback: object, response: Response) -> Any:
    """Return the callback of the rule by which ``CrawlSpider`` follows links, if it is one."""
    spider = getattr(callback, "__self__", None)
    if not isinstance(spider, CrawlSpider) or callback != spider._callback:
        return None
    return spider._rules[response.meta["rule"]].callback


def _name_of(callback: Callable[..., Any]) -> str:
    while isinstance(callback, partial):
        callback = callback.func
    function = unwrap(callback)
    name = getattr(function, "__name__", type(function).__qualname__)
    return f"{name} {function.__code__.co_firstlineno}" if name == _LAMBDA else str(name)
