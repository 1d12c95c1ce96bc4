"""Serves a generated site over HTTP on 127.0.0.1, under all of its host names.

    python benchmarks/url_server.py --seed 1 [--pages 2000] [--urls 20000] [--change-after N]

answers a page when it is asked for by its absolute URI, so that a crawler that uses the server as
its HTTP proxy sees the site's hosts, or by path and ``Host`` header. The header ``X-Content`` says
which content a page shows: the truth, for whoever counts. With ``--change-after`` parameters that
meant nothing select other pages after so many answers.

Standard output has one line of JSON when the server is ready and one for each line read from
standard input: how many pages were answered since the line before. At the end of standard input
the server ends.
"""

# ruff: noqa: N802, N815 (Twisted names the methods that are overridden)

from __future__ import annotations

import argparse
from typing import Any

from measuring import at_least_one
from pageserver import ADDRESS, Control, asked_url
from twisted.internet.defer import Deferred
from twisted.internet.stdio import StandardIO
from twisted.internet.task import react
from twisted.web.resource import Resource
from twisted.web.server import Request, Site
from url_pages import SitePages
from url_site import UrlSite

#: The header of a response that says which content it is.
CONTENT_HEADER = "X-Content"


class SiteResource(Resource):
    """Answers every URL of a site.

    :param change_after: after how many answers it changes; ``None`` for never.
    """

    isLeaf = True

    def __init__(self, site: UrlSite, change_after: int | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._pages = SitePages(site)
        self._change_after = change_after
        self._total = 0
        self.answered = 0

    def render_GET(self, request: Request) -> bytes:
        changed = self._change_after is not None and self._total >= self._change_after
        answer = self._pages.page(asked_url(request), changed=changed)
        if answer is None:
            request.setResponseCode(404)
            return b"No such page.\n"
        self.answered += 1
        self._total += 1
        found, page = answer
        request.setHeader("Content-Type", "text/html; charset=utf-8")  # type: ignore[no-untyped-call]
        request.setHeader(CONTENT_HEADER, found.content.id)  # type: ignore[no-untyped-call]
        return page.encode()


def serve(reactor: Any, resource: SiteResource) -> Deferred[None]:
    """Listen, say so, and return what fires when standard input ends."""
    site = Site(resource, timeout=None)  # type: ignore[no-untyped-call]
    port = reactor.listenTCP(0, site, interface=ADDRESS).getHost().port
    control = Control(resource, {"port": port})
    StandardIO(control)  # type: ignore[no-untyped-call]
    return control.ended


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--pages", type=at_least_one, default=2000, metavar="N")
    parser.add_argument("--urls", type=at_least_one, default=20_000, metavar="N")
    parser.add_argument("--change-after", type=at_least_one, metavar="N")
    options = parser.parse_args()
    site = UrlSite(options.seed, options.pages, options.urls, changes=bool(options.change_after))
    react(serve, (SiteResource(site, options.change_after),))


if __name__ == "__main__":
    main()
