"""Serves stored pages over HTTP on 127.0.0.1, each under its own URL.

``python pageserver.py PAGES.jsonl.gz…`` answers a page when it is asked for by
its absolute URI, so that a crawler that uses the server as its HTTP proxy sees
every page at its own host name, or by path and ``Host`` header.  With
``--ports`` each host has a port of its own instead and no proxy is needed.
Where several records have one URL the header ``X-Page`` (the record's number,
from 0) picks one; without it the first is served.

Bodies lie in an unnamed temporary file, so memory grows with the number of
pages and not with their size.

Standard output has one line of JSON when the server is ready and one for each
line read from standard input: how many pages were answered since the line
before.  At the end of standard input the server ends, hence also when the
process that started it dies.
"""

# ruff: noqa: N802, N815 (Twisted names the methods that are overridden)

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
from typing import IO, Any, Protocol

from pages import InputError, Page, host_of, moved_to, page_key, read_pages
from twisted.internet.defer import Deferred
from twisted.internet.protocol import connectionDone
from twisted.internet.stdio import StandardIO
from twisted.internet.task import react
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

ADDRESS = "127.0.0.1"


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
    """All pages: entries in memory, bodies in a file."""

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


class PageResource(Resource):
    """Answers every URL from the library."""

    isLeaf = True

    def __init__(self, library: Library) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._library = library
        self.answered = 0

    def render_GET(self, request: Request) -> bytes:
        entry = self._library.find(asked_url(request), request.getHeader("x-page"))
        if entry is None:
            request.setResponseCode(404)
            return self._answer(request, "text/plain; charset=utf-8", b"No such page.\n")
        self.answered += 1
        return self._answer(request, entry.content_type, self._library.body(entry))

    def _answer(self, request: Request, content_type: str, body: bytes) -> bytes:
        request.setHeader("Content-Type", content_type)  # type: ignore[no-untyped-call]
        return body


def asked_url(request: Request) -> str:
    """The whole URL, of a proxy's request or of another."""
    uri = request.uri.decode("latin-1")
    return uri if "://" in uri.partition("?")[0] else f"http://{request.getHeader('host')}{uri}"


class Counting(Protocol):
    """What counts the pages that it has answered."""

    answered: int


class Control(LineOnlyReceiver):
    """Answers each line with the count of answered pages; ends with its input."""

    delimiter = b"\n"

    def __init__(self, resource: Counting, ready: dict[str, object]) -> None:
        self._resource = resource
        self._ready = ready
        self.ended: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        self._send(self._ready)

    def lineReceived(self, line: bytes) -> None:
        self._send({"answered": self._resource.answered})
        self._resource.answered = 0

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.ended.callback(None)

    def _send(self, message: dict[str, object]) -> None:
        self.sendLine(json.dumps(message).encode())  # type: ignore[no-untyped-call]


def serve(reactor: Any, library: Library, options: argparse.Namespace) -> Deferred[None]:
    """Listen, say so, and return what fires when standard input ends."""
    resource = PageResource(library)
    # No timeout: a crawler held up for a minute must find its connections as it left them.
    site = Site(resource, timeout=None)  # type: ignore[no-untyped-call]
    hosts = library.hosts()

    def listen() -> int:
        port: int = reactor.listenTCP(0, site, backlog=128, interface=ADDRESS).getHost().port
        return port

    main_port = listen()
    if options.ports:
        library.move({host: f"{ADDRESS}:{listen()}" for host in hosts})
    library.open()
    if options.catalogue:
        library.write_catalogue(options.catalogue)
    ready = {"port": main_port, "pages": len(library.entries), "hosts": len(hosts)}
    control = Control(resource, {**ready, "skipped": options.skipped})
    StandardIO(control)  # type: ignore[no-untyped-call]
    return control.ended


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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("pages", nargs="+", metavar="PAGES.jsonl.gz")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N pages")
    parser.add_argument("--ports", action="store_true", help="a port for each host")
    parser.add_argument("--catalogue", metavar="FILE", help="write id and URLs of all pages here")
    options = parser.parse_args()
    if options.limit is not None and options.limit < 1:
        parser.error(f"--limit must be at least 1, not {options.limit}")
    return options


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
