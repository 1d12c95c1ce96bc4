"""What is to be said of a page by the pages that Redis holds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from ...hashing.simhash_index import Candidates
from ...matching.candidates import find_original
from ...matching.rule import Rule
from ...matching.site_boilerplate import Boilerplates
from ...matching.stored_items import NO_ITEMS, OWN_ITEMS
from ...matching.verdict import Verdict, revisit, revisit_of_links
from ...signatures.signature import PageSignature
from ..codec import unpacked
from .layout import packed_number
from .pages import Look, RedisPages, Stored
from .signature_source import Changed, RedisSignatureSource


class Finding(NamedTuple):
    """A verdict, with what it rests on.

    :ivar blocker: number of a reserved page that has to be waited for; empty where there is none.
    :ivar items: see :attr:`~scrapy_neardup.stores.base.Claim.items`.
    """

    verdict: Verdict
    look: Look
    blocker: bytes = b""
    items: int = OWN_ITEMS


class Lookup:
    """Judges one page.

    :param key: digest of the page's key.
    :param oldest: what was stored before it, in seconds since 1970, has expired.
    :param is_gone: is a run dead? Then its pages are there no more.
    :param judging: held while a site's boilerplate is asked, which only one thread may do.
    """

    def __init__(
        self,
        pages: RedisPages,
        signature: PageSignature,
        rule: Rule,
        key: bytes,
        *,
        boilerplates: Boilerplates,
        oldest: float,
        is_gone: Callable[[bytes], bool],
        judging: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._pages = pages
        self._signature = signature
        self._rule = rule
        self._key = key
        self._boilerplates = boilerplates
        self._oldest = oldest
        self._is_gone = is_gone
        self._judging = judging

    def finding(self) -> Finding:
        """Look, and judge.

        :raises Changed: when what was found is there no more.
        """
        look = self._pages.look(self._signature.fingerprint, self._rule.max_distance, self._key)
        if look.reserved:
            before = self._page(self._stored(look.reserved))
            verdict = revisit(self._signature, before or self._signature)
            return Finding(verdict, look, look.reserved)
        if look.known:
            stored = self._stored(look.known)
            if (before := self._page(stored)) is not None:
                return self._revisited(look, stored, before)
        with self._judging():
            return self._judged(look)

    def _revisited(self, look: Look, stored: Stored, before: PageSignature) -> Finding:
        """The verdict on a page whose address is known."""
        blocker = b"" if self._pages.is_settled(stored.holder) else look.known
        if blocker or stored.items != NO_ITEMS:
            return Finding(revisit(self._signature, before), look, blocker, stored.items)
        with self._judging():
            finding = self._judged(look)
        if finding.blocker or finding.verdict.is_duplicate:
            return finding
        verdict = revisit_of_links(finding.verdict, self._signature, before)
        return finding._replace(verdict=verdict)

    def _stored(self, number: bytes) -> Stored:
        stored = self._pages.stored(number)
        if stored is None or (stored.holder and self._is_gone(stored.holder.run)):
            raise Changed
        return stored

    def _page(self, stored: Stored) -> PageSignature | None:
        """The page of this key; ``None`` when it has expired, or only its digest is the same."""
        page = unpacked(stored.page, self._signature.recipe)
        is_it = page.key == self._signature.key and stored.stored_at >= self._oldest
        return page if is_it else None

    def _judged(self, look: Look) -> Finding:
        """The verdict by what is settled; of what is not, what to wait for."""
        source = RedisSignatureSource(self._pages.link, self._pages.part, self._signature.recipe)
        near, holders = source.load(look.near)
        if any(self._is_gone(run) for run in {holder.run for holder in holders if holder}):
            raise Changed
        alive = source.summaries(near.keys)["stored_at"] >= self._oldest
        is_settled = np.array([self._pages.is_settled(holder) for holder in holders], bool)
        found = find_original(
            self._signature,
            Candidates(near.keys[alive], near.distances[alive]),
            source,
            self._rule,
            self._boilerplates,
            is_open=~is_settled[alive],
        )
        blocker = b"" if found.blocker is None else packed_number(found.blocker)
        return Finding(found.verdict, look, blocker, found.items)
