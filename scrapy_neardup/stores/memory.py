"""Signatures in this process, for as long as it lives."""

from __future__ import annotations

import secrets
from dataclasses import replace
from itertools import count

import numpy as np
import numpy.typing as npt

from ..exceptions import SignatureMismatch
from ..frame import Frames
from ..index import SimhashIndex
from ..judgement import Rule, Verdict, learn
from ..page import PageSignature
from ..search import FIRST_BINS, TRAITS, Traits, judge, traits_of
from ..sketch import SKETCH_BINS
from .rows import Rows


class MemoryStore:
    """Keeps signatures in a dictionary, their fingerprints in an index.

    What is asked of many pages at once, their sketches above all, stands in arrays.

    :param secret: key of the sketches, 16 to 64 bytes; drawn at random unless given.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self.secret = secrets.token_bytes(32) if secret is None else secret
        self.frames = Frames()
        self._index = SimhashIndex()
        self._pages = _Shelf()
        self._number_of: dict[str, int] = {}
        self._numbers = count()
        self._recipe = ""

    def __len__(self) -> int:
        return len(self._number_of)

    def claim(self, signature: PageSignature, rule: Rule) -> Verdict:
        """See :meth:`Store.claim`. Plain code without a pause: nothing can come between."""
        self._require_one_recipe(signature)
        learn(self.frames, signature)
        known = self._number_of.get(signature.key)
        if known is not None:
            return self._revisit(known, signature)
        candidates = self._index.near(signature.fingerprint, rule.max_distance)
        verdict = judge(signature, candidates, self._pages, rule, self.frames)
        if not verdict.is_duplicate:
            self._remember(next(self._numbers), signature)
        return verdict

    def _require_one_recipe(self, signature: PageSignature) -> None:
        """What cannot be compared would be new for ever."""
        if signature.recipe != (self._recipe or signature.recipe):
            raise SignatureMismatch(self._recipe, signature.recipe)
        self._recipe = signature.recipe

    def _revisit(self, number: int, signature: PageSignature) -> Verdict:
        before = self._pages.page(number)
        changed = before.text_digest != signature.text_digest
        if changed:
            self._index.remove(before.fingerprint, number)
            self._remember(number, signature)
        return Verdict("revisit", signature.url, "changed" if changed else "unchanged")

    def _remember(self, number: int, signature: PageSignature) -> None:
        self._pages.put(number, signature)
        self._number_of[signature.key] = number
        self._index.add(signature.fingerprint, number)


class _Shelf:
    """The pages by their numbers; see :class:`~scrapy_neardup.search.Shelf`."""

    def __init__(self) -> None:
        self._pages: dict[int, PageSignature] = {}
        self._traits = Rows(TRAITS)
        # The first bins by themselves: to look at them in many pages moves little memory.
        self._firsts = Rows(np.uint8, FIRST_BINS)
        self._rests = Rows(np.uint8, SKETCH_BINS - FIRST_BINS)

    def put(self, number: int, page: PageSignature) -> None:
        self._pages[number] = replace(page, sketch=b"")
        self._traits[number] = traits_of(page)
        self._firsts[number] = page.sketch_values[:FIRST_BINS]
        self._rests[number] = page.sketch_values[FIRST_BINS:]

    def page(self, number: int) -> PageSignature:
        sketch = self._firsts[number].tobytes() + self._rests[number].tobytes()
        return replace(self._pages[number], sketch=sketch)

    def traits(self, numbers: npt.NDArray[np.intp]) -> Traits:
        return self._traits.take(numbers)

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        return self._firsts.take(numbers)

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        return np.concatenate((self._firsts.take(numbers), self._rests.take(numbers)), axis=1)
