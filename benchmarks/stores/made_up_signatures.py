"""Generates signatures: random fingerprints and sketches, sites of 50 pages, six-word titles."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from scrapy_neardup.hashing.minhash import SKETCH_BINS, Sketch
from scrapy_neardup.signatures.signature import BODY_DIGEST_SIZE, PageSignature
from scrapy_neardup.text.values import CODE, MAX_VALUES

SITE_PAGES = 50


class Maker:
    """Makes pages up, from a seed."""

    def __init__(self, seed: int) -> None:
        self._bits = random.Random(seed)
        self._bytes = np.random.default_rng(seed)
        self._number = 0
        self.fingerprint = self._bits.getrandbits(64)
        self.sketch = self.any_sketch()
        self._values = self._bytes.bytes(MAX_VALUES * CODE.itemsize)

    def page(self, fingerprint: int, sketch: Sketch, site: str = "", **parts: Any) -> PageSignature:
        """A page; what is not given is like no other's."""
        number = self._number = self._number + 1
        site = site or f"site{number // SITE_PAGES}.example"
        url = f"https://{site}/articles/{number}/about-the-ferry-to-holm-island.html"
        given: dict[str, Any] = {
            "title": (("about", "the", "ferry", f"{number:x}"), ("daily", "news")),
            "n_features": 300,
            "values": self.values(),
            "text_digest": self._bytes.bytes(16),
            "body_digest": self._bytes.bytes(BODY_DIGEST_SIZE),
            "n_text": 3000,
            "n_shown": 4000,
            # In the 17th place stands that it is no list.
            "shown_digest": self._bytes.bytes(16) + b"\0" + self._bytes.bytes(17),
            **parts,
        }
        return PageSignature(
            url=url,
            key=f"{url}?",
            site=site,
            fingerprint=fingerprint,
            sketch=sketch.tobytes(),
            recipe="benchmark",
            **given,
        )

    def any_fingerprint(self) -> int:
        return self._bits.getrandbits(64)

    def any_sketch(self) -> Sketch:
        return self._bytes.integers(1, 256, SKETCH_BINS, np.uint8)

    def values(self) -> bytes:
        """The flood's values, one of which is another."""
        size = CODE.itemsize
        place = self._bits.randrange(MAX_VALUES) * size
        return self._values[:place] + self._bytes.bytes(size) + self._values[place + size :]

    def near(self, bits: int, *, within: int = 64) -> int:
        """The flood's fingerprint with so many bits flipped, among its lowest ``within``."""
        return self.fingerprint ^ sum(1 << b for b in self._bits.sample(range(within), bits))

    def alike(self) -> Sketch:
        """The flood's sketch with a twentieth of it changed."""
        changed = self._bytes.random(SKETCH_BINS) < 1 / 20
        return np.where(changed, self.any_sketch(), self.sketch)


def ordinary(maker: Maker) -> PageSignature:
    return maker.page(maker.any_fingerprint(), maker.any_sketch())
