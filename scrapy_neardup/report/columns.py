"""Decisions packed as columns: a browser reads a hundred thousand of them in one go."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from .._util.urls import site_of
from .decisions import Decision

#: What a browser shows without delay.
MOST_PAIRS = 200_000
MOST_OTHERS = 100_000


@dataclass(frozen=True)
class Origin:
    """Where decisions come from.

    :ivar kind: ``"crawl"``, ``"scan"`` or ``"store"``.
    :ivar name: of the spider, the file or the store.
    :ivar made: when the report was made, in seconds since 1970.
    :ivar action: what a crawl did with duplicates: ``"drop"``, ``"tag"`` or ``"report"``.
    :ivar max_distance: threshold that held, where that is known.
    :ivar min_similarity: likewise.
    :ivar by_item: were items judged by a field instead of pages?
    """

    kind: str
    name: str
    made: int
    action: str = "drop"
    max_distance: int | None = None
    min_similarity: float | None = None
    by_item: bool = False


class Columns:
    """Decisions, each value in the column of its name; addresses stand in one list of their own.

    :param most_pairs: how many pairs are listed at most; what is beyond is counted.
    :param most_others: the same of pages without a pair.
    """

    def __init__(self, most_pairs: int = MOST_PAIRS, most_others: int = MOST_OTHERS) -> None:
        self._most = {True: most_pairs, False: most_others}
        self._addresses: dict[str, int] = {}
        self._paired: dict[str, None] = {}
        self._words: dict[str, dict[str, int]] = {
            name: {} for name in ("verdict", "reason", "objection", "site")
        }
        self._titles: dict[int, str] = {}
        self._ids: dict[int, str | int] = {}
        self._columns: dict[str, list[Any]] = {
            name: [] for name in ("page", "original", "verdict", "reason", "objection", *_NUMBERS)
        }
        self._totals: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[tuple[str, str]] = Counter()
        self._listed: Counter[bool] = Counter()

    def __len__(self) -> int:
        """How many decisions were added."""
        return self._totals.total()

    @property
    def paired(self) -> list[str]:
        """Addresses of the listed pages that are part of a pair."""
        return list(self._paired)

    def add(self, decision: Decision) -> None:
        """Count a decision, and list it while there is room."""
        group = decision.verdict, decision.reason
        self._totals[group] += 1
        self._bytes[group] += decision.bytes or 0
        is_pair = decision.duplicate_of is not None
        if self._listed[is_pair] >= self._most[is_pair]:
            return
        self._listed[is_pair] += 1
        self._list(decision)

    def describe(self, url: str, title: str) -> None:
        """Say the title of a page that is listed; of others nothing is kept."""
        if title and url in self._addresses:
            self._titles[self._addresses[url]] = title

    def packed(
        self, origin: Origin, text_of: Callable[[str], bytes | None] | None, let_go: int = 0
    ) -> dict[str, Any]:
        """All of it, for JSON.

        :param text_of: gives the packed text of an address; ``None`` where none were kept.
        :param let_go: how many texts there was no room for.
        """
        addresses = list(self._addresses)
        sites = [self._number("site", site_of(url)) for url in addresses]
        return {
            "origin": asdict(origin),
            "totals": [
                [*group, number, self._bytes[group]] for group, number in self._totals.items()
            ],
            "words": {name: list(words) for name, words in self._words.items()},
            "addresses": addresses,
            "sites": sites,
            "titles": self._titles,
            "ids": self._ids,
            "columns": self._columns,
            "texts": None if text_of is None else self._texts(text_of),
            "texts_let_go": let_go,
        }

    def _list(self, decision: Decision) -> None:
        page = self._address(decision.url, decision.id)
        original = None
        if decision.other is not None:
            original = self._address(decision.other, decision.other_id)
            self._paired.update({decision.url: None, decision.other: None})
        if decision.title:
            self._titles[page] = decision.title
        row = {
            "page": page,
            "original": original,
            "verdict": self._number("verdict", decision.verdict),
            "reason": self._number("reason", decision.reason),
            "objection": self._number("objection", decision.objection or ""),
            **{name: getattr(decision, name) for name in _NUMBERS},
        }
        for name, value in row.items():
            self._columns[name].append(value)

    def _address(self, url: str, id_: str | int | None) -> int:
        number = self._addresses.setdefault(url, len(self._addresses))
        if id_ is not None and id_ != url:
            self._ids[number] = id_
        return number

    def _number(self, kind: str, word: str) -> int:
        words = self._words[kind]
        return words.setdefault(word, len(words))

    def _texts(self, text_of: Callable[[str], bytes | None]) -> dict[int, str]:
        """Texts of the pages that are part of a pair, as base64."""
        texts = ((url, text_of(url)) for url in self._paired)
        return {
            self._addresses[url]: base64.b64encode(text).decode() for url, text in texts if text
        }


_NUMBERS = ("distance", "similarity", "bytes", "time")
