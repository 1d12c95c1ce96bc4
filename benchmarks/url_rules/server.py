"""Serves a generated site over HTTP on 127.0.0.1, under all of its host names.

A page is answered when it is asked for by its absolute URI, so that a crawler that uses the server
as its HTTP proxy sees the site's hosts, or by path and ``Host`` header. The header ``X-Content``
names the content that a page shows. With ``--change-after`` parameters that meant nothing select
other pages after so many answers.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import react
from twisted.web.server import Request

from ..common.options import at_least, command_parser
from ..common.proxy_server import ProxyResource, listen, site_of, until_input_ends
from .pages import SitePages
from .site import UrlSite

#: The header of a response that says which content it is.
CONTENT_HEADER = "X-Content"


class SiteResource(ProxyResource):
    """Answers every URL of a site.

    :param change_after: after how many answers it changes; ``None`` for never.
    """

    def __init__(self, site: UrlSite, change_after: int | None) -> None:
        super().__init__()
        self._pages = SitePages(site)
        self._change_after = change_after
        self._total = 0

    def find(self, url: str, request: Request) -> tuple[dict[str, str], bytes] | None:
        changed = self._change_after is not None and self._total >= self._change_after
        answer = self._pages.page(url, changed=changed)
        if answer is None:
            return None
        self._total += 1
        found, page = answer
        headers = {"Content-Type": "text/html; charset=utf-8", CONTENT_HEADER: found.content.id}
        return headers, page.encode()


def serve(reactor: Any, resource: SiteResource) -> Deferred[None]:
    """Listen, say so, and return what fires when standard input ends."""
    return until_input_ends(resource, {"port": listen(reactor, site_of(resource))})


def main() -> None:
    parser = command_parser("benchmarks.url_rules.server", __doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--pages", type=at_least(1), default=2000, metavar="N")
    parser.add_argument("--urls", type=at_least(1), default=20_000, metavar="N")
    parser.add_argument("--change-after", type=at_least(1), metavar="N")
    options = parser.parse_args()
    site = UrlSite(options.seed, options.pages, options.urls, changes=bool(options.change_after))
    react(serve, (SiteResource(site, options.change_after),))


if __name__ == "__main__":
    main()
