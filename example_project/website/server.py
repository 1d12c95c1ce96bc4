"""Serves both hosts on loopback, each on its own port."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import cases
from .pages import Website


class SiteServer(ThreadingHTTPServer):
    """One of the two hosts. A :class:`Website` must be given to it before the first request."""

    daemon_threads = True
    request_queue_size = 64
    website: Website
    crowd: threading.Barrier

    def __init__(self, host: str, name: str, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.host = host
        self.url = f"http://{name}:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body leave in one piece: no waiting for a delayed ACK

    server: SiteServer

    def do_GET(self) -> None:
        if self.path.startswith(f"/{cases.CROWDED}?sid="):
            with suppress(threading.BrokenBarrierError):  # fewer came at once; never mind
                self.server.crowd.wait()
        answer = self.server.website.answer(self.server.host, self.path)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing: the crawler's log is the one to read."""


def start(news_port: int = 0, mirror_port: int = 0) -> tuple[str, str]:
    """Serve both hosts in background threads. Return their base URLs.

    Port 0 takes a free one. 127.0.0.1 and localhost are two sites to whoever looks at URLs.
    """
    servers = (
        SiteServer("news", "127.0.0.1", news_port),
        SiteServer("mirror", "localhost", mirror_port),
    )
    news, mirror = (server.url for server in servers)
    website = Website(news, mirror)
    crowd = threading.Barrier(len(cases.SESSION_IDS), timeout=1)
    for server in servers:
        server.website, server.crowd = website, crowd
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return news, mirror
