"""Serves stored pages over HTTP on 127.0.0.1, each under its own URL.

A page is answered when it is asked for by its absolute URI, so that a crawler that uses the server
as its HTTP proxy sees every page at its own host name, or by path and ``Host`` header. With
``--ports`` each host has a port of its own instead and no proxy is needed. Where several records
have one URL, the header ``X-Page`` (the record's number, from 0) picks one; without it the first is
served.

Bodies lie in an unnamed temporary file, so memory grows with the number of pages and not with their
size.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from twisted.internet.defer import Deferred
from twisted.internet.task import react
from twisted.web.server import Request

from ..common.options import at_least, command_parser
from ..common.proxy_server import ADDRESS, ProxyResource, listen, site_of, until_input_ends
from ..common.stored_pages import InputError, Page, host_of, moved_to, page_key, read_pages


@dataclass(slots=True)
class Entry:
    """A page of the library, without its body."""

    id: str
    url: str
    request_url: str
    content_type: str
    offset: int
    length: int


class Library:
    """The served pages: entries in memory, bodies in a file."""

    def __init__(self, bodies: IO[bytes]) -> None:
        self.entries: list[Entry] = []
        self._bodies = bodies
        self._by_key: dict[tuple[str, bytes], list[int]] = {}

    def add(self, page: Page) -> None:
        offset = self._bodies.tell()
        self._bodies.write(page.body)
        self.entries.append(
            Entry(page.id, page.url, page.request_url, page.content_type, offset, len(page.body))
        )

    def hosts(self) -> list[str]:
        return list(dict.fromkeys(host_of(entry.request_url) for entry in self.entries))

    def move(self, netlocs: dict[str, str]) -> None:
        """Give each host's pages another host and port."""
        for entry in self.entries:
            netloc = netlocs[host_of(entry.request_url)]
            entry.request_url = moved_to(entry.request_url, netloc)

    def open(self) -> None:
        """Make all pages added so far readable."""
        self._bodies.flush()
        for number, entry in enumerate(self.entries):
            self._by_key.setdefault(page_key(entry.request_url), []).append(number)

    def find(self, url: str, number: str | None) -> Entry | None:
        """Return the page at *url*: the record *number*, or the first."""
        numbers = self._by_key.get(page_key(url), [])
        if number is None:
            return self.entries[numbers[0]] if numbers else None
        return next((self.entries[n] for n in numbers if str(n) == number), None)

    def body(self, entry: Entry) -> bytes:
        return os.pread(self._bodies.fileno(), entry.length, entry.offset)

    def write_catalogue(self, path: str) -> None:
        """Write what there is, one JSON object a line in the order of the records."""
        with Path(path).open("w", encoding="utf-8") as file:
            for entry in self.entries:
                line = {"id": entry.id, "url": entry.url, "request_url": entry.request_url}
                file.write(json.dumps(line) + "\n")


class PageResource(ProxyResource):
    """Answers every URL from the library."""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self._library = library

    def find(self, url: str, request: Request) -> tuple[dict[str, str], bytes] | None:
        entry = self._library.find(url, request.getHeader("x-page"))
        if entry is None:
            return None
        return {"Content-Type": entry.content_type}, self._library.body(entry)


def serve(reactor: Any, library: Library, options: argparse.Namespace) -> Deferred[None]:
    """Listen, say so, and return what fires when standard input ends."""
    resource = PageResource(library)
    site = site_of(resource)
    hosts = library.hosts()
    port = listen(reactor, site)
    if options.ports:
        library.move({host: f"{ADDRESS}:{listen(reactor, site)}" for host in hosts})
    library.open()
    if options.catalogue:
        library.write_catalogue(options.catalogue)
    ready = {"port": port, "pages": len(library.entries), "hosts": len(hosts)}
    return until_input_ends(resource, {**ready, "skipped": options.skipped})


def fill(library: Library, options: argparse.Namespace) -> Counter[str]:
    """Read the pages of all files into *library* and return what was skipped.

    :raises InputError: when there is nothing to serve, or too much for ``--ports``.
    """
    skipped = Counter[str]()
    for page in islice(read_pages(options.pages, skipped), options.limit):
        library.add(page)
    hosts = len(library.hosts())
    if not hosts:
        raise InputError(f"no page that can be served in {', '.join(options.pages)}")
    if options.ports and hosts > max_ports():
        raise InputError(f"--ports: {hosts} hosts, open files suffice for {max_ports()} ports")
    return skipped


def max_ports() -> int:
    """Return how many ports can be served: each takes an open file, and one more in use."""
    return (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100) // 2


def parse_arguments() -> argparse.Namespace:
    parser = command_parser("benchmarks.crawl.page_server", __doc__)
    parser.add_argument("pages", nargs="+", metavar="PAGES.jsonl.gz")
    parser.add_argument("--limit", type=at_least(1), metavar="N", help="only the first N pages")
    parser.add_argument("--ports", action="store_true", help="a port for each host")
    parser.add_argument("--catalogue", metavar="FILE", help="write id and URLs of all pages here")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    with tempfile.TemporaryFile() as bodies:
        library = Library(bodies)
        try:
            options.skipped = fill(library, options)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)
        except KeyboardInterrupt:
            sys.exit(130)
        react(serve, (library, options))


if __name__ == "__main__":
    main()
