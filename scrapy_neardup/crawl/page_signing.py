"""Signs the pages of a crawl: in worker processes, and once for equal bodies."""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import Any, NamedTuple

import xxhash
from scrapy.utils.datatypes import LocalCache

from .._util.encoding import utf8
from .._util.urls import site_of
from ..exceptions import InvalidOption, LimitExceeded
from ..html.links.addresses import folder_of
from ..signatures.signature import PageSignature
from ..signatures.signer import Signer
from ..sources.record import Record
from ..stores.codec import key_seed
from ..text.normalization import folded
from ..workers import (
    Failure,
    Reading,
    SignedPage,
    WorkerPool,
    call_here,
    prepare_workers,
    sign_for_crawl,
)
from .async_bridge import from_any_thread, result_of
from .backpressure import Throttle
from .report_recorder import ReportRecorder
from .settings import Config, as_setting

#: Most recent bodies whose signatures are reused for an equal body: some 10 MB.
_SIGNED = 4096
#: Bodies that are being read, or were read ahead of a page that has yet to be judged.
_READ = 512
#: Pages are read ahead while no more than so many, and this share of all, were read in vain.
_ALLOWED_IN_VAIN = 10
_MAX_VAIN_SHARE = 0.2


class Signed(NamedTuple):
    """A page with its signature.

    :ivar body: see :class:`~scrapy_neardup.workers.SignedPage`; empty if it was read before.
    :ivar is_known: whether the signature is that of an earlier version with an equal body, and the
        page was not read.
    """

    signature: PageSignature
    reading: Reading
    body: bytes = b""
    is_known: bool = False


class _Body:
    """A body that is read, or was read ahead.

    :ivar is_used: whether a page with it is judged; until then it was read ahead.
    """

    __slots__ = ("is_used", "outcome")

    def __init__(self, outcome: Future[SignedPage | Failure]) -> None:
        self.outcome = outcome
        self.is_used = False


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
        self._has_workers = config.workers > 0
        self.pool = WorkerPool(
            sign_for_crawl(
                keep_text=recorder is not None and config.keep_text,
                fingerprint=config.containment is not None,
            ),
            {"secret": secret, **config.parts, "limits": config.page_limits},
            config.workers,
            config.limits,
            deliver=from_any_thread(call_here),
        )
        # Nobody knows it, so nobody can craft two pages with one digest.
        self._seed = key_seed(secret)
        # A report shows the texts of unchanged pages too, so they are read again.
        self._rereads_unchanged = recorder is not None and config.keep_text
        self._has_fingerprints = config.containment is not None
        self._compares_titles = config.policy.soft_404 != "off"
        self._read = LocalCache[bytes, _Body](_READ)
        #: Results without bodies, which would take too much memory.
        self._signed = LocalCache[bytes, bytes](_SIGNED)
        self._n_ahead = self._n_in_vain = 0
        self._throttle = throttle
        self._recorder = recorder
        self.reused = 0

    def start(self) -> None:
        """Start the workers without waiting for them, before the first page is submitted."""
        self.pool.start()

    async def read_ahead(self, record: Record) -> None:
        """Sign a page that :meth:`sign` will be asked for once its callback yields something.

        A callback's output is processed much faster when the verdict needs no wait. So the page
        waits here, unless many pages turned out to yield nothing.
        """
        if not self.reads_ahead or self.refusal(record):
            return
        key = self._body_key(record)
        if key in self._signed:
            return
        if key not in self._read:
            self._note_oldest()
            self._read[key] = _Body(self.pool.submit(record))
            self._n_ahead += 1
        with self._throttle.reading(), suppress(Exception):
            # What went wrong is said when the page is judged.
            await result_of(self._read[key].outcome)

    def begin(self, record: Record) -> None:
        """Start to read a page for which :meth:`sign` is about to be called.

        Pages that are read at the same time are signed together, which is faster.
        """
        key = self._body_key(record)
        if self._has_workers and not (key in self._signed or key in self._read):
            self._read[key] = _Body(self.pool.submit(record))

    def refusal(self, record: Record) -> Failure | None:
        """Return the failure of a page that a worker would only refuse."""
        try:
            self._page_limits.check_body(record.content)
        except LimitExceeded as error:
            return Failure(error.reason, str(error))
        return None

    @property
    def needs_more(self) -> bool:
        """Whether more is read of pages than signatures tell.

        That is for a report, for containment, and for soft 404s, whose titles are compared as they
        are written.
        """
        return self._recorder is not None or self._has_fingerprints or self._compares_titles

    @property
    def reads_ahead(self) -> bool:
        """Whether pages are read before their callbacks have run."""
        is_worthwhile = self._n_in_vain <= _ALLOWED_IN_VAIN + _MAX_VAIN_SHARE * self._n_ahead
        return self._has_workers and is_worthwhile

    def forget(self, record: Record) -> None:
        """Note that a page that may have been read ahead is not judged."""
        if not self._n_ahead:
            return
        key = self._body_key(record)
        body = self._read.get(key)
        if body is not None and not body.is_used:
            self._n_in_vain += 1
            del self._read[key]

    def _note_oldest(self) -> None:
        """Note that the body that gives way to the next one was read in vain.

        A page that a callback downloads for itself is never judged, and nobody says so.
        """
        if len(self._read) == _READ and not next(iter(self._read.values())).is_used:
            self._n_in_vain += 1

    def pass_unread(self) -> None:
        """Note that a page need not be read."""
        self._throttle.settle()

    async def sign(self, record: Record, *, is_judged: bool = True) -> Signed | Failure:
        """Return the signature of a page and its reading, or the failure to make one.

        :param is_judged: whether a verdict on the page follows, rather than on a copy of it.
        :raises WorkersFailed: when no worker can be started.
        """
        with self._throttle.reading():
            result = await self._sign(record)
        if self._recorder is not None and not isinstance(result, Failure):
            self._recorder.read(record.url, result.reading, is_judged=is_judged)
        return result

    async def _sign(self, record: Record) -> Signed | Failure:
        if refusal := self.refusal(record):
            return refusal
        if record.kind == "fragment":
            result = await result_of(self.pool.submit(record))
            return result if isinstance(result, Failure) else Signed(*result.unpacked()[:2])
        key = self._body_key(record)
        if (packed := self._signed.get(key)) is not None:
            self._signed.move_to_end(key)
            return await self._signed_at(SignedPage(packed), record, is_reused=True)
        if key not in self._read:
            self._read[key] = _Body(self.pool.submit(record))
        body = self._read[key]
        is_reused, body.is_used = body.is_used, True
        try:
            result = await result_of(body.outcome)
        finally:
            if self._read.get(key) is body:
                del self._read[key]
        if isinstance(result, Failure):
            return result
        if not is_reused:
            self._signed[key] = result.packed
        return await self._signed_at(result, record, is_reused=is_reused)

    async def _signed_at(
        self, page: SignedPage, record: Record, *, is_reused: bool
    ) -> Signed | Failure:
        """Return the signature of a page from that of an equal body, if it holds for its URL too.

        :param is_reused: whether another page had that signature before.
        """
        signature, reading, depends_on_folder = page.unpacked()
        digest = b"" if record.quick and self._rereads_unchanged else self.body_digest(record)
        signature = replace(signature, body_digest=digest)
        if depends_on_folder and folder_of(signature.url) != folder_of(record.url):
            # The body may also have been read ahead, for a page whose callback takes longer.
            result = await result_of(self.pool.submit(record))
            if isinstance(result, Failure):
                return result
            signature, reading, _ = result.unpacked()
            return Signed(replace(signature, body_digest=digest), reading, result.body)
        self.reused += is_reused
        return Signed(signature.found_at(record.url), reading, b"" if is_reused else page.body)

    def _body_key(self, record: Record) -> bytes:
        """Return what equal bodies that are read in the same way have in common."""
        return self.body_digest(record) + bytes([record.quick, record.needs_facts])

    def body_digest(self, record: Record) -> bytes:
        """Return the ``body_digest`` of a page's signature, which its encoding is part of."""
        labels = f"{record.kind}\n{record.content_type}\n{record.encoding}\n{record.title}"
        both = xxhash.xxh3_128_digest(utf8(record.content), self._seed) + utf8(labels)
        return xxhash.xxh3_128_digest(both, self._seed)


def load_ahead(config: Config) -> None:
    """Begin to load what takes long and is needed once the spider is opened.

    The objects of the public suffix list are loaded by then, and excluded from garbage collection.
    """
    if config.workers and not config.store_settings.outlives_crawl:
        prepare_workers()
    with suppress(RuntimeError):  # no more threads can be started
        Thread(target=load_tables, daemon=True).start()


def load_tables() -> None:
    """Load the tables of domains and of characters, each of which holds an event loop for long."""
    site_of("https://example.com/")
    folded("é")


def require_parts(config: Config) -> None:
    """Check that tokenizer, IDF table and extractor can be used, here and in worker processes.

    :raises InvalidOption: when one cannot.
    """
    try:
        Signer(secret=bytes(16), **config.parts)
    except InvalidOption as error:
        raise as_setting(error) from None
    if config.is_lazy and config.containment is not None:
        wanted = "'full' with NEARDUP_CONTAINMENT, which reads all of each text"
        raise as_setting(InvalidOption("extraction", "lazy", wanted))
    _require_store_of_values(config)
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


def _require_store_of_values(config: Config) -> None:
    """Check, before it is created, that the store can hold values where a method judges."""
    store = config.store_settings.store
    if "method" in config.parts and isinstance(store, str) and store != "memory":
        wanted = (
            f'used with NEARDUP_STORE = "memory", with a JOBDIR too: {store.partition(":")[0]} '
            "cannot hold the values of a method"
        )
        raise as_setting(InvalidOption("method", config.parts["method"], wanted))


def _is_portable(part: Any) -> bool:
    """Return whether a part can be pickled, and unpickled where the main module is another one."""
    if getattr(part, "__module__", None) == "__main__":
        return False
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True
