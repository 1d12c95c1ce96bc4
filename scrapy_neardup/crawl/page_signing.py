"""Signs the pages of a crawl: in worker processes, and once for equal bodies."""

from __future__ import annotations

import pickle
import secrets
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any

import xxhash
from scrapy.utils.datatypes import LocalCache

from .._util.urls import site_of
from ..exceptions import InvalidOption, LimitExceeded
from ..signatures.signature import PageSignature
from ..signatures.signer import Signer
from ..sources.record import Record
from ..workers import Failure, Reading, WorkerPool, call_here, sign_and_read
from .async_bridge import from_any_thread, result_of
from .backpressure import Throttle
from .report_recorder import ReportRecorder
from .settings import Config, as_setting

#: Most recent bodies whose signatures are reused for an equal body: some 10 MB.
_BODIES = 4096

Signed = tuple[PageSignature, Reading]


class PageSigning:
    """Makes the signatures of a crawl. Create it in the event loop of the crawl.

    Many URLs lead to one page, so a body is not read again if it is equal to one of the last few
    thousand: byte by byte, and in everything that its encoding depends on.

    :ivar pool: the workers; ``pool.stop()`` ends them even while they read pages.
    :ivar reused: how many signatures of equal bodies were reused.
    """

    def __init__(
        self, config: Config, secret: bytes, throttle: Throttle, recorder: ReportRecorder | None
    ) -> None:
        self._page_limits = config.page_limits
        self.pool = WorkerPool(
            sign_and_read(keep_text=recorder is not None and config.keep_text),
            {"secret": secret, **config.parts, "limits": config.page_limits},
            config.workers,
            config.limits,
            deliver=from_any_thread(call_here),
        )
        # A random seed, so that nobody can craft two pages with one hash.
        self._seed = secrets.randbits(64)
        self._signed = LocalCache[bytes, Future[Signed | Failure]](_BODIES)
        self._throttle = throttle
        self._recorder = recorder
        self.reused = 0

    def start(self) -> None:
        """Start the workers without waiting for them."""
        self.pool.start()
        # Load the public suffix list now: it takes 0.1 s, and signatures that are reused need it.
        with suppress(RuntimeError):  # no more threads can be started
            Thread(target=site_of, args=("https://example.com/",), daemon=True).start()

    async def sign(self, record: Record, *, is_judged: bool = True) -> Signed | Failure:
        """Return the signature of a page and its reading, or the failure to make one.

        :param is_judged: whether a verdict on the page follows, rather than on a copy of it.
        :raises WorkersFailed: when no worker can be started.
        """
        with self._throttle.reading():
            result = await self._sign(record)
        if self._recorder is not None and not isinstance(result, Failure):
            self._recorder.read(record.url, result[1], is_judged=is_judged)
        return result

    async def _sign(self, record: Record) -> Signed | Failure:
        try:
            # A worker would only refuse it.
            self._page_limits.check_body(record.content)
        except LimitExceeded as error:
            return Failure(error.reason, str(error))
        if record.kind == "fragment":
            return await result_of(self.pool.submit(record))
        body = self._body_hash(record)
        if is_new := body not in self._signed:
            self._signed[body] = self.pool.submit(record)
        self._signed.move_to_end(body)
        result: Signed | Failure | None = None
        try:
            result = await result_of(self._signed[body])
        finally:
            if not isinstance(result, tuple):
                self._signed.pop(body, None)
        if isinstance(result, Failure):
            return result
        signature, reading = result
        if is_new:
            self._signed[body] = _without_body(signature, reading)
            return result
        self.reused += 1
        return signature.found_at(record.url), reading

    def _body_hash(self, record: Record) -> bytes:
        content = record.content
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        labels = f"{record.kind}\n{record.content_type}\n{record.encoding}\n{record.quick}".encode()
        return xxhash.xxh3_128_digest(data, self._seed) + xxhash.xxh3_128_digest(labels, self._seed)


def _without_body(signature: PageSignature, reading: Reading) -> Future[Signed | Failure]:
    """Return a result to be reused; the many kept ones must not keep the bodies of pages."""
    kept: Future[Signed | Failure] = Future()
    kept.set_result((signature, reading._replace(body=b"")))
    return kept


def require_parts(config: Config) -> None:
    """Check that tokenizer, IDF table and extractor can be used, here and in worker processes.

    :raises InvalidOption: when one cannot.
    """
    try:
        Signer(secret=bytes(16), **config.parts)
    except InvalidOption as error:
        raise as_setting(error) from None
    for name, part in config.parts.items():
        if config.workers and not _is_portable(part):
            raise as_setting(
                InvalidOption(
                    name,
                    part,
                    "an import path or an object of an importable module, so that worker "
                    "processes can load it too (or set NEARDUP_WORKERS = 0)",
                )
            )


def _is_portable(part: Any) -> bool:
    """Can it be pickled here, and unpickled in a process with another main module?"""
    if getattr(part, "__module__", None) == "__main__":
        return False
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True
