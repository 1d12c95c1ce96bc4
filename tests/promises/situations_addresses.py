"""Sites whose addresses are those of lists, or look like them."""

from __future__ import annotations

from typing import Any

from tests.promises.harness import HOME, PromiseSpider, Site, situation, words
from tests.promises.situations_details import DESCRIPTION, page

_ROOMS = (12, 14, 17, 21, 23)


def _hotels(site: Site, address: str, first_number: int) -> Any:
    """Hotels of one title and one text, whose numbers of rooms differ."""
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    for n, rooms in enumerate(_ROOMS):
        body = (
            f"<main><article><h1>Hotel</h1>{first}<p>We have {rooms} rooms.</p>{second}"
            "</article></main>"
        )
        site.put(address.format(first_number + n), page("Hotel", body), content=str(n))
    site.index(*(address.format(first_number + n) for n in range(len(_ROOMS))), at="/index")
    return type("Spider", (PromiseSpider,), {"start_urls": [f"{HOME}/index"]})


#: Addresses of the pages of a site, and the number of the first one.
_ADDRESSES = {
    "one_program": ("/index.php?id={}", 17),
    "the_front_page": ("/?p={}", 17),
    "numbers_like_years": ("/hotel/{}", 2001),
    "acts_of_a_year": ("/act/1998/{}", 7),
}


class _Listed(PromiseSpider):
    start_urls = [f"{HOME}/index"]


def _add_addresses() -> None:
    for name, (address, first_number) in _ADDRESSES.items():

        def build(site: Site, address: str = address, first_number: int = first_number) -> Any:
            return _hotels(site, address, first_number)

        build.__name__ = f"hotels_at_addresses_of_{name}"
        situation(contents=len(_ROOMS))(build)


_add_addresses()


_SUBJECTS = ("kettles", "pans", "spoons", "mugs", "trays")


def _posts(n: int, *, order: int = 1, behind: str = "") -> str:
    links = [
        f'<li><a href="/post/{n}-{k}">Report {n}-{k} of the kitchen</a> {words(20, (n, k))}{behind}'
        for k in range(4)
    ]
    return f"<ul>{''.join(links[::order])}</ul>"


@situation(contents=len(_SUBJECTS), finds=len(_SUBJECTS))
def archives_and_tags_that_list_the_same_posts(site: Site) -> Any:
    paths: list[str] = []
    for n, subject in enumerate(_SUBJECTS):
        paths += f"/archives/2024/{n + 1:02}/", f"/tag/{subject}/"
        heading = f"<h1>Posts about {subject}</h1>"
        site.put(paths[-2], page(f"Archives: 2024/{n + 1:02} | Blog", _posts(n)), f"list {n}")
        site.put(paths[-1], page(f"Tag: {subject} | Blog", heading + _posts(n)), f"list {n}")
    site.index(*paths, at="/index")
    return _Listed


@situation(contents=2 * len(_SUBJECTS))
def lists_of_the_same_posts_whose_lines_differ(site: Site) -> Any:
    """In whether a post is sold out, or in what the list says of itself."""
    for n, subject in enumerate(_SUBJECTS):
        behind = f" <b>{n + 3} left</b>"
        site.put(f"/tag/{subject}/", page(f"Tag: {subject}", _posts(0, behind=behind)), subject)
        about = f"<h1>{subject}</h1><p>Room {n}, on the {words(2, n)}</p>"
        site.put(f"/category/{subject}/", page(f"Category: {subject}", about + _posts(9)), str(n))
    site.index(*(f"/{kind}/{name}/" for kind in ("tag", "category") for name in _SUBJECTS), at="/i")
    return type("Spider", (PromiseSpider,), {"start_urls": [f"{HOME}/i"]})


@situation(contents=len(_SUBJECTS))
def wares_below_category_beside_the_same_links(site: Site) -> Any:
    for subject in _SUBJECTS:
        body = f"<h1>{subject}</h1><p>{words(60)}</p>{_posts(0)}"
        site.put(f"/category/kitchen/{subject}", page(f"{subject} | Shop", body), subject)
    site.index(*(f"/category/kitchen/{subject}" for subject in _SUBJECTS), at="/index")
    return _Listed


@situation(contents=2 * len(_SUBJECTS))
def lists_whose_entries_scripts_show(site: Site) -> Any:
    shell = "<h1>{}</h1><p>{}</p><div id=entries></div><script src=/list.js></script>"
    more = '<a href="/terms">Terms of delivery and payment</a>'
    paths = [f"/category/{name}/" for name in _SUBJECTS]
    paths += [f"/archives/{year}/" for year in range(2001, 2001 + len(_SUBJECTS))]
    for path in paths:
        kind, name = path.strip("/").split("/")
        body = shell.format(name, words(60)) + more
        site.put(path, page(f"{kind.capitalize()}: {name} | Shop", body), name)
    site.index(*paths, at="/index")
    return _Listed
