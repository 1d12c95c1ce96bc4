"""Reads a Redis that crawls may be writing: takes no lease, writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from ...exceptions import StoreError
from ..base import Store
from ..better_urls import BetterUrl
from ..codec import unpacked
from ..reading import Figures, Namespace, StoredPage
from .address import RedisAddress
from .connection import RedisConnection
from .hints import RedisHints
from .layout import KeySpace
from .namespace import names_in
from .pages import PageReader, holder_of, parsed_rows

#: Of some hundred bytes each; pages are read fewer at a time.
_ROWS_AT_ONCE = 2048
_META = "{neardup:*}:meta"


class RedisReader:
    """See :class:`~scrapy_neardup.stores.reading.StoreReader`.

    Answers are about the moment at which each page is read.

    :raises InvalidOption: when the address is none.
    :raises StoreError: when the server cannot be asked.
    """

    is_remote = True
    n_bytes = None

    def __init__(self, address: str) -> None:
        self._connection = RedisConnection(RedisAddress.parse(address))
        self.name = self._connection.name
        try:
            self._meta = dict(sorted(self._read_meta()))
        except BaseException:
            self.close()
            raise

    @property
    def format(self) -> int:
        """The highest version among its namespaces."""
        return max((int(meta[b"format"]) for meta in self._meta.values()), default=0)

    def namespaces(self) -> list[Namespace]:
        return [
            Namespace(
                name,
                meta[b"secret"],
                meta.get(b"recipe", b"").decode(),
                json.loads(meta.get(b"parts:" + meta.get(b"recipe", b""), b"{}")),
            )
            for name, meta in self._meta.items()
        ]

    def figures(self, namespace: str) -> Figures:
        times, unconfirmed = [], 0
        for part in self._parts(namespace, None):
            for _, rows in PageReader(self._connection, part).committed(_ROWS_AT_ONCE):
                times.append(parsed_rows(rows)["summary"]["stored_at"])
                unconfirmed += sum(holder_of(row) is not None for row in rows)
        return Figures.of(times, unconfirmed, *self._hints(namespace).counts())

    def pages(self, namespace: str, site: str | None = None) -> Iterator[StoredPage]:
        recipe = self._meta[namespace].get(b"recipe", b"").decode()
        for part in self._parts(namespace, site):
            for stored in PageReader(self._connection, part).all():
                signature = unpacked(stored.page, recipe)
                if site is None or signature.site == site:
                    is_confirmed = stored.holder is None
                    yield StoredPage(signature, stored.stored_at, stored.items, is_confirmed)

    def rules(self, namespace: str) -> dict[str, bytes]:
        return self._hints(namespace).rules()

    def visits(self, namespace: str) -> npt.NDArray[np.void]:
        return self._hints(namespace).visits()

    def better_urls(self, namespace: str) -> dict[str, BetterUrl]:
        return self._hints(namespace).better_urls()

    def overlay(self, namespace: str, ttl: float | None = None) -> Store:
        raise StoreError(
            self.name,
            "to compare with a Redis adds the pages to it: give --add; or export it, import that "
            "into a file and compare with the file (but not with pages that were read quickly)",
        )

    def close(self) -> None:
        self._connection.close()

    def _read_meta(self) -> Iterator[tuple[str, Mapping[bytes, bytes]]]:
        keys = self._connection.call(lambda client: list(client.scan_iter(_META, count=1000)))
        for key in keys:
            quoted = key.decode().removeprefix("{neardup:").removesuffix("}:meta")
            meta = self._connection.command("HGETALL", key)
            if b"secret" in meta:
                yield unquote(quoted, errors="surrogatepass"), meta

    def _hints(self, namespace: str) -> RedisHints:
        return RedisHints(self._connection, KeySpace(namespace))

    def _parts(self, namespace: str, site: str | None) -> list[KeySpace]:
        whole = KeySpace(namespace)
        if self._meta[namespace].get(b"layout") != b"site":
            return [whole]
        sites = names_in(self._connection, whole.site_names) if site is None else [site]
        return [KeySpace(namespace, name) for name in sites]
