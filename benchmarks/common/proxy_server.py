"""An HTTP server that a crawler uses as its proxy, controlled over standard input and output.

Its standard output has one line of JSON when it is ready, and one for each line read from standard
input: how many pages were answered since the line before. It ends with its standard input, and so
with the process that started it.
"""

# ruff: noqa: N802, N815 (Twisted names the methods that are overridden)

from __future__ import annotations

import json
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.protocol import connectionDone
from twisted.internet.stdio import StandardIO
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

ADDRESS = "127.0.0.1"


class ProxyResource(Resource):
    """Answers absolute URIs, as a proxy does, and paths with a ``Host`` header.

    :ivar answered: pages since the count was last told.
    """

    isLeaf = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.answered = 0

    def find(self, url: str, request: Request) -> tuple[dict[str, str], bytes] | None:
        """Return the headers and the body of a page; ``None`` if there is none."""
        raise NotImplementedError

    def render_GET(self, request: Request) -> bytes:
        uri = request.uri.decode("latin-1")
        is_absolute = "://" in uri.partition("?")[0]
        found = self.find(
            uri if is_absolute else f"http://{request.getHeader('host')}{uri}", request
        )
        if found is None:
            request.setResponseCode(404)
            found = {"Content-Type": "text/plain; charset=utf-8"}, b"No such page.\n"
        else:
            self.answered += 1
        headers, body = found
        for name, value in headers.items():
            request.setHeader(name, value)  # type: ignore[no-untyped-call]
        return body


def site_of(resource: ProxyResource) -> Site:
    """Return what a reactor listens with."""
    # No timeout: a crawler that is held up for a minute keeps its connections.
    return Site(resource, timeout=None)  # type: ignore[no-untyped-call]


def listen(reactor: Any, site: Site) -> int:
    """Listen on a free port and return it."""
    port: int = reactor.listenTCP(0, site, backlog=128, interface=ADDRESS).getHost().port
    return port


def until_input_ends(resource: ProxyResource, ready: dict[str, object]) -> Deferred[None]:
    """Say that the server is ready; return what fires when standard input ends."""
    control = _Control(resource, ready)
    StandardIO(control)  # type: ignore[no-untyped-call]
    return control.ended


class _Control(LineOnlyReceiver):
    """Answers each line with the count of answered pages."""

    delimiter = b"\n"

    def __init__(self, resource: ProxyResource, ready: dict[str, object]) -> None:
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
