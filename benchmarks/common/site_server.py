"""Serves generated pages over HTTP on loopback, in a thread of this process."""

from __future__ import annotations

import ssl
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Answer:
    """The response of the server for a path; large bodies are made on demand."""

    body: str | bytes | Callable[[], bytes] = ""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Site(ThreadingHTTPServer):
    """Pages by their path and query; every other path is a 404.

    Asked as a proxy it has pages by their whole URLs, and is every site itself.

    :ivar hits: how often each path was asked for.
    :ivar together: with ``n``, answers wait until ``n`` requests are being answered at once.
    :ivar tls: with a certificate and its key, ``https`` sites can be asked for.
    """

    daemon_threads = True

    def __init__(
        self,
        pages: Mapping[str, Answer | str],
        together: int = 1,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate is not None:
            self.tls.load_cert_chain(*certificate)
        self.pages = pages
        self.hits: Counter[str] = Counter()
        self.together = threading.Barrier(together)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A crawl that is killed takes no more answers.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.hits[self.path] += 1
        page = self.server.pages.get(self.path, Answer(status=404))
        answer = page if isinstance(page, Answer) else Answer(page)
        body = answer.body() if callable(answer.body) else answer.body
        if isinstance(body, str):
            body = body.encode()
        self.server.together.wait(timeout=30)
        self.send_response(answer.status)
        headers = {"Content-Type": answer.content_type, "Content-Length": str(len(body))}
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        """Accept a tunnel; the client then speaks TLS to the site itself."""
        self.send_response(200)
        self.end_headers()
        with self.server.tls.wrap_socket(self.connection, server_side=True) as secure:
            _SecureHandler(secure, self.client_address, self.server)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


class _SecureHandler(_Handler):
    def do_GET(self) -> None:
        self.path = f"https://{self.headers['Host']}{self.path}"
        super().do_GET()


@contextmanager
def serving(
    pages: Mapping[str, Answer | str],
    together: int = 1,
    certificate: tuple[Path, Path] | None = None,
) -> Iterator[Site]:
    """Serve these pages until the block ends."""
    site = Site(pages, together, certificate)
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()
