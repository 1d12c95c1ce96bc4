"""Extracts code blocks from the documentation, and creates a folder in which to run them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores.sqlite.store import SqliteStore
from scrapy_neardup.url_rules.rule import Evidence, UrlRule
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, page
from tests.unit.sources.test_readers import warc

ROOT = Path(__file__).parents[2]

DOCUMENTS = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "example_project/README.md")
    ),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]

#: A fence, with the comment that stands above it, which no reader sees.
_BLOCK = re.compile(r"(?:^<!-- (.*?) -->\n+)?^```(\S*)\n(.*?)^```$", re.M | re.S)
_COMMAND = re.compile(r"(scrapy|pip|python|make|bash|pre-commit|\.) ")
_FILE = re.compile(r"# (\w+\.py)\n")


@dataclass(frozen=True)
class Block:
    """A block of code or of output.

    :ivar note: what the comment above it says of how it is run; empty where there is none.
    :ivar language: as the fence names it; empty where it does not.
    :ivar text: its lines.
    """

    note: str
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that a block of Python belongs into."""
        match = _FILE.match(self.text)
        return match[1] if match and self.language == "python" else None

    @property
    def is_commands(self) -> bool:
        """Whether the block has commands; without a language, every line must look like one."""
        lines = [line for line in self.text.splitlines() if line]
        return self.language == "sh" or (
            self.language == "" and all(map(_COMMAND.match, lines)) and bool(lines)
        )

    @property
    def is_code(self) -> bool:
        return self.is_commands or self.language == "python"


def blocks(path: Path) -> Iterator[Block]:
    """The blocks of a document, but for Sphinx's directives."""
    for note, language, text in _BLOCK.findall(path.read_text("utf-8")):
        if not language.startswith("{"):
            yield Block(note, language, text)


#: Pages by their ids; the names of documents, so that what they show can be run.
PAGES = {
    "d00002": ("https://example.org/a", FERRY),
    "d02440": ("https://copies.example/print/a", FERRY.replace("eight", "nine")),
    "17": ("https://example.org/b", MUSEUM),
    "23": ("https://copies.example/b", MUSEUM),
    "52": ("https://c.example/tea", TEA),
}
LABELS = "id_a,id_b,label\n17,23,duplicate\n17,52,distinct\nd00002,d02440,duplicate\n"
TIME = 1_700_000_000


def prepare(folder: Path, site: str) -> None:
    """Fill a folder with what documents speak of: a project, pages, labels, a store.

    :param site: address of a page that the project's spider crawls.
    """
    records = [{"id": id_, "url": url, "html": page(text)} for id_, (url, text) in PAGES.items()]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "pages.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "feed.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "feed.jsonl").write_text(lines, "utf-8")
    response = (
        "https://example.org/new",
        "200 OK\r\nContent-Type: text/html",
        page(BRIDGE).encode(),
    )
    (folder / "new-pages.warc.gz").write_bytes(gzip.compress(warc([response])))
    _write_tables(folder)
    for name, text in {"report.pdf": FERRY, "report-2.pdf": f"{FERRY} {TEA}"}.items():
        (folder / name).write_bytes(b"%PDF-1.4\n\xe2\xe3\xcf\xd3\n" + text.encode())
    (folder / "a.html").write_text(page(FERRY), "utf-8")
    for name in "labelled.csv", "pairs.csv", "judgements.csv":
        (folder / name).write_text(LABELS, "utf-8")
    _fill_store(folder / "seen.sqlite")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = settings\n", "utf-8")
    (folder / "settings.py").write_text(BASE_SETTINGS, "utf-8")
    (folder / "news.py").write_text(SPIDER.format(site=site), "utf-8")


#: What a project has besides the lines that a document shows.
BASE_SETTINGS = """\
SPIDER_MODULES = ["news"]
TELNETCONSOLE_ENABLED = False
ADDONS = {"scrapy_neardup.Addon": 500}
"""
SPIDER = """\
import scrapy


class NewsSpider(scrapy.Spider):
    name = "news"
    start_urls = ["{site}"]

    def parse(self, response):
        yield {{"url": response.url, "text": response.text}}
"""


def _write_tables(folder: Path) -> None:
    """Write the pages as tables and as an array."""
    (folder / "news.tsv").write_text(f"n1\tFerry\t{FERRY}\nn2\tTea\t{TEA}\n", "utf-8")
    library = f'id,title,text\no1,Ferry,"{FERRY}"\no2,Museum,"{MUSEUM}"\n'
    (folder / "library.csv.gz").write_bytes(gzip.compress(library.encode()))
    mails = "".join(
        f'm{number},"{text} {number}"\n' for number, text in enumerate((FERRY, TEA, FERRY))
    )
    titles = "id,text\n1,Ferry runs aground in fog\n2,FERRY RUNS AGROUND IN FOG!\n"
    (folder / "titles.csv").write_text(titles, "utf-8")
    (folder / "mails.csv").write_text(f"id,text\n{mails}", "utf-8")
    records = [{"id": id_, "url": url, "text": text} for id_, (url, text) in PAGES.items()]
    (folder / "archive.json").write_text(json.dumps(records), "utf-8")
    crawl = [{"link": url, "body": page(text).encode()} for url, text in PAGES.values()]
    parquet.write_table(pa.Table.from_pylist(crawl), folder / "crawl.parquet")


def _fill_store(path: Path) -> None:
    store = SqliteStore(path, "news")
    signer = Signer(secret=store.secret)
    store.adopt(signer.recipe, signer.parts)
    for url, text in PAGES.values():
        store.add(signer.sign_text(url, text), TIME)
    rule = UrlRule(
        "example.org", "/news", ("param", "page"), "in_force", TIME, evidence=Evidence(40, 0)
    )
    store.put_rules({rule.name: rule.to_bytes()})
    store.close()
