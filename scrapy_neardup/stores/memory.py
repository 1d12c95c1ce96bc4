"""Signatures in this process, for as long as it lives."""

from __future__ import annotations

import secrets
from itertools import count

from ..frame import Frames
from ..index import SimhashIndex
from ..judgement import Match, Mismatch, Rule, Verdict, learn
from ..page import PageSignature


class MemoryStore:
    """Keeps whole signatures in a dictionary and their fingerprints in an index.

    :param secret: key of the sketches, 16 to 64 bytes; drawn at random unless given.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self.secret = secrets.token_bytes(32) if secret is None else secret
        self.frames = Frames()
        self._index = SimhashIndex()
        self._pages: dict[int, PageSignature] = {}
        self._number_of: dict[str, int] = {}
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._pages)

    def claim(self, signature: PageSignature, rule: Rule) -> Verdict:
        """See :meth:`Store.claim`. Plain code without a pause: nothing can come between."""
        learn(self.frames, signature)
        known = self._number_of.get(signature.key)
        if known is not None:
            return self._revisit(known, signature)
        best, objections = self._best_match(signature, rule)
        if best is not None:
            original, match = best
            return Verdict(
                "duplicate",
                signature.url,
                match.reason,
                original.url,
                match.distance,
                match.similarity,
            )
        self._remember(next(self._numbers), signature)
        if signature.n_features < rule.min_features:
            return Verdict("undecided", signature.url, "few_features")
        if "thin_text" in objections:
            return Verdict("undecided", signature.url, "thin_text")
        return Verdict("new", signature.url, "no_match")

    def _best_match(
        self, signature: PageSignature, rule: Rule
    ) -> tuple[tuple[PageSignature, Match] | None, set[str]]:
        """The most similar page that the rule accepts, of equals the nearest and oldest.

        Also the reasons for which it refused others.
        """
        best: tuple[PageSignature, Match] | None = None
        objections = set()
        for candidate in self._index.near(signature.fingerprint, rule.max_distance):
            page = self._pages[candidate.key]
            outcome = rule.compare(signature, page, self.frames)
            if isinstance(outcome, Mismatch):
                objections.add(outcome.reason)
            elif best is None or outcome.similarity > best[1].similarity:
                best = page, outcome
        return best, objections

    def _revisit(self, number: int, signature: PageSignature) -> Verdict:
        before = self._pages[number]
        changed = before.text_digest != signature.text_digest
        if changed:
            self._index.remove(before.fingerprint, number)
            self._remember(number, signature)
        return Verdict("revisit", signature.url, "changed" if changed else "unchanged")

    def _remember(self, number: int, signature: PageSignature) -> None:
        self._pages[number] = signature
        self._number_of[signature.key] = number
        self._index.add(signature.fingerprint, number)
