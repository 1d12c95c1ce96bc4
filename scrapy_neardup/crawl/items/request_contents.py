"""Says what a request brings along for its callback: arguments, meta, and what the callback has."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache, partial
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from scrapy.http import Request

from ..settings import META_KEY

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

#: Functions that ``lru_cache`` and ``cache`` return.
_CachedFunction = type(lru_cache(len))
#: What can be called, and carries something itself.
CALLABLES = (partial, MethodType, BuiltinMethodType, FunctionType, _CachedFunction)

#: Values that are no containers.
SCALARS = (str, bytes, int, float, type(None))

#: The arguments that requests had before they were downloaded.
_sent_arguments: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()


def note_arguments(request: Request) -> None:
    """Note which arguments a request has when it is about to be sent.

    Downloader middlewares may add others or replace them, such as the page objects of scrapy-poet,
    which are made of the response: these are not carried.
    """
    _sent_arguments[request] = dict(request.cb_kwargs)


def given_with(request: Request) -> list[Any]:
    """Return what a request carries: its arguments, meta values, and what its callback has."""
    in_meta = (value for key, value in request.meta.items() if not _is_of_control(key))
    return [*_arguments_of(request).values(), *in_meta, *bound_to(request.callback)]


def arguments_with(request: Request) -> dict[str, Any]:
    """Return the arguments that a request brings along for its callback, by their names."""
    callback = request.callback
    bound = callback.keywords if isinstance(callback, partial) else {}
    return {**bound, **_arguments_of(request)}


def variables_with(request: Request) -> dict[str, Any]:
    """Return what else a request brings along under a name: in ``meta`` and by its callback."""
    of_callback: dict[str, Any] = {}
    if isinstance(request.callback, FunctionType):
        names = request.callback.__code__.co_freevars
        for name, cell in zip(names, request.callback.__closure__ or (), strict=False):
            with suppress(ValueError):  # the variable has no value yet
                of_callback[name] = cell.cell_contents
        of_callback |= _defaults_of(request.callback)
    in_meta = {str(k): value for k, value in request.meta.items() if not _is_of_control(k)}
    return {**of_callback, **in_meta}


def _defaults_of(callback: FunctionType) -> dict[str, Any]:
    """Return the defaults of a function's last arguments, by their names."""
    defaults = callback.__defaults__ or ()
    code = callback.__code__
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(defaults) :]
    return {**dict(zip(names, defaults, strict=False)), **(callback.__kwdefaults__ or {})}


def _arguments_of(request: Request) -> dict[str, Any]:
    given = request.cb_kwargs
    sent = _sent_arguments.get(request, given)
    return {name: value for name, value in given.items() if sent.get(name) is value}


def _is_of_control(key: Any) -> bool:
    return key in _CONTROL_KEYS or str(key).startswith(_CONTROL_PREFIXES)


def bound_to(callback: Any) -> list[Any]:
    """Return what a callback carries: arguments of a partial, an object, variables of a function.

    A function that another one has made for the request carries variables of that one, and the
    defaults of its arguments.
    """
    if isinstance(callback, partial):
        return [*callback.args, *callback.keywords.values(), callback.func]
    if isinstance(callback, MethodType):
        return [callback.__self__, callback.__func__]
    if isinstance(callback, BuiltinMethodType):
        return [callback.__self__]  # such as the method send of a generator
    if isinstance(callback, _CachedFunction):
        return [callback.__wrapped__]
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
