"""The HTML file of the report, which contains its data, script and style and loads nothing.

All values from crawled pages are in the data, as JSON in which no text can end the element that
contains it; the script inserts them as text. In addition, a policy allows only the one script and
the one style, identified by their digests (Content Security Policy Level 3, W3C). Decisions are in
columns, so that a browser reads a hundred thousand of them at once.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from .._util.urls import site_of
from .decisions import Decision

#: How many pairs, and pages without a pair, a browser shows without delay.
MOST_PAIRS = 200_000
MOST_OTHERS = 100_000
#: ``<`` could end the element, ``&`` could start a reference if the page is parsed as XML, and
#: surrogates cannot be encoded in UTF-8.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")

#: Files of the script; each may use what the ones before it define when it is read.
_SCRIPT_PARTS = (
    *("base", "judgements", "links", "summary", "charts", "thresholds", "clusters"),
    *("list", "downloads", "pair", "keys", "start"),
)


@dataclass(frozen=True)
class Origin:
    """The source of a report's decisions.

    :ivar kind: ``"crawl"``, ``"scan"`` or ``"store"``.
    :ivar name: name of the spider, the file or the store.
    :ivar made: time of the report, in seconds since 1970.
    :ivar action: what a crawl did with duplicates: ``"drop"``, ``"tag"`` or ``"report"``.
    :ivar max_distance: the threshold in force; ``None``, like ``min_similarity``, if a method
        replaces the rule.
    :ivar by_item: whether items were judged by a field, instead of pages.
    :ivar drops_unchanged: whether the crawl dropped stored pages that have not changed.
    """

    kind: str
    name: str
    made: int
    action: str = "drop"
    max_distance: int | None = None
    min_similarity: float | None = None
    by_item: bool = False
    drops_unchanged: bool = False


class Columns:
    """Decisions in one column for each field, with URLs in a list of their own.

    :param most_pairs: how many pairs are listed at most; further ones are only counted.
    :param most_others: how many pages without a pair are listed at most.
    """

    def __init__(self, most_pairs: int = MOST_PAIRS, most_others: int = MOST_OTHERS) -> None:
        self._most = {True: most_pairs, False: most_others}
        self._addresses: dict[str, int] = {}
        self._paired: dict[str, None] = {}
        self._words: dict[str, dict[str, int]] = {
            name: {} for name in ("verdict", "reason", "objection", "site")
        }
        self._titles: dict[int, str] = {}
        self._better: dict[int, str] = {}
        self._ids: dict[int, str | int] = {}
        self._columns: dict[str, list[Any]] = {
            name: [] for name in ("page", "original", "verdict", "reason", "objection", *_NUMBERS)
        }
        self._totals: Counter[tuple[str, str]] = Counter()
        self._bytes: Counter[tuple[str, str]] = Counter()
        self._listed: Counter[bool] = Counter()

    def __len__(self) -> int:
        """Return the number of decisions that were added."""
        return self._totals.total()

    @property
    def paired(self) -> list[str]:
        """URLs of the listed pages that are part of a pair."""
        return list(self._paired)

    def add(self, decision: Decision) -> None:
        """Count a decision, and list it unless the list is full."""
        group = decision.verdict, decision.reason
        self._totals[group] += 1
        self._bytes[group] += decision.bytes or 0
        is_pair = decision.duplicate_of is not None
        if self._listed[is_pair] >= self._most[is_pair]:
            return
        self._listed[is_pair] += 1
        self._list(decision)

    def describe(self, url: str, title: str) -> None:
        """Set the title of a page; ignored if the page is not listed."""
        if title and url in self._addresses:
            self._titles[self._addresses[url]] = title

    def set_better_url(self, url: str, better: str) -> None:
        """Set the URL that an original had better be linked by; ignored if it is not listed."""
        if url in self._addresses:
            self._better[self._addresses[url]] = better

    def packed(
        self, origin: Origin, text_of: Callable[[str], bytes | None] | None, dropped_texts: int = 0
    ) -> dict[str, Any]:
        """Return the data of the report, for JSON.

        :param text_of: returns the compressed text of a URL; ``None`` when no texts were kept.
        :param dropped_texts: how many texts were dropped for lack of space.
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
            "better": self._better,
            "ids": self._ids,
            "columns": self._columns,
            "texts": None if text_of is None else self._texts(text_of),
            "texts_dropped": dropped_texts,
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
        """Return the texts of the pages that are part of a pair, as base64."""
        texts = ((url, text_of(url)) for url in self._paired)
        return {
            self._addresses[url]: base64.b64encode(text).decode() for url, text in texts if text
        }


_NUMBERS = ("distance", "similarity", "bytes", "time")


def render_report(data: dict[str, Any]) -> str:
    """Return the HTML of the data that ``Columns.packed()`` returned, without surrogates."""
    script, style = report_script(), _asset("report.css")
    return _TEMPLATES.get_template("report.html").render(
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
        words=safe_json(json.loads(_asset("words.json"))),
        data=safe_json(data),
    )


def report_script() -> str:
    """Return the script of the page: its parts in one scope, in the order of their use."""
    parts = "\n".join(_asset(f"script/{name}.js") for name in _SCRIPT_PARTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def safe_json(value: Any) -> str:
    """Return JSON that is safe anywhere in HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


_TEMPLATES = Environment(
    loader=PackageLoader("scrapy_neardup.report", "assets"),
    autoescape=True,
    undefined=StrictUndefined,
    keep_trailing_newline=True,
)
