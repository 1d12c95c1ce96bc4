"""Made-up sites that answer every address: the ways in which sites hide that a page is missing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

from ..common.site_server import Answer

_WORDS = (
    "kettle lamp chair table spoon mirror carpet curtain drawer shelf basket pillow candle vase "
    "clock ladder hammer bucket broom towel blanket kettle jar bottle plate"
).split()
_MENU = "".join(f'<li><a href="/{word}">{word.title()}</a></li>' for word in _WORDS[:6])


def _page(title: str, main: str, head: str = "") -> str:
    return (
        f"<html><head><title>{title}</title>{head}</head><body><header><ul>{_MENU}</ul></header>"
        f"<main>{main}</main><footer>Terms of delivery. Imprint. All rights reserved."
        "</footer></body></html>"
    )


def _fixed(path: str, home: str) -> Answer:
    return Answer(
        _page("Not found | Shop", "<h1>Sorry</h1><p>What you were looking for is not here.</p>")
    )


def _echoed(path: str, home: str) -> Answer:
    name = unquote(path.rpartition("/")[2]).replace("-", " ")
    main = f"<h1>{name}</h1><p>The page <code>{path}</code> was moved, or never existed.</p>"
    return Answer(_page(f"{name.title()} | Shop", main))


def _to_home(path: str, home: str) -> Answer:
    return Answer(status=302, headers={"Location": "/"})


def _to_error_page(path: str, home: str) -> Answer:
    if urlsplit(path).path == "/oops.html":
        return _fixed(path, home)
    return Answer(status=302, headers={"Location": f"/oops.html?from={path}"})


def _home(path: str, home: str) -> Answer:
    return Answer(home)


def _suggestions(path: str, home: str) -> Answer:
    chosen = random.sample(_WORDS, random.randint(4, 7))
    items = "".join(
        f'<li><a href="/{word}"><img src="/img/{word}.jpg">{word.title()} of steel</a> '
        f"<b>{random.randint(5, 90)}.50 €</b></li>"
        for word in chosen
    )
    main = f"<h1>No longer available</h1><p>But you may like these:</p><ul>{items}</ul>"
    return Answer(_page("Our suggestions | Shop", main))


def _shell(path: str, home: str) -> Answer:
    state = {"nonce": f"{random.getrandbits(64):x}", "at": random.random(), "path": path}
    return Answer(
        "<html><head><title>Shop</title></head><body><div id=root></div>"
        f"<script>window.state = {json.dumps(state)}</script><script src=/app.js></script>"
        "</body></html>"
    )


def _parked(path: str, home: str) -> Answer:
    links = "".join(
        f"<p><a href='/r?{random.random()}'>Cheap {' and '.join(random.sample(_WORDS, 3))}</a></p>"
        for _ in range(8)
    )
    main = f"<h1>Related links</h1>{links}<p>Rendered in {random.random():.4f} s</p>"
    return Answer(f"<html><head><title>shop.example</title></head><body>{main}</body></html>")


#: What each kind answers for a missing path, given the site's home page.
KINDS: Mapping[str, Callable[[str, str], Answer]] = {
    "fixed text": _fixed,
    "path echoed": _echoed,
    "redirect to home": _to_home,
    "redirect to error page": _to_error_page,
    "home page": _home,
    "suggestions": _suggestions,
    "shell": _shell,
    "parked": _parked,
}


class SoftSites(Mapping[str, Answer | str]):
    """Pages by their URLs; every other address is answered in one of these ways, or honestly.

    :param pages: by URL, or by path.
    :param kinds: a key of :data:`KINDS` by host; ``""`` stands for all others.
    """

    def __init__(self, pages: Mapping[str, Answer | str], kinds: Mapping[str, str]) -> None:
        self._pages = pages
        self._kinds = kinds
        self.asked_for: list[str] = []

    def __getitem__(self, url: str) -> Answer | str:
        if url in self._pages:
            return self._pages[url]
        self.asked_for.append(url)
        parts = urlsplit(url)
        kind = self._kinds.get(parts.netloc, self._kinds.get(""))
        path = url.partition(parts.netloc)[2] if parts.netloc else url
        if kind is None or path == "/robots.txt":
            return Answer("not here", status=404)
        home = self._pages.get(f"http://{parts.netloc}/", "")
        answer = KINDS[kind](path, home if isinstance(home, str) else str(home.body))
        location = answer.headers.get("Location")
        if location is None:
            return answer
        return Answer(status=302, headers={"Location": f"http://{parts.netloc}{location}"})

    def __iter__(self) -> Iterator[str]:
        return iter(self._pages)

    def __len__(self) -> int:
        return len(self._pages)
