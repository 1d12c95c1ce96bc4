"""Responses of scrapy-zyte-api, from a service that speaks its protocol on this machine."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.compatibility.shown import settings_of
from tests.support.crawl import run_crawl
from tests.support.texts import FERRY, MUSEUM, page

PAGES = {
    "1": page(FERRY),
    "2": page(FERRY, frame="2"),
    "3": page(FERRY, frame="3"),
    "4": page(MUSEUM),
}
URLS = [f"https://shop.example/{name}" for name in PAGES]


class _Service(BaseHTTPRequestHandler):
    """Answers as ``POST /v1/extract`` does: with bytes and headers, HTML or extracted data."""

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        html = PAGES[query["url"].rpartition("/")[2]]
        answer: dict[str, Any] = {"url": query["url"], "statusCode": 200}
        if query.get("httpResponseBody"):
            answer["httpResponseBody"] = b64encode(html.encode()).decode()
            headers = {"content-type": "text/html; charset=utf-8"}
            answer["httpResponseHeaders"] = [
                {"name": name, "value": value} for name, value in headers.items()
            ]
        if query.get("browserHtml"):
            answer["browserHtml"] = html
        if query.get("article"):
            answer["article"] = {"url": query["url"], "articleBody": FERRY}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@contextmanager
def service() -> Iterator[dict[str, Any]]:
    """Settings with a service that runs until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield {
            **settings_of("scrapy-zyte-api"),
            "ZYTE_API_URL": f"http://127.0.0.1:{server.server_port}/v1/",
            "CONCURRENT_REQUESTS": 1,
        }
        server.shutdown()
        thread.join()


def test_responses_of_the_service_are_judged():
    meta = {
        URLS[1]: {"zyte_api_automap": {"browserHtml": True}},
        URLS[2]: {"zyte_api_automap": {"article": True}},
    }
    with service() as settings:
        crawl = run_crawl(URLS, settings, meta=meta)
    assert crawl.counts("pages/") == {"new": 2, "duplicate": 1}
    # What was extracted has no page.
    assert crawl.counts("skipped/") == {"not_text": 1}
    assert crawl.stored == ["1", "3", "4"]
    assert crawl.stats["scrapy-zyte-api/success"] == len(URLS)
