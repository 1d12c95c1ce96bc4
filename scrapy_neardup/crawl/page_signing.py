"""Signatures for a crawl: asked for in the event loop, made elsewhere, once for equal bodies."""

from __future__ import annotations

import pickle
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any

import xxhash

from .._util.urls import site_of
from ..exceptions import InvalidOption, LimitExceeded
from ..html.limits import PageLimits
from ..signatures.signature import PageSignature, Signer
from ..sources.record import Record
from ..workers import Failure, Limits, Reading, WorkerPool, call_here, sign_and_read
from .async_bridge import from_any_thread, result_of
from .backpressure import Throttle
from .report_recorder import ReportRecorder
from .settings import Config, as_setting

#: Signatures of the bodies met last, which are not made again for an equal body: 8 MB of them.
_BODIES = 4096

_Signed = tuple[PageSignature, Reading]
_Outcome = _Signed | Failure


class PageSigning:
    """Makes the signatures of a crawl, in whose event loop it is made.

    A body that is equal to one of the last few thousand, or to one under way, byte by byte and
    in what its encoding depends on, is not read again: many addresses lead to one page.

    :param signer: arguments of the :class:`~scrapy_neardup.signatures.signature.Signer`.
    :param page_limits: what one page may be made of.
    :param workers: number of processes; 0 to do it in this one, without limits on time and memory.
    :param limits: what one page may take of a worker.
    :param throttle: what is told of the pages under way.
    :param reporting: what is told what people are to see of the pages.
    """

    def __init__(
        self,
        signer: Mapping[str, Any],
        page_limits: PageLimits,
        workers: int,
        limits: Limits,
        throttle: Throttle,
        *,
        reporting: ReportRecorder | None = None,
    ) -> None:
        self._page_limits = page_limits
        keep_text = reporting is not None and reporting.keeps_text
        job = sign_and_read(keep_text=keep_text)
        self._pool = WorkerPool(
            job,
            {**signer, "limits": page_limits},
            workers,
            limits,
            deliver=from_any_thread(call_here),
        )
        # Nobody who writes pages can tell which two bodies would have one hash.
        self._seed = secrets.randbits(64)
        self._known: OrderedDict[bytes, _Signed] = OrderedDict()
        self._under_way: dict[bytes, Future[_Outcome]] = {}
        self._throttle = throttle
        self._reporting = reporting
        #: How many pages were not read because an equal one had been.
        self.spared = 0

    @property
    def workers_lost(self) -> int:
        """How many workers died or were ended over a page, and were replaced."""
        return self._pool.lost

    def start(self) -> None:
        """Start the workers, without waiting for them."""
        self._pool.start()
        # The list of public suffixes takes 0.1 s to load, when an equal body is met elsewhere.
        with suppress(RuntimeError):  # no more threads can be started
            Thread(target=site_of, args=("https://example.com/",), daemon=True).start()

    def stop(self) -> None:
        """End the workers, whatever they are doing."""
        self._pool.stop()

    async def sign(self, record: Record) -> PageSignature | Failure:
        """Signature of a page, or why there is none.

        :raises WorkersFailed: when no worker can be started.
        """
        with self._throttle.reading():
            result = await self._signed(record)
        if isinstance(result, Failure):
            return result
        signature, reading = result
        if self._reporting is not None:
            self._reporting.read(record.url, reading)
        return signature

    async def _signed(self, record: Record) -> _Outcome:
        try:
            # Before a worker is sent what it would only refuse.
            self._page_limits.check_body(record.content)
        except LimitExceeded as error:
            return Failure(error.reason, str(error))
        if record.kind == "fragment":
            return await result_of(self._pool.submit(record))
        body = self._body_hash(record)
        if (known := self._known.get(body)) is not None:
            self._known.move_to_end(body)
            self.spared += 1
            return _at(known, record.url)
        if (under_way := self._under_way.get(body)) is None:
            return await self._first(body, record)
        result = await result_of(under_way)
        self.spared += 1
        return result if isinstance(result, Failure) else _at(result, record.url)

    async def _first(self, body: bytes, record: Record) -> _Outcome:
        """Sign a body that is not known; equal ones that come meanwhile wait for it."""
        future = self._under_way[body] = self._pool.submit(record)
        try:
            result = await result_of(future)
        finally:
            del self._under_way[body]
        if not isinstance(result, Failure):
            self._known[body] = result
            if len(self._known) > _BODIES:
                self._known.popitem(last=False)
        return result

    def _body_hash(self, record: Record) -> bytes:
        content = record.content
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        how = f"{record.kind}\n{record.content_type}\n{record.encoding}".encode()
        return xxhash.xxh3_128_digest(data, self._seed) + xxhash.xxh3_128_digest(how, self._seed)


def _at(signed: _Signed, url: str) -> _Signed:
    """The same of an equal body at another address."""
    signature, reading = signed
    return signature.found_at(url), reading


def require_parts(config: Config) -> None:
    """Tokenizer, IDF table and extractor can be used, here and in other processes.

    :raises InvalidOption: when one cannot.
    """
    try:
        Signer(secret=bytes(16), **config.parts)
    except InvalidOption as error:
        raise as_setting(error) from None
    for name, part in config.parts.items():
        if config.workers and not _can_travel(part):
            raise as_setting(
                InvalidOption(
                    name,
                    part,
                    "an import path or an object of an importable module, so that worker "
                    "processes can have it too (or NEARDUP_WORKERS = 0)",
                )
            )


def _can_travel(part: Any) -> bool:
    """Can it be pickled here, and found again where the main module is another one?"""
    if getattr(part, "__module__", None) == "__main__":
        return False
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True
