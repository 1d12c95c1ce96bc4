"""An HTTP server for every site; crawls use it as their proxy."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

#: Where a site is, unless an address says otherwise.
HOME = "http://site.example"
#: The response header that says what a page holds.
CONTENT = "X-Content"


@dataclass(frozen=True)
class Answer:
    """The server's response to a request.

    :ivar content: label of what the page holds; ``None`` where that is nothing.
    """

    body: str | bytes = ""
    content: str | None = None
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A request as the server sees it.

    :ivar times: how often its address was asked for before, in this run and in those before it.
    :ivar day: number of the run, from 1.
    """

    method: str
    url: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    headers: Mapping[str, str]
    times: int
    day: int

    @property
    def path(self) -> str:
        return urlsplit(self.url).path


Page = Answer | Callable[[Asked], Answer]


class Site:
    """The state of the server for one crawl of a situation.

    :ivar folder: an empty folder for stores, feeds and jobs.
    :ivar with_addon: whether this is the crawl with the add-on.
    :ivar day: number of the run, from 1.
    """

    def __init__(self, folder: Path, *, with_addon: bool) -> None:
        self.folder = folder
        self.with_addon = with_addon
        self.day = 1
        self.asked: Counter[str] = Counter()
        self._pages: dict[str, Page] = {}

    def put(
        self,
        url: str,
        body: str | bytes,
        content: str | None = None,
        status: int = 200,
        content_type: str = "text/html; charset=utf-8",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Put a page at a path of :data:`HOME`, or at a whole address."""
        self._pages[absolute(url)] = Answer(body, content, status, content_type, headers or {})

    def on(self, url: str, page: Callable[[Asked], Answer]) -> None:
        """Answer requests for an address, with any query, by a function."""
        self._pages[absolute(url)] = page

    def index(self, *urls: str, at: str = "/") -> None:
        """Put a page that links to these addresses; without any, to all pages in their order."""
        links = urls or tuple(url for url in self._pages if url != absolute(at))
        anchors = "".join(f'<li><a class="next" href="{url}">{url}</a>' for url in links)
        self.put(at, f"<title>Index</title><ul>{anchors}</ul>")

    def answer(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the response to a request."""
        plain = url.partition("?")[0]
        page = self._pages.get(url) or self._pages.get(plain)
        times = self.asked[url]
        self.asked[url] += 1
        if page is None or isinstance(page, Answer):
            return page or Answer("<title>Not found</title><p>There is no such page.", status=404)
        query, form = (
            dict(parse_qsl(part)) for part in (urlsplit(url).query, body.decode("utf-8", "replace"))
        )
        return page(Asked(method, url, query, form, headers, times, self.day))


class Server(ThreadingHTTPServer):
    """Answers with the pages of the site that is crawled at present."""

    daemon_threads = True
    request_queue_size = 128
    site: Site

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = self.server.site.answer(self.command, self.path, dict(self.headers), body)
        content = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response(answer.status)
        told = {} if answer.content is None else {CONTENT: answer.content}
        for name, value in {"Content-Type": answer.content_type, **told, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        # Connections that are kept alive keep a crawl from ending for a second.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 (the base class's name)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


def absolute(url: str) -> str:
    """The address that a path of :data:`HOME` has."""
    return url if "//" in url else HOME + url


@contextmanager
def serving() -> Iterator[Server]:
    """A server until the block ends."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
