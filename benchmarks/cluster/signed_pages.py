"""Writes made-up pages as the first stage of a run writes those that it has signed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from scrapy_neardup.cluster import Engine, Report, Task
from scrapy_neardup.cluster.folder import WorkFolder
from scrapy_neardup.cluster.shuffle import arrow_file, of_width
from scrapy_neardup.cluster.stages.signing import SIGNED, SIGNED_BATCH, SIGNED_PAGE
from scrapy_neardup.matching.candidates import FIRST_BINS, site_digest, title_digest
from scrapy_neardup.matching.stored_items import OWN_ITEMS
from scrapy_neardup.signatures.signature import SHOWN_SIZE
from scrapy_neardup.stores.codec import ROW
from scrapy_neardup.text.values import CODE, MAX_VALUES

from ..common.packed_pages import HEAD
from .layout import Indexes, Layout
from .made_up_texts import OF_PAGE, OF_SIZE, OF_TEXT, Texts, bits, shares, sites_of

RECIPE = "benchmark"

_VALUE_BYTES = MAX_VALUES * CODE.itemsize
_VALUES = slice(2, 2 + _VALUE_BYTES // 8)
#: In the 17th place of what is shown stands that a page is no list.
_LIST_FLAG = 16
#: Random words of 8 bytes for the text of a page and for what it shows.
_OF_TEXT, _OF_SHOWN = 2, -(-SHOWN_SIZE // 8)
_CHARACTERS = 6
#: What a page shows, as a multiple of its text, and what so large a part of them does: the rule
#: calls the shorter ones of these thin, and asks for the boilerplate of their sites.
_SHOWN, _SHOWN_BY_MANY, _MANY = 1.2, 2.0, 0.15
_WORDS = (
    "about after annual bridge council daily early ferry garden harbour island journal kettle "
    "letter market northern opening parish quarter river school summer timetable under village "
    "winter yearly young museum library station theatre"
).split()


def write_input(path: str, layout: Layout) -> None:
    """Write a file that is cut into as many splits as there are, of one byte each.

    Nothing reads it: the pages of all splits are signed already.
    """
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("{" + "\n" * (layout.n_splits - 1))


def make(folder: WorkFolder, layout: Layout, engine: Engine) -> float:
    """Write the pages of all splits, and return the processor time that it took."""
    tasks = [
        Task(folder, SIGNED, number, write_split, (folder, layout, number))
        for number in range(layout.n_splits)
    ]
    return float(sum(report["core_seconds"] for _, report in engine.run(tasks)))


def write_split(folder: WorkFolder, layout: Layout, number: int) -> Report:
    """Write the pages of a split."""
    indexes = layout.split(number)
    with arrow_file(folder, SIGNED, number, SIGNED_PAGE) as file:
        for columns in columns_of(layout, indexes):
            file.write(columns)
    nothing: Report = {
        name: {} for name in ("undecided", "first_undecided", "bad", "first_bad", "passed_over")
    }
    return {"pages": indexes.size, **nothing}


def columns_of(layout: Layout, indexes: Indexes) -> Iterator[Mapping[str, Any]]:
    """Yield the columns of each batch of pages."""
    for start in range(0, indexes.size, SIGNED_BATCH):
        some = indexes[start : start + SIGNED_BATCH]
        pages = Pages(layout, some)
        keys = b"".join(xxhash.xxh3_128_digest(url.encode()) for url in pages.urls)
        yield {
            "key": of_width(keys, 16),
            "row": of_width(pages.rows().tobytes(), ROW.itemsize),
            "page": pages.packed(),
            "id": list(map(str, some.tolist())),
            "url": [""] * some.size,
        }


class Pages:
    """Made-up pages, many at a time."""

    def __init__(self, layout: Layout, indexes: Indexes) -> None:
        self.texts = Texts(layout, indexes)
        addresses = layout.addresses(indexes)
        sites = sites_of(layout, addresses).tolist()
        self.sites = [f"site{site}.example" for site in sites]
        self.titles = [
            (*words, f"site{site}") for words, site in zip(self._title_words(), sites, strict=True)
        ]
        words = bits(addresses, OF_PAGE, 1)[:, 0] % np.uint64(len(_WORDS))
        self.urls = [
            f"https://{site}/{_WORDS[place]}/{address}/about-the-ferry-to-holm-island.html"
            for site, address, place in zip(
                self.sites, addresses.tolist(), words.tolist(), strict=True
            )
        ]
        self._values = bits(self.texts.numbers, OF_TEXT, _VALUES.stop)[:, _VALUES].tobytes()
        self._heads = self._made(indexes)

    def _title_words(self) -> list[list[str]]:
        random = bits(self.texts.numbers, OF_TEXT, 3)[:, 2:].view(np.uint8)[:, :5] % len(_WORDS)
        numbers = self.texts.numbers.tolist()
        # The last word is the text's own.
        return [
            [*(_WORDS[place] for place in places), f"{number:x}"]
            for places, number in zip(random.tolist(), numbers, strict=True)
        ]

    def _made(self, indexes: Indexes) -> npt.NDArray[np.void]:
        texts = self.texts
        heads = np.zeros(indexes.size, HEAD)
        heads["fingerprint"], heads["sketch"] = texts.fingerprints, texts.sketches
        heads["n_features"] = texts.shingles // 2
        heads["n_text"] = texts.shingles * _CHARACTERS
        is_of_many = shares(bits(texts.numbers, OF_SIZE, 1)[:, 0]) < _MANY
        heads["n_shown"] = heads["n_text"] * np.where(is_of_many, _SHOWN_BY_MANY, _SHOWN)
        heads["n_values"] = np.minimum(texts.shingles // 8, MAX_VALUES)
        heads["is_read"] = 1
        # Copies that are changed have another digest.
        is_same = texts.numbers == 0
        of_text = np.where(is_same, 0, indexes)
        heads["text"] = bits(of_text, OF_PAGE, _OF_TEXT).view(np.uint8)
        shown = bits(indexes, OF_PAGE, _OF_TEXT + _OF_SHOWN)[:, _OF_TEXT:]
        heads["shown"] = shown.view(np.uint8)[:, :SHOWN_SIZE]
        heads["shown"][:, _LIST_FLAG] = 0
        return heads

    def rows(self) -> npt.NDArray[np.void]:
        """As :func:`~scrapy_neardup.stores.codec.row_of` would make each of them."""
        rows = np.zeros(self._heads.size, ROW)
        rows["fingerprint"] = self._heads["fingerprint"]
        rows["first_bins"] = self._heads["sketch"][:, :FIRST_BINS]
        summary = rows["summary"]
        summary["site"] = list(map(site_digest, self.sites))
        summary["title"] = [title_digest((title[:-1], title[-1:])) for title in self.titles]
        for name in ("text", "shown"):
            summary[name] = self._heads[name][:, :4].copy().view("<u4")[:, 0]
        summary["n_features"], summary["items"] = self._heads["n_features"], OWN_ITEMS
        return rows

    def packed(self) -> list[bytes]:
        """As :func:`~scrapy_neardup.stores.codec.packed` would pack each of them."""
        data, size, counts = self._heads.tobytes(), HEAD.itemsize, self._heads["n_values"]
        return [
            data[place * size : place * size + size]
            + self._values[place * _VALUE_BYTES : place * _VALUE_BYTES + count * CODE.itemsize]
            + f'["{url}","{site}",[["{{}}"],["{title[-1]}"]]]'.replace(
                "{}", '","'.join(title[:-1])
            ).encode()
            for place, (count, url, site, title) in enumerate(
                zip(counts.tolist(), self.urls, self.sites, self.titles, strict=True)
            )
        ]
